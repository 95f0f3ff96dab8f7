"""The planner: order of effects, all or nothing, skipping, references to rejected entries, equal results."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.ids import NodeId
from graph.rules.knowledge_settings import defaults
from graph.rules.operations.needs import needs_of
from graph.rules.operations.parsing import parse_operations
from graph.rules.operations.planner import plan
from graph.rules.operations.verdicts import Outcome, counts
from tests.support.desk import DREAMING, Desk
from tests.support.operations import add, block, cite, create, deduction, edit, on_entry, relate

SKIPPING = replace(DREAMING, skip_rejected=True)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def source(desk: Desk) -> NodeId:
    return desk.source("Ana joined Helio.")


@pytest.mark.req("DR-42")
def test_later_operations_use_what_earlier_ones_made(desk: Desk, source: NodeId) -> None:
    joined = cite(source, "Ana joined Helio")
    codes = desk.codes(
        create("Ana", block("Joined Helio.", joined), ref="a"),
        create("Helio", block("Has Ana.", joined), ref="h"),
        add("a", block("Is at Helio.", joined)),
        on_entry("renameEntry", "h", 1, name="Helio GmbH"),
        relate("a", "member_of", "h", source, "Ana joined Helio"),
    )
    assert codes == ["accepted"] * 5


@pytest.mark.req("KN-111")
def test_one_rejection_leaves_nothing_to_write(desk: Desk, source: NodeId) -> None:
    joined = cite(source, "Ana joined Helio")
    plan_ = desk.apply(create("Ana", block("Joined Helio.", joined)), create("Helio", block("x", cite(source, "none"))))
    assert [v.code for v in plan_.verdicts] == [None, "QUOTE_NOT_VERBATIM"]
    assert plan_.first_rejection is plan_.verdicts[1]
    assert not plan_.changes.puts
    assert not plan_.changes.drafts
    assert desk.state.entries == {}


@pytest.mark.req("DR-54")
def test_a_rejected_operation_is_skipped_and_what_depends_on_it_too(desk: Desk, source: NodeId) -> None:
    joined = cite(source, "Ana joined Helio")
    plan_ = desk.apply(
        create("Helio", block("x", cite(source, "invented")), ref="h"),
        create("Ana", block("Joined Helio.", joined), ref="a"),
        add("h", block("Has Ana.", joined)),
        relate("a", "member_of", "h", source, "Ana joined Helio"),
        add("a", block("Is at Helio.", joined)),
        by=SKIPPING,
    )
    assert [(v.index, v.op, v.code) for v in plan_.verdicts] == [
        (0, "createEntry", "QUOTE_NOT_VERBATIM"),
        (1, "createEntry", None),
        (2, "addBlock", "DEPENDS_ON_REJECTED"),
        (3, "addRelation", "DEPENDS_ON_REJECTED"),
        (4, "addBlock", None),
    ]
    assert [entry.entry.name for entry in desk.state.entries.values()] == ["Ana"]
    assert all(v.reason for v in plan_.verdicts if v.is_rejected)
    assert counts(plan_.verdicts)[Outcome.REJECTED] == 3


@pytest.mark.req("DR-54")
def test_what_cannot_be_read_counts_as_rejected_too(desk: Desk, source: NodeId) -> None:
    joined = cite(source, "Ana joined Helio")
    bad = {**create("Helio", block("x", joined)), "ref": "h", "type": 3}
    assert desk.codes(bad, add("h", block("y", joined)), by=SKIPPING) == ["SCHEMA_INVALID", "DEPENDS_ON_REJECTED"]


def test_a_rejected_operation_leaves_no_trace_in_the_working_copy(desk: Desk, source: NodeId) -> None:
    joined = cite(source, "Ana joined Helio")
    bad_attribute = {"seat": {"value": "Graz", "citations": [cite(source, "in Graz")]}}
    codes = desk.codes(
        create("Ana", block("Joined Helio.", joined), attributes={**bad_attribute}),
        create("Ana", block("Joined Helio.", joined), ref="a"),
        create("Ana ", block("Joined Helio.", joined)),
        by=replace(DREAMING, skip_rejected=False),
    )
    assert codes == ["QUOTE_NOT_VERBATIM", "accepted", "NAME_TAKEN"]


def test_a_ref_names_one_entry(desk: Desk, source: NodeId) -> None:
    joined = cite(source, "Ana joined Helio")
    two = [create(name, block("Joined.", joined), ref="x") for name in ("Ana", "Helio")]
    assert desk.codes(*two) == ["accepted", "SCHEMA_INVALID"]
    assert desk.code(add("unknown", block("Joined.", joined))) == "EVIDENCE_NOT_FOUND"


def test_planning_changes_nothing_it_was_given_and_is_repeatable(desk: Desk, source: NodeId) -> None:
    joined = cite(source, "Ana joined Helio")
    entry = desk.made(create("Ana", block("Joined Helio.", joined)))
    more = desk.source("Ana is at Helio.")
    given = [
        edit(desk.blocks(entry)[0].id, 1, block("Is at Helio.", cite(more, "is at Helio"))),
        on_entry("renameEntry", entry, 1, name="Ana Lin"),
    ]
    parsed = parse_operations(given, max_operations=9)
    before = desk.state

    def once() -> object:
        ids = iter(range(1, 99))
        return plan(parsed, desk.state, DREAMING, defaults(), desk.at, lambda prefix: NodeId(f"{prefix}_{next(ids)}"))

    assert once() == once()
    assert desk.state is before
    assert desk.entry(entry).entry.name == "Ana"


def test_needs_name_everything_that_must_be_loaded(desk: Desk, source: NodeId) -> None:
    joined = cite(source, "Ana joined Helio")
    operations = [
        create("Ana", block("Joined.", joined), ref="a", sameAs="ent_wide", principal="prn_x"),
        add("ent_1", {**block("x", joined), "supersedes": ["blk_1"], "after": "blk_2"}),
        add("ent_1", deduction("c", "d", "blk_3", "rel_1")),
        edit("blk_4", 1, block("x", joined)),
        on_entry("setAliases", "ent_2", 1, aliases=[]),
        relate("ent_3", "knows", "ent_4", source, "Ana joined Helio"),
    ]
    needs = needs_of(p.operation for p in parse_operations(operations, max_operations=9) if p.operation)
    assert needs.edited == {"ent_1", "ent_2"}
    assert needs.pointed == {"ent_wide", "ent_3", "ent_4"}
    assert needs.blocks >= {"blk_1", "blk_2", "blk_3", "blk_4"}
    assert needs.relations >= {"rel_1"}
    assert needs.cited == {source}
    assert needs.principals == {"prn_x"}
    assert needs.names == {"ana"}
    assert needs.said == {"ent_2"}
    assert (needs.deduces, needs.near) == (True, False)
    assert needs.triples == {("ent_3", "knows", "ent_4")}
