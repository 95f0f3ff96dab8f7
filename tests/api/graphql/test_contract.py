"""The schema publishes what KN-109 lists: names, nullability, arguments and defaults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from graphql import (
    DocumentNode,
    EnumTypeDefinitionNode,
    FieldDefinitionNode,
    InputObjectTypeDefinitionNode,
    InputValueDefinitionNode,
    InterfaceTypeDefinitionNode,
    ObjectTypeDefinitionNode,
    parse,
    print_ast,
)

from api.graphql.schema import build_schema

CONTRACT = Path(__file__).parents[3] / "docs" / "contracts" / "knowledge.md"

_ARGUMENTS = re.compile(r"\((.*)\) (.+)")
"""Arguments and type of a field, as `form` writes them."""

Described = ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode | InputObjectTypeDefinitionNode


def contract() -> DocumentNode:
    text = CONTRACT.read_text(encoding="utf-8")
    (sdl,) = re.findall(r"```graphql\n(.*?)```", text, flags=re.DOTALL)
    return parse(sdl)


def published() -> DocumentNode:
    return parse(build_schema().as_str())


def members(document: DocumentNode) -> dict[str, str]:
    """Return every member of every type, as ``Type.member`` → its form without the order of arguments."""
    found: dict[str, str] = {}
    for node in document.definitions:
        if isinstance(node, EnumTypeDefinitionNode):
            found |= {f"{node.name.value}.{value.name.value}": "value" for value in node.values or ()}
        elif isinstance(node, Described):
            for field in node.fields or ():
                found[f"{node.name.value}.{field.name.value}"] = form(field)
    return found


def form(field: FieldDefinitionNode | InputValueDefinitionNode) -> str:
    if isinstance(field, InputValueDefinitionNode):
        return value_form(field)
    return f"({', '.join(sorted(value_form(one) for one in field.arguments or ()))}) {print_ast(field.type)}"


def value_form(value: InputValueDefinitionNode) -> str:
    default = f" = {print_ast(value.default_value)}" if value.default_value else ""
    return f"{value.name.value}: {print_ast(value.type)}{default}"


def wanted() -> list[Any]:
    return [pytest.param(name, shape, id=name) for name, shape in members(contract()).items()]


@pytest.fixture(scope="module")
def present() -> dict[str, str]:
    return members(published())


@pytest.mark.req("KN-109")
@pytest.mark.parametrize(("name", "shape"), wanted())
def test_the_schema_has_what_the_contract_lists(name: str, shape: str, present: dict[str, str]) -> None:
    assert without_more(present.get(name, ""), shape) == shape


def without_more(found: str, shape: str) -> str:
    """Return a field without the arguments that the contract does not list, if they may be left out."""
    given, wanted_ = _ARGUMENTS.match(found), _ARGUMENTS.match(shape)
    if given is None or wanted_ is None:
        return found
    listed = [one.partition(":")[0] for one in wanted_[1].split(", ")]
    kept = [one for one in given[1].split(", ") if one and (one.partition(":")[0] in listed or one.endswith("!"))]
    return f"({', '.join(kept)}) {given[2]}"


def test_an_argument_more_is_fine_if_it_may_be_left_out() -> None:
    assert without_more("(a: ID!, b: ID) Node", "(a: ID!) Node") == "(a: ID!) Node"
    assert without_more("(b: ID) String!", "() String!") == "() String!"
    assert without_more("(a: ID!, b: ID!) Node", "(a: ID!) Node") == "(a: ID!, b: ID!) Node"
    assert without_more("value", "value") == "value"


@pytest.mark.req("KN-109")
def test_every_connection_has_the_fields_of_relay_and_a_total(present: dict[str, str]) -> None:
    names = {name.partition(".")[0] for name in present if name.partition(".")[0].endswith("Connection")}
    assert names
    for name in names:
        fields = {member.partition(".")[2] for member in present if member.startswith(f"{name}.")}
        assert fields == {"edges", "pageInfo", "totalCount"}
        edge = re.sub(r"[\[\]!() ]", "", present[f"{name}.edges"])
        assert present[f"{edge}.cursor"] == "() String!"
        assert present[f"{edge}.node"].endswith("!")


@pytest.mark.req("AD-4")
def test_the_three_scalars_are_there() -> None:
    assert {"DateTime", "Long", "JSON"} <= set(build_schema()._schema.type_map)
