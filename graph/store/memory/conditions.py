"""Decides conditions and orders on nodes in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import singledispatch
from typing import Any

from graph.model import schema
from graph.model.fields import Node
from graph.store.memory.tables import Tables
from graph.store.query import (
    After,
    And,
    By,
    Contains,
    Eq,
    In,
    IsSet,
    Linked,
    Or,
    Order,
    Range,
    Tagged,
    Where,
)

SortKey = tuple[Any, ...]


def fits(tables: Tables, node: Node, where: Where | None) -> bool:
    """True if the node fulfils the condition."""
    return where is None or _fits(where, node, tables)


@singledispatch
def _fits(where: Any, node: Node, tables: Tables) -> bool:
    raise TypeError(f"{type(where).__name__} is no condition")


@_fits.register
def _(where: Eq, node: Node, tables: Tables) -> bool:
    return bool(getattr(node, where.field) == where.value)


@_fits.register
def _(where: IsSet, node: Node, tables: Tables) -> bool:
    return getattr(node, where.field) is not None


@_fits.register
def _(where: In, node: Node, tables: Tables) -> bool:
    value = getattr(node, where.field)
    return value is not None and value in where.values


@_fits.register
def _(where: Range, node: Node, tables: Tables) -> bool:
    value = getattr(node, where.field)
    if value is None:
        return False
    return (where.low is None or value >= where.low) and (where.high is None or value < where.high)


@_fits.register
def _(where: Contains, node: Node, tables: Tables) -> bool:
    return where.value in (getattr(node, where.field) or ())


@_fits.register
def _(where: Tagged, node: Node, tables: Tables) -> bool:
    guard = tables.guards.get(node.id)
    return guard is not None and not set(where.tags).isdisjoint(guard.tags)


@_fits.register
def _(where: Linked, node: Node, tables: Tables) -> bool:
    targets, types = set(where.targets), set(where.types)
    return any(type in types and target in targets for type, _, target, _ in tables.outgoing.get(node.id, ()))


@_fits.register
def _(where: And, node: Node, tables: Tables) -> bool:
    return all(_fits(part, node, tables) for part in where.parts)


@_fits.register
def _(where: Or, node: Node, tables: Tables) -> bool:
    return any(_fits(part, node, tables) for part in where.parts)


def check_fields(kind: type[Node], where: Where | None, order: Order | None = None) -> None:
    """Refuse conditions on fields that the kind does not declare.

    Raises:
        TypeError: there is no such field.
    """
    declared = {f.name for f in schema.kinds()[kind.__name__].fields}
    for name in (*_fields_of(where), *((order.field,) if isinstance(order, By) else ())):
        if name not in declared:
            raise TypeError(f"{kind.__name__} has no field {name}")


def _fields_of(where: Where | None) -> Iterable[str]:
    if isinstance(where, And | Or):
        return [name for part in where.parts for name in _fields_of(part)]
    return [where.field] if isinstance(where, Eq | IsSet | In | Range | Contains) else []


def place_of(tables: Tables, node: Node, order: Order) -> After:
    """Return the keyset place of a node in an order."""
    if isinstance(order, By):
        return After(getattr(node, order.field), node.id)
    guard = tables.guards.get(node.id)
    return After(guard.sort_at if guard else None, node.id)


def sort_key(order: Order) -> Callable[[After], SortKey]:
    """Return what places are sorted by: nodes without a value last, ties by id in byte order, ascending."""
    descending = not isinstance(order, By) or order.descending

    def key(place: After) -> SortKey:
        if place.value is None:
            return (1, 0, place.id)
        return (0, _Falling(place.value) if descending else place.value, place.id)

    return key


class _Falling:
    """A value that sorts the other way round."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Falling) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Falling) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]  # only compared
