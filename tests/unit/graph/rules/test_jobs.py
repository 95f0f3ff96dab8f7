"""The table of job kinds, and what becomes of a job when a try ends."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.backoff import MODEL_BACKOFF_S, delay_s
from graph.rules.jobs import (
    JOB_KINDS,
    Due,
    JobState,
    OnRestart,
    as_markdown,
    asked_again,
    cancelled,
    counts_as_parked,
    dropped,
    failed,
    succeeded,
)

DOCS = Path(__file__).parents[4] / "docs"
NOW = Millis(1_000_000)


def _job(**values: Any) -> Job:
    defaults: dict[str, Any] = {"kind": "stage_b", "due_at": NOW, "state": "running", "attempts": 1, "fence": 3}
    return Job(id=NodeId("job_1"), workspace=WorkspaceId("w"), created_at=NOW, **{**defaults, **values})


@pytest.mark.req("AD-33")
def test_table_holds_every_kind_of_the_contract() -> None:
    contract = (DOCS / "contracts" / "admin.md").read_text(encoding="utf-8")
    rule = next(line for line in contract.splitlines() if "**AD-33**" in line)
    assert set(JOB_KINDS) == set(re.findall(r"`([a-z_]+)`", rule.partition("Kinds:")[2]))


@pytest.mark.req("AD-33")
def test_table_of_the_documentation_is_that_of_the_code() -> None:
    assert as_markdown() in (DOCS / "job-kinds.md").read_text(encoding="utf-8")


@pytest.mark.req("AD-34")
def test_all_but_the_memory_of_sessions_and_agents_resume() -> None:
    dropped = {name for name, kind in JOB_KINDS.items() if kind.on_restart is OnRestart.DROP}
    assert dropped == {"learn_session", "learn_agent"}


@pytest.mark.req("DR-8", "DR-27")
@pytest.mark.parametrize("name", ["stage_a", "stage_b"])
def test_both_stages_have_the_lease_and_the_waits_of_the_contract(name: str) -> None:
    kind = JOB_KINDS[name]
    assert (kind.lease_s, kind.heartbeat_s, kind.backoff_s) == (600, 30, (60, 300, 1_800, 7_200))
    assert kind.attempts is None, "it is tried again every 7,200 s for ever"


def test_heartbeats_are_many_within_a_lease() -> None:
    assert all(kind.lease_s >= 4 * kind.heartbeat_s for kind in JOB_KINDS.values())


def test_long_wait_that_a_provider_asks_for_is_bounded() -> None:
    assert delay_s(MODEL_BACKOFF_S, 1, asked_for_s=10**9) == 86_400


def test_recurring_work_is_never_given_up() -> None:
    changes = failed(_job(kind="collect_blobs", attempts=5), kind=JOB_KINDS["collect_blobs"], now=NOW, code="X")
    assert (changes["state"], changes["attempts"]) == (JobState.QUEUED, 0)


@pytest.mark.req("AD-34")
@pytest.mark.parametrize("name", ["learn_session", "learn_agent"])
def test_failed_memory_of_sessions_and_agents_waits_for_the_next_turn(name: str) -> None:
    changes = failed(_job(kind=name), kind=JOB_KINDS[name], now=NOW, code="X")
    assert changes["state"] == JobState.FAILED
    assert asked_again(_job(kind=name, state=changes["state"]), NOW, Due.EARLIER)["state"] == JobState.QUEUED


def test_cancelling_moves_the_fence() -> None:
    assert cancelled(_job(), "enough")["fence"] == 4


@pytest.mark.parametrize("state", [JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED])
def test_finished_work_is_queued_again_when_asked_for(state: JobState) -> None:
    job = _job(state=state, attempts=3, last_error="X")
    changes = asked_again(job, NOW, Due.EARLIER)
    assert (changes["state"], changes["attempts"], changes["last_error"]) == ("queued", 0, None)


def test_parked_work_stays_parked_when_asked_for() -> None:
    assert asked_again(_job(state=JobState.PARKED), NOW, Due.EARLIER) == {}


def test_success_forgets_failures() -> None:
    changes = succeeded(_job(attempts=3, last_error="X"), kind=JOB_KINDS["stage_b"], now=NOW, result=None)
    assert (changes["state"], changes["attempts"], changes["last_error"]) == ("succeeded", 0, None)


@pytest.mark.parametrize(
    ("state", "attempts", "error", "parked"),
    [
        ("queued", 3, "X", True),
        ("queued", 2, "X", False),
        ("queued", 3, None, False),
        ("running", 9, "X", False),
        ("parked", 3, "X", True),
    ],
)
def test_people_see_work_that_does_not_get_on(state: str, attempts: int, error: str | None, parked: bool) -> None:
    assert counts_as_parked(_job(state=state, attempts=attempts, last_error=error)) is parked


@pytest.mark.req("AD-34", "SM-110", "SM-115")
@pytest.mark.parametrize("name", ["learn_session", "learn_agent"])
def test_turn_that_completed_meanwhile_asks_again_when_the_work_fails_or_its_worker_dies(name: str) -> None:
    job = _job(kind=name, again_at=Millis(NOW + 5), attempts=2)
    for changes in (failed(job, kind=JOB_KINDS[name], now=NOW, code="X"), dropped(job)):
        assert (changes["state"], changes["due_at"], changes["attempts"]) == (JobState.QUEUED, NOW + 5, 0)
        assert changes["again_at"] is None
