"""Purging a pool by one service tag: blind, for good, with everything that was concluded (BM-154 to BM-161).

Only tags and links are looked at. Read positions stay, so that the same items are not learned anew.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from graph.model.access import SystemScope
from graph.model.edges import LAW_EDGES
from graph.model.ids import NodeId
from graph.model.nodes.bots import BotEntry, BotLogRow, BotPool
from graph.rules.bot_entries import check_purge_tag
from graph.services.access.commands import Command
from graph.services.bots.call_log import forget_calls_about
from graph.services.bots.commands import own_step
from graph.services.bots.pool import hold_pool, own_bot_of
from graph.services.bots.records import forget_records_about
from graph.services.bots.write import record
from graph.store.port import Reader, Writer
from graph.store.query import And, Contains, Direction, Eq, Find, In, Or

BLIND: Final = SystemScope(reason="a purge looks at tags and links alone")


async def purge(cmd: Command, bot_id: NodeId, tag: str) -> int:
    """Delete the entries of every status that have a tag, or had it until somebody left, and what rests on them.

    Returns how many there were, those that the caller could never see included.

    Raises:
        MissingObject: ``BotNotFound``.
        Forbidden: no `write`, or a linked bot.
        InvalidRequest: the tag is not one that a purge takes (BM-158).
    """
    bot = await own_bot_of(cmd.writer, cmd.facts, bot_id)
    check_purge_tag(tag)
    pool = await hold_pool(cmd.writer, bot, cmd.at)
    gone = await _with_dependents(cmd.writer, pool.id, await _tagged(cmd.writer, pool.id, tag))
    if gone:
        await _delete(cmd.writer, gone)
        await forget_calls_about(cmd.writer, bot.home, gone)
        await forget_records_about(cmd.writer, pool.id, gone)
        pool = await _move(cmd.writer, pool)
    step = own_step(cmd, "bot.purge", {"tag": tag, "deleted": len(gone)})
    await record(cmd.writer, cmd.deps, pool, step, (), tx_id=cmd.tx_id, at=cmd.at)
    return len(gone)


async def _tagged(reader: Reader, pool: NodeId, tag: str) -> list[NodeId]:
    has = Or((Contains("tags", tag), Contains("removed_tags", tag)))
    page = await reader.find(BLIND, Find(kind=BotEntry, where=And((Eq("pool", pool), has))))
    return [entry.id for entry in page.nodes]


async def _with_dependents(reader: Reader, pool: NodeId, entries: Sequence[NodeId]) -> list[NodeId]:
    """Return the entries and all of the pool that rests on them at any depth, tagged alike or not (BM-155)."""
    if not entries:
        return []
    reached = await reader.closure(entries, LAW_EDGES, Direction.IN)
    guards = await reader.guards(list(reached.depths))
    return sorted(id_ for id_, guard in guards.items() if guard.pool == pool and guard.kind == BotEntry.__name__)


async def _delete(writer: Writer, entries: Collection[NodeId]) -> None:
    """Delete entries with links, access records, exclusions and log rows."""
    rows = await writer.find(BLIND, Find(kind=BotLogRow, where=In("entry_id", list(entries))))
    await writer.delete([*entries, *(row.id for row in rows.nodes)])


async def _move(writer: Writer, pool: BotPool) -> BotPool:
    version = await writer.increment(pool.id, "version")
    access = await writer.increment(pool.id, "access_version")
    return replace(pool, version=version, access_version=access)
