"""`memoryBrowse`: the whole of what a search cut, page by page and in both directions (RE-34)."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graph.model.access import Viewer
from graph.model.errors import BadInput, CursorInvalid, NotFound
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Conversation, Episode, Source, SourceKind, Thread
from graph.model.nodes.knowledge import Entry
from graph.rules.ingest import in_talk_order
from graph.rules.knowledge_settings import checked
from graph.services.access.session import Session
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.entries import entry_views
from graph.services.knowledge.views import CitationView
from graph.services.learning.episode_messages import episode_messages
from graph.services.search.expand import as_citation, episode_heading, message_line
from graph.services.search.scope import searched
from graph.services.settings import load_settings
from graph.store.query import And, Eq, Find, Where

Counter = Callable[[str], int]


@dataclass(frozen=True, kw_only=True, slots=True)
class BrowsePage:
    """One page of a longer text, with cursors to the pages around it and the sources of what it shows."""

    ref: NodeId
    text: str
    tokens: int
    next: str | None
    previous: str | None
    sources: tuple[CitationView, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Piece:
    """A line that is not torn apart unless it is longer than a page."""

    text: str
    sources: tuple[CitationView, ...] = ()


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
    return _page(session, ref, _torn(session, pieces, page_tokens), start, after, before, page_tokens)


async def _pieces(session: Session, viewer: Viewer, node: Node) -> tuple[list[_Piece], int]:
    """Return the lines of what is opened and the line where reading begins."""
    if isinstance(node, Entry):
        return await _entry_pieces(session, node.id), 0
    if isinstance(node, Thread):
        return await _talk_pieces(session, viewer, Eq("thread_id", node.id)), 0
    if isinstance(node, Conversation):
        return await _talk_pieces(session, viewer, Eq("conversation_id", node.id)), 0
    if isinstance(node, Source) and node.kind == SourceKind.MESSAGE:
        return await _message_pieces(session, viewer, node)
    if isinstance(node, Source):
        return [_Piece(text=line, sources=()) for line in _source_lines(node)], 0
    if isinstance(node, Episode):
        talk = (await episode_messages(session, [node.id]))[node.id]
        return [_Piece(text=episode_heading(node)), *map(_spoken, talk)], 0
    raise NotFound


async def _entry_pieces(session: Session, entry_id: NodeId) -> list[_Piece]:
    view = (await entry_views(session, [entry_id])).get(entry_id)
    if view is None:
        raise NotFound
    pieces = [_Piece(text=f"# {view.name}")]
    if view.summary:
        pieces.append(_Piece(text=view.summary))
    for block in (await blocks_of(session, [entry_id]))[entry_id]:
        if block.current is not None:
            pieces.append(_Piece(text=block.current.node.text, sources=block.current.support.citations))
    return pieces


async def _message_pieces(session: Session, viewer: Viewer, message: Source) -> tuple[list[_Piece], int]:
    """Return the thread of a message from its beginning, or its conversation from the message on."""
    if message.thread_id:
        return await _talk_pieces(session, viewer, Eq("thread_id", message.thread_id)), 0
    talk = await _talk(session, viewer, Eq("conversation_id", message.conversation_id))
    places = [i for i, source in enumerate(talk) if source.series == message.series]
    return [_spoken(source) for source in talk], places[0] if places else 0


async def _talk_pieces(session: Session, viewer: Viewer, where: Where) -> list[_Piece]:
    return [_spoken(source) for source in await _talk(session, viewer, where)]


async def _talk(session: Session, viewer: Viewer, where: Where) -> list[Source]:
    of_talk = And((where, Eq("kind", SourceKind.MESSAGE), Eq("latest", True)))
    page = await session.page(Find(kind=Source, where=of_talk), viewer)
    return in_talk_order(page.nodes)


def _spoken(source: Source) -> _Piece:
    return _Piece(text=message_line(source), sources=(as_citation(source),))


def _source_lines(source: Source) -> list[str]:
    heading = [source.title] if source.title else []
    return [*heading, *(line for line in source.text.split("\n") if line.strip())]


def _torn(session: Session, pieces: Sequence[_Piece], page_tokens: int) -> list[_Piece]:
    """Return the pieces, each small enough for a page of its own."""
    tokenizer = session.deps.tokenizer
    torn: list[_Piece] = []
    for piece in pieces:
        rest = piece.text
        while tokenizer.count(rest) > page_tokens:
            head = tokenizer.cut_to(rest, page_tokens) or rest[:1]
            torn.append(_Piece(text=head, sources=piece.sources))
            rest = rest[len(head) :]
        torn.append(_Piece(text=rest, sources=piece.sources))
    return torn


def _page(
    session: Session,
    ref: NodeId,
    pieces: Sequence[_Piece],
    start: int,
    after: str | None,
    before: str | None,
    page_tokens: int,
) -> BrowsePage:
    count = session.deps.tokenizer.count
    if before is not None:
        end = _place(ref, before, len(pieces))
        first = _back(pieces, end, page_tokens, count)
    else:
        first = _place(ref, after, len(pieces)) if after is not None else start
        end = _forth(pieces, first, page_tokens, count)
    shown = pieces[first:end]
    text = "\n".join(piece.text for piece in shown)
    return BrowsePage(
        ref=ref,
        text=text,
        tokens=count(text),
        next=_cursor(ref, end) if end < len(pieces) else None,
        previous=_cursor(ref, first) if first > 0 else None,
        sources=tuple({(c.source.id, c.start, c.end): c for piece in shown for c in piece.sources}.values()),
    )


def _forth(pieces: Sequence[_Piece], first: int, page_tokens: int, count: Counter) -> int:
    end, spent = first, 0
    while end < len(pieces) and (spent + count(pieces[end].text) <= page_tokens or end == first):
        spent += count(pieces[end].text)
        end += 1
    return end


def _back(pieces: Sequence[_Piece], end: int, page_tokens: int, count: Counter) -> int:
    first, spent = end, 0
    while first > 0 and (spent + count(pieces[first - 1].text) <= page_tokens or first == end):
        spent += count(pieces[first - 1].text)
        first -= 1
    return first


def _cursor(ref: NodeId, place: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([ref, place]).encode()).decode().rstrip("=")


def _place(ref: NodeId, cursor: str, most: int) -> int:
    try:
        of, place = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError, RecursionError) as error:
        raise CursorInvalid("use a cursor of an earlier page of the same ref", field="after") from error
    if of != ref or not isinstance(place, int) or isinstance(place, bool) or not 0 <= place <= most:
        raise CursorInvalid("use a cursor of an earlier page of the same ref", field="after")
    return place
