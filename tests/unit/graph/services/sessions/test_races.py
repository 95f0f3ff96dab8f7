"""Edits at the same time, and reads while somebody edits (SM-57, SM-25); where it differs by store, on Neo4j too."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from graph.model.errors import SurfaceConflict
from graph.rules.session_memory import Seen
from graph.services.access.session import read
from graph.services.deps import Deps
from graph.services.sessions.commands import remember
from graph.services.sessions.memory import SessionMemoryView, session_memory
from graph.services.sessions.state import count_active
from tests.support.committed_reads import CommittedReads
from tests.support.profile import sized
from tests.support.session_room import SessionRoom
from tests.unit.graph.services.sessions.test_host import chain_of

ENGINES = ["memory", "embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)]
ROUNDS = sized(small=4, full=100)
AT_ONCE = 4


@pytest.mark.req("SM-25", "SM-57")
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_of_edits_at_the_same_time_exactly_one_succeeds(room: SessionRoom) -> None:
    await room.make()
    for turn in range(ROUNDS):
        seen = await room.seen()
        done = await asyncio.gather(*(_edited(room, seen, f"k{turn}-{number}") for number in range(AT_ONCE)))
        assert sorted(done) == ["done"] + ["stale"] * (AT_ONCE - 1)
        session = await room.session()
        assert session.revision == turn + 1
        assert session.depth == turn + 1
    async with room.world.deps.store.reading() as reader:
        assert await count_active(reader, room.id("ses_41")) == ROUNDS
    assert [record.seq for record in await chain_of(room)] == list(range(1, ROUNDS + 2))


async def _edited(room: SessionRoom, seen: Seen, key: str) -> str:
    try:
        await room.as_ana(lambda cmd: remember(cmd, room.id("ses_41"), seen, key=key, content="c", kind="fact"))
    except SurfaceConflict as conflict:
        return conflict.reason
    return "done"


@pytest.mark.req("SM-25")
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_items_and_learning_at_the_same_time_each_count_once(room: SessionRoom) -> None:
    await room.make()
    await room.say("i-0")
    deeds = [room.say(f"i-{n}") for n in range(1, 5)]
    await asyncio.gather(*deeds, room.learn(processed=["i-0"]))
    session = await room.session()
    assert (session.revision, session.depth) == (6, 5)


@pytest.mark.req("SM-20", "SM-25")
async def test_a_read_on_a_store_without_snapshots_is_of_one_revision(room: SessionRoom, deps: Deps) -> None:
    """Between any two calls of the read an edit may commit: what is told then is of one revision all the same."""
    await room.make()
    for number in range(3):
        await room.remember(f"k{number}")
    calls = await _calls_of(room, deps)
    assert calls > 5
    for at in range(1, calls + 1):
        store = CommittedReads(deps.store)
        store.at, store.then = at, _edit(room, at)
        view = await _read(room, replace(deps, store=store))
        # Each edit adds an item that is read, and so one revision: mixed states would differ.
        assert len(view.processed) == view.session.revision
        assert {source for fact in view.entries.values() for source in fact.sources} <= set(view.processed)


def _edit(room: SessionRoom, number: int) -> Callable[[], Awaitable[None]]:
    async def edit() -> None:
        await room.remember(f"k{number % 3}", f"content {number}")

    return edit


async def _calls_of(room: SessionRoom, deps: Deps) -> int:
    store = CommittedReads(deps.store)
    await _read(room, replace(deps, store=store))
    return store.calls


async def _read(room: SessionRoom, deps: Deps) -> SessionMemoryView:
    caller = room.world.caller(room.world.ana)
    view, _ = await read(deps, caller, lambda reading: session_memory(reading, room.id("ses_41")))
    return view
