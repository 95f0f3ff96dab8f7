"""Faults of the disk. Source: AD-39, attack case 9, goals F3."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from graph.model.access import SystemScope
from graph.model.errors import StoreError, StoreReadOnly, StoreUnavailable
from graph.model.fields import Node
from graph.model.nodes.knowledge import Entry
from graph.model.nodes.work import Job
from graph.store.embedded import EmbeddedStore
from graph.store.port import Writer
from graph.store.query import Eq, Find
from tests.support.builders import World, clause, private
from tests.support.clock import FakeClock
from tests.unit.graph.store.embedded.disk import Disk, content, damage, disk_error, disk_full

SYSTEM = SystemScope(reason="test")


@pytest.fixture
async def faulty(path: Path, clock: FakeClock, disk: Disk) -> AsyncIterator[EmbeddedStore]:
    store = EmbeddedStore(path, clock=clock, vfs=disk.name)
    await store.open()
    yield store
    await store.close()


async def put(store: EmbeddedStore, *nodes: Node) -> None:
    await store.transact(lambda writer: writer.put(nodes))


async def entries(store: EmbeddedStore, world: World) -> list[str]:
    async with store.reading() as reader:
        page = await reader.find(world.system, Find(kind=Entry))
    return [entry.id for entry in page.nodes]


async def after_restart(path: Path, clock: FakeClock, world: World) -> list[str]:
    """Return what a process finds that starts while the old one has just died: copies of the files as they are."""
    copy = path.with_name("copy.db")
    for suffix in ("", "-wal"):
        file = path.with_name(path.name + suffix)
        if file.exists():
            copy.with_name(copy.name + suffix).write_bytes(file.read_bytes())
    store = EmbeddedStore(copy, clock=clock)
    await store.open()
    try:
        return await entries(store, world)
    finally:
        await store.close()


@pytest.mark.parametrize("operation", ["sync", "write"])
async def test_a_failed_commit_is_not_acknowledged_and_writes_are_refused_until_restart(
    faulty: EmbeddedStore, disk: Disk, world: World, path: Path, clock: FakeClock, operation: str
) -> None:
    first, second, third = world.make_entry(), world.make_entry(), world.make_entry()
    await put(faulty, first)
    with disk.failing(operation, "wal", disk_error), pytest.raises(StoreReadOnly):
        await put(faulty, second)
    written = len(disk.seen)
    with pytest.raises(StoreReadOnly):
        await put(faulty, third)
    assert ("sync", "wal") not in disk.seen[written:], "a failed sync must not be tried again"
    assert await entries(faulty, world) == [first.id]
    assert await after_restart(path, clock, world) == [first.id]


async def test_what_a_failed_sync_left_in_a_log_that_starts_anew_is_not_taken_for_committed(
    faulty: EmbeddedStore, disk: Disk, world: World, path: Path, clock: FakeClock
) -> None:
    many = [world.make_entry(name="x" * 2_000) for _ in range(50)]
    await put(faulty, *many)
    [session] = [session for session in faulty._sessions if session.writing]
    session.db.wal_checkpoint()
    with disk.failing("sync", "wal", disk_error, spare=1), pytest.raises(StoreReadOnly):  # the first is its header's
        await put(faulty, world.make_entry())
    assert sorted(await after_restart(path, clock, world)) == sorted(entry.id for entry in many)


async def test_the_store_takes_writes_again_after_a_restart(
    faulty: EmbeddedStore, disk: Disk, world: World, path: Path, clock: FakeClock
) -> None:
    first, second = world.make_entry(), world.make_entry()
    await put(faulty, first)
    with disk.failing("sync", "wal", disk_error), pytest.raises(StoreReadOnly):
        await put(faulty, second)
    assert not (await faulty.health()).ready
    await faulty.close()
    await faulty.open()
    await put(faulty, second)
    assert await entries(faulty, world) == [first.id, second.id]
    assert (await faulty.health()).ready


async def test_a_failed_checkpoint_refuses_writes_and_loses_nothing(
    faulty: EmbeddedStore, disk: Disk, world: World, path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.store.embedded.store._CHECKPOINT_PAGES", 1)
    first, second = world.make_entry(), world.make_entry()
    with disk.failing("sync", "db", disk_error):
        await put(faulty, first)
        with pytest.raises(StoreReadOnly):
            await put(faulty, second)
    await faulty.close()
    await faulty.open()
    assert await entries(faulty, world) == [first.id]


async def test_a_full_disk_is_told_and_the_next_write_may_succeed(
    faulty: EmbeddedStore, disk: Disk, world: World
) -> None:
    first, second = world.make_entry(), world.make_entry()
    with disk.failing("write", "wal", disk_full), pytest.raises(StoreUnavailable, match="disk is full"):
        await put(faulty, first)
    assert await entries(faulty, world) == []
    await put(faulty, second)
    assert await entries(faulty, world) == [second.id]


async def test_a_full_disk_keeps_no_store_from_being_opened_and_read(
    faulty: EmbeddedStore, disk: Disk, world: World, clock: FakeClock
) -> None:
    """What a dead owner had begun is then taken up when its lease ends."""
    entry, job = world.make_entry(), world.make_job(state="queued", due_at=clock.now())
    await put(faulty, entry, job)

    async def claimed() -> Job | None:
        return await faulty.transact(lambda writer: writer.claim([job.kind], "one", clock.now(), 600_000))

    assert await claimed() is not None
    await faulty.close()
    with disk.failing("write", "wal", disk_full):
        await faulty.open()
    assert await entries(faulty, world) == [entry.id]
    assert await claimed() is None
    clock.advance(timedelta(minutes=10))
    assert await claimed() is not None


async def test_a_step_that_failed_cannot_be_committed_by_work_that_goes_on(
    faulty: EmbeddedStore, disk: Disk, world: World
) -> None:
    nodes = [world.make_entry(name="x" * 40_000) for _ in range(1_200)]

    async def work(writer: Writer) -> None:
        await writer.put(nodes)  # more than the page cache holds, so it spills into the log
        with disk.failing("write", "wal", disk_full), pytest.raises(StoreUnavailable):
            await writer.get(SYSTEM, [nodes[0].id])  # asks, so that what waits is written
        await writer.put([world.make_entry()])

    with pytest.raises(StoreUnavailable):
        await faulty.transact(work)
    assert await entries(faulty, world) == []


@pytest.mark.req("KN-114")
async def test_what_a_full_disk_undid_is_not_taken_for_there(faulty: EmbeddedStore, disk: Disk, world: World) -> None:
    """Rules and clauses have numbers that are remembered: those of a lost commit are given to others."""
    lost, one, other = world.make_entry(), world.make_entry(), world.make_entry()
    with disk.failing("write", "wal", disk_full), pytest.raises(StoreUnavailable):
        await world.write(faulty, lost, clauses=[clause(private("one"))])
    await world.write(faulty, other, clauses=[clause(private("other"))])
    await world.write(faulty, one, clauses=[clause(private("one"))])
    async with faulty.reading() as reader:
        for name, seen in (("one", one), ("other", other)):
            page = await reader.find(world.viewer(private(name)), Find(kind=Entry))
            assert [entry.id for entry in page.nodes] == [seen.id]


async def test_a_read_that_failed_keeps_work_that_goes_on_from_being_committed(
    faulty: EmbeddedStore, disk: Disk, world: World
) -> None:
    """It may make room in the page cache by writing; if the disk is full, SQLite undoes the whole transaction."""
    before, half = [world.make_entry(name="x" * 8_000) for _ in range(40)], world.make_entry()
    [session] = [session for session in faulty._sessions if session.writing]
    session.db.pragma("cache_size", 10)
    await put(faulty, *before)

    async def work(writer: Writer) -> None:
        await writer.patch_where(Entry, Eq("workspace", world.workspace), {"type": "new"})
        with disk.failing("write", "wal", disk_full), pytest.raises(StoreUnavailable, match="disk is full"):
            await writer.find(world.system, Find(kind=Entry))
        await writer.put([half])

    with pytest.raises(StoreUnavailable):
        await faulty.transact(work)
    assert half.id not in await entries(faulty, world)


async def test_writes_that_wait_are_not_lost_if_the_transaction_cannot_begin(
    faulty: EmbeddedStore, world: World, path: Path
) -> None:
    [session] = [session for session in faulty._sessions if session.writing]
    session.db.set_busy_timeout(1)
    other = apsw.Connection(str(path))

    async def work(writer: Writer) -> None:
        await writer.put([world.make_entry()])
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable):
            await writer.find(world.system, Find(kind=Entry))
        other.execute("ROLLBACK")

    with pytest.raises(StoreUnavailable):
        await faulty.transact(work)
    other.close()
    assert await entries(faulty, world) == []


async def test_a_failed_read_is_told_and_does_not_stop_writes(faulty: EmbeddedStore, disk: Disk, world: World) -> None:
    await put(faulty, *[world.make_entry(name="x" * 8_000) for _ in range(20)])
    with disk.failing("read", "wal", disk_error), pytest.raises(StoreUnavailable):
        await entries(faulty, world)
    assert len(await entries(faulty, world)) == 20
    await put(faulty, world.make_entry())


async def test_a_damaged_file_is_told_and_left_as_it_is(path: Path, clock: FakeClock) -> None:
    before = damage(path)
    with pytest.raises(StoreError, match="damaged"):
        await EmbeddedStore(path, clock=clock).open()
    assert content(path) == before


async def test_another_programs_database_is_refused(path: Path, clock: FakeClock) -> None:
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE theirs(a)")
    db.close()
    before = content(path)
    with pytest.raises(StoreError, match="no Rootward store"):
        await EmbeddedStore(path, clock=clock).open()
    assert content(path) == before
