"""Keyword texts of messages: each alone and with its neighbours, rebuilt when one comes, changes or goes (RE-9).

Their vectors are dropped in the same transaction.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
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


async def reindex_around(writer: Writer, changed: Collection[Source], language: str) -> None:
    """Rebuild the texts of messages that changed, came or went, and the windows of their neighbours.

    Messages that are no longer live and latest lose their texts; call it after the change was written, with the
    messages as they are now.
    """
    by_line: dict[tuple[NodeId | None, NodeId | None, NodeId | None], list[Source]] = {}
    for source in changed:
        if source.kind == SourceKind.MESSAGE:
            by_line.setdefault((source.channel_id, source.thread_id, source.pool), []).append(source)
    for sources in by_line.values():
        await _reindex_line(writer, sources, language)


async def _reindex_line(writer: Writer, changed: list[Source], language: str) -> None:
    line = await line_around(writer, changed)
    gone = {s.id for s in changed} - {s.id for s in line}
    await writer.unindex([text_id(source, part) for source in sorted(gone) for part in (ALONE, WINDOW)])
    near = _near(line, changed)
    await drop_vectors(writer, [*(s for s in line if s.id in near), *(s for s in changed if s.id in gone)], gone)
    words = {source.id: analyze(message_text(source), default=language) for source in line}
    fresh = {s.id for s in changed}
    rows = [_alone(s, words[s.id]) for s in line if s.id in fresh]
    rows += [_window(window, words) for window in windows(line, near)]
    await writer.index(rows)


def _near(line: list[Source], changed: Iterable[Source]) -> set[NodeId]:
    """Return the ids in `line` whose window holds, or held, one of the changed messages."""
    places = {(c.occurred_at, c.seq, c.id) for c in changed}
    near: set[NodeId] = set()
    keys = [(s.occurred_at, s.seq, s.id) for s in line]
    for place in places:
        at = bisect_left(keys, place)
        near.update(s.id for s in line[max(at - 1, 0) : at + 2])
    return near


async def line_around(reader: Reader, changed: list[Source]) -> list[Source]:
    """Return the live, latest messages from two before the first changed one to two after the last."""
    ordered = in_talk_order(changed)
    first, last = ordered[0], ordered[-1]
    inside = _line(first, Range("occurred_at", first.occurred_at, last.occurred_at + 1))
    before = _line(first, Range("occurred_at", None, first.occurred_at))
    after = _line(first, Range("occurred_at", last.occurred_at + 1, None))
    middle = await _between(reader, inside, [s for s in changed if s.latest and s.state == SourceState.LIVE])
    earlier = await reader.find(
        COMMIT_GUARD, Find(kind=Source, where=before, order=By("occurred_at", descending=True), first=3)
    )
    later = await reader.find(COMMIT_GUARD, Find(kind=Source, where=after, order=By("occurred_at"), first=3))
    return in_talk_order([*earlier.nodes, *middle, *later.nodes])


async def _between(reader: Reader, where: Where, known: list[Source]) -> Sequence[Source]:
    """Return the messages of a stretch: most often those at hand are all, and a count tells so for much less."""
    if (await reader.aggregate(COMMIT_GUARD, Source, where)).get(None, 0) == len(known):
        return known
    return (await reader.find(COMMIT_GUARD, Find(kind=Source, where=where))).nodes


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
