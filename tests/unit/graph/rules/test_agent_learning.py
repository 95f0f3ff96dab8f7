"""Whether an agent learns, and which items a step of it reads."""

from __future__ import annotations

from typing import Any

import pytest

from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.sessions import Session, SessionItem, Turn
from graph.model.time import Millis
from graph.rules.agent_learning import MAX_READ, learning_model, readable_now, teaches, worth_asking

SES = NodeId("ses_w//s1")


def item(name: str, at: int, *, turn: str | None = None, type: str = "person_message") -> SessionItem:
    return SessionItem(
        id=NodeId(f"sit_w/s1/{name}"),
        workspace=WorkspaceId("w"),
        created_at=Millis(at),
        session_id=SES,
        type=type,
        turn_id=None if turn is None else NodeId(f"trn_{turn}"),
        occurred_at=Millis(at),
        head=f"v-{name}",
        parent="",
        depth=at,
    )


def turn(name: str, began: int | None) -> Turn:
    return Turn(
        id=NodeId(f"trn_{name}"),
        workspace=WorkspaceId("w"),
        created_at=Millis(10),
        place_id=SES,
        agent_id=NodeId("prn_a"),
        state="running",
        began_at=None if began is None else Millis(began),
    )


def session(**fields: Any) -> Session:
    given = {"agent_id": NodeId("prn_a"), "head": "v", "root_head": "v", "updated_at": Millis(0), **fields}
    return Session(id=SES, workspace=WorkspaceId("w"), created_at=Millis(0), **given)


@pytest.mark.req("AM-24", "AM-25")
@pytest.mark.parametrize(
    ("settings", "model"),
    [
        ({}, None),
        ({"agentMemoryModel": None}, None),
        ({"agentMemoryModel": "m"}, "m"),
        ({"agentMemoryModel": "m", "agentMemory": True}, "m"),
        ({"agentMemoryModel": "m", "agentMemory": False}, None),
    ],
)
def test_agent_learns_with_the_model_of_the_organization_or_not_at_all(
    settings: dict[str, Any], model: str | None
) -> None:
    assert learning_model(settings) == model


@pytest.mark.req("AM-26", "AM-27")
def test_review_sessions_and_those_without_generate_do_not_teach() -> None:
    off = {"memory": {"generate": False}}
    assert teaches(session(), {})
    assert not teaches(session(review=True), {})
    assert not teaches(session(generate=False), {})
    assert not teaches(session(), off)
    assert teaches(session(generate=True), off)


def test_items_of_a_turn_that_runs_wait_for_its_end() -> None:
    items = [item("b", 30, turn="t-2"), item("a", 20, turn="t-1"), item("c", 5), item("d", 31)]
    assert [found.head for found in readable_now(items, [turn("t-2", 25)])] == ["v-c", "v-a"]
    assert [found.head for found in readable_now(items, [])] == ["v-c", "v-a", "v-b", "v-d"]


@pytest.mark.req("AM-29")
def test_outside_data_alone_is_not_asked_about_unless_it_fills_a_step() -> None:
    outside = [item(str(number), number, type="app_result") for number in range(MAX_READ)]
    assert not worth_asking([])
    assert not worth_asking(outside[:-1])
    assert worth_asking(outside), "else what comes after it would never be read"
    assert worth_asking([outside[0], item("x", 1)])
