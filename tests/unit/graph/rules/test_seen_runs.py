"""A run as one reader sees it: by the batches that he sees."""

from __future__ import annotations

from typing import Any

import pytest

from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.learning import DreamBatch, DreamRun
from graph.model.time import Millis
from graph.rules.seen_runs import as_seen

PLACE: dict[str, Any] = {"workspace": WorkspaceId("w"), "created_at": Millis(0), "agent_id": NodeId("prn_a")}


def run(**fields: Any) -> DreamRun:
    given = {"stage": "b", "trigger": "manual", "state": "failed", "started_at": Millis(0), **fields}
    return DreamRun(id=NodeId("drn_1"), **PLACE, **given)


def batch(state: str, **fields: Any) -> DreamBatch:
    return DreamBatch(id=NodeId(f"drb_{state}"), **PLACE, run_id=NodeId("drn_1"), state=state, **fields)


SHARED = batch("succeeded", item_ids=("a", "b"), operations=3, skill_updates=1, rejected=2)
PRIVATE = batch("failed", item_ids=("c",), rejected=5, error="MODEL_UNAVAILABLE")
WHOLE = run(materials_processed=3, operations=3, skill_updates=1, rejected=2, error="MODEL_UNAVAILABLE")


@pytest.mark.req("DR-80", "DR-81")
def test_who_sees_all_batches_is_told_the_sums_and_the_failure() -> None:
    seen = as_seen(WHOLE, [SHARED, PRIVATE])
    assert (seen.materials_processed, seen.operations, seen.skill_updates, seen.rejected) == (2, 3, 1, 7)
    assert (seen.state, seen.error) == ("failed", "MODEL_UNAVAILABLE")


@pytest.mark.req("KN-60")
def test_who_does_not_see_a_batch_is_told_nothing_of_it() -> None:
    seen = as_seen(WHOLE, [SHARED])
    never = as_seen(run(state="succeeded", error=None), [SHARED])
    assert seen == never
    assert (seen.state, seen.error, seen.rejected) == ("succeeded", None, 2)


def test_a_run_under_way_is_under_way_for_everybody() -> None:
    assert as_seen(run(state="running"), [PRIVATE]).state == "running"
    assert as_seen(run(state="running"), [PRIVATE]).error is None


def test_a_run_over_one_base_is_told_as_it_is() -> None:
    for one in (run(stage="a", operations=9, error="X"), run(trigger="material", materials_processed=1)):
        assert as_seen(one, [SHARED]) == one
