"""What the REST routes can do, GraphQL can do (KN-121): the page that says so names all routes, and what is there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pytest
from graphql import GraphQLField, GraphQLNamedType, GraphQLObjectType, get_named_type

from api.graphql.schema import build_schema
from api.rights import MUTATIONS, QUERIES, ROUTES, Needs
from tests.docs.pages import ROOT

PAGE = ROOT / "docs" / "rest-and-graphql.md"
SURFACES = ("/v1/", "/api/v1/")
_ROW = re.compile(r"^\| `([A-Z]+ /\S+)` \| (.+) \|$", flags=re.MULTILINE)


def rows() -> Mapping[str, Sequence[str]]:
    """Return the operations of each route as the page gives them."""
    found = _ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert len(dict(found)) == len(found), "a route stands there once"
    return {route: re.findall(r"`([A-Za-z.]+)`", operations) for route, operations in found}


def routes_of_surfaces() -> set[str]:
    return {route for route in ROUTES if route.split(" ", 1)[1].startswith(SURFACES)}


def needs_of(operation: str) -> Needs:
    return {**QUERIES, **MUTATIONS}[operation.partition(".")[0]]


def answer_of(operation: str) -> GraphQLNamedType:
    """Return the type of what an operation, or a field of its answer, gives; KeyError: there is no such one."""
    head, *rest = operation.split(".")
    schema = build_schema()._schema
    assert schema.query_type is not None
    assert schema.mutation_type is not None
    field: GraphQLField = {**schema.query_type.fields, **schema.mutation_type.fields}[head]
    for name in rest:
        kind = get_named_type(field.type)
        assert isinstance(kind, GraphQLObjectType)
        field = kind.fields[name]
    return get_named_type(field.type)


@pytest.mark.req("KN-121")
def test_every_route_of_the_surfaces_has_its_operations_in_graphql() -> None:
    assert set(rows()) == routes_of_surfaces()
    assert all(rows().values())


@pytest.mark.req("KN-121", "AD-8")
@pytest.mark.parametrize(("route", "operations"), rows().items())
def test_an_operation_is_there_and_needs_the_right_that_the_route_needs(route: str, operations: Sequence[str]) -> None:
    for operation in operations:
        assert answer_of(operation).name
        assert needs_of(operation) == ROUTES[route]


@pytest.mark.req("KN-121")
def test_reads_are_queries_and_changes_are_mutations() -> None:
    asked = {"GET": QUERIES, "PUT": MUTATIONS, "PATCH": MUTATIONS, "DELETE": MUTATIONS}
    for route, operations in rows().items():
        kinds = asked.get(route.split(" ", 1)[0], {**QUERIES, **MUTATIONS})
        assert {operation.partition(".")[0] for operation in operations} <= set(kinds), route
