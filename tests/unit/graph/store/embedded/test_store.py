"""The life of a store, and cancellation in front of and inside its connections."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from graph.model import schema
from graph.model.access import SystemScope
from graph.model.errors import AlreadyExists, StoreUnavailable
from graph.model.nodes.knowledge import Entry
from graph.model.nodes.work import Job
from graph.store.embedded import EmbeddedStore
from graph.store.embedded.session import Session
from graph.store.embedded.writer import EmbeddedWriter
from graph.store.port import Writer
from graph.store.query import Find
from tests.support.builders import World
from tests.support.clock import FakeClock


class Stop(Exception):
    """Raised by a test in the middle of its work."""


async def turns(number: int = 5) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def hold(store: EmbeddedStore, gate: asyncio.Event) -> None:
    async with store.reading() as reader:
        await reader.guards([])
        await gate.wait()


async def test_a_temporary_store_leaves_nothing_behind(clock: FakeClock, world: World) -> None:
    store = EmbeddedStore(None, clock=clock)
    await store.open()
    folder = store._path.parent if store._path else Path()
    assert folder.exists()
    await store.transact(lambda writer: writer.put([world.make_entry()]))
    await store.close()
    assert not folder.exists()


@pytest.mark.req("AD-33", "AD-39", "BM-84")
async def test_a_new_owner_takes_over_at_once_what_a_dead_one_had_begun(
    clock: FakeClock, path: Path, world: World
) -> None:
    """Nobody else can be at it: a job waits for the end of its lease only where several processes share a store."""
    store = EmbeddedStore(path, clock=clock)
    await store.open()
    job = world.make_job(state="queued", due_at=clock.now())
    await store.transact(lambda writer: writer.put([job]))

    async def claimed(by: str) -> Job | None:
        return await store.transact(lambda writer: writer.claim([job.kind], by, clock.now(), 600_000))

    first = await claimed("one")
    assert first is not None
    assert await claimed("another") is None
    await store.close()
    await store.open()
    again = await claimed("another")
    assert again is not None
    assert (again.owner, again.fence, again.attempts) == ("another", first.fence + 1, 2)
    await store.close()


async def test_closing_waits_for_work_and_refuses_those_who_still_wait(clock: FakeClock, path: Path) -> None:
    store = EmbeddedStore(path, clock=clock, readers=1)
    await store.open()
    gate = asyncio.Event()
    working = asyncio.create_task(hold(store, gate))
    await turns()
    closing = asyncio.create_task(store.close())
    await turns()
    late = asyncio.create_task(hold(store, gate))
    await turns()
    assert not closing.done()
    gate.set()
    await working
    await closing
    with pytest.raises(StoreUnavailable):
        await late
    assert not (await store.health()).ready


async def test_a_cancelled_writer_in_the_queue_holds_up_neither_readers_nor_writers(
    store: EmbeddedStore, world: World
) -> None:
    """Source: attack case 11."""
    gate = asyncio.Event()
    readers = [asyncio.create_task(hold(store, gate)) for _ in range(3)]
    first = asyncio.create_task(store.transact(lambda writer: gate.wait()))
    await turns()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(store.transact(lambda writer: writer.put([world.make_entry()])), 0)
    entry = world.make_entry()
    writing = asyncio.create_task(store.transact(lambda writer: writer.put([entry])))
    reading = asyncio.create_task(hold(store, gate))
    await turns()
    gate.set()
    await asyncio.gather(*readers, first, writing, reading)
    async with store.reading() as reader:
        assert (await reader.find(world.system, Find(kind=Entry))).nodes == (entry,)


async def test_a_cancelled_read_is_broken_off_and_its_connection_serves_the_next(
    clock: FakeClock, path: Path, world: World
) -> None:
    store = EmbeddedStore(path, clock=clock, readers=1)
    await store.open()
    session, begun = store._sessions[1], threading.Event()

    def endless(session: Session) -> object:
        begun.set()
        return session.value("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n")

    async def read() -> None:
        async with store.reading():
            await session.run(endless)

    task = asyncio.create_task(read())
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with store.reading() as reader:
        assert await reader.get(world.system, []) == {}
    await store.close()


async def test_work_that_goes_on_after_a_cancelled_step_is_not_committed(store: EmbeddedStore, world: World) -> None:
    async def work(writer: Writer) -> None:
        step = asyncio.create_task(_written(writer, world.make_entry(), world.system))
        await turns(1)
        step.cancel()
        await asyncio.gather(step, return_exceptions=True)

    with pytest.raises(StoreUnavailable):
        await store.transact(work)
    async with store.reading() as reader:
        assert (await reader.find(world.system, Find(kind=Entry))).nodes == ()


async def _written(writer: Writer, entry: Entry, scope: SystemScope) -> None:
    await writer.put([entry])
    await writer.get(scope, [entry.id])  # what waits is written with the next question


async def test_the_event_loop_is_free_while_a_statement_runs(store: EmbeddedStore) -> None:
    async def work(writer: Writer) -> int:
        assert isinstance(writer, EmbeddedWriter)
        running = asyncio.create_task(_counted(writer))
        ticks = 0
        while not running.done():
            await asyncio.sleep(0)
            ticks += 1
        assert await running == 3_000_000
        return ticks

    assert await store.transact(work) > 10


async def _counted(writer: EmbeddedWriter) -> int:
    sql = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 3000000) SELECT count(*) FROM n"
    return int(await writer.run(lambda session: session.value(sql)))


@pytest.mark.req("KN-81")
async def test_a_scrub_leaves_no_byte_of_a_deleted_text_in_file_or_log(
    store: EmbeddedStore, path: Path, world: World
) -> None:
    entries = [world.make_entry() for _ in range(50)]
    texts = [world.text_for(entry.id, words=f"plain word{n}") for n, entry in enumerate(entries)]
    secret = world.make_entry()
    texts.append(world.text_for(secret.id, words="marmalade"))
    await world.write(store, *entries, secret, texts=texts)
    await store.transact(lambda writer: writer.unindex([texts[-1].id]))
    assert "marmalade" in _bytes_of(path)
    await store.scrub()
    assert "marmalade" not in _bytes_of(path)
    assert "word49" in _bytes_of(path)


def _bytes_of(path: Path) -> str:
    """Return the file and its log as text, whatever is in them."""
    return "".join(file.read_bytes().decode("latin-1") for file in sorted(path.parent.glob(f"{path.name}*")))


@pytest.mark.req("KN-81")
async def test_a_log_that_a_reader_holds_is_emptied_after_a_later_write(
    store: EmbeddedStore, path: Path, world: World
) -> None:
    secret = world.make_entry()
    await world.write(store, secret, texts=[world.text_for(secret.id, words="marmalade", id="t")])
    async with store.reading() as reader:
        await reader.guards([])
        await store.transact(lambda writer: writer.unindex(["t"]))
        await store.scrub()
    assert "marmalade" in _bytes_of(path)
    await store.transact(lambda writer: writer.put([world.make_entry()]))
    await store.transact(lambda writer: writer.put([world.make_entry()]))
    assert "marmalade" not in _bytes_of(path)


async def test_work_that_fails_while_a_reader_holds_the_log_does_not_stop_writes(
    store: EmbeddedStore, world: World
) -> None:
    entry, other = world.make_entry(), world.make_entry()
    await world.write(store, entry)

    async def fail(writer: Writer) -> None:
        await writer.put([other])
        await writer.get(world.system, [entry.id])  # asks, so that the transaction is under way
        raise Stop

    async with store.reading():
        await store.transact(lambda writer: writer.delete([entry.id]))
        await store.scrub()
        with pytest.raises(Stop):
            await store.transact(fail)
    await world.write(store, other)
    assert (await store.health()).ready


@pytest.mark.parametrize("fails", ["in a step", "with the commit"])
async def test_what_failed_goes_without_a_search_for_garbage(store: EmbeddedStore, world: World, fails: str) -> None:
    """An error knows the frames it went through; if one of them knew it, all that was to be written would stay."""
    entry, writers = world.make_entry(), []
    await world.write(store, entry)

    async def work(writer: Writer) -> None:
        writers.append(weakref.ref(writer))
        await writer.put([entry])
        if fails == "in a step":
            await writer.get(world.system, [entry.id])

    gc.disable()
    try:
        with suppress(AlreadyExists):
            await store.transact(work)
        await world.write(store, world.make_entry())  # the thread is through with what it did before
        assert [writer() for writer in writers] == [None]
    finally:
        gc.enable()


async def test_a_declaration_that_two_threads_made_at_once_is_one_declaration(
    clock: FakeClock, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose spec is kept is chance when two threads ask first: the one of a table may not be the one of an id."""
    store = EmbeddedStore(None, clock=clock)
    await store.open()
    spec = schema.kinds()["Entry"]
    monkeypatch.setattr("graph.store.embedded.nodes.kind_of", lambda _: replace(spec))
    entry = world.make_entry()
    await store.transact(lambda writer: writer.put([entry]))
    async with store.reading() as reader:
        assert (await reader.get(SystemScope(reason="test"), [entry.id]))[entry.id] == entry
    await store.close()
