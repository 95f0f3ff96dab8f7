"""The alerts of CO-69: each at the edge of its condition, with since when, about what, and cleared when it ends."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules.alerts import (
    SEVERITIES,
    Affected,
    Alert,
    AlertCode,
    Condition,
    Curating,
    Embedding,
    EndedRun,
    Lagging,
    MemoUse,
    Waiting,
    alerts,
    message,
)

CONTRACT = Path(__file__).parents[4] / "docs" / "contracts" / "console.md"
HOUR = 3_600_000
NOW = Millis(1_000 * HOUR)
AGENT, OPS, CHAT = NodeId("prn_atlas"), NodeId("chn_ops"), NodeId("chn_chat")
WELL = Condition(embedding=Embedding(configured=True, since=Millis(0)), curating=Curating(agent=AGENT))


def hours_ago(hours: float) -> Millis:
    return Millis(NOW - round(hours * HOUR))


def codes(**changes: Any) -> list[str]:
    return [str(alert.code) for alert in alerts(replace(WELL, **changes), NOW)]


def only(**changes: Any) -> Alert:
    (alert,) = alerts(replace(WELL, **changes), NOW)
    return alert


def ended(number: int, hours: float, *, succeeded: bool = False, accepted: int = 0, rejected: int = 0) -> EndedRun:
    return EndedRun(
        id=NodeId(f"drn_{number}"),
        ended_at=hours_ago(hours),
        succeeded=succeeded,
        accepted=accepted,
        rejected=rejected,
    )


def channel(**fields: Any) -> Lagging:
    given: dict[str, Any] = {"channel": OPS, "failures": 0, "failing_since": None, "oldest_pending_at": None}
    return Lagging(**{**given, **fields})


@pytest.mark.req("CO-69")
def test_the_codes_and_severities_are_exactly_those_of_the_contract() -> None:
    section = CONTRACT.read_text(encoding="utf-8").split("**CO-69**")[1].split("**CO-70**")[0]
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", section, flags=re.MULTILINE)
    assert [(str(code), str(SEVERITIES[code])) for code in AlertCode] == rows


@pytest.mark.req("CO-69")
def test_an_agent_that_is_well_has_no_alert() -> None:
    assert codes() == []


@pytest.mark.req("CO-69")
def test_without_a_provider_nothing_fails_and_nothing_waits() -> None:
    bare = Embedding(configured=False, since=hours_ago(9), failures=9, pending=9_000, oldest_pending_at=hours_ago(99))
    alert = only(embedding=bare)
    assert (alert.code, alert.since, alert.severity) == ("embedding_unconfigured", hours_ago(9), "info")


@pytest.mark.req("CO-69")
@pytest.mark.parametrize(
    ("failures", "pending", "oldest", "expected"),
    [
        (2, 500, 1.0, []),
        (3, 0, None, ["embedding_failing"]),
        (0, 501, 0.1, ["embedding_backlog"]),
        (0, 1, 1.01, ["embedding_backlog"]),
    ],
)
def test_vectors(failures: int, pending: int, oldest: float | None, expected: list[str]) -> None:
    waits = None if oldest is None else hours_ago(oldest)
    found = Embedding(configured=True, since=Millis(0), failures=failures, pending=pending, oldest_pending_at=waits)
    assert codes(embedding=found) == expected


@pytest.mark.req("CO-69")
def test_a_missing_profile_is_told_with_its_agent() -> None:
    alert = only(profile_missing_since=hours_ago(2))
    assert (alert.code, alert.since, alert.objects) == ("light_profile_unavailable", hours_ago(2), (AGENT,))


@pytest.mark.req("CO-69")
def test_a_channel_fails_at_the_third_time() -> None:
    assert codes(channels=[channel(failures=2)]) == []
    alert = only(channels=[channel(failures=3, failing_since=hours_ago(1)), channel(channel=CHAT)])
    assert (alert.code, alert.objects, alert.since) == ("stage_a_failing", (OPS,), hours_ago(1))


@pytest.mark.req("CO-69")
def test_a_channel_lags_after_a_day() -> None:
    assert codes(channels=[channel(oldest_pending_at=hours_ago(24))]) == []
    late = [channel(oldest_pending_at=hours_ago(25)), channel(channel=CHAT, oldest_pending_at=hours_ago(30))]
    alert = only(channels=late)
    assert (alert.code, alert.objects, alert.since) == ("stage_a_lagging", (CHAT, OPS), hours_ago(6))


@pytest.mark.req("CO-68")
def test_what_an_admin_may_not_read_is_a_number() -> None:
    alert = only(channels=[channel(channel=None, oldest_pending_at=hours_ago(25))])
    assert (alert.objects, alert.count, alert.hidden) == ((), 1, 1)
    assert message(alert) == "1 channel has waited for more than 24 hours, 1 of them not yours to read"


@pytest.mark.req("CO-69")
def test_curation_fails_at_the_third_run_in_a_row_and_recovers_with_one_success() -> None:
    failed = [ended(3, 1), ended(2, 2), ended(1, 3)]
    assert codes(curating=Curating(agent=AGENT, ended=failed[:2])) == []
    alert = only(curating=Curating(agent=AGENT, ended=[ended(4, 0.5), *failed]))
    assert (alert.code, alert.since, alert.objects) == ("stage_b_failing", hours_ago(1), (AGENT,))
    assert codes(curating=Curating(agent=AGENT, ended=[ended(4, 0.5, succeeded=True), *failed])) == []


@pytest.mark.req("CO-69")
def test_curation_is_stale_when_something_waited_for_a_day_without_a_success() -> None:
    def found(pending: float, success: float) -> list[str]:
        ran = [ended(1, success, succeeded=True)]
        return codes(curating=Curating(agent=AGENT, ended=ran, oldest_pending_at=hours_ago(pending)))

    assert found(25, 30) == ["stage_b_stale"]
    assert found(25, 3) == []
    assert found(1, 30) == []  # what came an hour ago waits for its turn
    assert codes(curating=Curating(agent=AGENT, oldest_pending_at=hours_ago(24.5))) == ["stage_b_stale"]
    assert codes(curating=Curating(agent=AGENT, ended=[ended(1, 99, succeeded=True)])) == []


@pytest.mark.req("CO-69")
@pytest.mark.parametrize(("accepted", "rejected", "alerts_"), [(4, 5, 0), (5, 5, 0), (4, 6, 1), (0, 10, 1)])
def test_the_last_run_is_judged_by_its_rejections(accepted: int, rejected: int, alerts_: int) -> None:
    bad = ended(2, 1, succeeded=True, accepted=accepted, rejected=rejected)
    assert codes(curating=Curating(agent=AGENT, ended=[bad])) == ["stage_b_rejections"] * alerts_
    assert codes(curating=Curating(agent=AGENT, ended=[ended(3, 0.5, succeeded=True), bad])) == []


@pytest.mark.req("CO-69")
@pytest.mark.parametrize(("used", "alerts_"), [(179, 0), (180, 1), (200, 1)])
def test_a_memo_is_near_its_budget_at_nine_tenths(used: int, alerts_: int) -> None:
    memo = MemoUse(memo=NodeId("mem_1"), used=used, allowed=200, updated_at=hours_ago(5))
    assert codes(memos=[memo]) == ["memo_near_budget"] * alerts_


@pytest.mark.req("CO-69")
def test_no_worker_is_missed_for_two_minutes() -> None:
    job = NodeId("job_1")
    assert codes(waiting=Waiting(job=job, due_since=Millis(NOW - 119_000))) == []
    assert codes(waiting=Waiting(job=job, due_since=hours_ago(1), heartbeat_at=Millis(NOW - 60_000))) == []
    alert = only(waiting=Waiting(job=job, due_since=hours_ago(1), heartbeat_at=Millis(NOW - 180_000)))
    assert (alert.code, alert.since, alert.objects) == ("worker_absent", NOW - 60_000, (job,))


@pytest.mark.req("CO-69")
@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("stuck", "task_stuck"),
        ("connectors", "connector_failing"),
        ("withdrawn", "evidence_withdrawn"),
        ("broken", "audit_chain_broken"),
        ("lint", "lint_findings"),
    ],
)
def test_what_meets_a_condition_is_told_once_with_all_objects(field: str, code: str) -> None:
    met = [Affected(id=NodeId("ent_b"), since=hours_ago(1)), Affected(id=NodeId("ent_a"), since=hours_ago(3))]
    alert = only(**{field: met})
    assert (alert.code, alert.objects, alert.since, alert.count) == (code, ("ent_a", "ent_b"), hours_ago(3), 2)
    assert message(alert)


@pytest.mark.req("CO-69")
def test_alerts_are_listed_in_the_order_of_the_contract() -> None:
    found = codes(
        lint=[Affected(id=None, since=NOW)],
        embedding=Embedding(configured=False, since=Millis(0)),
        profile_missing_since=NOW,
    )
    assert found == ["embedding_unconfigured", "light_profile_unavailable", "lint_findings"]
