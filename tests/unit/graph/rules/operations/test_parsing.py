"""Reading the operation list: codes of what cannot be read, and ids that transports change."""

from __future__ import annotations

import pytest

from graph.model.errors import LimitExceeded
from graph.rules.operations.parsing import map_ids, parse_operations
from graph.rules.operations.schema import AddBlock, SetAttributes
from tests.support.desk import Desk
from tests.support.operations import add, block, cite, create, edit, on_entry


def code_of(operation: object) -> str:
    (parsed,) = parse_operations([operation], max_operations=10)
    return parsed.error.rule_code if parsed.error else "read"


@pytest.mark.req("DR-42")
def test_an_unknown_operation_has_its_own_code() -> None:
    assert code_of({"op": "dropEverything"}) == "UNKNOWN_OPERATION"
    assert code_of({"op": "`x` SET n.admin = true //"}) == "UNKNOWN_OPERATION"


@pytest.mark.req("DR-43")
def test_a_lesson_is_added_with_a_text_replaced_by_its_id_and_removed_without_one() -> None:
    given = {"op": "updateSkillOverlay", "skill": "deploy", "citations": []}
    assert code_of({**given, "action": "add", "text": "wait"}) == "read"
    assert code_of({**given, "action": "ADD", "text": "wait", "origin": "AGENT_ADDED"}) == "read"
    assert code_of({**given, "action": "replace", "text": "wait", "lesson": "l"}) == "read"
    assert code_of({**given, "action": "remove", "lesson": "l"}) == "read"
    assert code_of({**given, "action": "add", "text": "wait", "lesson": "l"}) == "SCHEMA_INVALID"
    assert code_of({**given, "action": "replace", "text": "wait"}) == "SCHEMA_INVALID"
    assert code_of({**given, "action": "remove", "lesson": "l", "text": "wait"}) == "SCHEMA_INVALID"
    assert code_of({**given, "action": "forget", "lesson": "l"}) == "SCHEMA_INVALID"
    assert code_of({"op": "writeMemo", "lines": []}) == "SCHEMA_INVALID"


def test_ids_in_memo_lines_and_of_lessons_are_changed_too() -> None:
    memo = {"op": "writeMemo", "lines": [{"text": "1", "citations": [{"source": "2"}]}]}
    assert map_ids(memo, lambda id_: "x" + id_)["lines"] == [{"text": "1", "citations": [{"source": "x2"}]}]
    assert map_ids({"lesson": "1", "skill": "1", "text": "1"}, lambda id_: "x" + id_) == {
        "lesson": "x1",
        "skill": "1",
        "text": "1",
    }


@pytest.mark.req("DR-42")
@pytest.mark.parametrize(
    "operation",
    [
        "addBlock",
        {},
        {"op": "addBlock"},
        add("e", block("x", cite("s", "quote")), change="guess"),
        add("e", block("x", cite("s", "quote")), validFrom="last spring"),
        add("e", block("x", cite("s", "quote")), deduction={"condition": "a"}),
        add("e", block(None, cite("s", "quote"))),
        edit("b", 1, block("x"), expectedVersion="1"),
        create("x"),
        add("e", block("x"), supersede=["b"]),
        on_entry("setAttributes", "e", 1, set={"size": {"value": {"a": 1}, "citations": []}}),
        on_entry("setAttributes", "e", 1, set={"size": {"value": float("nan"), "citations": []}}),
    ],
)
def test_a_missing_or_ill_typed_field_is_told(operation: object) -> None:
    assert code_of(operation) == "SCHEMA_INVALID"


@pytest.mark.req("KN-77", "KN-78")
@pytest.mark.parametrize("word", ["confidence", "probability", "certainty", "score", "Confidence"])
def test_belief_is_no_number_wherever_it_stands(word: str) -> None:
    content = block("x", cite("s", "quote"))
    assert code_of(add("e", content, **{word: 0.9})) == "NUMERIC_CONFIDENCE"
    assert code_of(add("e", block("x", {**cite("s", "quote"), word: 1}))) == "NUMERIC_CONFIDENCE"
    value = {"value": 1, "citations": []}
    assert code_of(on_entry("setAttributes", "e", 1, set={word: value})) == "NUMERIC_CONFIDENCE"
    assert code_of(on_entry("setAttributes", "e", 1, set=[{"key": word, **value}])) == "NUMERIC_CONFIDENCE"


def test_no_reason_repeats_what_was_sent() -> None:
    secret = "marmalade"
    for operation in (
        {"op": secret},
        add("e", block("x", **{secret: secret})),
        on_entry("setAttributes", "e", 1, set={secret: {"value": {"deep": secret}}}),
    ):
        (parsed,) = parse_operations([operation], max_operations=1)
        assert parsed.error is not None
        assert secret not in parsed.error.message + repr(parsed.error.details)


@pytest.mark.req("DR-42")
def test_too_many_operations_spoil_the_whole_list() -> None:
    with pytest.raises(LimitExceeded):
        parse_operations([{}, {}, {}], max_operations=2)


def test_a_bad_operation_spoils_no_other() -> None:
    desk = Desk()
    source = desk.source("Helio builds kilns.")
    good = create("Helio", block("Builds kilns.", cite(source, "builds kilns")))
    read = parse_operations([{"op": "x"}, good], max_operations=5)
    assert [parsed.operation is None for parsed in read] == [True, False]


@pytest.mark.req("KN-74")
def test_a_date_takes_the_precision_of_its_form_unless_it_gives_one() -> None:
    desk = Desk()
    source = desk.source("I went vegetarian last month.")
    quote = cite(source, "vegetarian last month")
    desk.made(
        create(
            "Lin",
            block("Vegetarian.", quote, validFrom="2025-04-01", fromPrecision="month"),
            block("Eats fish.", quote, validFrom="2025-04"),
            block("Eats eggs.", quote, validFrom="2025-04-01T10:00:00Z"),
        )
    )
    found = [(s.version.valid_from, s.version.from_precision) for s in desk.state.blocks.values()]
    assert found == [(1_743_465_600_000, "month"), (1_743_465_600_000, "month"), (1_743_501_600_000, "instant")]


def test_enumerations_are_taken_in_the_case_of_graphql_too() -> None:
    (parsed,) = parse_operations(
        [add("e", block("x", cite("s", "quote", "CORRECTS"), basis="STATED", standing="SETTLED"))], max_operations=1
    )
    assert isinstance(parsed.operation, AddBlock)
    assert parsed.operation.citations[0].role.value == "corrects"


def test_attributes_are_taken_by_key_or_as_a_list() -> None:
    value = {"value": "Berlin", "citations": [cite("s", "Berlin")]}
    by_key = on_entry("setAttributes", "e", 1, set={"city": value})
    listed = on_entry("setAttributes", "e", 1, set=[{"key": "city", **value}])
    one, other = (p.operation for p in parse_operations([by_key, listed], max_operations=2))
    assert isinstance(one, SetAttributes)
    assert one == other


def test_ids_are_changed_wherever_they_stand_and_nothing_else() -> None:
    operation = create(
        "name",
        block("source", cite("s", "block"), supersedes=["b"], deduction={"basis": ["b"], "condition": "c"}),
        ref="r",
        sameAs="e",
        attributes={"source": {"value": "v", "citations": [cite("s", "q")]}},
    )
    changed = map_ids(operation, lambda id_: f"<{id_}>")
    assert changed["name"] == "name"
    assert changed["ref"] == "r"
    assert changed["sameAs"] == "<e>"
    (content,) = changed["blocks"]
    assert (content["text"], content["supersedes"], content["deduction"]["basis"]) == ("source", ["<b>"], ["<b>"])
    assert content["citations"] == [cite("<s>", "block")]
    assert changed["attributes"]["source"]["citations"] == [cite("<s>", "q")]
