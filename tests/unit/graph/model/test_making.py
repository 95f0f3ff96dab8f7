"""What a maker makes cannot be told from what the class makes."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError, dataclass, fields

import pytest

from graph.model.access import Audience, Guard, LawEdge
from graph.model.edges import Edge
from graph.model.making import maker
from graph.model.schema import KINDS

VALUES = [*KINDS, Edge, Guard, LawEdge, Audience]


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_made_value_equals_the_one_of_the_class(kind: type) -> None:
    values = {field.name: f"value of {field.name}" for field in fields(kind)}
    made: object = maker(kind)(*values.values())
    assert made == kind(**values)
    assert type(made) is kind
    assert hash(made) == hash(kind(**values))
    assert {name: getattr(made, name) for name in values} == values


@pytest.mark.parametrize("kind", VALUES, ids=lambda kind: kind.__name__)
def test_made_value_is_frozen(kind: type) -> None:
    names = [field.name for field in fields(kind)]
    made: object = maker(kind)(*names)
    with pytest.raises(FrozenInstanceError):
        setattr(made, names[0], "other")
    with pytest.raises(FrozenInstanceError):
        delattr(made, names[0])
    assert copy.replace(made) == made if hasattr(copy, "replace") else copy.copy(made) == made


def test_too_few_values_are_refused() -> None:
    with pytest.raises(TypeError):
        maker(LawEdge)("only", "two")


def test_class_with_checks_of_its_own_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Checked:
        number: int

        def __post_init__(self) -> None:
            raise ValueError

    with pytest.raises(TypeError, match="slots alone"):
        maker(Checked)


def test_class_without_slots_is_refused() -> None:
    @dataclass(frozen=True)
    class Open:
        number: int

    with pytest.raises(TypeError, match="slots alone"):
        maker(Open)
