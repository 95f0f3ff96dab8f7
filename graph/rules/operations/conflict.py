"""Conflicts: what a change may say, what it may replace, and what it must explain. Source: DR-52, DR-67 to DR-75.

Recency alone never settles anything: each rule asks for the kind of evidence, not for its date.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Basis, ModifierKind, Standing
from graph.model.time import to_datetime
from graph.rules.operations.evidence import corrects, is_hearsay, is_new, require_several
from graph.rules.operations.naming import mentions
from graph.rules.operations.schema import EditBlock
from graph.rules.operations.schema_parts import BlockIn
from graph.rules.operations.schema_values import Change, Role
from graph.rules.operations.state import BlockState, Cited, Support
from graph.rules.operations.verdicts import refuse
from graph.rules.operations.work import Work
from graph.text.dates import dates_in

_OWN_INFERENCE: Final = frozenset({Basis.DEDUCED, Basis.INDUCED})
_STANDINGS: Final = {
    Change.ADDITION: Standing.SETTLED,
    Change.EVOLUTION: Standing.SETTLED,
    Change.CORRECTION: Standing.CORRECTED,
    Change.DISPUTE: Standing.DISPUTED,
    Change.RUMOUR: Standing.UNCONFIRMED,
}
"""The standing of a stated or authored block after a change; compression keeps what it condenses."""

_INFERRING: Final = frozenset({Change.ADDITION, Change.EVOLUTION, Change.INFERENCE, Change.COMPRESSION})
"""Changes that an own inference may be."""

_REPLACING: Final = frozenset(
    {Change.EVOLUTION, Change.CORRECTION, Change.RUMOUR, Change.INFERENCE, Change.COMPRESSION}
)
"""Changes that may name blocks in `supersedes`; an addition adds, a dispute replaces neither position."""

_FIRM: Final = frozenset({Standing.SETTLED, Standing.CORRECTED})


def check_fit(work: Work, given: BlockIn) -> None:
    """Refuse a change that does not fit basis and standing.

    Raises:
        OperationRejected: ``SCHEMA_INVALID`` (KN-24, DR-74, DR-75).
    """
    if given.basis is Basis.AUTHORED and not work.actor.is_human:
        raise refuse("SCHEMA_INVALID", "only a person writes authored text", field="basis")
    if not work.actor.is_human and given.durability is None:
        raise refuse("SCHEMA_INVALID", "say how durable the statement is", field="durability")
    if given.supersedes and given.change not in _REPLACING:
        raise refuse("SCHEMA_INVALID", "this change supersedes nothing", field="supersedes")
    if given.change is Change.COMPRESSION and not (given.supersedes or isinstance(given, EditBlock)):
        raise refuse("SCHEMA_INVALID", "name in supersedes what is condensed", field="supersedes")
    if not _fits(given):
        raise refuse("SCHEMA_INVALID", "the change does not fit basis and standing", field="change")


def check_override(work: Work, given: BlockIn, replaced: Sequence[BlockState], edited: BlockState | None) -> None:
    """Refuse to replace the blocks `replaced`, or the text of `edited`, by what may not replace them; people may.

    Raises:
        OperationRejected: ``RUMOUR_OVERRIDE`` (DR-73), ``INFERENCE_OVERRIDE`` (DR-74), ``SCHEMA_INVALID`` (DR-75).
    """
    if work.actor.is_human:
        return
    versions = [state.version for state in (*replaced, *([edited] if edited else []))]
    if given.change is Change.RUMOUR and any(version.standing in _FIRM for version in versions):
        raise refuse("RUMOUR_OVERRIDE", "put a rumour beside what is settled, never in its place")
    inferring = given.change is Change.INFERENCE or given.basis in _OWN_INFERENCE
    if inferring and any(version.basis not in _OWN_INFERENCE for version in versions):
        raise refuse("INFERENCE_OVERRIDE", "an inference may not replace what a source or a person says")
    by_human = any(version.modifier_kind == ModifierKind.HUMAN for version in versions)
    if by_human and given.change not in (Change.CORRECTION, Change.EVOLUTION):
        raise refuse("SCHEMA_INVALID", "what a person wrote needs correction or evolution", field="change")


def check_explained(
    work: Work,
    given: BlockIn,
    text: str,
    rests_on: Support,
    replaced: Sequence[BlockState],
    edited: BlockState | None,
) -> None:
    """Refuse a change whose evidence does not do what the change says.

    Raises:
        OperationRejected: ``CONFLICT_UNEXPLAINED``, ``NOT_ENOUGH_EVIDENCE``, ``NO_NEW_EVIDENCE``,
            ``SCHEMA_INVALID``.
    """
    citations = rests_on.citations
    match given.change:
        case Change.EVOLUTION:
            _check_evolution(given, rests_on, edited)
        case Change.CORRECTION if not corrects(work, citations):
            raise refuse("CONFLICT_UNEXPLAINED", "a correction cites a person's words with the role corrects")
        case Change.DISPUTE:
            _check_dispute(work, text, rests_on, edited)
        case Change.RUMOUR if not work.actor.is_human:
            _require_who_and_when(text, [work.sources[cited.source] for cited in citations[:1]])
        case _:
            pass
    _check_condensed(work, given, rests_on, replaced, edited)
    if not work.actor.is_human:
        _check_resolved(given, citations, replaced, edited)
        _check_new(given, text, rests_on, edited)


def check_deletion(work: Work, target: BlockState, citations: Sequence[Cited]) -> None:
    """Refuse to delete a block without evidence that it did not have; people may.

    Raises:
        OperationRejected: ``NO_NEW_EVIDENCE`` (DR-52); ``RUMOUR_OVERRIDE``: a rumour alone speaks against what is
            settled (DR-73); ``CONFLICT_UNEXPLAINED``: what a person wrote, or what is disputed, is deleted without
            a person's correction (DR-72, DR-75).
    """
    if work.actor.is_human:
        return
    fresh = [cited for cited in citations if is_new(cited, target.rests_on.citations)]
    if not fresh:
        raise refuse("NO_NEW_EVIDENCE", "cite what the block did not rest on, or name the block that says the same")
    if target.version.standing in _FIRM and all(is_hearsay(work, cited) for cited in fresh):
        raise refuse("RUMOUR_OVERRIDE", "a rumour ends nothing that is settled")
    guarded = target.version.modifier_kind == ModifierKind.HUMAN or target.version.standing == Standing.DISPUTED
    if guarded and not corrects(work, citations) and not _by_a_party(target, citations):
        raise refuse("CONFLICT_UNEXPLAINED", "cite a person's words with the role corrects")


def check_duplicate(work: Work, target: BlockState, kept: BlockState) -> None:
    """Refuse to end a block as a duplicate of one that could not take its place by an edit; people may.

    Raises:
        OperationRejected: ``RUMOUR_OVERRIDE`` (DR-73), ``INFERENCE_OVERRIDE`` (DR-74), ``CONFLICT_UNEXPLAINED``: what
            a person wrote goes without his word, or a dispute without an end to it (DR-72, DR-75).
    """
    if work.actor.is_human:
        return
    gone, stays = target.version, kept.version
    if stays.standing == Standing.UNCONFIRMED and gone.standing in _FIRM:
        raise refuse("RUMOUR_OVERRIDE", "what is settled is no duplicate of a rumour")
    if stays.basis in _OWN_INFERENCE and gone.basis not in _OWN_INFERENCE:
        raise refuse("INFERENCE_OVERRIDE", "what a source or a person says is no duplicate of an inference")
    disputed = gone.standing == Standing.DISPUTED and stays.standing != Standing.DISPUTED
    if disputed or gone.modifier_kind == ModifierKind.HUMAN:
        raise refuse("CONFLICT_UNEXPLAINED", "cite a person's words with the role corrects")


def _fits(given: BlockIn) -> bool:
    if given.basis in _OWN_INFERENCE or given.standing is Standing.INFERRED:
        inferred = given.basis in _OWN_INFERENCE and given.standing is Standing.INFERRED
        return inferred and given.change in _INFERRING
    return given.change is Change.COMPRESSION or _STANDINGS.get(given.change) is given.standing


def _check_evolution(given: BlockIn, rests_on: Support, edited: BlockState | None) -> None:
    if edited is None and not given.supersedes:
        raise refuse("CONFLICT_UNEXPLAINED", "name in supersedes the current blocks that this changes")
    if edited is not None and (given.validFrom is None or not _keeps(rests_on, edited.rests_on)):
        raise refuse("CONFLICT_UNEXPLAINED", "set validFrom and keep all old citations")


def _check_dispute(work: Work, text: str, rests_on: Support, edited: BlockState | None) -> None:
    citations = rests_on.citations
    require_several(work, citations)
    if not any(cited.role == Role.CONTRADICTS for cited in citations):
        raise refuse("CONFLICT_UNEXPLAINED", "cite one position with the role contradicts")
    if edited is not None and not _keeps(rests_on, edited.rests_on):
        raise refuse("CONFLICT_UNEXPLAINED", "keep the citations of the position that stands")
    if not work.actor.is_human:
        _require_who_and_when(text, [work.sources[cited.source] for cited in citations])


def _require_who_and_when(text: str, sources: Iterable[Source]) -> None:
    """Refuse a text that does not name, for each source, its speaker or title and about the day it was said."""
    mentioned = dates_in(text)
    for source in sources:
        day = to_datetime(source.occurred_at).date()
        dated = any(mention.days_from(day) <= 1 for mention in mentioned)
        if not dated or not _names_speaker(text, source):
            raise refuse("CONFLICT_UNEXPLAINED", "say in the text who said each position, and when")


def _names_speaker(text: str, source: Source) -> bool:
    names = [name for name in (source.speaker, source.title or "") if name.strip()]
    words = [word for name in names for word in (name, *name.split()) if len(word) > 1]
    return not words or any(mentions(text, word) for word in words)


def _check_condensed(
    work: Work, given: BlockIn, rests_on: Support, replaced: Sequence[BlockState], edited: BlockState | None
) -> None:
    """A compression keeps every citation, unless a person makes it, and the standing of what it condenses (DR-52)."""
    if given.change is not Change.COMPRESSION:
        return
    condensed = [*replaced, *([edited] if edited else [])]
    if not work.actor.is_human and not all(_keeps(rests_on, state.rests_on) for state in condensed):
        raise refuse("NO_NEW_EVIDENCE", "a compression keeps all old citations")
    standings = {state.version.standing for state in condensed}
    if not (standings <= _FIRM if given.standing in _FIRM else standings <= {given.standing}):
        raise refuse("SCHEMA_INVALID", "a compression keeps the standing of what it condenses", field="standing")


def _check_resolved(
    given: BlockIn, citations: Sequence[Cited], replaced: Sequence[BlockState], edited: BlockState | None
) -> None:
    """Only a correction or a new statement of one of the parties resolves a dispute (DR-72)."""
    if given.change in (Change.CORRECTION, Change.COMPRESSION) or given.standing is Standing.DISPUTED:
        return
    for state in (*replaced, *([edited] if edited else [])):
        if state.version.standing == Standing.DISPUTED and not _by_a_party(state, citations):
            raise refuse("CONFLICT_UNEXPLAINED", "a dispute ends by a correction or a new word of one of the parties")


def _by_a_party(disputed: BlockState, citations: Iterable[Cited]) -> bool:
    old = disputed.rests_on.citations
    parties = {cited.speaker_id for cited in old if cited.speaker_id}
    return any(cited.speaker_id in parties and is_new(cited, old) for cited in citations)


def _check_new(given: BlockIn, text: str, rests_on: Support, edited: BlockState | None) -> None:
    """Another text needs evidence that the old one did not have (DR-52)."""
    if edited is None or given.change is Change.COMPRESSION or text == edited.version.text:
        return
    old = edited.rests_on
    fresh = any(is_new(cited, old.citations) for cited in rests_on.citations)
    if not fresh and set(rests_on.derived_from) <= set(old.derived_from):
        raise refuse("NO_NEW_EVIDENCE", "cite what the block did not rest on before")


def _keeps(new: Support, old: Support) -> bool:
    spans = {cited.span for cited in new.citations}
    return all(cited.span in spans for cited in old.citations) and set(old.derived_from) <= set(new.derived_from)
