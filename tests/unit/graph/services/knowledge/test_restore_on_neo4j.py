"""Restore on a real Neo4j: a short history undone exactly, and two restores of one record of which one comes first."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from graph.model.access import SystemScope
from graph.model.errors import RestoreConflict
from graph.model.nodes.work import AuditRecord
from graph.rules.audit_chain import SealedAudit
from graph.rules.audit_following import verify_chain
from graph.services.access.commands import command
from graph.services.knowledge.entries_write import delete_entry
from graph.store.query import By, Eq, Find
from tests.support.clock import FakeClock
from tests.support.operations import apply, block, cite, create, edit, made, on_entry, relate
from tests.support.restoring import ids_of, preview, undo
from tests.support.world import TeamWorld

pytestmark = [pytest.mark.neo4j, pytest.mark.parametrize("engine", ["neo4j"], indirect=True)]

SYSTEM = SystemScope(reason="looking in a test")


@pytest.fixture(autouse=True)
def ticking(world: TeamWorld, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second pass with every look at the clock."""
    monkeypatch.setattr(clock, "now", lambda: clock.advance(timedelta(seconds=1)))


async def trail(world: TeamWorld) -> list[AuditRecord]:
    async with world.deps.store.reading() as reader:
        where = Eq("workspace", world.workspace)
        return list((await reader.find(SYSTEM, Find(kind=AuditRecord, where=where, order=By("seq")))).nodes)


@pytest.mark.req("KN-12", "KN-96", "KN-98", "KN-101")
async def test_a_history_is_undone_and_comes_back(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Orion runs on Postgres. Orion belongs to Helio.", speaker=world.ben)
    first = await apply(
        world,
        create("Orion", block("Runs on Postgres.", cite(source, "Orion runs on Postgres")), aliases=["O"]),
        create("Helio", block("Owns Orion.", cite(source, "Orion belongs to Helio"))),
    )
    orion, helio, text = made(first), made(first, 1), made(first, 0, 1)
    await apply(world, relate(orion, "belongs_to", helio, source, "Orion belongs to Helio"))
    start = len(await trail(world))
    content = block("Ran on MySQL.", cite(source, "Orion runs on Postgres"), change="correction", standing="corrected")
    await apply(world, edit(text, 1, content), by=world.ana)
    await apply(world, on_entry("renameEntry", orion, 1, name="Rigel"), by=world.ana)
    await command(
        world.deps,
        world.caller(world.ana),
        lambda cmd: delete_entry(cmd, orion, expected_version=2, reason="not needed"),
    )
    records = (await trail(world))[start:]
    shown = await preview(world, *ids_of(records))
    done = await undo(world, *ids_of(records), confirmed=shown.preview_hash)
    assert [record.restores_id for record in done.records] == [record.id for record in reversed(records)]
    again = await undo(world, *ids_of(done.records))
    back = await undo(world, *ids_of(again.records))
    assert [record.after for record in back.records] == [record.after for record in done.records]
    assert verify_chain(map(SealedAudit.from_node, await trail(world))).ok


@pytest.mark.req("KN-94", "KN-100")
async def test_of_two_restores_of_one_record_one_comes_through(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Orion runs on Postgres.", speaker=world.ben)
    entry = await apply(world, create("Orion", block("Runs on Postgres.", cite(source, "Orion runs on Postgres"))))
    record = entry.records[0].id
    outcomes = await asyncio.gather(undo(world, record), undo(world, record), return_exceptions=True)
    assert sorted(type(outcome).__name__ for outcome in outcomes) == [RestoreConflict.__name__, "RestoreResult"]
    assert [r.operation for r in await trail(world)] == ["entry.create", "restore"]
