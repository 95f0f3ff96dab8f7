"""Keyword texts of messages: each alone and with its neighbours, rebuilt when one comes, changes or goes (RE-9).

Their vectors are dropped in the same transaction.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source, SourceKind, SourceState
from graph.rules.changes import text_id
from graph.rules.ingest import Window, in_talk_order, windows
from graph.rules.message_words import message_text
from graph.services.knowledge.message_vectors import drop_vectors
from graph.services.ledger import COMMIT_GUARD
from graph.store.port import Reader, Writer
from graph.store.query import And, By, Eq, Find, Range, TextIndex, TextRow, Where
from graph.text.words import analyze

ALONE = "message"
WINDOW = "window"


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line of talk around messages that change: of one channel, thread and base.

    Attributes:
        changed: as they are afterwards.
        members: the live, latest messages afterwards, in talk order, from two before the first changed one to two
            after the last.
    """

    changed: list[Source]
    members: list[Source]


async def reindex_around(writer: Writer, changed: Collection[Source], language: str) -> int:
    """Rebuild the texts of messages that changed, came or went, and the windows of their neighbours.

    Messages that are no longer live and latest lose their texts; call it after the change was written, with the
    messages as they are now. Returns how many vectors were dropped.
    """
    return await reindex(writer, await lines_around(writer, changed, there=changed), language)


async def lines_around(reader: Reader, changed: Collection[Source], *, there: Collection[Source]) -> list[Line]:
    """Return the lines of talk around messages that change.

    It may be asked before the change is written, which spares a store the reading of what was just written.

    Args:
        reader: of the transaction of the change.
        changed: the messages as they are afterwards.
        there: those of them that the store has now, as they are now.
    """
    by_line: dict[tuple[NodeId | None, NodeId | None, NodeId | None], list[Source]] = {}
    for source in changed:
        if source.kind == SourceKind.MESSAGE:
            by_line.setdefault((source.channel_id, source.thread_id, source.pool), []).append(source)
    present = {source.id for source in there if _is_said(source)}
    return [
        Line(changed=sources, members=await _members(reader, sources, present & {source.id for source in sources}))
        for sources in by_line.values()
    ]


async def line_around(reader: Reader, changed: list[Source]) -> list[Source]:
    """Return the live, latest messages around messages of one line that the store has as they are."""
    (line,) = await lines_around(reader, changed, there=changed)
    return line.members


async def reindex(writer: Writer, lines: Iterable[Line], language: str) -> int:
    """Rebuild the texts of the changed messages of these lines, and the windows of their neighbours.

    Returns how many vectors were dropped.
    """
    dropped = 0
    for line in lines:
        gone = {s.id for s in line.changed} - {s.id for s in line.members}
        await writer.unindex([text_id(source, part) for source in sorted(gone) for part in (ALONE, WINDOW)])
        near = _near(line.members, line.changed)
        rewindowed = [s for s in line.members if s.id in near]
        dropped += await drop_vectors(writer, [*rewindowed, *(s for s in line.changed if s.id in gone)], gone)
        words = {source.id: analyze(message_text(source), default=language) for source in line.members}
        fresh = {s.id for s in line.changed}
        rows = [_alone(s, words[s.id]) for s in line.members if s.id in fresh]
        rows += [_window(window, words) for window in windows(line.members, near)]
        await writer.index(rows)
    return dropped


def _near(line: list[Source], changed: Iterable[Source]) -> set[NodeId]:
    """Return the ids in `line` whose window holds, or held, one of the changed messages."""
    places = {(c.occurred_at, c.seq, c.id) for c in changed}
    near: set[NodeId] = set()
    keys = [(s.occurred_at, s.seq, s.id) for s in line]
    for place in places:
        at = bisect_left(keys, place)
        near.update(s.id for s in line[max(at - 1, 0) : at + 2])
    return near


async def _members(reader: Reader, changed: list[Source], present: Collection[NodeId]) -> list[Source]:
    ordered = in_talk_order(changed)
    first, last = ordered[0], ordered[-1]
    before = _line(first, Range("occurred_at", None, first.occurred_at))
    earlier = await reader.find(
        COMMIT_GUARD, Find(kind=Source, where=before, order=By("occurred_at", descending=True), first=3)
    )
    said = list(filter(_is_said, changed))
    if not present and await _is_end_of_talk(reader, first):
        return in_talk_order([*earlier.nodes, *said])
    inside = _line(first, Range("occurred_at", first.occurred_at, last.occurred_at + 1))
    after = _line(first, Range("occurred_at", last.occurred_at + 1, None))
    others = await _others(reader, inside, {source.id for source in changed}, len(present))
    later = await reader.find(COMMIT_GUARD, Find(kind=Source, where=after, order=By("occurred_at"), first=3))
    return in_talk_order([*earlier.nodes, *others, *said, *later.nodes])


async def _is_end_of_talk(reader: Reader, first: Source) -> bool:
    """True if nothing of the line was said from here on: messages most often come in the order of the talk."""
    following = _line(first, Range("occurred_at", first.occurred_at, None))
    found = await reader.find(COMMIT_GUARD, Find(kind=Source, where=following, order=By("occurred_at"), first=1))
    return not found.nodes


async def _others(reader: Reader, where: Where, changed: Collection[NodeId], present: int) -> Sequence[Source]:
    """Return the messages of a stretch but the changed ones: most often there are none, and a count tells so."""
    if (await reader.aggregate(COMMIT_GUARD, Source, where)).get(None, 0) == present:
        return ()
    found = (await reader.find(COMMIT_GUARD, Find(kind=Source, where=where))).nodes
    return [source for source in found if source.id not in changed]


def _is_said(source: Source) -> bool:
    return source.latest and source.state == SourceState.LIVE


def _line(of: Source, span: Where) -> Where:
    place: list[Where] = [
        Eq("channel_id", of.channel_id),
        Eq("thread_id", of.thread_id),
        Eq("pool", of.pool),
        Eq("kind", SourceKind.MESSAGE),
        Eq("latest", True),
        Eq("state", SourceState.LIVE),
        span,
    ]
    return And(place)


def _alone(source: Source, words: tuple[str, ...]) -> TextRow:
    return _row(source, ALONE, words)


def _window(window: Window, words: dict[NodeId, tuple[str, ...]]) -> TextRow:
    joined = chain.from_iterable([words[member.id] for member in window.members])
    return _row(window.center, WINDOW, tuple(joined))


def _row(source: Source, part: str, words: tuple[str, ...]) -> TextRow:
    assert source.pool is not None
    return TextRow(
        id=text_id(source.id, part),
        index=TextIndex.MESSAGE,
        guard=source.id,
        item=source.id,
        part=part,
        pool=source.pool,
        words=words,
        sort_at=source.occurred_at,
    )
