"""`memoryBrowse`: the whole of what a search cut, page by page and in both directions (RE-34)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from graph.model.access import Viewer
from graph.model.errors import BadInput, NotFound
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Conversation, Episode, Source, SourceKind, Thread
from graph.model.nodes.knowledge import Entry
from graph.rules.ingest import in_talk_order
from graph.rules.knowledge_settings import checked
from graph.services.access.session import Session
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.projection import projections
from graph.services.knowledge.views import CitationView
from graph.services.learning.episode_messages import episode_messages
from graph.services.search.expand import as_citation, episode_heading, message_line
from graph.services.search.facts import behind_judgements, citations_of
from graph.services.search.pages import BODY, HEAD, BrowsePage, Key, Piece, Place, page_of, place_of
from graph.services.search.scope import searched
from graph.services.settings import load_settings
from graph.store.query import And, Eq, Find, Where

_SECTIONS: Final = {"## Facts": BODY, "## Relations": 3, "## Sources": 4}
"""Unescaped headings of a projection: words of others never look like them."""
_LAST: Final = 2**62
"""Behind every position: the place of facts that went since the text was made, where a store has no snapshots."""


async def memory_browse(
    session: Session,
    ref: NodeId,
    *,
    conversation_id: NodeId | None = None,
    after: str | None = None,
    before: str | None = None,
    max_tokens: int | None = None,
) -> BrowsePage:
    """Return a page of an entry, episode, message, thread, conversation, material or source.

    A message opens its thread, or its conversation from the message on; an episode its summary and its messages.

    Raises:
        NotFound: outside the read set, or no such thing.
        CursorInvalid: a cursor of another ref, or a damaged one.
        BadInput: both cursors at once, or a bad page size.
    """
    if after is not None and before is not None:
        raise BadInput("go on after one cursor or before one, not both", field="after")
    settings = await load_settings(session.reader, session.caller.workspace)
    page_tokens = settings["browse.page_tokens"]
    if max_tokens is not None:
        page_tokens = min(page_tokens, int(checked("browse.page_tokens", max_tokens)))
    viewer = session.viewer
    if conversation_id is not None:
        viewer = await searched(session, settings, conversation_id=conversation_id, owner_id=None, kb_ids=None)
    node = (await session.open([ref])).get(ref)
    if node is None or (viewer.pools is not None and node.pool not in viewer.pools):
        raise NotFound
    pieces, start = await _pieces(session, viewer, node)
    cursor = before if after is None else after
    place = start if cursor is None else place_of(ref, cursor, pieces)
    return page_of(ref, pieces, place, page_tokens, session.deps.tokenizer, back=before is not None)


async def _pieces(session: Session, viewer: Viewer, node: Node) -> tuple[list[Piece], Place | None]:
    """Return the lines of what is opened, in order, and the place where reading begins if it is not the first."""
    if isinstance(node, Entry):
        return await _entry_pieces(session, node.id), None
    if isinstance(node, Thread):
        return await _talk_pieces(session, viewer, Eq("thread_id", node.id)), None
    if isinstance(node, Conversation):
        return await _talk_pieces(session, viewer, Eq("conversation_id", node.id)), None
    if isinstance(node, Source) and node.kind == SourceKind.MESSAGE:
        return await _message_pieces(session, viewer, node)
    if isinstance(node, Source):
        return _source_pieces(node), None
    if isinstance(node, Episode):
        talk = (await episode_messages(session, [node.id]))[node.id]
        return [Piece(text=episode_heading(node), key=HEAD), *map(_spoken, talk)], None
    raise NotFound


async def _entry_pieces(session: Session, entry_id: NodeId) -> list[Piece]:
    """Return the Markdown projection, which is the text that agents read (KN-37), with what each fact cites."""
    text = (await projections(session, [entry_id])).get(entry_id)
    if text is None:
        raise NotFound
    shown = {b.node: b.current for b in (await blocks_of(session, [entry_id]))[entry_id] if b.current is not None}
    behind = await behind_judgements(session, shown.values())
    facts = [
        ((BODY, block.position, block.id), tuple(citations_of([version], behind))) for block, version in shown.items()
    ]
    return list(_paragraphs(text, facts))


def _paragraphs(text: str, facts: Iterable[tuple[Key, tuple[CitationView, ...]]]) -> Iterator[Piece]:
    """Yield the paragraphs of a projection, the facts among them under the keys of their blocks."""
    head, *rest = text.rstrip("\n").split("\n\n")
    yield Piece(text=head, key=HEAD)
    section, waiting = 1, iter(facts)
    for place, paragraph in enumerate(rest):
        if paragraph in _SECTIONS:
            section = _SECTIONS[paragraph]
            yield Piece(text=f"\n{paragraph}", key=(section,))
        elif section == BODY:
            key, cited = next(waiting, ((BODY, _LAST, place), ()))
            yield Piece(text=f"\n{paragraph}", key=key, sources=cited)
        else:
            for number, line in enumerate(paragraph.split("\n")):
                yield Piece(text=line if number else f"\n{line}", key=(section, number))


async def _message_pieces(session: Session, viewer: Viewer, message: Source) -> tuple[list[Piece], Place | None]:
    """Return the thread of a message from its beginning, or its conversation from the message on."""
    if message.thread_id:
        return await _talk_pieces(session, viewer, Eq("thread_id", message.thread_id)), None
    talk = await _talk(session, viewer, Eq("conversation_id", message.conversation_id))
    own = [_spoken(source).place for source in talk if source.series == message.series]
    return [_spoken(source) for source in talk], own[0] if own else None


async def _talk_pieces(session: Session, viewer: Viewer, where: Where) -> list[Piece]:
    return [_spoken(source) for source in await _talk(session, viewer, where)]


async def _talk(session: Session, viewer: Viewer, where: Where) -> list[Source]:
    of_talk = And((where, Eq("kind", SourceKind.MESSAGE), Eq("latest", True)))
    page = await session.page(Find(kind=Source, where=of_talk), viewer)
    return in_talk_order(page.nodes)


def _spoken(source: Source) -> Piece:
    key = (BODY, source.occurred_at, source.seq, source.series)
    return Piece(text=message_line(source), key=key, sources=(as_citation(source),))


def _source_pieces(source: Source) -> list[Piece]:
    lines = [line for line in source.text.split("\n") if line.strip()]
    heading = [Piece(text=source.title, key=HEAD)] if source.title else []
    cited = (as_citation(source),)
    return [*heading, *(Piece(text=line, key=(BODY, n), sources=cited) for n, line in enumerate(lines))]
