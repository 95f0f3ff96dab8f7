"""From a candidate to its text: an entry with its blocks, an episode with its messages, a thread as a whole, a message
between its neighbours.

Only chosen candidates are expanded, several at once in a constant number of round trips (RE-20 to RE-24).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graph.model.access import Viewer
from graph.model.fields import Node
from graph.model.ids import GlobalId, NodeId
from graph.model.nodes.evidence import Episode, Source, SourceKind
from graph.model.time import render
from graph.rules.ingest import in_talk_order
from graph.rules.knowledge_settings import Settings
from graph.rules.packing import Item, Part
from graph.rules.ranking import ItemKind
from graph.services.access.session import Session
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.entries import entry_views
from graph.services.knowledge.views import BlockView, CitationView, EntryView
from graph.services.learning.episode_messages import episode_messages
from graph.services.search.facts import behind_judgements, citations_of, fact_line
from graph.services.search.values import Candidate
from graph.store.query import And, By, Eq, Find, In, Range, Where
from graph.text.words import best_match

QUOTE_CHARACTERS = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Expanded:
    """A candidate with its text in parts and what its statements say about themselves."""

    candidate: Candidate
    item: Item
    sources: tuple[CitationView, ...]
    standing: str | None = None
    authority: str | None = None
    stale: bool = False


async def expand(
    session: Session, viewer: Viewer, chosen: Sequence[Candidate], words: Sequence[str], settings: Settings
) -> list[Expanded]:
    """Return the chosen candidates with their texts, in their order; one whose text is hidden is left out."""
    entries = [c.id for c in chosen if c.kind is ItemKind.ENTRY]
    views = await entry_views(session, entries) if entries else {}
    blocks = await blocks_of(session, list(views)) if views else {}
    behind = await behind_judgements(session, (b.current for of in blocks.values() for b in of if b.current))
    messages = [c for c in chosen if c.kind is ItemKind.MESSAGE]
    threads = await _threads(session, viewer, messages)
    neighbours = await _neighbours(session, viewer, messages, settings["search.neighbours"])
    talks = await episode_messages(session, [c.id for c in chosen if c.kind is ItemKind.EPISODE])
    found: list[Expanded] = []
    for candidate in chosen:
        if candidate.kind is ItemKind.MESSAGE:
            talk = threads.get(candidate.node.thread_id) or neighbours.get(candidate.id, [candidate.node])
            found.append(_message(candidate, talk, words))
        elif candidate.kind is ItemKind.EPISODE:
            found.append(_episode(candidate, talks[candidate.id], words))
        elif candidate.id in views:
            found.append(_entry(candidate, views[candidate.id], blocks.get(candidate.id, ()), words, behind))
    return found


def public_ref(node: Node) -> str:
    """Return the ref of a result as clients know it: it stands in texts, where no transport would turn it."""
    return GlobalId(kind=type(node).__name__, workspace=node.workspace, node=node.id).encode()


def message_line(source: Source) -> str:
    """Return a message as it is shown: when, who, what."""
    who = source.speaker or ("agent" if source.speaker_is_agent else "someone")
    return f"[{render(source.occurred_at)[:16].replace('T', ' ')}] {who}: {source.text}"


def as_citation(source: Source) -> CitationView:
    """Return a message as the source of itself."""
    quote = source.text[:QUOTE_CHARACTERS]
    return CitationView(
        source=source,
        quote=quote,
        start=0,
        end=len(quote),
        role="supports",
        speaker_id=source.author_id,
        said_at=source.occurred_at,
    )


def _entry(
    candidate: Candidate,
    view: EntryView,
    blocks: Sequence[BlockView],
    words: Sequence[str],
    behind: Mapping[NodeId, Sequence[CitationView]],
) -> Expanded:
    matched = set(candidate.matched)
    shown = [b for b in blocks if b.current is not None]
    first = [b for b in shown if b.current is not None and b.current.node.id in matched]
    ordered = [*first, *(b for b in shown if b not in first)]
    current = [b.current for b in ordered if b.current is not None]
    parts = [Part(text=_heading(view), matched=not first)]
    if view.summary:
        parts.append(Part(text=view.summary))
    parts += [
        Part(
            text=fact_line(c),
            matched=c.node.id in matched,
            focus=best_match(c.node.text, words) if c.node.id in matched else 0,
        )
        for c in current
    ]
    lead = current[0].node if current else None
    return Expanded(
        candidate=candidate,
        item=Item(ref=public_ref(candidate.node), parts=tuple(parts)),
        sources=_distinct(citations_of(current, behind)),
        standing=lead.standing if lead else None,
        authority=next((c.node.authority for c in current if c.node.authority), None),
        stale=any(c.stale for c in current),
    )


def _heading(view: EntryView) -> str:
    also = f" (also: {', '.join(view.aliases)})" if view.aliases else ""
    return f"{view.name} [{view.type}]{also}"


def _distinct(citations: Iterable[CitationView]) -> tuple[CitationView, ...]:
    return tuple({(c.source.id, c.start, c.end, c.role): c for c in citations}.values())


def episode_heading(episode: Episode) -> str:
    """Return what an episode is about and when it was; what was said stands in its messages (DR-23)."""
    return f"{episode.topic} ({render(episode.from_at)[:10]} to {render(episode.to_at)[:10]})\n{episode.summary}"


def _episode(candidate: Candidate, talk: Sequence[Source], words: Sequence[str]) -> Expanded:
    """Return an episode with its original messages; the summary alone is no item (RE-21, RE-24)."""
    heading = Part(text=episode_heading(candidate.node), own=False, matched=True)
    lines = [(source, message_line(source)) for source in talk]
    said = [Part(text=line, message_id=source.id, focus=best_match(line, words)) for source, line in lines]
    item = Item(ref=public_ref(candidate.node), parts=(heading, *said))
    return Expanded(candidate=candidate, item=item, sources=tuple(map(as_citation, talk)))


def _message(candidate: Candidate, talk: Sequence[Source], words: Sequence[str]) -> Expanded:
    parts = tuple(_part(source, candidate, words) for source in talk)
    return Expanded(
        candidate=candidate,
        item=Item(ref=public_ref(candidate.node), parts=parts),
        sources=(as_citation(candidate.node),),
    )


def _part(source: Source, candidate: Candidate, words: Sequence[str]) -> Part:
    line, own = message_line(source), source.id == candidate.id
    return Part(text=line, message_id=source.id, own=own, matched=own, focus=best_match(line, words) if own else 0)


async def _threads(session: Session, viewer: Viewer, messages: Sequence[Candidate]) -> Mapping[NodeId, list[Source]]:
    """Return the whole visible threads of the messages that have one, in time order."""
    wanted = sorted({c.node.thread_id for c in messages if c.node.thread_id})
    if not wanted:
        return {}
    page = await session.page(Find(kind=Source, where=_talk(In("thread_id", wanted))), viewer)
    threads: dict[NodeId, list[Source]] = {}
    for source in in_talk_order(page.nodes):
        threads.setdefault(NodeId(str(source.thread_id)), []).append(source)
    return threads


async def _neighbours(
    session: Session, viewer: Viewer, messages: Sequence[Candidate], each_side: int
) -> Mapping[NodeId, list[Source]]:
    """Return each message without a thread between its neighbours of the same channel, in time order.

    Neighbours are the nearest by arrival. They are fetched by their numbers, one read a channel; where others stand
    between (threads, hidden ones) a wider read follows, and what is missing even then is read on its own.
    """
    alone = [c.node for c in messages if not c.node.thread_id] if each_side else []
    found: dict[NodeId, list[Source]] = {}
    for channel in dict.fromkeys(m.channel_id for m in alone):
        line = _Line(session, viewer, channel, each_side)
        of_channel = [m for m in alone if m.channel_id == channel]
        sides = await line.around(of_channel)
        for message in of_channel:
            before, after = sides[message.id]
            found[message.id] = in_talk_order({s.id: s for s in (*before, message, *after)}.values())
    return found


_Sides = tuple[list[Source], list[Source]]


@dataclass(frozen=True, slots=True)
class _Line:
    """The messages of a channel outside of threads, by their numbers."""

    session: Session
    viewer: Viewer
    channel: NodeId | None
    each_side: int

    async def around(self, messages: Sequence[Source]) -> Mapping[NodeId, _Sides]:
        """Return the neighbours of each message before and after it."""
        found: dict[NodeId, _Sides] = {}
        for reach in (self.each_side, 4 * self.each_side):
            missing = [m for m in messages if m.id not in found or not self._is_full(m, found[m.id])]
            if missing:
                near = await _near(self.session, self.viewer, self.channel, missing, reach)
                found |= {m.id: _sides(near, m, reach, self.each_side) for m in missing}
        return {m.id: await self._filled(m, found[m.id]) for m in messages}

    def _is_full(self, message: Source, sides: _Sides) -> bool:
        return self._has_before(message, sides[0]) and len(sides[1]) >= self.each_side

    def _has_before(self, message: Source, before: Sequence[Source]) -> bool:
        return len(before) >= min(self.each_side, message.seq - 1)

    async def _filled(self, message: Source, sides: _Sides) -> _Sides:
        before, after = sides
        if not self._has_before(message, before):
            before = await _side(self.session, self.viewer, message, self.each_side, descending=True)
        if len(after) < self.each_side:
            after = await _side(self.session, self.viewer, message, self.each_side, descending=False)
        return before, after


async def _near(
    session: Session, viewer: Viewer, channel: NodeId | None, messages: Sequence[Source], reach: int
) -> dict[int, Source]:
    numbers = sorted({n for m in messages for n in range(max(m.seq - reach, 0), m.seq + reach + 1)})
    where = _talk(Eq("channel_id", channel), Eq("thread_id", None), In("seq", numbers))
    page = await session.page(Find(kind=Source, where=where), viewer)
    return {source.seq: source for source in page.nodes}


def _sides(line: Mapping[int, Source], message: Source, reach: int, each_side: int) -> _Sides:
    steps = range(1, reach + 1)
    before = [line[message.seq - n] for n in steps if message.seq - n in line][:each_side]
    after = [line[message.seq + n] for n in steps if message.seq + n in line][:each_side]
    return before, after


async def _side(session: Session, viewer: Viewer, message: Source, count: int, *, descending: bool) -> list[Source]:
    span = Range("seq", None, message.seq) if descending else Range("seq", message.seq + 1, None)
    where = _talk(Eq("channel_id", message.channel_id), Eq("thread_id", None), span)
    query = Find(kind=Source, where=where, order=By("seq", descending=descending), first=count)
    return list((await session.page(query, viewer)).nodes)


def _talk(*parts: Where) -> Where:
    return And((Eq("kind", SourceKind.MESSAGE), Eq("latest", True), *parts))
