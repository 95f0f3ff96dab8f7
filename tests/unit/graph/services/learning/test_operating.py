"""What operators see and do about background work."""

from __future__ import annotations

from typing import Any

import pytest

from graph.model.errors import BadInput, BadState, NotFound
from graph.model.ids import NodeId
from graph.model.nodes.work import Job
from graph.rules.jobs import JobState
from graph.services.access.admin_log import admin_log
from graph.services.access.commands import Command, command
from graph.services.access.session import read
from graph.services.learning.jobs import enqueue
from graph.services.learning.operating import JobView, cancel_job, list_jobs, release_job
from tests.support.world import TeamWorld


async def _job(world: TeamWorld, kind: str = "stage_b", **changes: Any) -> Job:
    now = world.deps.now()

    async def work(writer: Any) -> Job:
        key = f"{kind}:{world.atlas}"
        agent = None if kind == "collect_blobs" else world.atlas
        made = await enqueue(writer, kind, workspace=world.workspace, unique_key=key, due_at=now, now=now, agent=agent)
        if changes:
            await writer.patch(made.id, changes)
        return made

    return await world.deps.store.transact(work)


async def _listed(world: TeamWorld, who: NodeId, **values: Any) -> tuple[JobView, ...]:
    shown, _ = await read(world.deps, world.caller(who), lambda session: list_jobs(session, **values))
    return shown


async def _do(world: TeamWorld, who: NodeId, work: Any) -> JobView:
    async def run(cmd: Command) -> JobView:
        return await work(cmd)  # type: ignore[no-any-return]

    return await command(world.deps, world.caller(who), run)


async def test_curators_see_the_work_of_their_agents_and_admins_all(world: TeamWorld) -> None:
    await _job(world)
    await _job(world, "collect_blobs")
    assert [view.kind for view in await _listed(world, world.ana)] == ["stage_b"]
    assert {view.kind for view in await _listed(world, world.dan)} == {"stage_b", "collect_blobs"}
    assert [view.kind for view in await _listed(world, world.dan, agent=world.atlas)] == ["stage_b"]


@pytest.mark.parametrize("who", ["ben", "eve"])
async def test_others_neither_see_nor_end_it(world: TeamWorld, who: str) -> None:
    job = await _job(world)
    assert await _listed(world, world.person(who)) == ()
    for work in (lambda cmd: cancel_job(cmd, job.id, "no"), lambda cmd: release_job(cmd, job.id)):
        with pytest.raises(NotFound):
            await _do(world, world.person(who), work)


async def test_work_of_another_workspace_is_not_there(world: TeamWorld) -> None:
    job = await _job(world)
    other = await TeamWorld(deps=world.deps).make()
    assert await _listed(other, other.dan) == ()
    with pytest.raises(NotFound):
        await _do(other, other.dan, lambda cmd: cancel_job(cmd, job.id, "no"))


async def test_parked_work_is_found_whether_it_goes_on_trying_or_not(world: TeamWorld) -> None:
    await _job(world, attempts=3, last_error="MODEL_TIMEOUT")
    await _job(world, "learn_bot", state="parked", last_error="TIMED_OUT")
    await _job(world, "learn_material")
    found = await _listed(world, world.dan, states=["parked"])
    assert {(view.kind, view.reason, view.next_try_at is None) for view in found} == {
        ("stage_b", "MODEL_TIMEOUT", False),
        ("learn_bot", "TIMED_OUT", True),
    }


async def test_cancelled_work_is_over_and_its_worker_fenced_off(world: TeamWorld) -> None:
    job = await _job(world, state="running", fence=4, owner="host-1")
    view = await _do(world, world.ana, lambda cmd: cancel_job(cmd, job.id, " too_expensive "))
    assert (view.state, view.reason, view.next_try_at) == (JobState.CANCELLED, "too_expensive", None)
    with pytest.raises(BadState):
        await _do(world, world.ana, lambda cmd: cancel_job(cmd, job.id, "again"))
    page, _ = await read(world.deps, world.caller(world.dan), lambda session: admin_log(session))
    assert [record.operation for record in page.records] == ["job.cancel"]


@pytest.mark.parametrize("reason", ["", "  ", "x" * 65, "she said no", "not-a-code"])
async def test_cancelling_needs_a_reason(world: TeamWorld, reason: str) -> None:
    job = await _job(world)
    with pytest.raises(BadInput):
        await _do(world, world.dan, lambda cmd: cancel_job(cmd, job.id, reason))


async def test_running_work_is_not_released(world: TeamWorld) -> None:
    job = await _job(world, state="running")
    with pytest.raises(BadState):
        await _do(world, world.dan, lambda cmd: release_job(cmd, job.id))


async def test_released_work_is_due_now(world: TeamWorld) -> None:
    job = await _job(world, state="parked", attempts=3, last_error="X")
    view = await _do(world, world.ana, lambda cmd: release_job(cmd, job.id))
    assert (view.state, view.attempts, view.reason, view.next_try_at) == ("queued", 0, None, world.deps.now())


async def test_unknown_kind_is_refused(world: TeamWorld) -> None:
    with pytest.raises(BadInput):
        await _job(world, "nonesuch")
