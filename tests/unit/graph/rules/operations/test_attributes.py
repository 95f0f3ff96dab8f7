"""Attributes: versioned values with their own evidence and validity."""

from __future__ import annotations

from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Attribute
from graph.model.time import parse
from tests.support.desk import ATLAS, HUMAN, Desk
from tests.support.operations import Json, block, cite, create, on_entry


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def source(desk: Desk) -> NodeId:
    return desk.source("Helio, founded 1990, has its seat in Berlin.", at="2024-03-01T00:00:00Z")


@pytest.fixture
def entry(desk: Desk, source: NodeId) -> NodeId:
    return desk.made(create("Helio", block("Sits in Berlin.", cite(source, "seat in Berlin"))))


def value(given: Any, *citations: Json, change: str = "addition", **fields: Any) -> Json:
    return {"value": given, "citations": list(citations), "change": change, **fields}


def put(desk: Desk) -> list[Attribute]:
    assert desk.last is not None
    return [node for node in desk.last.changes.puts if isinstance(node, Attribute)]


@pytest.mark.req("KN-17", "KN-32", "KN-84")
def test_a_value_has_its_own_evidence_and_one_record_names_all_touched_keys(
    desk: Desk, entry: NodeId, source: NodeId
) -> None:
    both = {
        "seat": value("Berlin", cite(source, "seat in Berlin")),
        "founded": value(1990, cite(source, "founded 1990")),
    }
    desk.made(on_entry("setAttributes", entry, 1, set=both))
    assert {node.key: (node.value, node.version) for node in put(desk)} == {"seat": ("Berlin", 1), "founded": (1990, 1)}
    assert len(desk.links("CITES")) == 2
    (record,) = desk.drafts
    assert record.operation == "entry.set_attributes"
    assert record.before == {"attributes.seat": None, "attributes.founded": None}
    assert record.after["attributes.founded"]["value"] == 1990
    assert desk.entry(entry).entry.current_version == 2


@pytest.mark.req("KN-32", "KN-23", "DR-69")
def test_a_changed_value_closes_the_old_one(desk: Desk, entry: NodeId, source: NodeId) -> None:
    desk.made(on_entry("setAttributes", entry, 1, set={"seat": value("Berlin", cite(source, "seat in Berlin"))}))
    old = desk.entry(entry).attributes["seat"].attribute
    moved = desk.source("Helio moved to Graz.", at="2025-04-04T09:00:00Z")
    graz = value("Graz", cite(moved, "moved to Graz"), change="evolution")
    desk.made(on_entry("setAttributes", entry, 2, set={"seat": graz}))
    said = parse("2025-04-04T09:00:00Z")
    assert [(n.value, n.version, n.valid_from, n.valid_to) for n in put(desk)] == [
        ("Berlin", 2, None, said),
        ("Graz", 3, said, None),
    ]
    assert desk.last is not None
    assert desk.last.changes.patches[old.id] == {"invalidated_at": desk.at}


@pytest.mark.req("KN-32", "DR-71")
def test_a_corrected_value_is_believed_no_more(desk: Desk, entry: NodeId, source: NodeId) -> None:
    desk.made(on_entry("setAttributes", entry, 1, set={"founded": value(1990, cite(source, "founded 1990"))}))
    told = desk.source("No, 1991.")
    wrong_role = value(1991, cite(told, "No, 1991"), change="correction")
    right = value(1991, cite(told, "No, 1991", "corrects"), change="correction")
    assert desk.code(on_entry("setAttributes", entry, 2, set={"founded": wrong_role})) == "CONFLICT_UNEXPLAINED"
    assert desk.code(on_entry("setAttributes", entry, 2, set={"founded": right})) == "accepted"
    assert [(node.value, node.valid_to) for node in put(desk)] == [(1991, None)]


@pytest.mark.req("DR-68")
def test_a_second_value_must_say_what_became_of_the_first(desk: Desk, entry: NodeId, source: NodeId) -> None:
    desk.made(on_entry("setAttributes", entry, 1, set={"founded": value(1990, cite(source, "founded 1990"))}))
    other = desk.source("founded in 1991")
    second = on_entry("setAttributes", entry, 2, set={"founded": value(1991, cite(other, "founded in 1991"))})
    assert desk.code(second) == "CONFLICT_UNEXPLAINED"
    assert desk.code(second, by=HUMAN) == "accepted"


def test_the_same_value_gains_evidence_or_changes_nothing(desk: Desk, entry: NodeId, source: NodeId) -> None:
    same = value(1990, cite(source, "founded 1990"))
    desk.made(on_entry("setAttributes", entry, 1, set={"founded": same}))
    assert desk.code(on_entry("setAttributes", entry, 2, set={"founded": same})) == "noop"
    assert desk.code(on_entry("setAttributes", entry, 2, set={"founded": value(1990)}), by=HUMAN) == "noop"
    other = desk.source("It was founded 1990 in Berlin.")
    assert desk.code(
        on_entry("setAttributes", entry, 2, set={"founded": value(1990, cite(other, "founded 1990"))})
    ) == ("accepted")
    assert {c.source for c in desk.entry(entry).attributes["founded"].rests_on.citations} == {source, other}


@pytest.mark.req("DR-43")
def test_a_value_is_unset(desk: Desk, entry: NodeId, source: NodeId) -> None:
    desk.made(on_entry("setAttributes", entry, 1, set={"founded": value(1990, cite(source, "founded 1990"))}))
    assert desk.code(on_entry("setAttributes", entry, 2, unset=["seat"])) == "SCHEMA_INVALID"
    assert desk.code(on_entry("setAttributes", entry, 2, unset=["founded"])) == "accepted"
    assert desk.entry(entry).attributes == {}
    assert desk.drafts[0].after == {"attributes.founded": None}


@pytest.mark.req("DR-46", "DR-47", "DR-75", "KN-70")
def test_a_value_has_rules_of_evidence_like_a_block(desk: Desk, entry: NodeId, source: NodeId) -> None:
    own = desk.source("It was founded 1990.", by=ATLAS)

    def code(**given: Any) -> str:
        return desk.code(on_entry("setAttributes", entry, 1, set={"founded": given}))

    assert code(**value(1990)) == "SCHEMA_INVALID"
    assert code(**value(1990, cite(source, "founded 1991"))) == "QUOTE_NOT_VERBATIM"
    assert code(**value(1990, cite(own, "founded 1990"))) == "AGENT_SELF_EVIDENCE"
    assert code(**value(1990, cite(source, "founded 1990"), change="rumour")) == "SCHEMA_INVALID"


@pytest.mark.req("KN-21", "KN-78")
@pytest.mark.parametrize(
    ("key", "given", "code"),
    [
        ("Founded", 1990, "LIMIT_EXCEEDED"),
        ("9lives", 1990, "LIMIT_EXCEEDED"),
        ("k" * 65, 1990, "LIMIT_EXCEEDED"),
        ("x`) DETACH DELETE n //", 1990, "LIMIT_EXCEEDED"),
        ("seat", "b" * 1_001, "LIMIT_EXCEEDED"),
        ("seats", ["b" * 600, "g" * 600], "LIMIT_EXCEEDED"),
        ("confidence", 0.9, "NUMERIC_CONFIDENCE"),
        ("seat", {"a": 1}, "SCHEMA_INVALID"),
        ("seat", None, "SCHEMA_INVALID"),
        ("k" * 64, 1990, "accepted"),
        ("seats", ["Berlin", "Graz"], "accepted"),
        ("public", True, "accepted"),
        ("share", 0.5, "accepted"),
    ],
)
def test_keys_and_values_have_limits(
    desk: Desk, entry: NodeId, source: NodeId, key: str, given: Any, code: str
) -> None:
    sent = on_entry("setAttributes", entry, 1, set={key: value(given, cite(source, "founded 1990"))})
    assert desk.code(sent) == code


@pytest.mark.req("KN-21")
def test_an_entry_has_at_most_50_attributes(desk: Desk, entry: NodeId, source: NodeId) -> None:
    quote = cite(source, "founded 1990")
    many = {f"k{n}": value(n, quote) for n in range(51)}
    assert desk.code(on_entry("setAttributes", entry, 1, set=many)) == "LIMIT_EXCEEDED"
    many.pop("k0")
    assert desk.code(on_entry("setAttributes", entry, 1, set=many)) == "accepted"


@pytest.mark.req("KN-68")
def test_a_value_that_a_person_types_rests_on_his_note(desk: Desk, entry: NodeId) -> None:
    desk.made(on_entry("setAttributes", entry, 1, set={"founded": value(1990)}), by=HUMAN)
    (cited,) = desk.entry(entry).attributes["founded"].rests_on.citations
    assert cited.quote == "founded: 1990"


def test_a_new_entry_may_have_attributes(desk: Desk, source: NodeId) -> None:
    made = create(
        "Orion",
        block("Is in Berlin.", cite(source, "in Berlin")),
        attributes={"seat": value("Berlin", cite(source, "in Berlin"))},
    )
    entry = desk.made(made)
    assert desk.entry(entry).attributes["seat"].attribute.value == "Berlin"
    assert desk.drafts[0].after["attributes.seat"]["value"] == "Berlin"


@pytest.mark.req("KN-17")
@pytest.mark.parametrize("given", [2**53 + 1, int("9" * 400), float("inf"), float("nan")])
def test_a_number_that_no_record_can_hold_is_refused_alone(
    desk: Desk, entry: NodeId, source: NodeId, given: float
) -> None:
    """The proof is made of canonical JSON: what that cannot hold would end a whole batch, again and again."""
    odd = on_entry("setAttributes", entry, 1, set={"founded": value(given, cite(source, "founded 1990"))})
    good = on_entry("setAttributes", entry, 1, set={"founded": value(2**53, cite(source, "founded 1990"))})
    assert desk.codes(odd, good) == ["SCHEMA_INVALID", "accepted"]
