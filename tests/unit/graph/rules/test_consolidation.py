"""Judging the changes that a model proposes to a memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model.nodes.sessions import EntryStatus
from graph.rules.agent_memory import KINDS
from graph.rules.consolidation import Decision, Ground, Proposal, Rejected, Tag, decide
from graph.rules.session_memory import MAX_ACTIVE


@dataclass(frozen=True)
class Entry:
    """An entry as it stands."""

    content: str = "Porto."
    kind: str = "decision"
    status: str = "active"


GROUND = Ground(
    entries={},
    sources={"i-1": "person_message", "i-2": "agent_message", "i-3": "app_result", "i-4": "person_message"},
    read=frozenset({"i-2", "i-3", "i-4"}),
)


def remember(key: str = "venue", content: str = "Lisbon.", *, sources: tuple[str, ...] = ("i-4",), **more: Any) -> Any:
    return Proposal(tag=Tag.REMEMBER, key=key, content=content, kind=more.get("kind", "decision"), sources=sources)


def forget(key: str = "venue", *, sources: tuple[str, ...] = ("i-4",)) -> Proposal:
    return Proposal(tag=Tag.FORGET, key=key, sources=sources)


def why(*proposals: Proposal | None, **ground: Any) -> tuple[Rejected, ...]:
    """Return why changes are dropped."""
    return decide(proposals, replace(GROUND, **ground)).rejected


def kept(decision: Decision) -> dict[str, tuple[str, str]]:
    return {change.key: (change.content, str(change.status)) for change in decision.accepted}


def test_change_with_a_source_that_was_read_is_applied() -> None:
    decision = decide([remember()], GROUND)
    assert kept(decision) == {"venue": ("Lisbon.", "active")}
    assert decision.rejected == ()


@pytest.mark.req("SM-99", "SM-100")
def test_sources_stand_once_each_in_the_order_of_history() -> None:
    [change] = decide([remember(sources=("i-4", "i-1", "i-4"))], GROUND).accepted
    assert change.sources == ("i-1", "i-4")


@pytest.mark.req("SM-99", "SM-100")
@pytest.mark.parametrize(
    ("sources", "reason"),
    [((), Rejected.NOT_READ), (("i-1",), Rejected.NOT_READ), (("i-4", "i-9"), Rejected.UNKNOWN_SOURCE)],
)
def test_change_without_a_source_that_was_read_is_dropped(sources: tuple[str, ...], reason: Rejected) -> None:
    assert why(remember(sources=sources)) == (reason,)


@pytest.mark.req("SM-102", "AM-32")
@pytest.mark.parametrize("proposal", [remember(), forget()])
def test_retracted_entry_stays_as_it_is(proposal: Proposal) -> None:
    assert why(proposal, entries={"venue": Entry(status="retracted")}) == (Rejected.RETRACTED,)


def test_forgotten_entry_keeps_its_content_and_kind() -> None:
    [change] = decide([forget()], replace(GROUND, entries={"venue": Entry()})).accepted
    assert (change.content, change.kind, change.status) == ("Porto.", "decision", EntryStatus.RETRACTED)
    assert why(forget()) == (Rejected.UNKNOWN_KEY,)


@pytest.mark.req("SM-101")
def test_first_change_of_a_key_that_breaks_no_rule_counts() -> None:
    decision = decide([remember(content=" "), remember(content="1"), remember(content="2"), forget()], GROUND)
    assert kept(decision) == {"venue": ("1", "active")}
    assert decision.rejected == (Rejected.CONTENT, Rejected.TWICE, Rejected.UNKNOWN_KEY)


@pytest.mark.req("SM-101", "SM-15")
def test_keys_are_one_in_their_normal_form() -> None:
    decision = decide([remember("caf\u00e9"), remember("cafe\u0301")], GROUND)
    assert (list(kept(decision)), decision.rejected) == (["caf\u00e9"], (Rejected.TWICE,))


@pytest.mark.req("SM-104")
def test_key_that_a_person_edited_meanwhile_is_his() -> None:
    assert why(remember(), forget("food"), edited=frozenset({"venue"}), entries={"food": Entry()}) == (Rejected.EDITED,)


@pytest.mark.req("SM-111", "SM-112")
@pytest.mark.parametrize(
    ("proposal", "reason"),
    [
        (None, Rejected.MALFORMED),
        (remember(""), Rejected.KEY),
        (remember("a\n"), Rejected.KEY),
        (remember("k" * 129), Rejected.KEY),
        (remember(content="x" * 4_001), Rejected.CONTENT),
        (remember(content="a\0"), Rejected.CONTENT),
        (remember(kind="note"), Rejected.KIND),
        (remember(kind=""), Rejected.KIND),
        (remember(content="-----BEGIN RSA PRIVATE KEY-----\nMII"), Rejected.CREDENTIAL),
    ],
)
def test_change_that_breaks_a_rule_is_dropped_alone(proposal: Proposal | None, reason: Rejected) -> None:
    decision = decide([proposal, remember("other")], GROUND)
    assert (list(kept(decision)), decision.rejected) == (["other"], (reason,))


@pytest.mark.req("SM-58", "SM-19")
def test_one_active_entry_too_many_is_dropped_and_a_forgotten_one_makes_room() -> None:
    full = {f"k{number}": Entry() for number in range(MAX_ACTIVE)}
    assert why(remember("new"), entries=full) == (Rejected.FULL,)
    assert why(remember("k1"), entries=full) == (), "a known key needs no room"
    assert why(forget("k2"), remember("new"), remember("newer"), entries=full) == (Rejected.FULL,)


@pytest.mark.req("AM-29")
@pytest.mark.parametrize("alone", ["app_result", "notification", "memory_edit"])
def test_agent_learns_nothing_from_outside_data_alone(alone: str) -> None:
    sources = {"i-3": alone, "i-4": "person_message"}
    inside = remember("y", sources=("i-3", "i-4"))
    agent = replace(GROUND, sources=sources, outside_only=False)
    decision = decide([remember("x", sources=("i-3",)), inside], agent)
    assert (list(kept(decision)), decision.rejected) == (["y"], (Rejected.OUTSIDE_ONLY,))
    assert why(remember("x", sources=("i-3",)), sources=sources) == (), "a session keeps facts of one task"


@pytest.mark.req("AM-3")
def test_agent_keeps_lasting_kinds_only() -> None:
    changes = [remember(kind, kind=kind) for kind in ("fact", "hypothesis", "decision", "preference", "procedure")]
    decision = decide(changes, replace(GROUND, kinds=KINDS))
    assert list(kept(decision)) == ["decision", "preference", "procedure"]


def test_what_the_agent_repeats_is_no_news_but_what_a_person_repeats_is() -> None:
    """Bug case 14."""
    known = {"venue": Entry("Lisbon.")}
    assert why(remember(sources=("i-2",)), entries=known) == (Rejected.ECHO,)
    assert why(remember(sources=("i-4",)), entries=known) == ()
    assert why(remember(content="Braga.", sources=("i-2",)), entries=known) == ()


_KEYS = st.sampled_from(["a", "b", "c"])
_SOURCES = st.lists(st.sampled_from(["i-1", "i-2", "i-3", "i-4", "i-9"]), max_size=3).map(tuple)
_PROPOSALS = st.one_of(
    st.none(),
    st.builds(forget, _KEYS, sources=_SOURCES),
    st.builds(remember, _KEYS, st.sampled_from(["x", "y", ""]), sources=_SOURCES),
)
_ENTRIES = st.dictionaries(_KEYS, st.builds(Entry, status=st.sampled_from(["active", "retracted"])))


@pytest.mark.req("SM-99", "SM-101", "SM-102", "SM-104", "SM-112")
@given(st.lists(_PROPOSALS, max_size=6), _ENTRIES, st.sets(_KEYS))
def test_no_answer_gets_past_the_rules(
    proposals: list[Proposal | None], entries: dict[str, Entry], edited: set[str]
) -> None:
    decision = decide(proposals, replace(GROUND, entries=entries, edited=frozenset(edited)))
    keys = [change.key for change in decision.accepted]
    assert len(keys) == len(set(keys))
    assert len(keys) + len(decision.rejected) == len(proposals)
    assert not edited & set(keys)
    assert all(GROUND.read & set(change.sources) for change in decision.accepted)
    assert all(key not in entries or entries[key].status == "active" for key in keys)
