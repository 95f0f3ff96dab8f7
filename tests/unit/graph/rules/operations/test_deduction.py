"""Deductions: conditional, dated, derived from what is current, never circular, never a relation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KbKind
from graph.model.time import parse
from graph.rules.operations.deduction import shown_deduction
from tests.support.desk import DREAMING, Desk, base
from tests.support.ids import SequentialIds
from tests.support.operations import Json, add, block, cite, create, deduction, delete, edit, relate

OPS = NodeId("chn_w/atlas/ops")


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def office(desk: Desk) -> NodeId:
    said = desk.source("Mia works in the Berlin office. The Berlin office belongs to Orion.")
    return desk.made(
        create(
            "Berlin office",
            block("Mia works in the Berlin office.", cite(said, "Mia works in the Berlin office")),
            block("The Berlin office belongs to Orion.", cite(said, "The Berlin office belongs to Orion")),
            type="place",
        )
    )


def bases(desk: Desk, entry: NodeId) -> tuple[NodeId, NodeId]:
    first, second = desk.blocks(entry)[:2]
    return first.id, second.id


def judged(*basis: str, **fields: Any) -> Json:
    return deduction("belonging means employment", "Mia works for Orion", *basis, **fields)


@pytest.mark.req("DR-57", "DR-58", "KN-71")
def test_a_deduction_is_kept_with_its_parts_and_what_it_is_derived_from(desk: Desk, office: NodeId) -> None:
    one, other = bases(desk, office)
    made = desk.made(add(office, judged(one, other)))
    version = desk.block(made).version
    assert (version.condition, version.conclusion) == ("belonging means employment", "Mia works for Orion")
    assert (version.inferred_at, version.modifier_kind) == (desk.at, "dreaming")
    assert desk.block(made).rests_on.derived_from == (desk.block(one).version.id, desk.block(other).version.id)
    assert set(desk.drafts[0].image_sources) == {c.source for c in desk.block(one).rests_on.citations}


@pytest.mark.req("DR-58")
@pytest.mark.parametrize(
    "fields",
    [{"condition": " "}, {"conclusion": ""}, {"basis": []}, {"date": "2025-05-09"}, {"date": ""}, {"date": "today"}],
)
def test_a_deduction_is_conditional_dated_and_based(desk: Desk, office: NodeId, fields: Json) -> None:
    content = judged(*bases(desk, office))
    content["deduction"] = {**content["deduction"], **fields}
    assert desk.code(add(office, content)) == "NOT_CONDITIONAL"


@pytest.mark.req("DR-58")
def test_a_judgement_without_parts_is_no_deduction(desk: Desk, office: NodeId) -> None:
    bare = block("Mia works for Orion.", basis="deduced", standing="inferred", change="inference")
    assert desk.code(add(office, bare)) == "NOT_CONDITIONAL"
    assert desk.code(add(office, {**judged(*bases(desk, office)), "basis": "induced"})) == "SCHEMA_INVALID"


@pytest.mark.req("DR-58")
def test_the_date_may_be_that_of_the_begin_of_the_run(desk: Desk, office: NodeId) -> None:
    late = replace(DREAMING, run_started_at=parse("2025-05-09T23:59:00Z"))
    made = desk.made(add(office, judged(*bases(desk, office), date="2025-05-09")), by=late)
    assert desk.block(made).version.inferred_at == late.run_started_at, "it is shown with the day that it gives"


@pytest.mark.req("DR-58", "DR-60")
def test_a_basis_is_current(desk: Desk, office: NodeId) -> None:
    one, other = bases(desk, office)
    proof = desk.source("Mia left the office.")
    desk.made(delete(one, 1, cite(proof, "Mia left the office")))
    assert desk.code(add(office, judged(one, other))) == "NOT_CONDITIONAL"


@pytest.mark.req("DR-44")
def test_a_hidden_basis_is_not_found(desk: Desk, office: NodeId) -> None:
    one, other = bases(desk, office)
    desk.state = replace(desk.state, visible=desk.state.visible - {one})
    assert desk.code(add(office, judged(one, other))) == "EVIDENCE_NOT_FOUND"
    assert desk.code(add(office, judged("blk_nowhere"))) == "EVIDENCE_NOT_FOUND"


@pytest.mark.req("KN-53")
def test_a_basis_of_a_narrower_scope_is_refused(desk: Desk, office: NodeId) -> None:
    narrow = Desk(base=base(KbKind.CHANNEL, OPS), ids=SequentialIds(1_000))
    private = narrow.made(create("Salary", block("Is 90k.", cite(narrow.source("My salary is 90k."), "salary is 90k"))))
    inside = narrow.blocks(private)[0].id
    desk.state = replace(
        desk.state,
        blocks={**desk.state.blocks, **narrow.state.blocks},
        visible=desk.state.visible | {inside},
        scopes={**desk.state.scopes, **narrow.state.scopes},
    )
    assert desk.code(add(office, judged(inside))) == "SCOPE_FORBIDDEN"


@pytest.mark.req("DR-73")
def test_a_rumour_is_no_basis(desk: Desk, office: NodeId) -> None:
    heard = desk.source("I heard Mia may leave.")
    rumour = block(
        "Ben heard on 9 May 2025 that Mia may leave.",
        cite(heard, "Mia may leave"),
        change="rumour",
        standing="unconfirmed",
    )
    id_ = desk.made(add(office, rumour))
    assert desk.code(add(office, judged(id_))) == "RUMOUR_OVERRIDE"


@pytest.mark.req("DR-58", "DR-59")
def test_a_relation_may_be_a_basis_and_is_not_made_by_a_deduction(desk: Desk, office: NodeId) -> None:
    said = desk.source("Orion owns the Berlin office.")
    orion = desk.made(create("Orion", block("Owns an office.", cite(said, "Orion owns the Berlin office"))))
    relation = desk.made(relate(orion, "owns", office, said, "Orion owns the Berlin office"))
    made = desk.made(add(office, judged(relation)))
    assert desk.block(made).rests_on.derived_from == (relation,)
    assert len(desk.state.relations) == 1


@pytest.mark.req("KN-72")
def test_a_statement_is_not_derived_from_itself(desk: Desk, office: NodeId) -> None:
    one, other = bases(desk, office)
    conclusion = desk.made(add(office, judged(one)))
    second = desk.made(add(office, deduction("so", "she is paid by Orion", conclusion)))
    assert desk.code(edit(conclusion, 1, deduction("so", "all is one", conclusion))) == "PROVENANCE_CYCLE"
    assert desk.code(edit(conclusion, 1, deduction("so", "all is one", second))) == "PROVENANCE_CYCLE"
    assert desk.code(edit(conclusion, 1, deduction("so", "all is one", other))) == "accepted"


@pytest.mark.req("KN-72")
def test_a_chain_of_derivations_is_at_most_16_deep(desk: Desk, office: NodeId) -> None:
    id_ = bases(desk, office)[0]
    for step in range(16):
        id_ = desk.made(add(office, deduction(f"step {step}", "it follows", id_)))
    assert desk.code(add(office, deduction("one more", "it follows", id_))) == "PROVENANCE_CYCLE"


@pytest.mark.req("KN-72")
def test_derivations_of_former_versions_make_no_cycle(desk: Desk, office: NodeId) -> None:
    one, other = bases(desk, office)
    conclusion = desk.made(add(office, judged(one)))
    desk.made(edit(conclusion, 1, deduction("now", "Mia is new", other)))
    assert desk.code(add(office, deduction("and", "one more", conclusion))) == "accepted"


@pytest.mark.req("DR-58")
def test_a_deduction_is_shown_with_author_date_and_basis() -> None:
    shown = shown_deduction("it rains", "the match is off", by="Dreaming", day="2025-05-10", basis=["1"])
    assert shown == "If it rains: the match is off (Dreaming, 2025-05-10; basis [1])"
