"""When Stage B is due, what a batch holds, and what a choice of what to open may name."""

from __future__ import annotations

import pytest

from graph.model.access import Need
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.learning import DreamRun, PendingItem
from graph.model.time import HOUR_MS, MINUTE_MS, Millis
from graph.rules.guarding import need_of
from graph.rules.knowledge_settings import with_values
from graph.rules.stage_b import (
    MANUAL,
    SCHEDULED,
    Choice,
    Limits,
    Pace,
    StageBKey,
    batch_id,
    choose,
    faults_of,
    is_due,
    limits_of,
    run_id,
)

PACE = Pace(min_items=20, max_wait_hours=6, min_interval_minutes=60)
NOW = Millis(100 * HOUR_MS)


def item(number: int) -> PendingItem:
    return PendingItem(
        id=NodeId(f"pit_{number}"),
        workspace=WorkspaceId("w"),
        created_at=Millis(number),
        agent_id=NodeId("prn_a"),
        item_id=NodeId(f"src_{number}"),
        item_kind="signal",
    )


def ids(chosen: tuple[PendingItem, ...]) -> list[str]:
    return [one.item_id for one in chosen]


@pytest.mark.req("DR-32")
@pytest.mark.parametrize(
    ("count", "waited_ms", "last_ms", "due"),
    [
        (0, 7 * HOUR_MS, None, False),
        (19, 6 * HOUR_MS - 1, None, False),
        (20, 0, None, True),
        (1, 6 * HOUR_MS, None, True),
        (20, 0, 60 * MINUTE_MS - 1, False),
        (1, 9 * HOUR_MS, 60 * MINUTE_MS - 1, False),
        (20, 0, 60 * MINUTE_MS, True),
    ],
)
def test_enough_items_or_a_long_wait_make_an_agent_due(
    count: int, waited_ms: int, last_ms: int | None, due: bool
) -> None:
    last = None if last_ms is None else Millis(NOW - last_ms)
    assert is_due(count, Millis(NOW - waited_ms), last, PACE, NOW) is due


@pytest.mark.req("DR-33")
def test_a_batch_takes_the_oldest_that_fit_and_the_first_in_any_case() -> None:
    waiting = [item(number) for number in range(4)]
    costs = {NodeId("src_0"): 90, NodeId("src_1"): 20, NodeId("src_3"): 5}
    assert ids(choose(waiting, costs, Limits(items=9, tokens=100))) == ["src_0"]
    assert ids(choose(waiting, costs, Limits(items=9, tokens=120))) == ["src_0", "src_1", "src_3"]
    assert ids(choose(waiting, costs, Limits(items=1, tokens=1_000))) == ["src_0"]
    assert ids(choose(waiting, costs, Limits(items=1, tokens=1))) == ["src_0"]
    assert choose(waiting, {}, Limits(items=9, tokens=100)) == ()


@pytest.mark.req("DR-79")
def test_a_batch_that_failed_three_times_is_halved_from_what_it_was() -> None:
    settings = with_values({"stage_b.max_items": 60, "stage_b.max_tokens": 1_000})
    sizes = [limits_of(settings, failures=n, failed_size=10).items for n in range(7)]
    assert sizes == [60, 10, 10, 5, 10, 10, 5]
    assert limits_of(settings, failures=3, failed_size=1).items == 1
    assert limits_of(settings, halvings=1) == Limits(items=30, tokens=500)
    assert limits_of(settings, halvings=20) == Limits(items=1, tokens=1)


@pytest.mark.req("DR-36")
def test_a_choice_names_what_was_shown_and_faults_repeat_no_name() -> None:
    shown = {"items": {"s1", "ep1"}, "entries": {"e1"}, "skills": {"deploy"}}
    assert faults_of(Choice(expand=("s1",), entries=("e1",), skills=("deploy",), skip=("ep1",)), **shown) == ()
    wrong = Choice(expand=("src_secret", "e1"), entries=("s1",), skills=("audit",), skip=("x",))
    faults = faults_of(wrong, **shown)
    assert [fault.split(" ids in ")[0] for fault in faults] == ["2", "1", "1", "1"]
    assert not any(word in " ".join(faults) for word in ("secret", "audit"))


@pytest.mark.req("DR-8")
def test_runs_and_batches_are_named_by_the_progress_they_work_on() -> None:
    agent, base = StageBKey(agent=NodeId("prn_a")), StageBKey(agent=NodeId("prn_a"), kb=NodeId("knb_x"))
    assert agent.unique_key == base.unique_key, "one job for an agent"
    rows = [key.new_progress(WorkspaceId("w"), Millis(0)) for key in (agent, base)]
    names = {run_id(rows[0]), run_id(rows[0], 1), batch_id(rows[1]), batch_id(rows[1], 1)}
    assert len(names) == 4
    assert rows[0].id != rows[1].id


@pytest.mark.req("KN-60")
def test_only_a_scheduled_run_of_stage_b_needs_a_visible_batch() -> None:
    def need(stage: str, trigger: str) -> Need:
        return need_of(
            DreamRun(
                id=NodeId("drn_1"),
                workspace=WorkspaceId("w"),
                created_at=Millis(0),
                stage=stage,
                agent_id=NodeId("prn_a"),
                trigger=trigger,
                state="running",
                started_at=Millis(0),
            )
        )

    assert need("b", SCHEDULED) is Need.ANY
    assert [need("a", SCHEDULED), need("b", MANUAL)] == [Need.NONE, Need.NONE]
