"""What a block of an operation says, checked: text, basis, standing, evidence, validity.

Source: DR-46 to DR-48, DR-58 to DR-68.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from graph.model.nodes.knowledge import Basis
from graph.rules.operations.conflict import check_explained, check_fit, check_override
from graph.rules.operations.content import BlockContent, Validity
from graph.rules.operations.deduction import Deduced, check_deduction
from graph.rules.operations.drafting import note
from graph.rules.operations.evidence import check_citations, corrects, require_other_voice, require_several
from graph.rules.operations.limits import MAX_BLOCK_TEXT, check_lasting, check_length
from graph.rules.operations.schema_parts import BlockIn
from graph.rules.operations.schema_values import Change, Role
from graph.rules.operations.state import BlockState, Cited, Support
from graph.rules.operations.targets import is_offered
from graph.rules.operations.validity import closing, validity_of
from graph.rules.operations.verdicts import refuse
from graph.rules.operations.work import Work

CLOSING: Final = frozenset({Change.EVOLUTION})


def block_content(
    work: Work,
    given: BlockIn,
    *,
    entry_type: str,
    replaced: Sequence[BlockState] = (),
    edited: BlockState | None = None,
) -> BlockContent:
    """Return what a block will say, after every rule about its content was asked.

    It supersedes the blocks `replaced`, and becomes another version of `edited` if there is one. Of one that is
    written without being seen the text and the evidence explain nothing and need no explanation (MA-24).

    Raises:
        OperationRejected: with the code of the first rule that refuses it.
    """
    check_fit(work, given)
    check_override(work, given, replaced, edited)
    deduced = _deduced(work, given, edited)
    text = deduced.text if deduced else (given.text or "").strip()
    check_length(text, "text", 1, MAX_BLOCK_TEXT)
    check_lasting(work, given, (text,))
    rests_on = _evidence(work, given, text, deduced, entry_type, edited)
    seen = None if edited is not None and is_offered(work, edited) else edited
    check_explained(work, given, text, rests_on, replaced, seen)
    return BlockContent(
        text=text,
        basis=given.basis,
        standing=given.standing,
        change=given.change,
        authority=given.authority,
        condition=deduced.condition if deduced else None,
        conclusion=deduced.conclusion if deduced else None,
        inferred_at=deduced.inferred_at if deduced else None,
        validity=_validity(work, given, rests_on, replaced),
        rests_on=rests_on,
    )


def _deduced(work: Work, given: BlockIn, edited: BlockState | None) -> Deduced | None:
    if given.basis is Basis.DEDUCED:
        return check_deduction(work, given.deduction, edited=edited)
    if given.deduction is not None:
        raise refuse("SCHEMA_INVALID", "a deduction has the basis deduced", field="basis")
    return None


def _evidence(
    work: Work, given: BlockIn, text: str, deduced: Deduced | None, entry_type: str, edited: BlockState | None
) -> Support:
    """Return what the block rests on; a person who cites nothing is cited himself (KN-68)."""
    already = edited.rests_on if edited else None
    citations = check_citations(work, given.citations, entry_type=entry_type, already=already)
    if deduced is not None:
        return Support(citations=citations, derived_from=deduced.basis)
    if work.actor.is_human:
        return _with_note(work, given, text, citations, edited)
    if not citations:
        raise refuse("SCHEMA_INVALID", "cite at least one source", field="citations")
    if given.basis is Basis.STATED:
        require_other_voice(work, citations)
    if given.basis is Basis.INDUCED:
        require_several(work, citations)
    return Support(citations=citations)


def _with_note(
    work: Work, given: BlockIn, text: str, citations: tuple[Cited, ...], edited: BlockState | None
) -> Support:
    """Return a person's evidence: his citations, or his own note beside what the block rests on.

    His correction takes the place of the old evidence, and is itself the explicit word that corrects (DR-71).
    """
    correcting = given.change is Change.CORRECTION
    kept = edited.rests_on if edited and not correcting and not citations else Support()
    if edited is not None and kept.citations and text == edited.version.text:
        return kept
    if given.basis is Basis.INDUCED and not kept.citations:
        require_several(work, citations)
    if citations and (not correcting or corrects(work, citations)):
        if given.basis is Basis.STATED:
            require_other_voice(work, citations)
        return Support(citations=citations)
    own = note(work, text, role=Role.CORRECTS if correcting else Role.SUPPORTS)
    return Support(citations=(*kept.citations, *citations, own), derived_from=kept.derived_from)


def _validity(work: Work, given: BlockIn, rests_on: Support, replaced: Sequence[BlockState]) -> Validity:
    validity = validity_of(given)
    if given.change in CLOSING and replaced:
        begin, precision = closing(validity, rests_on, work.sources)
        return replace(validity, valid_from=begin, from_precision=precision)
    return validity
