"""What the schema lets a client leave out, the code lets him leave out, too; else the answer would be INTERNAL."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from typing import Any

import pytest
from strawberry.types.base import StrawberryObjectDefinition, StrawberryOptional

from api.graphql.schema import build_schema


def definitions() -> list[StrawberryObjectDefinition]:
    made = [concrete.definition for concrete in build_schema().schema_converter.type_map.values()]
    return [one for one in made if isinstance(one, StrawberryObjectDefinition)]


def optional_arguments() -> Iterator[tuple[str, inspect.Parameter]]:
    for definition in definitions():
        for field in definition.fields:
            if field.base_resolver is None:
                continue
            function: Any = field.base_resolver.wrapped_func
            parameters = inspect.signature(function).parameters
            for argument in field.arguments:
                if isinstance(argument.type, StrawberryOptional):
                    yield f"{definition.name}.{field.name}.{argument.python_name}", parameters[argument.python_name]


def optional_members() -> Iterator[tuple[str, dataclasses.Field[object]]]:
    for definition in definitions():
        if definition.is_input:
            for field in definition.fields:
                if isinstance(field.type, StrawberryOptional):
                    yield f"{definition.name}.{field.name}", field


@pytest.mark.req("KN-110")
def test_every_optional_argument_has_a_default_in_the_code() -> None:
    found = dict(optional_arguments())
    assert len(found) > 30
    assert [name for name, parameter in found.items() if parameter.default is inspect.Parameter.empty] == []


@pytest.mark.req("KN-110")
def test_every_optional_member_of_an_input_has_a_default_in_the_code() -> None:
    found = dict(optional_members())
    assert len(found) > 10
    without = [n for n, f in found.items() if {f.default, f.default_factory} == {dataclasses.MISSING}]
    assert without == []
