"""Where a read runs: a brief one in the event loop, which never waits for a longer one or for a lock. ADR 0011."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from graph.model.edges import EdgeType
from graph.model.nodes.knowledge import Entry
from graph.store.embedded import EmbeddedStore, session
from graph.store.embedded.lane import Lane
from graph.store.embedded.session import Session
from graph.store.port import Reader, Writer
from graph.store.query import Direction, Find, In
from tests.support.builders import World

BRIEF_IN_A_ROW = 16


@pytest.fixture
def visits(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Note each visit to a thread; no read is long because the machine is slow."""
    monkeypatch.setattr(session, "_BRIEF_S", math.inf)
    noted: list[object] = []
    submit = Lane.submit

    def visit(lane: Lane, work: Callable[[], Any]) -> Any:
        noted.append(work)
        return submit(lane, work)

    monkeypatch.setattr(Lane, "submit", visit)
    return noted


async def test_brief_reads_need_no_visit_to_the_thread(
    store: EmbeddedStore, world: World, visits: list[object]
) -> None:
    entry = world.make_entry()
    await store.transact(lambda writer: writer.put([entry]))
    visits.clear()
    async with store.reading() as reader:
        assert await reader.get(world.system, [entry.id]) == {entry.id: entry}
        assert [found.id for found in (await reader.find(world.system, Find(kind=Entry, first=5))).nodes] == [entry.id]
    assert visits == []


async def test_a_transaction_that_reads_little_visits_the_thread_once(
    store: EmbeddedStore, world: World, visits: list[object]
) -> None:
    old, new = world.make_entry(), world.make_entry()
    await store.transact(lambda writer: writer.put([old]))
    visits.clear()

    async def work(writer: Writer) -> None:
        assert await writer.get(world.system, [old.id]) == {old.id: old}
        await writer.put([new])

    await store.transact(work, tx_id="one")
    assert len(visits) == 1, "to commit"
    async with store.reading() as reader:
        assert set(await reader.get(world.system, [old.id, new.id])) == {old.id, new.id}


async def test_a_long_read_runs_in_the_thread_and_is_whole(
    store: EmbeddedStore, world: World, visits: list[object]
) -> None:
    entries = [world.make_entry() for _ in range(600)]
    await store.transact(lambda writer: writer.put(entries))
    visits.clear()
    async with store.reading() as reader:
        found = await reader.find(world.system, Find(kind=Entry))
    assert {entry.id for entry in found.nodes} == {entry.id for entry in entries}
    assert len(visits) == 1


async def test_a_read_of_few_steps_that_takes_long_runs_in_the_thread(
    store: EmbeddedStore, world: World, visits: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows with texts of a megabyte are few steps, and half a second."""
    entries = [world.make_entry() for _ in range(20)]
    await store.transact(lambda writer: writer.put(entries))
    visits.clear()
    for most, expected in ((math.inf, 0), (0.0, 1)):
        monkeypatch.setattr(session, "_BRIEF_S", most)
        async with store.reading() as reader:
            assert len((await reader.find(world.system, Find(kind=Entry))).nodes) == 20
        assert len(visits) == expected


async def test_who_names_much_asks_in_the_thread_at_once(
    store: EmbeddedStore, world: World, visits: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """To write down ten thousand ids for SQLite takes ten milliseconds, before it has taken a step."""
    ids = [world.id("ent", str(n)) for n in range(1_000)]
    begun: list[object] = []
    inside = Session._briefly

    def begin(on: Session, *given: Any) -> Any:
        begun.append(given)
        return inside(on, *given)

    monkeypatch.setattr(Session, "_briefly", begin)

    async def ask(reader: Reader, named: int) -> None:
        some = ids[:named]
        await reader.get(world.system, some)
        await reader.guards(some)
        await reader.audiences(some)
        await reader.edges(world.system, some, [EdgeType.CITES], Direction.OUT)
        await reader.find(world.system, Find(kind=Entry, where=In("name", some)))
        await reader.aggregate(world.system, Entry, In("name", some))

    for named, expected in ((10, (6, 0)), (1_000, (0, 6))):
        begun.clear()
        visits.clear()
        async with store.reading() as reader:
            await ask(reader, named)
        assert (len(begun), len(visits)) == expected


async def test_many_runs_of_one_statement_do_not_make_it_long(
    store: EmbeddedStore, world: World, visits: list[object]
) -> None:
    """SQLite counts the steps of a statement over all its runs."""
    entry = world.make_entry()
    await store.transact(lambda writer: writer.put([entry]))
    visits.clear()
    for _ in range(300):
        async with store.reading() as reader:
            assert await reader.get(world.system, [entry.id])
    assert len(visits) <= 300 // BRIEF_IN_A_ROW, "no more than give others a turn"


async def test_others_get_a_turn_between_many_brief_reads(
    store: EmbeddedStore, world: World, visits: list[object]
) -> None:
    async with store.reading() as reader:
        for _ in range(3 * BRIEF_IN_A_ROW):
            await reader.find(world.system, Find(kind=Entry, first=1))
    assert len(visits) == 2


async def test_the_event_loop_goes_on_while_another_process_holds_the_lock_of_the_file(
    store: EmbeddedStore, path: Path, world: World
) -> None:
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    writing = asyncio.create_task(store.transact(lambda writer: writer.guards([world.make_entry().id])))
    for _ in range(50):
        await asyncio.sleep(0)
    assert not writing.done()
    other.execute("ROLLBACK")
    assert await writing == {}
    other.close()


async def test_a_read_that_was_broken_off_leaves_the_connection_as_it_was(
    store: EmbeddedStore, world: World, visits: list[object]
) -> None:
    """A statement in the thread may take as long as it likes, and waits for locks again."""
    await store.transact(lambda writer: writer.put([world.make_entry() for _ in range(600)]))

    def count(on: Session) -> int:
        return int(
            on.value(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) SELECT count(*) FROM n"
            )
        )

    async with store.reading() as reader:
        await reader.find(world.system, Find(kind=Entry))
        visits.clear()
        assert await reader._session.run(count) == 50_000  # type: ignore[attr-defined]  # of the embedded store
        assert await reader._session.look(count) == 50_000  # type: ignore[attr-defined]
    assert len(visits) == 2
