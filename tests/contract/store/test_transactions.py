"""Transactions: all or nothing, own writes are read, readers see committed states only."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from graph.model.access import SystemScope
from graph.model.edges import EdgeType
from graph.model.errors import AlreadyExists, VersionConflict
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import BlockVersion, Entry, KnowledgeBase
from graph.model.nodes.work import Receipt
from graph.model.time import Millis
from graph.store.port import Reader, Store, Writer
from graph.store.query import Direction, Eq, Find, Match, Newest, TextIndex
from tests.contract.store.asking import Ask
from tests.support.builders import NOW, World, clause, private, shared, vector

pytestmark = pytest.mark.req("KN-12")

ANYWHERE = SystemScope(reason="test")


class Stop(Exception):
    """Raised by a test in the middle of its work."""


class Scene:
    """One entry with all that belongs to it, and every kind of write upon it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.entry = world.make_entry(name="old", live_name="old")
        self.source = world.make_source()
        self.pool = world.make_knowledge_base()
        self.job = world.make_job()
        self.edge = world.cites(self.entry, self.source)
        self.text = world.text_for(self.entry, "dog")
        self.other = world.make_block_version(embedding=vector(1, 0), embedding_model="m")

    async def write(self, store: Store) -> None:
        await self.world.write(
            store,
            self.entry,
            self.source,
            self.pool,
            clauses=[clause(shared())],
            edges=[self.edge],
            texts=[self.text],
        )
        await self.world.write(store, self.job)

    def steps(self) -> dict[str, Callable[[Writer], Awaitable[Any]]]:
        world, entry = self.world, self.entry
        here = Eq("workspace", world.workspace)
        return {
            "put": lambda w: w.put([self.other]),
            "patch": lambda w: w.patch(entry.id, {"name": "new", "live_name": "new"}),
            "patch_many": lambda w: w.patch_many({self.source.id: {"text": "new"}, entry.id: {"type": "new"}}),
            "patch_where": lambda w: w.patch_where(Source, here, {"latest": False}),
            "link": lambda w: w.link([world.cites(entry, world.id("src", "late"))]),
            "unlink": lambda w: w.unlink([self.edge]),
            "guard": lambda w: w.guard([world.guard_for(entry, tags=("new",))]),
            "admit": lambda w: w.admit([world.audience_for(entry, clause(private("chn_1")))]),
            "index": lambda w: w.index([world.text_for(entry, "cat", id=f"{entry.id}#2")]),
            "unindex": lambda w: w.unindex([self.text.id]),
            "increment": lambda w: w.increment(self.pool.id, "version"),
            "claim": lambda w: w.claim([self.job.kind], "worker", NOW, 1_000),
            "lock": lambda w: w.lock([entry.id, world.id("ent", "nowhere")]),
            "delete": lambda w: w.delete([entry.id]),
        }


async def state_of(reader: Reader, scene: Scene) -> list[object]:
    """Return the answers to every kind of question about the scene."""
    world, ids = scene.world, [scene.entry.id, scene.source.id, scene.pool.id, scene.job.id, scene.other.id]
    viewer = world.viewer(shared())
    reached = await reader.closure([scene.entry.id], [EdgeType.CITES], Direction.OUT)
    return [
        sorted((await reader.get(world.system, ids)).items()),
        sorted((await reader.get(viewer, ids)).items()),
        await reader.find(viewer, Find(kind=Entry, order=Newest(), where=Eq("name", "old"))),
        await reader.aggregate(viewer, Entry),
        await reader.aggregate(world.system, Source, by="latest"),
        await reader.edges(world.system, ids, ["CITES"], Direction.OUT),  # type: ignore[list-item]  # a StrEnum's value
        sorted(reached.depths.items()),
        sorted((await reader.guards(ids)).items()),
        sorted((await reader.audiences(ids)).items(), key=repr),
        repr(await reader.match(viewer, Match(index=TextIndex.ENTRY, words=("dog",)))),
        repr(await reader.match(viewer, Match(index=TextIndex.ENTRY, words=("cat",)))),
        await reader.nearest(world.system, BlockVersion, [1.0, 0.0], model="m", limit=3),
    ]


async def read_state(store: Store, scene: Scene) -> list[object]:
    async with store.reading() as reader:
        return await state_of(reader, scene)


STEPS = list(Scene(World()).steps())


@pytest.mark.parametrize("step", STEPS)
async def test_a_failure_after_any_write_leaves_nothing(store: Store, world: World, step: str) -> None:
    scene = Scene(world)
    await scene.write(store)
    before = await read_state(store, scene)

    async def work(writer: Writer) -> None:
        await scene.steps()[step](writer)
        raise Stop

    with pytest.raises(Stop):
        await store.transact(work)
    assert await read_state(store, scene) == before


async def test_a_failure_after_all_writes_leaves_nothing(store: Store, world: World) -> None:
    scene = Scene(world)
    await scene.write(store)
    before = await read_state(store, scene)

    async def work(writer: Writer) -> None:
        for step in scene.steps().values():
            await step(writer)
        raise Stop

    with pytest.raises(Stop):
        await store.transact(work)
    assert await read_state(store, scene) == before
    await store.transact(lambda writer: writer.put([scene.other]))


@pytest.mark.parametrize("step", STEPS)
async def test_a_cancellation_after_any_write_leaves_nothing(store: Store, world: World, step: str) -> None:
    scene, reached = Scene(world), asyncio.Event()
    await scene.write(store)
    before = await read_state(store, scene)

    async def work(writer: Writer) -> None:
        await scene.steps()[step](writer)
        reached.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(store.transact(work))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await read_state(store, scene) == before
    await store.transact(lambda writer: writer.put([scene.other]))
    assert await read_state(store, scene) != before


@pytest.mark.parametrize("turns", range(0, 40, 3))
async def test_a_cancellation_at_any_moment_is_before_or_after(store: Store, world: World, turns: int) -> None:
    """Source: attack case 11; where the cancellation comes too late, everything is there."""
    scene = Scene(world)
    await scene.write(store)
    before = await read_state(store, scene)

    async def work(writer: Writer) -> None:
        await writer.put([scene.other])
        await writer.patch(scene.entry.id, {"name": "new"})
        await writer.index([world.text_for(scene.entry, "cat", id=f"{scene.entry.id}#2")])

    task = asyncio.create_task(store.transact(work))
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    (outcome,) = await asyncio.gather(task, return_exceptions=True)
    after = await read_state(store, scene)
    assert outcome is None or isinstance(outcome, asyncio.CancelledError)
    changed = sum(one != other for one, other in zip(before, after, strict=True))
    assert changed in (0, 6)  # both gets, the list by name, the vectors, both matches (their totals)
    assert outcome is not None or changed
    await store.transact(lambda writer: writer.increment(scene.pool.id, "version"))


async def test_a_cancelled_writer_in_the_queue_holds_up_nobody(store: Store, ask: Ask, world: World) -> None:
    """Source: attack case 11."""
    pool = world.make_knowledge_base(version=0)
    await world.write(store, pool)
    holding, release = asyncio.Event(), asyncio.Event()

    async def hold(writer: Writer) -> None:
        await writer.lock([pool.id])
        await writer.increment(pool.id, "version")
        holding.set()
        await release.wait()

    async def add(writer: Writer) -> None:
        await writer.lock([pool.id])
        await writer.increment(pool.id, "version")

    first = asyncio.create_task(store.transact(hold))
    await holding.wait()
    queued = [asyncio.create_task(store.transact(add)) for _ in range(3)]
    for _ in range(20):
        await asyncio.sleep(0)
    queued[1].cancel()
    with pytest.raises(asyncio.CancelledError):
        await queued[1]
    late = asyncio.create_task(store.transact(add))
    assert await ask.count(world.system, KnowledgeBase, Eq("version", 0)) == 1
    release.set()
    await asyncio.gather(first, queued[0], queued[2], late)
    assert await ask.count(world.system, KnowledgeBase, Eq("version", 4)) == 1


async def test_every_read_sees_the_writes_before_it(store: Store, world: World) -> None:
    scene = Scene(world)
    await scene.write(store)

    async def work(writer: Writer) -> list[object]:
        for name, step in scene.steps().items():
            if name != "delete":
                await step(writer)
        return await state_of(writer, scene)

    inside = await store.transact(work)
    assert inside == await read_state(store, scene)
    system = dict(inside[0])  # type: ignore[call-overload]  # the first answer is a list of pairs
    assert system[scene.entry.id].name == "new"
    assert system[scene.pool.id].version == 2
    assert system[scene.job.id].state == "running"
    assert scene.other.id in system


async def test_what_is_asked_together_is_answered_as_one_by_one(store: Store, world: World) -> None:
    scene = Scene(world)
    await scene.write(store)
    entry, edges = scene.entry, (EdgeType.CITES,)
    newest = Find(kind=Entry, where=Eq("workspace", world.workspace), order=Newest(), first=2)

    def questions(reader: Reader) -> list[Callable[[], Awaitable[Any]]]:
        return [
            lambda: reader.get(ANYWHERE, [entry.id, scene.source.id]),
            lambda: reader.find(world.system, newest),
            lambda: reader.find(world.viewer(shared()), newest),
            lambda: reader.get(world.viewer(shared()), [entry.id]),
            lambda: reader.edges(ANYWHERE, [entry.id], edges, Direction.OUT),
            lambda: reader.closure([entry.id], edges, Direction.OUT, guarded=True),
            lambda: reader.guards([entry.id]),
            lambda: reader.audiences([entry.id]),
            lambda: reader.aggregate(world.system, Entry),
            lambda: reader.get(ANYWHERE, []),
        ]

    async def compare(reader: Reader) -> None:
        one_by_one = [await question() for question in questions(reader)]
        assert await reader.together(questions(reader)) == one_by_one
        assert await reader.together([]) == []

    async with store.reading() as reader:
        await compare(reader)

    async def work(writer: Writer) -> None:
        await writer.put([scene.other])
        await compare(writer)
        await writer.patch_many({entry.id: {"name": "new"}})
        ((found,), more) = await writer.together(
            [lambda: _values(writer.get(ANYWHERE, [entry.id])), lambda: _values(writer.get(ANYWHERE, [scene.other.id]))]
        )
        assert (found, more) == (replace(entry, name="new"), [scene.other])

    await store.transact(work)


async def test_a_failed_question_fails_those_that_were_asked_with_it(store: Store, world: World) -> None:
    async def fail() -> None:
        raise Stop

    async with store.reading() as reader:
        with pytest.raises(Stop):
            await reader.together([lambda: reader.get(ANYWHERE, [world.id("ent", "none")]), fail])
        assert await reader.get(ANYWHERE, [world.id("ent", "none")]) == {}


async def _values(found: Awaitable[Mapping[NodeId, Node]]) -> list[Node]:
    return list((await found).values())


async def test_a_writer_pages_and_counts_its_own_writes(store: Store, world: World) -> None:
    entries = [world.make_entry(created_at=Millis(NOW + n)) for n in range(3)]

    async def work(writer: Writer) -> tuple[Any, ...]:
        await writer.put(entries)
        await writer.guard([world.guard_for(entry, tags=("x",)) for entry in entries])
        await writer.admit([world.audience_for(entry) for entry in entries])
        await writer.delete([entries[1].id])
        await writer.admit([world.audience_for(entries[0], clause(private("chn_1")))])
        viewer = world.viewer(shared())
        page = await writer.find(viewer, Find(kind=Entry, order=Newest(), first=5))
        return [node.id for node in page.nodes], await writer.aggregate(viewer, Entry)

    assert await store.transact(work) == ([entries[2].id], {None: 1})


async def test_nobody_else_sees_writes_before_the_commit(store: Store, world: World) -> None:
    scene = Scene(world)
    await scene.write(store)
    before = await read_state(store, scene)
    written, release = asyncio.Event(), asyncio.Event()

    async def work(writer: Writer) -> None:
        for step in scene.steps().values():
            await step(writer)
        written.set()
        await release.wait()

    task = asyncio.create_task(store.transact(work))
    await written.wait()
    assert await read_state(store, scene) == before
    release.set()
    await task
    assert await read_state(store, scene) != before


@pytest.mark.req("KN-116")
@pytest.mark.parametrize("step", [step for step in STEPS if step != "lock"])
async def test_a_reader_keeps_its_state(snapshot_store: Store, world: World, step: str) -> None:
    scene = Scene(world)
    await scene.write(snapshot_store)
    async with snapshot_store.reading() as reader:
        before = await state_of(reader, scene)
        await snapshot_store.transact(scene.steps()[step])
        assert await state_of(reader, scene) == before
    assert await read_state(snapshot_store, scene) != before or step in ("guard", "link")


@pytest.mark.req("KN-116")
async def test_a_reader_of_one_kind_does_not_see_later_writes_of_another(snapshot_store: Store, world: World) -> None:
    async with snapshot_store.reading() as reader:
        assert await reader.aggregate(world.system, Entry) == {None: 0}
        await world.write(snapshot_store, world.make_source(), clauses=[clause(shared())])
        assert await reader.aggregate(world.system, Source) == {None: 0}
        assert await reader.aggregate(world.viewer(shared()), Source) == {None: 0}


async def test_several_readers_and_a_writer_go_side_by_side(store: Store, world: World) -> None:
    entry = world.make_entry()
    async with store.reading() as one, store.reading() as two:
        await world.write(store, entry)
        await one.get(world.system, [entry.id])
        await two.get(world.system, [entry.id])
        async with store.reading() as three:
            assert await three.get(world.system, [entry.id]) == {entry.id: entry}


async def test_more_readers_than_connections(store: Store, world: World) -> None:
    """Source: goal A3 (8 readers)."""
    entry = world.make_entry()
    await world.write(store, entry)

    async def read() -> bool:
        async with store.reading() as reader:
            for _ in range(5):
                found = await reader.get(world.system, [entry.id])
            return list(found) == [entry.id]

    assert all(await asyncio.gather(*(read() for _ in range(40))))


async def test_the_result_of_the_work_is_returned(store: Store, world: World) -> None:
    async def work(writer: Writer) -> dict[str, int]:
        await writer.put([world.make_entry()])
        return {"done": 1}

    assert await store.transact(work) == {"done": 1}


async def test_work_that_does_nothing_commits(store: Store) -> None:
    async def work(writer: Writer) -> None:
        return None

    await store.transact(work)


async def test_an_error_of_the_work_comes_out_as_it_is(store: Store, world: World) -> None:
    mistake = Stop("mine")

    async def work(writer: Writer) -> None:
        await writer.put([world.make_entry()])
        raise mistake

    with pytest.raises(Stop) as caught:
        await store.transact(work)
    assert caught.value is mistake


@pytest.mark.parametrize("kind", ["taken id", "taken key", "old version"])
async def test_a_refused_write_takes_the_earlier_ones_with_it(store: Store, ask: Ask, world: World, kind: str) -> None:
    entry, other = world.make_entry(live_name="a"), world.make_entry(live_name="b")
    await world.write(store, entry)

    async def work(writer: Writer) -> None:
        await writer.put([other])
        await writer.patch(entry.id, {"name": "new"})
        if kind == "taken id":
            await writer.put([world.make_source(), world.make_entry(id=entry.id)])
        elif kind == "taken key":
            await writer.patch(other.id, {"live_name": "a"})
        else:
            await writer.patch(entry.id, {"name": "newer"}, expected={"name": "old"})

    with pytest.raises((AlreadyExists, VersionConflict)):
        await store.transact(work)
    assert await ask.get(world.system, entry.id, other.id) == {entry.id: entry}
    assert await ask.count(world.system, Source) == 0


@pytest.mark.req("KN-60")
@pytest.mark.parametrize("kind", ["id", "key", "version"])
async def test_errors_hold_no_content(store: Store, world: World, kind: str) -> None:
    """Source: attack case 15."""
    canary = "canary-7f3a"
    entry = world.make_entry(name=canary, live_name=canary)
    await world.write(store, entry)

    async def work(writer: Writer) -> None:
        if kind == "id":
            await writer.put([entry])
        elif kind == "key":
            await writer.put([world.make_entry(name=canary, live_name=canary)])
        else:
            await writer.patch(entry.id, {"name": canary}, expected={"type": canary})

    with pytest.raises((AlreadyExists, VersionConflict)) as refused:
        await store.transact(work)
    assert canary not in str(refused.value)


async def test_a_transaction_with_an_id_leaves_a_receipt(store: Store, ask: Ask, world: World) -> None:
    """What settles a commit whose outcome is unknown (attack case 10)."""
    entry = world.make_entry()
    await store.transact(lambda writer: writer.put([entry]), tx_id=f"{world.name}-tx")
    async with store.reading() as reader:
        page = await reader.find(ANYWHERE, Find(kind=Receipt))
    mine = [receipt for receipt in page.nodes if f"{world.name}-tx" in receipt.id]
    assert len(mine) == 1
    assert await ask.get(world.system, entry.id) == {entry.id: entry}


async def test_the_same_transaction_id_is_not_applied_twice(store: Store, ask: Ask, world: World) -> None:
    pool = world.make_knowledge_base(version=0)
    await world.write(store, pool)

    async def add() -> object:
        try:
            return await store.transact(lambda writer: writer.increment(pool.id, "version"), tx_id=f"{world.name}-tx")
        except AlreadyExists:
            return "refused"

    assert await add() == 1
    await asyncio.gather(add(), add(), add())
    assert await ask.count(world.system, KnowledgeBase, Eq("version", 1)) == 1


async def test_a_failed_transaction_leaves_no_receipt(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry()

    async def fail(writer: Writer) -> None:
        raise Stop

    with pytest.raises(Stop):
        await store.transact(fail, tx_id=f"{world.name}-tx")
    await store.transact(lambda writer: writer.put([entry]), tx_id=f"{world.name}-tx")
    assert await ask.get(world.system, entry.id) == {entry.id: entry}


async def test_what_was_written_does_not_change_with_the_callers_objects(store: Store, ask: Ask, world: World) -> None:
    conclusions, props = {"a": [1]}, {"quote": "x"}
    episode = world.make_episode(conclusions=conclusions)
    edge = world.cites(episode, world.id("src"), props=props)
    await world.write(store, episode, edges=[edge])
    conclusions["a"].append(2)
    props["quote"] = "y"
    (found,) = (await ask.get(world.system, episode.id)).values()
    assert found == world.make_episode(id=episode.id, conclusions={"a": [1]})
    (linked,) = await ask.edges(world.system, [episode.id])
    assert linked.props == {"quote": "x"}


async def test_the_store_answers_for_its_health(store: Store) -> None:
    health = await store.health()
    assert (health.ready, health.engine, health.reason) == (True, store.engine, "")
    assert all(migration.applied for migration in await store.migrations())


async def test_closing_waits_for_work_under_way(new_store: Callable[[], Store], world: World) -> None:
    store = new_store()
    await store.open()
    entry, started, release = world.make_entry(), asyncio.Event(), asyncio.Event()

    async def work(writer: Writer) -> Node:
        await writer.put([entry])
        started.set()
        await release.wait()
        return entry

    task = asyncio.create_task(store.transact(work))
    await started.wait()
    closing = asyncio.create_task(store.close())
    for _ in range(10):
        await asyncio.sleep(0)
    release.set()
    assert await task == entry
    await closing


@pytest.mark.parametrize("wait", [0, 1, 2, 5, 10, 20])
async def test_cancelled_reads_harm_nobody(store: Store, world: World, wait: int) -> None:
    """Source: attack cases 7 and 11; more are cancelled than there are connections."""
    scene = Scene(world)
    await scene.write(store)
    expected = await read_state(store, scene)
    tasks = [asyncio.create_task(read_state(store, scene)) for _ in range(12)]
    for _ in range(wait):
        await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert outcomes[1::2] == [expected] * 6
    assert all(isinstance(outcome, asyncio.CancelledError) or outcome == expected for outcome in outcomes[::2])
    assert await asyncio.gather(*(read_state(store, scene) for _ in range(6))) == [expected] * 6


async def test_readers_that_fail_are_given_back(store: Store, world: World) -> None:
    scene = Scene(world)
    await scene.write(store)

    async def fail() -> None:
        async with store.reading() as reader:
            await reader.get(world.system, [scene.entry.id])
            raise Stop

    for _ in range(10):
        with pytest.raises(Stop):
            await fail()
    await store.transact(lambda writer: writer.patch(scene.entry.id, {"name": "new"}))
    assert len(await read_state(store, scene)) == 12
