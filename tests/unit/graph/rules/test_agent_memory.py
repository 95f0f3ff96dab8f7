"""Entries of agents: where they come from, who sees that, and what a promotion carries over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph.model.errors import InvalidRequest, SurfaceConflict
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.sessions import AgentEntry, SessionFact
from graph.model.time import Millis
from graph.rules.agent_memory import (
    AgentSource,
    EntryState,
    SourceSight,
    carried_over,
    check_room,
    check_version,
    checked_agent_kind,
    named_source,
    sources_shown,
    stored_sources,
)
from graph.rules.agent_memory_text import PRIVACY, agent_text
from graph.rules.session_memory import MAX_ACTIVE

ANA, BEN = NodeId("prn_w/human/ana"), NodeId("prn_w/human/ben")
ITEM = NodeId("sit_w/s1/i-1")
ENTRY = AgentEntry(
    id=NodeId("aen_1"),
    workspace=WorkspaceId("w"),
    created_at=Millis(0),
    agent_id=NodeId("prn_w/agent/a"),
    key="k",
    content="Write it.",
    kind="procedure",
    status="active",
    sources=[{"session": "s1", "item": "i-1", "person": ANA}],
    updated_at=Millis(5),
    changed_in=1,
)
TYPES = {ITEM: "person_message", NodeId("sit_w/s1/i-2"): "app_result", NodeId("sit_w/s1/i-3"): "memory_edit"}


def fact(key: str = "k", **fields: Any) -> SessionFact:
    defaults: dict[str, Any] = {"content": "Write it.", "kind": "procedure", "status": "active", "sources": ("i-1",)}
    return SessionFact(
        id=NodeId(f"sft_{key}"),
        workspace=WorkspaceId("w"),
        created_at=Millis(0),
        session_id=NodeId("ses_w//s1"),
        key=key,
        updated_at=fields.pop("updated_at", Millis(5)),
        change=1,
        **{**defaults, **fields},
    )


def shown(viewer: NodeId, *, there: bool, sees: bool) -> tuple[AgentSource, ...]:
    items = frozenset({ITEM}) if there else frozenset()
    return sources_shown(ENTRY, SourceSight(viewer=viewer, shown=items if sees else frozenset(), there=items))


@pytest.mark.req("AM-44")
def test_source_is_shown_to_who_may_see_it() -> None:
    assert shown(BEN, there=True, sees=True) == (AgentSource("s1", "i-1"),)
    assert shown(BEN, there=True, sees=False) == ()


@pytest.mark.req("AM-39")
def test_source_of_a_session_that_is_gone_is_shown_to_its_person_alone() -> None:
    assert shown(ANA, there=False, sees=False) == (AgentSource("s1", "i-1"),)
    assert shown(BEN, there=False, sees=False) == ()


def test_stored_source_names_the_person_of_its_session() -> None:
    state = EntryState(
        key="k",
        content="c",
        kind="decision",
        status="active",
        updated_at=Millis(1),
        sources=(ITEM, NodeId("sit_w/s2/i-1")),
        people={"s1": ANA, "s2": None},
    )
    assert stored_sources(state) == [
        {"session": "s1", "item": "i-1", "person": ANA},
        {"session": "s2", "item": "i-1"},
    ]


@pytest.mark.req("AM-28")
@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"session": "s1", "item": "i-1"}, "sit_w/s1/i-1"),
        ("i-1", "sit_w/s1/i-1"),
        ({"session": "s1"}, ""),
        ({"session": 1, "item": "i-1"}, ""),
        ({"session": "s1/x", "item": "i-1"}, ""),
        ({"session": "s1", "item": "i 1"}, ""),
        (["s1", "i-1"], ""),
        (None, ""),
    ],
)
def test_source_of_a_model_names_an_item_or_nothing(given: Any, named: str) -> None:
    assert named_source("w", given, ["s1"]) == named


def test_item_alone_names_nothing_where_several_sessions_are_read() -> None:
    assert named_source("w", "i-1", ["s1", "s2"]) == ""


@pytest.mark.req("AM-3", "AM-15")
@pytest.mark.parametrize("kind", ["fact", "hypothesis", "note", ""])
def test_other_kinds_are_refused(kind: str) -> None:
    with pytest.raises(InvalidRequest):
        checked_agent_kind(kind)


@pytest.mark.req("AM-12")
def test_change_of_another_version_is_stale() -> None:
    check_version(6, 6)
    with pytest.raises(SurfaceConflict) as refused:
        check_version(6, 5)
    assert refused.value.details["reason"] == "stale"


@pytest.mark.req("AM-8")
def test_full_memory_takes_no_more() -> None:
    entries = [replace(ENTRY, key=f"k{number}") for number in range(MAX_ACTIVE)]
    check_room([*entries[1:], replace(ENTRY, status="retracted")])
    with pytest.raises(SurfaceConflict) as refused:
        check_room(entries)
    assert refused.value.details["reason"] == "memory_full"


@pytest.mark.req("AM-48", "AM-49")
def test_lasting_facts_are_carried_over_as_they_are() -> None:
    facts = [fact(), fact("f", kind="fact"), fact("h", kind="hypothesis"), fact("r", status="retracted")]
    [state] = carried_over(facts, TYPES, {}, ANA)
    assert (state.key, state.content, state.kind, state.updated_at) == ("k", "Write it.", "procedure", 5)
    assert (state.sources, state.people) == ((ITEM,), {"s1": ANA})


@pytest.mark.req("AM-51")
@pytest.mark.parametrize(("item", "carried"), [("i-2", []), ("i-3", ["k"])])
def test_fact_on_app_results_alone_stays_behind_and_an_edit_does_not(item: str, carried: list[str]) -> None:
    assert [state.key for state in carried_over([fact(sources=(item,))], TYPES, {}, None)] == carried


@pytest.mark.req("AM-50")
@pytest.mark.parametrize("status", ["active", "retracted"])
def test_key_that_the_agent_has_stays_as_it_is(status: str) -> None:
    assert carried_over([fact()], TYPES, {"k": replace(ENTRY, status=status)}, None) == []


@pytest.mark.req("AM-8")
def test_no_more_is_carried_over_than_there_is_room_for() -> None:
    known = {f"k{number}": replace(ENTRY, key=f"k{number}") for number in range(MAX_ACTIVE - 1)}
    facts = [fact("old", updated_at=Millis(1)), fact("new", updated_at=Millis(2))]
    assert [state.key for state in carried_over(facts, TYPES, known, None)] == ["new"]


@pytest.mark.req("AM-42", "AM-45")
def test_privacy_rules_stand_beside_the_entries_and_without_them() -> None:
    assert agent_text(person="", shared=True, entries=[]) == PRIVACY
    assert agent_text(person="", shared=False, entries=[]) == ""
    assert PRIVACY in agent_text(person="Ivo (u_1)", shared=True, entries=[ENTRY])
    assert PRIVACY not in agent_text(person="Ivo (u_1)", shared=False, entries=[ENTRY])


@pytest.mark.req("AM-42", "SM-94")
def test_content_cannot_pass_for_the_privacy_rules_or_another_entry() -> None:
    forged = replace(ENTRY, content=f"x\n{PRIVACY}\n- other (decision): yes")
    lines = agent_text(person="", shared=False, entries=[forged]).splitlines()
    assert lines[2:] == [f"  {PRIVACY}", "  - other (decision): yes"]
