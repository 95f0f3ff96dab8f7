"""The caller's own view of a bot's memory and of its log (BM-136 to BM-143).

Neither `write` on the bot nor owning it opens anything about somebody else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Final

from graph.model.access import SystemScope
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.bots import BotLogRow
from graph.model.time import Millis
from graph.rules.bot_entries import public_entry
from graph.services.access.session import Session
from graph.services.bots.pool import bot_of, find_pool
from graph.services.bots.reading import caller_reads, tagged
from graph.services.bots.write import by_place
from graph.store.query import And, By, Eq, Find, In, Range, Where, both

ROWS: Final = SystemScope(reason="log rows of entries that the reader was found to see")
LOG_LIMIT: Final = 100
MAX_LOG_LIMIT: Final = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryView:
    """What belongs to the caller, in memory order, as clients see it, and the version of the pool."""

    entries: tuple[Json, ...]
    version: int


@dataclass(frozen=True, kw_only=True, slots=True)
class LogChange:
    """One version of the pool, as far as the caller sees its entries: ids in byte order."""

    version: int
    at: Millis
    by: str
    entries: tuple[NodeId, ...]


async def memory_of(session: Session, bot_id: NodeId, tags: Collection[str] = ()) -> MemoryView:
    """Return all entries that the caller may see, those of the past too, with all of `tags` (BM-138, BM-139).

    The version is read first: it may be older than the entries, never newer.

    Raises:
        MissingObject: ``BotNotFound``.
    """
    bot = await bot_of(session.reader, session.facts, bot_id)
    pool = await find_pool(session.reader, bot)
    if pool is None:
        return MemoryView(entries=(), version=0)
    reads = caller_reads(session, bot)
    entries = await reads.entries(tagged(tags))
    return MemoryView(entries=tuple(public_entry(one, reads.open(one)) for one in entries), version=pool.version)


async def log_of(
    session: Session, bot_id: NodeId, *, limit: int = LOG_LIMIT, before: int | None = None
) -> tuple[LogChange, ...]:
    """Return the changes of entries that the caller sees now, newest version first (BM-141, BM-143).

    Args:
        session: of the caller.
        bot_id: the bot.
        limit: at most so many versions.
        before: only versions below this one.

    Raises:
        MissingObject: ``BotNotFound``.
    """
    bot = await bot_of(session.reader, session.facts, bot_id)
    reads = caller_reads(session, bot)
    shown = [entry.id for entry in await reads.entries()]
    rows = await _rows(session, bot.pool, shown, before)
    versions = groupby(rows, key=lambda row: row.version)
    return tuple(_change(session, list(of_version)) for _, of_version in islice(versions, limit))


async def _rows(session: Session, pool: NodeId, entries: Sequence[NodeId], before: int | None) -> tuple[BotLogRow, ...]:
    if not entries:
        return ()
    earlier: Where | None = None if before is None else Range("version", high=before)
    where = both(And((Eq("pool", pool), In("entry_id", entries))), earlier)
    found = await session.reader.find(ROWS, Find(kind=BotLogRow, where=where, order=By("version", descending=True)))
    return found.nodes


def _change(session: Session, rows: Sequence[BotLogRow]) -> LogChange:
    """Return one version; all its rows tell the same maker, so that one of them is opened."""
    first = rows[0]
    return LogChange(
        version=first.version,
        at=first.at,
        by=session.deps.vault.open(by_place(first.workspace, first.id), first.by),
        entries=tuple(sorted(row.entry_id for row in rows)),
    )
