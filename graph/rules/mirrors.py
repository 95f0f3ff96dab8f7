"""A document of a connector as a read-only entry: its paragraphs, replaced as a whole when it changed. Pure.

The entry cites its document in every block and in its name, so it is there as long as the document is (MA-24), and
keeps its id over all versions, so that relations to it stay. Source: MA-21, MA-22, KN-11.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from graph.model.edges import Edge, EdgeType
from graph.model.errors import UnsupportedType
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Basis, Entry, FacetField, Standing
from graph.model.nodes.learning import Mirror
from graph.rules.audit_operations import AuditOperation
from graph.rules.images import mirror_image
from graph.rules.names import normalised_name
from graph.rules.operations.block_places import GAP
from graph.rules.operations.block_writing import end_block, make_block
from graph.rules.operations.content import BlockContent
from graph.rules.operations.drafting import draft
from graph.rules.operations.entries import shown_by
from graph.rules.operations.entry_writing import next_entry_version, place_entry, with_first_version
from graph.rules.operations.evidence import around
from graph.rules.operations.facet_writing import end_facet, make_facet
from graph.rules.operations.limits import MAX_NAME
from graph.rules.operations.naming import take_name
from graph.rules.operations.schema_values import Change
from graph.rules.operations.state import Cited, EntryState, FacetState, Support
from graph.rules.operations.work import Work
from graph.rules.submissions import MAX_PARAGRAPHS, TYPE
from graph.text.paragraphs import MAX_PARAGRAPH, Paragraph, cut_paragraphs, leading_quote
from graph.text.quotes import MIN_QUOTE_CHARACTERS, normalise_source

ORIGIN: Final = "mirror"
LIVE: Final = "live"
WITHDRAWN: Final = "withdrawn"
REFUSED: Final = "refused"
MISSES_OF_LOSS: Final = 2
"""So many explicit answers in a row that a document is gone or forbidden are its loss (MA-25)."""
_NAME_TRIES: Final = 1_000


def paragraphs_of_document(text: str) -> list[Paragraph]:
    """Return the paragraphs of a document; short ones stand together where there are very many.

    Raises:
        UnsupportedType: ``too_large``: it does not fit into an entry even so.
    """
    found = cut_paragraphs(text)
    if len(found) > MAX_PARAGRAPHS:
        found = list(_packed(found, normalise_source(text)))
    if len(found) > MAX_PARAGRAPHS:
        raise UnsupportedType("the document is too long for an entry: split it", reason="too_large")
    return found


def names_for(title: str | None, external_id: str) -> Iterator[str]:
    """Yield names for a mirror, the best first: what the document calls itself, then with where it lies.

    >>> names = names_for("Plan", "docs/plan.md")
    >>> next(names), next(names), next(names)
    ('Plan', 'Plan (docs/plan.md)', 'Plan (docs/plan.md) 2')
    """
    shown = " ".join((title or external_id).split())[:MAX_NAME].strip() or "document"
    where = external_id[-(MAX_NAME // 2) :]
    longer = f"{shown[: MAX_NAME - len(where) - 10]} ({where})"
    yield shown
    yield longer
    yield from (f"{longer} {number}" for number in range(2, _NAME_TRIES))


def write_mirror(
    work: Work, source: Source, paragraphs: Sequence[Paragraph], names: Iterable[str], old: tuple[Mirror, Source] | None
) -> NodeId:
    """Put a document into its mirror, a new one or the whole of the old one; return the entry.

    Args:
        work: knows who has the names, and the old entry with its blocks.
        source: the new version of the document.
        paragraphs: of its text.
        names: candidates, the best first; the first that no other live entry has is taken.
        old: what is known of the document and its latest version, if it has a mirror that can be written again.
    """
    entry = old[0].entry_id if old else None
    state = work.entries.get(entry) if entry else None
    name = _free_name(work, names, state)
    made = (
        _created(work, source, paragraphs, name) if state is None else _replaced(work, state, source, paragraphs, name)
    )
    derived = Edge(type=EdgeType.DERIVED_FROM, source=made.id, target=source.id)
    work.changes.links.append(derived)
    if state is not None and old is not None:
        work.changes.unlinks.append(replace(derived, target=old[1].id))
    before = None
    if old is not None:
        before = mirror_image(state=old[0].state, source_id=old[1].id, source_version=old[1].source_version)
    after = mirror_image(state=LIVE, source_id=source.id, source_version=source.source_version)
    draft(work, AuditOperation.MIRROR_SYNC, made.id, before=before, after=after)
    return made.id


def _created(work: Work, source: Source, paragraphs: Sequence[Paragraph], name: str) -> EntryState:
    id_ = work.new_id(Entry.PREFIX)
    entry = place_entry(work, id_, name, TYPE, origin=ORIGIN, read_only=True)
    named = _named(work, id_, name, _cited(source, paragraphs[0]))
    _put_blocks(work, id_, source, paragraphs)
    state = with_first_version(work, entry, named)
    work.entries[id_] = state
    return state


def _replaced(work: Work, state: EntryState, source: Source, paragraphs: Sequence[Paragraph], name: str) -> EntryState:
    for block in work.blocks_of(state.id):
        end_block(work, block)
    _put_blocks(work, state.id, source, paragraphs)
    end_facet(work, state.name)
    work.changes.unlinks.append(shown_by(state.id, state.name))
    named = _named(work, state.id, name, _cited(source, paragraphs[0]))
    work.changes.touched.add(state.id)
    live_name = take_name(work, state.id, name, old=state.entry.name)
    entry = replace(state.entry, name=name, live_name=live_name)
    return next_entry_version(work, replace(state, entry=entry, name=named))


def _named(work: Work, entry: NodeId, name: str, rests_on: Cited) -> FacetState:
    facet = make_facet(work, entry, FacetField.NAME, name, Support(citations=(rests_on,)))
    work.changes.links.append(shown_by(entry, facet))
    return facet


def _put_blocks(work: Work, entry: NodeId, source: Source, paragraphs: Sequence[Paragraph]) -> None:
    for number, paragraph in enumerate(paragraphs, start=1):
        content = BlockContent(
            text=paragraph.text,
            basis=Basis.STATED,
            standing=Standing.SETTLED,
            change=Change.ADDITION,
            rests_on=Support(citations=(_cited(source, paragraph),)),
        )
        make_block(work, entry, content, GAP * number)


def _cited(source: Source, paragraph: Paragraph) -> Cited:
    length = max(len(leading_quote(paragraph.text)), MIN_QUOTE_CHARACTERS)
    return around(source, paragraph.start, min(paragraph.end, paragraph.start + length))


def _free_name(work: Work, names: Iterable[str], own: EntryState | None) -> str:
    last = ""
    for name in names:
        last = name
        owner = work.names.get(normalised_name(name))
        if owner is None or not owner.live or (own is not None and owner.entry == own.id):
            return name
    return f"{last[: MAX_NAME - 30]} {work.new_id('n')}"


def _packed(paragraphs: Sequence[Paragraph], whole: str) -> Iterator[Paragraph]:
    """Yield neighbours together as long as they fit into one block."""
    start, end = paragraphs[0].start, paragraphs[0].end
    for paragraph in paragraphs[1:]:
        if paragraph.end - start > MAX_PARAGRAPH:
            yield Paragraph(text=whole[start:end], start=start, end=end)
            start = paragraph.start
        end = paragraph.end
    yield Paragraph(text=whole[start:end], start=start, end=end)
