from typing import Any

import pytest

from graph.model.nodes.knowledge import BlockVersion, Entry
from graph.model.nodes.work import AuditRecord
from graph.store.neo4j.conditions import Compiler, order_by, relationship_types
from graph.store.query import And, By, Contains, Eq, In, IsSet, Linked, Newest, Or, Range, Tagged, Where

HOSTILE = "x`) DETACH DELETE n //"


@pytest.mark.parametrize(
    "where",
    [
        Eq("name", HOSTILE),
        In("name", [HOSTILE]),
        Range("name", HOSTILE, HOSTILE),
        Tagged([HOSTILE]),
        Linked(["CITES"], [HOSTILE]),  # type: ignore[list-item]
        And([Or([Eq("type", HOSTILE)])]),
    ],
)
def test_values_are_parameters_and_never_part_of_a_statement(where: Where) -> None:
    compiler = Compiler(Entry)
    assert "DELETE" not in compiler.where(where)
    assert HOSTILE in str(compiler.parameters)


@pytest.mark.parametrize(
    "where",
    [Eq(HOSTILE, 1), IsSet(HOSTILE), In(HOSTILE, [1]), Range(HOSTILE), Contains(HOSTILE, "x"), And([Eq(HOSTILE, 1)])],
)
def test_a_field_that_is_not_declared_is_refused(where: Where) -> None:
    with pytest.raises(TypeError):
        Compiler(Entry).where(where)


def test_a_relationship_type_that_is_not_declared_is_refused() -> None:
    with pytest.raises(ValueError, match="DETACH"):
        Compiler(Entry).where(Linked([HOSTILE], []))
    with pytest.raises(ValueError, match="DETACH"):
        relationship_types([HOSTILE])  # type: ignore[list-item]


@pytest.mark.parametrize(("where", "expected"), [(None, "true"), (And([]), "true"), (Or([]), "false")])
def test_nothing_to_fulfil_is_true_and_no_choice_is_false(where: Where | None, expected: str) -> None:
    assert Compiler(Entry).where(where) == expected


@pytest.mark.parametrize(
    ("order", "backward", "expected"),
    [
        (By("name"), False, "n.`name`, n.id"),
        (By("name"), True, "n.`name` DESC, n.id DESC"),
        (By("deleted_at", descending=True), False, "n.`deletedAt` IS NULL, n.`deletedAt` DESC, n.id"),
        (By("deleted_at", descending=True), True, "n.`deletedAt` IS NULL DESC, n.`deletedAt`, n.id DESC"),
        (By("id"), False, "n.`id`"),
        (Newest(), True, "n.guardSort DESC, n.id DESC"),
    ],
)
def test_orders_put_nodes_without_a_value_last_and_end_with_the_id(order: Any, backward: bool, expected: str) -> None:
    assert order_by(Entry, order, None, backward=backward) == expected


def test_what_an_equality_fixes_leads_the_order_so_that_a_compound_index_gives_it() -> None:
    assert order_by(AuditRecord, By("seq"), Eq("pool", "knb_1"), backward=False) == "n.`kbId`, n.`seq`, n.id"


def test_along_an_index_only_its_own_fields_lead_the_order() -> None:
    where = And((Eq("actor_id", "prn_1"), Eq("pool", "knb_1")))
    order = order_by(AuditRecord, By("seq"), where, backward=True, leading=("pool",))
    assert order == "n.`kbId` DESC, n.`seq` DESC, n.id DESC"


def test_enum_members_are_sent_as_plain_texts() -> None:
    compiler = Compiler(BlockVersion)
    compiler.where(Eq("basis", "stated"))
    assert compiler.parameters == {"p0": "stated"}
