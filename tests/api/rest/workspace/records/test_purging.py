"""What becomes of the records of a deleted memory (RM-44 to RM-52)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from api.bootstrap import purge_kind
from api.settings import Settings
from graph.model.errors import SettingsInvalid
from graph.rules.jobs import JOB_KINDS, PURGE_RECORDS, JobState
from tests.support.held_clock import HeldClock
from tests.support.mem0_server import Fault, Mem0Server
from tests.support.record_room import RecordRoom


@pytest.mark.req("RM-44", "RM-46")
async def test_the_purge_is_staged_with_the_deletion_and_waits_for_no_backend(
    room: RecordRoom, mem0: Mem0Server
) -> None:
    memory = await room.memory()
    assert await room.jobs() == []
    mem0.stop()
    await room.delete(memory)
    [job] = await room.jobs()
    assert (job.state, job.attempts) == (JobState.QUEUED, 0)
    assert mem0.asked == []


@pytest.mark.req("RM-46")
async def test_a_purge_outlives_its_worker(room: RecordRoom, mem0: Mem0Server, clock: HeldClock) -> None:
    memory = await room.memory(namespace="alice")
    mem0.store("alice", "old")
    await room.delete(memory)
    never = asyncio.Event()
    mem0.fault = lambda asked: Fault(hangs=never)
    dying = asyncio.create_task(room.worker().step())
    await mem0.is_asked.wait()
    dying.cancel()
    await asyncio.gather(dying, return_exceptions=True)
    room.mend()
    clock.advance(timedelta(minutes=2))
    assert await room.worker().step()
    assert mem0.texts("alice") == []
    assert [job.state for job in await room.jobs()] == [JobState.SUCCEEDED]


@pytest.mark.req("RM-52")
async def test_a_purge_runs_although_the_provider_is_off(room: RecordRoom, mem0: Mem0Server) -> None:
    provider = await room.provider()
    memory = await room.memory(provider, namespace="alice")
    mem0.store("alice", "old")
    path = f"//memory-providers/{provider}"
    await room.ana.ok("PATCH", path, {"enabled": False}, tag=await room.ana.tag("GET", path))
    await room.delete(memory)
    assert await room.worker().step()
    assert mem0.texts("alice") == []


@pytest.mark.req("RM-50", "RM-68")
async def test_on_the_platform_a_purge_is_done_once_it_is_accepted(room: RecordRoom, mem0: Mem0Server) -> None:
    mem0.form = "mem0_platform"
    provider = await room.provider()
    memory = await room.memory(provider, namespace="alice")
    mem0.store("alice", "visible for a while")
    mem0.fault = lambda asked: Fault(raw=b'{"message":"accepted","event_id":"e"}') if asked.method == "DELETE" else None
    # Accepted, and not yet erased
    mem0._purged = lambda asked, answer: (200, answer)  # type: ignore[method-assign]
    await room.delete(memory)
    assert await room.worker().step()
    again = await room.memory(provider, namespace="alice")
    assert [record["text"] for record in (await again.ok("GET", "/records"))["items"]] == ["visible for a while"]


@pytest.mark.req("RM-49")
async def test_a_purge_that_is_asked_for_again_leaves_the_records_of_who_adopted_the_namespace(
    room: RecordRoom, mem0: Mem0Server, clock: HeldClock
) -> None:
    provider = await room.provider()
    memory = await room.memory(provider, namespace="alice")
    await room.delete(memory)
    mem0.admin = False
    assert await room.worker(attempts=1).step()
    await room.memory(provider, namespace="alice")
    mem0.store("alice", "of the adopter")
    mem0.admin = True
    [job] = await room.jobs()
    assert job.state == JobState.FAILED
    again = {"state": "queued", "due_at": clock.now(), "attempts": 0}
    await room.world.deps.store.transact(lambda writer: writer.patch(job.id, again))
    assert await room.worker().step()
    assert mem0.texts("alice") == ["of the adopter"]
    assert mem0.lines == ["DELETE /memories"]


def _kind(**values: Any) -> Any:
    return purge_kind(Settings.model_validate(values))


@pytest.mark.req("RM-48")
def test_fields_of_the_policy_are_inherited_one_by_one() -> None:
    assert JOB_KINDS[PURGE_RECORDS].backoff_s == (5, 30, 120, 600, 3_600)
    assert (_kind().attempts, _kind().lease_s) == (12, 60)
    own = {"defaults": {"max_attempts": 7, "lease_seconds": 90}, "by_kind": {"memory_purge": {"max_attempts": 3}}}
    assert (_kind(outbox=own).attempts, _kind(outbox=own).lease_s) == (3, 90)
    own = {"by_kind": {"memory_purge": {"lease_seconds": 40}}}
    assert (_kind(outbox=own).attempts, _kind(outbox=own).lease_s) == (12, 40)


@pytest.mark.req("RM-52")
def test_a_lease_must_outlive_two_calls() -> None:
    assert _kind(providers={"operation_seconds": 29.9}).lease_s == 60
    with pytest.raises(SettingsInvalid, match=r"providers\.operation_seconds"):
        _kind(providers={"operation_seconds": 30})
    with pytest.raises(SettingsInvalid):
        _kind(outbox={"by_kind": {"memory_purge": {"lease_seconds": 20}}})
