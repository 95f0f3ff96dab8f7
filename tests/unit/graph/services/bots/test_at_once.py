"""Changes of one pool that come at once: one after the other, the first use included (BM-23, BM-62)."""

from __future__ import annotations

import asyncio

import pytest

from graph.model.access import SystemScope
from graph.model.errors import SurfaceConflict
from graph.model.nodes.bots import BotPool
from graph.model.nodes.work import AuditRecord
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.bots.commands import Changed, forget, remember
from graph.services.bots.purging import purge
from graph.services.bots.view import memory_of
from graph.store.query import Eq, Find
from tests.support.bot_room import BotRoom

pytestmark = pytest.mark.parametrize(
    "engine", ["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)], indirect=True
)


@pytest.mark.req("BM-23", "BM-62", "BM-146")
async def test_every_change_has_a_version_and_an_audit_record_of_its_own(room: BotRoom) -> None:
    made = await asyncio.gather(*(keep(room, who) for who in ("u_1", "u_2") * 3))
    assert sorted(done.version for done in made) == [1, 2, 3, 4, 5, 6]

    mine = [done.entry["id"] for done, who in zip(made, ("u_1", "u_2") * 3, strict=True) if who == "u_1"]
    left = await asyncio.gather(*(drop(room, id_) for id_ in mine), keep(room, "u_2"), wipe(room, "from:u_1"))

    view, _ = await read(room.deps, room.caller("u_1"), lambda session: memory_of(session, room.bot.id))
    assert view.entries == ()
    forgotten = sum(isinstance(one, Changed) for one in left) - 1
    async with room.deps.store.reading() as reader:
        everything = SystemScope(reason="test", workspace=room.workspace)
        (pool,) = (await reader.find(everything, Find(kind=BotPool))).nodes
        records = (await reader.find(everything, Find(kind=AuditRecord, where=Eq("pool", pool.id)))).nodes
    assert pool.version == view.version == 6 + forgotten + 2
    assert sorted(record.seq for record in records) == list(range(1, pool.audit_seq + 1))
    assert pool.audit_seq == pool.version


async def keep(room: BotRoom, who: str) -> Changed:
    return await command(room.deps, room.caller(who), lambda cmd: remember(cmd, room.bot.id, f"Of {who}."))


async def drop(room: BotRoom, id_: str) -> Changed | None:
    """Forget an entry, or find it purged."""
    try:
        return await command(room.deps, room.caller("u_1"), lambda cmd: forget(cmd, room.bot.id, id_))
    except SurfaceConflict:
        return None


async def wipe(room: BotRoom, tag: str) -> int:
    return await command(room.deps, room.caller("u_9"), lambda cmd: purge(cmd, room.bot.id, tag))
