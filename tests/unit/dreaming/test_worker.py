"""Durable work: claims, heartbeats, fences, hand-backs. Bug case 20."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

import dreaming.worker
from dreaming.jobs import PutOff, WorkContext, enqueue, guarded_commit
from graph.model.access import SystemScope
from graph.model.errors import LeaseLost, ModelUnavailable
from graph.model.ids import node_id
from graph.model.nodes.evidence import Source
from graph.model.nodes.work import Receipt
from graph.model.time import Millis
from graph.rules.jobs import DROPPED, Due, JobState, counts_as_parked
from graph.store.port import Writer
from tests.support.held_clock import HeldClock
from tests.support.working import Workshop
from tests.support.world import TeamWorld
from tests.unit.dreaming.conftest import ENGINES

HOUR = timedelta(hours=1)


@pytest.fixture
def shop(world: TeamWorld) -> Workshop:
    return Workshop(world)


async def _nothing(work: WorkContext) -> Any:
    return {"job": work.job.kind}


class _Stuck:
    """A handler that says when it began and goes on only when told."""

    def __init__(self) -> None:
        self.begun, self.go = asyncio.Event(), asyncio.Event()

    async def __call__(self, work: WorkContext) -> Any:
        self.begun.set()
        await self.go.wait()
        return "done"


async def _fails(work: WorkContext) -> Any:
    raise ModelUnavailable("timeout")


async def test_due_work_is_done_once(shop: Workshop) -> None:
    await shop.ask()
    worker = shop.worker(_nothing)
    assert await worker.step()
    assert not await worker.step()
    job = await shop.job()
    assert (job.state, job.result, job.owner, job.lease_until) == (JobState.SUCCEEDED, {"job": "stage_b"}, None, None)


async def test_work_waits_for_its_time(shop: Workshop, clock: HeldClock) -> None:
    await shop.ask(in_s=60)
    worker = shop.worker(_nothing)
    assert not await worker.step()
    clock.advance(timedelta(seconds=60))
    assert await worker.step()


@pytest.mark.req("DR-8")
async def test_lease_of_600_s_is_renewed_every_30_s(shop: Workshop, clock: HeldClock) -> None:
    await shop.ask()
    handler, begun = _Stuck(), clock.now()
    step = asyncio.ensure_future(shop.worker(handler).step())
    await handler.begun.wait()
    assert (await shop.job()).lease_until == begun + 600_000
    await clock.somebody_sleeps()
    clock.advance(timedelta(seconds=30))
    await clock.somebody_sleeps()
    assert (await shop.job()).lease_until == begun + 630_000
    handler.go.set()
    assert await step
    assert shop.outcomes == ["done"]


@pytest.mark.req("AD-33")
async def test_dead_worker_is_replaced_when_its_lease_is_over_and_the_job_ends_once(
    shop: Workshop, clock: HeldClock
) -> None:
    """Bug case 20 A: no shutdown, no heartbeat, another worker by another name."""
    await shop.ask()
    dead = shop.worker(_nothing, name="host-1")
    claimed = await dead._claim(["stage_b"])
    assert claimed is not None
    alive = shop.worker(_nothing, name="host-2")
    clock.advance(timedelta(seconds=599))
    assert not await alive.step()
    clock.advance(timedelta(seconds=1))
    assert await alive.step()
    assert not await alive.step()
    assert ((await shop.job()).state, (await shop.job()).fence) == (JobState.SUCCEEDED, 2)


@pytest.mark.req("DR-8", "AD-33")
async def test_expired_worker_cannot_commit(shop: Workshop, clock: HeldClock) -> None:
    await shop.ask()
    mark = node_id(Receipt.PREFIX, f"{shop.world.name}-mark")

    async def late(work: WorkContext) -> Any:
        clock.advance(timedelta(seconds=600))

        async def write(writer: Writer) -> None:
            await writer.put([Receipt(id=mark, workspace=shop.world.workspace, created_at=clock.now())])

        await guarded_commit(work, write)

    await shop.worker(late).step()
    async with shop.world.deps.store.reading() as reader:
        assert not await reader.get(SystemScope(reason="test"), [mark])
    assert shop.outcomes == ["lost"]
    assert (await shop.job()).state == JobState.RUNNING


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.req("AD-33")
@pytest.mark.parametrize("meanwhile", [{"fence": 9}, {"owner": "another"}, {"state": "cancelled"}], ids=str)
async def test_commit_checks_the_fence(shop: Workshop, meanwhile: dict[str, Any]) -> None:
    await shop.ask()
    refused = []

    async def work(context: WorkContext) -> Any:
        await shop.change(context.job.id, **meanwhile)
        try:
            await guarded_commit(context, _write_nothing)
        except LeaseLost as error:
            refused.append(error.code)
            raise

    await shop.worker(work).step()
    assert refused == ["LEASE_LOST"]
    assert shop.outcomes == ["lost"]


async def _write_nothing(writer: Writer) -> None:
    """Write nothing."""


async def test_stopped_worker_hands_its_job_back_unharmed(shop: Workshop, clock: HeldClock) -> None:
    await shop.ask()
    handler = _Stuck()
    step = asyncio.ensure_future(shop.worker(handler).step())
    await handler.begun.wait()
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step
    job = await shop.job()
    assert (job.state, job.owner, job.attempts, job.due_at) == (JobState.QUEUED, None, 0, clock.now())
    assert shop.outcomes == ["handed_back"]


@pytest.mark.req("AD-34")
@pytest.mark.parametrize("kind", ["learn_session", "learn_agent"])
async def test_memory_of_sessions_and_agents_is_not_resumed(shop: Workshop, clock: HeldClock, kind: str) -> None:
    await shop.ask(kind)
    await shop.worker(_nothing, kind, name="host-1")._claim([kind])
    clock.advance(HOUR)
    assert await shop.worker(_fails, kind, name="host-2").step()
    job = await shop.job(kind)
    assert (job.state, job.last_error) == (JobState.FAILED, DROPPED)
    assert shop.outcomes == ["dropped"]


async def test_work_that_kills_its_workers_is_parked(shop: Workshop, clock: HeldClock) -> None:
    await shop.ask("close_sandbox")
    for number in range(3):
        assert await shop.worker(_nothing, "close_sandbox", name=f"host-{number}")._claim(["close_sandbox"])
        clock.advance(HOUR)
    assert await shop.worker(_nothing, "close_sandbox", name="host-4").step()
    job = await shop.job("close_sandbox")
    assert (job.state, job.last_error, job.result) == (JobState.PARKED, "WORKER_DIED", None)


@pytest.mark.req("AD-34")
async def test_other_kinds_are_resumed(shop: Workshop, clock: HeldClock) -> None:
    await shop.ask("learn_bot")
    await shop.worker(_nothing, "learn_bot", name="host-1")._claim(["learn_bot"])
    clock.advance(HOUR)
    assert await shop.worker(_nothing, "learn_bot", name="host-2").step()
    assert (await shop.job("learn_bot")).state == JobState.SUCCEEDED


@pytest.mark.req("DR-27")
async def test_failed_work_is_tried_again_after_rising_waits(shop: Workshop, clock: HeldClock) -> None:
    await shop.ask()
    worker, waits = shop.worker(_fails), []
    for _ in range(6):
        assert await worker.step()
        job = await shop.job()
        waits.append((job.due_at - clock.now()) // 1_000)
        clock.advance(timedelta(seconds=waits[-1] - 1))
        assert not await worker.step(), "not before its time"
        clock.advance(timedelta(seconds=1))
    assert waits == [60, 300, 1_800, 7_200, 7_200, 7_200]
    assert job.last_error == "MODEL_TIMEOUT"
    assert counts_as_parked(job)


@pytest.mark.req("DR-27")
async def test_new_material_does_not_shorten_the_wait(shop: Workshop) -> None:
    await shop.ask()
    await shop.worker(_fails).step()
    due = (await shop.job()).due_at
    assert (await shop.ask()).due_at == due


async def test_work_of_other_kinds_is_parked_after_three_failures(shop: Workshop, clock: HeldClock) -> None:
    await shop.ask("close_sandbox")
    worker = shop.worker(_fails, "close_sandbox")
    for _ in range(3):
        assert await worker.step()
        clock.advance(2 * HOUR)
    assert not await worker.step()
    job = await shop.job("close_sandbox")
    assert (job.state, job.last_error, job.attempts) == (JobState.PARKED, "MODEL_TIMEOUT", 3)
    assert (await shop.ask("close_sandbox")).state == JobState.PARKED


async def test_what_is_asked_for_while_it_runs_is_done_after(shop: Workshop, clock: HeldClock) -> None:
    await shop.ask()
    handler = _Stuck()
    step = asyncio.ensure_future(shop.worker(handler).step())
    await handler.begun.wait()
    await shop.ask(in_s=5)
    await shop.ask(in_s=9)
    handler.go.set()
    await step
    job = await shop.job()
    assert (job.state, job.due_at, job.again_at) == (JobState.QUEUED, clock.now() + 5_000, None)


@pytest.mark.parametrize(("due", "seconds"), [(Due.EARLIER, 5), (Due.LATER, 9)])
async def test_asking_again_moves_the_time_as_asked(shop: Workshop, clock: HeldClock, due: Due, seconds: int) -> None:
    await shop.ask(in_s=5)
    job = await shop.ask(in_s=9, due=due)
    assert job.due_at == clock.now() + seconds * 1_000
    assert await shop.job() == job


async def test_putting_off_is_no_failure(shop: Workshop, clock: HeldClock) -> None:
    await shop.ask()

    async def waits(work: WorkContext) -> Any:
        raise PutOff("light_profile_unavailable", Millis(clock.now() + 7_000))

    assert await shop.worker(waits).step()
    job = await shop.job()
    assert (job.state, job.attempts, job.last_error) == (JobState.QUEUED, 0, "light_profile_unavailable")
    assert job.due_at == clock.now() + 7_000


async def test_provider_that_asks_for_patience_gets_it(shop: Workshop, clock: HeldClock) -> None:
    await shop.ask()

    async def slowed(work: WorkContext) -> Any:
        raise ModelUnavailable("http_429", retry_after_s=90)

    await shop.worker(slowed).step()
    assert (await shop.job()).due_at == clock.now() + 90_000


async def test_unexpected_fault_is_told_and_counts_as_failure(shop: Workshop) -> None:
    await shop.ask()
    told: list[BaseException] = []

    async def broken(work: WorkContext) -> Any:
        raise KeyError("secret words")

    worker = shop.worker(broken)
    worker.on_fault = told.append
    await worker.step()
    assert [type(error) for error in told] == [KeyError]
    assert (await shop.job()).last_error == "INTERNAL"


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.req("DR-8")
async def test_two_workers_never_have_the_same_job(shop: Workshop) -> None:
    await shop.ask()
    await shop.ask()
    done = await asyncio.gather(*(shop.worker(_nothing, name=f"host-{n}").step() for n in range(5)))
    assert sum(done) == 1
    assert shop.outcomes == ["done"]


async def test_work_that_asks_models_does_not_hold_up_the_rest(shop: Workshop) -> None:
    await shop.ask()
    await shop.ask("sync_connector")
    slow, synced = _Stuck(), asyncio.Event()

    async def sync(work: WorkContext) -> Any:
        synced.set()

    worker = shop.worker(slow)
    worker.handlers = {"stage_b": slow, "sync_connector": sync}
    run = asyncio.ensure_future(worker.run())
    await asyncio.gather(slow.begun.wait(), synced.wait())
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert ((await shop.job()).state, (await shop.job()).owner) == (JobState.QUEUED, None)


@pytest.mark.req("SM-95")
async def test_memory_of_a_conversation_does_not_wait_behind_curation(shop: Workshop, clock: HeldClock) -> None:
    await shop.ask()
    await shop.ask("stage_a")
    slow, learned = [_Stuck(), _Stuck()], asyncio.Event()

    async def learn(work: WorkContext) -> None:
        learned.set()

    worker = shop.worker(slow[0])
    worker.handlers = {"stage_a": slow[0], "stage_b": slow[1], "learn_session": learn}
    run = asyncio.ensure_future(worker.run())
    await asyncio.gather(*(stuck.begun.wait() for stuck in slow))
    await shop.ask("learn_session")
    done = asyncio.ensure_future(learned.wait())
    while not done.done():  # whoever looks again does so after five seconds
        asleep = asyncio.ensure_future(clock.somebody_sleeps())
        await asyncio.wait({done, asleep}, return_when=asyncio.FIRST_COMPLETED)
        clock.advance(timedelta(seconds=6))
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run


@pytest.mark.req("AD-38")
async def test_work_that_does_not_end_when_told_is_handed_back_all_the_same(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dreaming.worker, "STOP_S", 0.01)
    await shop.ask()
    begun, at_last = asyncio.Event(), asyncio.Event()

    async def deaf(work: WorkContext) -> Any:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await at_last.wait()

    step = asyncio.ensure_future(shop.worker(deaf).step())
    await begun.wait()
    step.cancel()
    with pytest.raises(asyncio.CancelledError):
        await step
    assert shop.outcomes == ["handed_back"]
    assert (await shop.job()).state == JobState.QUEUED
    at_last.set()


@pytest.mark.req("MA-6")
async def test_material_whose_learning_is_given_up_says_so(shop: Workshop, clock: HeldClock) -> None:
    world = shop.world
    source = await world.say(world.ops, "learn me")
    await world.deps.store.transact(
        lambda writer: enqueue(
            writer,
            "learn_material",
            workspace=world.workspace,
            unique_key=shop.key("learn_material"),
            due_at=clock.now(),
            now=clock.now(),
            subject=source,
            agent=world.atlas,
        )
    )
    for _ in range(3):
        await shop.worker(_fails, "learn_material").step()
        clock.advance(HOUR)
    async with world.deps.store.reading() as reader:
        found = (await reader.get(SystemScope(reason="test"), [source]))[source]
    assert isinstance(found, Source)
    assert (found.learning_state, found.learning_code) == ("failed", "MODEL_TIMEOUT")
