"""Many writers at once: locks, counters, claims and unique keys."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable
from dataclasses import replace
from typing import TypeVar

import pytest

from graph.model.access import SystemScope
from graph.model.errors import AlreadyExists, VersionConflict
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import BlockVersion, Entry, KnowledgeBase
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.store.port import Isolation, Store, Writer
from graph.store.query import Eq
from tests.contract.store.asking import Ask
from tests.support.builders import NOW, World

pytestmark = pytest.mark.req("KN-12")

T = TypeVar("T")
PATIENCE_S = 120


async def together(*work: Awaitable[T]) -> list[T]:
    """Run at once; a deadlock fails instead of hanging."""
    async with asyncio.timeout(PATIENCE_S):
        return await asyncio.gather(*work)


async def test_twenty_writers_on_one_counter(store: Store, ask: Ask, world: World) -> None:
    pool = world.make_knowledge_base(version=0)
    await world.write(store, pool)
    values = await together(*(store.transact(lambda w: w.increment(pool.id, "version")) for _ in range(20)))
    assert sorted(values) == list(range(1, 21))
    assert await ask.count(world.system, KnowledgeBase, Eq("version", 20)) == 1


async def test_reading_under_a_lock_loses_no_update(store: Store, ask: Ask, world: World) -> None:
    pool = world.make_knowledge_base(version=0)
    await world.write(store, pool)

    async def work(writer: Writer) -> None:
        await writer.lock([pool.id])
        (held,) = (await writer.get(world.system, [pool.id])).values()
        assert isinstance(held, KnowledgeBase)
        await asyncio.sleep(0)
        await writer.patch(pool.id, {"version": held.version + 1}, expected={"version": held.version})

    await together(*(store.transact(work) for _ in range(20)))
    assert await ask.count(world.system, KnowledgeBase, Eq("version", 20)) == 1


async def test_what_is_held_is_read_as_it_is_and_stays_so(store: Store, ask: Ask, world: World) -> None:
    pool = world.make_knowledge_base(version=0)
    await world.write(store, pool)

    async def work(writer: Writer) -> None:
        (held,) = (await writer.hold(world.system, [pool.id])).values()
        assert isinstance(held, KnowledgeBase)
        await asyncio.sleep(0)
        await writer.patch_many({pool.id: {"version": held.version + 1}})

    await together(*(store.transact(work) for _ in range(20)))
    assert await ask.count(world.system, KnowledgeBase, Eq("version", 20)) == 1


async def test_what_cannot_be_read_is_not_held(store: Store, ask: Ask, world: World) -> None:
    """A client may name any id: nothing is left of it, and nobody of another workspace waits."""
    mine, other = world.make_entry(), World().make_entry()
    missing = world.id("ent", "none")
    await world.write(store, mine, other)
    here = SystemScope(reason="test", workspace=world.workspace)

    async def hold(writer: Writer) -> None:
        assert await writer.hold(here, [other.id, missing, mine.id, mine.id]) == {mine.id: mine}
        if store.isolation is Isolation.READ_COMMITTED:  # elsewhere there is one writer at a time
            async with asyncio.timeout(PATIENCE_S):
                await store.transact(lambda second: second.patch(other.id, {"name": "free"}))
        await writer.patch_many({mine.id: {"name": "held"}})
        assert (await writer.hold(here, [mine.id]))[mine.id] == replace(mine, name="held")

    await store.transact(hold)
    assert await ask.get(here, mine.id, missing) == {mine.id: replace(mine, name="held")}


async def test_nothing_is_nothing_to_hold(store: Store, world: World) -> None:
    assert await store.transact(lambda writer: writer.hold(world.system, [])) == {}


async def test_expected_versions_let_one_of_many_win(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry(current_version=1)
    await world.write(store, entry)

    async def edit(number: int) -> bool:
        changes = {"current_version": 2, "name": str(number)}
        try:
            await store.transact(lambda w: w.patch(entry.id, changes, expected={"current_version": 1}))
        except VersionConflict:
            return False
        return True

    assert Counter(await together(*map(edit, range(10)))) == {True: 1, False: 9}
    assert await ask.count(world.system, Entry, Eq("current_version", 2)) == 1


async def test_locks_in_opposite_order_do_not_deadlock(store: Store, ask: Ask, world: World) -> None:
    pools = [world.make_knowledge_base(version=0) for _ in range(6)]
    await world.write(store, *pools)
    ids = [pool.id for pool in pools]

    def work_on(order: list[NodeId]) -> Awaitable[None]:
        async def work(writer: Writer) -> None:
            await writer.lock(order)
            for id in order:
                await writer.increment(id, "version")

        return store.transact(work)

    orders = [ids[turn:] + ids[:turn] for turn in range(6)] + [ids[turn::-1] for turn in range(6)]
    await together(*map(work_on, orders))
    counts = await ask.counts(world.system, KnowledgeBase, "version")
    assert sum(version * count for version, count in counts.items()) == 6 * 6 + sum(range(1, 7))


async def test_a_lock_on_what_is_missing_keeps_others_out(store: Store, ask: Ask, world: World) -> None:
    """Two requests with one idempotency key: the second finds what the first created."""
    id = world.id("rcp", "key")

    async def work(writer: Writer) -> str:
        await writer.lock([id])
        if await writer.get(world.system, [id]):
            return "found"
        await asyncio.sleep(0)
        await writer.put([world.make_receipt(id=id)])
        return "created"

    outcomes = await together(*(store.transact(work) for _ in range(10)))
    assert Counter(outcomes) == {"created": 1, "found": 9}


async def test_a_lock_on_what_is_missing_leaves_nothing_to_see(store: Store, ask: Ask, world: World) -> None:
    id = world.id("ent", "none")
    await store.transact(lambda writer: writer.lock([id, id]))
    assert await ask.get(world.system, id) == {}
    assert await ask.count(world.system, Entry) == 0
    entry = world.make_entry(id=id)
    await world.write(store, entry)
    assert await ask.get(world.system, id) == {id: entry}


async def test_one_of_many_gets_a_unique_key(store: Store, ask: Ask, world: World) -> None:
    async def create(entry: Entry) -> bool:
        try:
            await store.transact(lambda writer: writer.put([entry]))
        except AlreadyExists:
            return False
        return True

    entries = [world.make_entry(live_name="heron") for _ in range(10)]
    assert Counter(await together(*map(create, entries))) == {True: 1, False: 9}
    assert await ask.count(world.system, Entry) == 1


async def test_many_writers_on_one_popular_node(store: Store, ask: Ask, world: World) -> None:
    """Source: bug case 2; nobody sees a transient error."""
    popular = world.make_entry()
    await world.write(store, popular)
    statements = [[world.make_block_version() for _ in range(10)] for _ in range(8)]

    async def worker(mine: list[BlockVersion]) -> None:
        for statement in mine:
            edges = [world.cites(popular, statement), world.cites(statement, popular)]
            await world.write(store, statement, edges=edges)

    await together(*(worker(mine) for mine in statements))
    assert len(await ask.edges(world.system, [popular.id])) == 80
    assert len(await ask.edges(world.system, [s.id for mine in statements for s in mine])) == 80


async def test_a_claimed_job_is_running_under_a_new_fence(store: Store, ask: Ask, world: World) -> None:
    job = world.make_job(attempts=2, fence=4)
    await world.write(store, job)
    claimed = await store.transact(lambda w: w.claim([job.kind], "worker", Millis(NOW + 5), 1_000))
    assert claimed is not None
    assert (claimed.id, claimed.state, claimed.owner) == (job.id, "running", "worker")
    assert (claimed.fence, claimed.attempts, claimed.lease_until) == (5, 3, NOW + 1_005)
    assert await ask.get(world.system, job.id) == {job.id: claimed}


async def test_the_job_that_waits_longest_comes_first(store: Store, world: World) -> None:
    kind, other = f"{world.name}-learn", f"{world.name}-dream"
    jobs = {
        "second": world.make_job(due_at=NOW - 5),
        "first": world.make_job(due_at=NOW - 9),
        "third": world.make_job(due_at=NOW, kind=other),
        "later": world.make_job(due_at=NOW + 1),
        "done": world.make_job(due_at=NOW - 99, state="succeeded"),
        "parked": world.make_job(due_at=NOW - 99, state="parked"),
        "other": world.make_job(due_at=NOW - 99, kind=f"{world.name}-other"),
    }
    await world.write(store, *jobs.values())

    async def claim() -> NodeId | None:
        job = await store.transact(lambda w: w.claim([kind, other], "worker", NOW, 1_000))
        return job.id if job else None

    names = ["first", "second", "third"]
    assert [await claim() for _ in range(4)] == [*(jobs[name].id for name in names), None]


async def test_no_kind_claims_nothing(store: Store, world: World) -> None:
    await world.write(store, world.make_job())
    assert await store.transact(lambda w: w.claim([], "worker", NOW, 1_000)) is None
    assert await store.transact(lambda w: w.claim([f"{world.name}-lear"], "worker", NOW, 1_000)) is None


async def test_a_lease_keeps_others_off_until_it_is_over(store: Store, world: World) -> None:
    job = world.make_job()
    await world.write(store, job)

    async def claim(owner: str, now: int) -> Job | None:
        return await store.transact(lambda w: w.claim([job.kind], owner, Millis(now), 1_000))

    first = await claim("one", NOW)
    assert await claim("two", NOW + 999) is None
    second = await claim("two", NOW + 1_001)
    assert first is not None
    assert second is not None
    assert (second.id, second.owner, second.fence, second.attempts) == (job.id, "two", first.fence + 1, 2)
    assert second.lease_until == NOW + 2_001


async def test_an_old_owner_cannot_finish_a_job_taken_over(store: Store, ask: Ask, world: World) -> None:
    """Source: bug case 20."""
    job = world.make_job()
    await world.write(store, job)
    old = await store.transact(lambda w: w.claim([job.kind], "one", NOW, 1_000))
    new = await store.transact(lambda w: w.claim([job.kind], "two", Millis(NOW + 2_000), 1_000))
    assert old is not None
    assert new is not None
    with pytest.raises(VersionConflict):
        await store.transact(lambda w: w.patch(job.id, {"state": "succeeded"}, expected={"fence": old.fence}))
    assert await ask.get(world.system, job.id) == {job.id: new}
    await store.transact(lambda w: w.patch(job.id, {"state": "succeeded"}, expected={"fence": new.fence}))


async def test_many_workers_never_share_a_job(store: Store, world: World) -> None:
    jobs = [world.make_job(due_at=NOW - number) for number in range(6)]
    await world.write(store, *jobs)

    async def claim(worker: int) -> NodeId | None:
        job = await store.transact(lambda w: w.claim([jobs[0].kind], f"worker {worker}", NOW, 1_000))
        return job.id if job else None

    claimed = await together(*map(claim, range(10)))
    assert sorted(id for id in claimed if id) == sorted(job.id for job in jobs)
    assert claimed.count(None) == 4
