"""Conditions and orders as Cypher: property names come from the declaration, values are parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatchmethod
from typing import Any

from graph.model.edges import EdgeType
from graph.model.fields import Node
from graph.store.neo4j import names
from graph.store.neo4j.encoding import encode_value
from graph.store.neo4j.facts import encode_sort
from graph.store.query import (
    After,
    And,
    By,
    Contains,
    Eq,
    In,
    IsSet,
    Linked,
    Newest,
    Or,
    Order,
    Range,
    Tagged,
    Where,
)


class Compiler:
    """Turns conditions on one kind into Cypher on the variable ``n``.

    Attributes:
        parameters: values by parameter name, to be sent with the statement.
    """

    def __init__(self, kind: type[Node], *, prefix: str = "p") -> None:
        self._kind = kind
        self._prefix = prefix
        self.parameters: dict[str, Any] = {}

    def where(self, where: Where | None) -> str:
        """Return a condition.

        Raises:
            TypeError: a field is not declared, or takes no such value.
        """
        return "true" if where is None else self._compile(where)

    def after(self, order: Order, place: After, *, backward: bool) -> str:
        """Return the condition for what comes after a place of an order."""
        if isinstance(order, Newest):
            return self._after_sort(place, backward=backward)
        return self._after_value(order, place, backward=backward)

    @singledispatchmethod
    def _compile(self, where: Any) -> str:
        raise TypeError(f"{type(where).__name__} is no condition")

    @_compile.register
    def _(self, where: Eq) -> str:
        if where.value is None:
            return f"{self._ref(where.field)} IS NULL"
        return f"{self._ref(where.field)} = {self._value(where.field, where.value)}"

    @_compile.register
    def _(self, where: IsSet) -> str:
        return f"{self._ref(where.field)} IS NOT NULL"

    @_compile.register
    def _(self, where: In) -> str:
        declared = names.field_of(self._kind, where.field)
        values = [encode_value(self._kind, declared, value) for value in where.values if value is not None]
        return f"{self._ref(where.field)} IN {self._parameter(values)}"

    @_compile.register
    def _(self, where: Range) -> str:
        reference = self._ref(where.field)
        bounds = [
            f"{reference} {sign} {self._value(where.field, bound)}"
            for sign, bound in ((">=", where.low), ("<", where.high))
            if bound is not None
        ]
        return " AND ".join(bounds) or f"{reference} IS NOT NULL"

    @_compile.register
    def _(self, where: Contains) -> str:
        return f"{self._parameter(where.value)} IN coalesce({self._ref(where.field)}, [])"

    @_compile.register
    def _(self, where: Tagged) -> str:
        return f"any(tag IN coalesce(n.guardTags, []) WHERE tag IN {self._parameter(list(where.tags))})"

    @_compile.register
    def _(self, where: Linked) -> str:
        types = relationship_types(map(EdgeType, where.types))
        if not types:
            return "false"
        return f"EXISTS {{ MATCH (n)-[:{types}]->(t:Node) WHERE t.id IN {self._parameter(list(where.targets))} }}"

    @_compile.register
    def _(self, where: And) -> str:
        return " AND ".join(f"({self._compile(part)})" for part in where.parts) or "true"

    @_compile.register
    def _(self, where: Or) -> str:
        return " OR ".join(f"({self._compile(part)})" for part in where.parts) or "false"

    def _after_sort(self, place: After, *, backward: bool) -> str:
        id = self._parameter(place.id)
        if place.value is None:
            later = f"(n.guardSort IS NULL AND n.id {_beyond(backward)} {id})"
            return f"({later} OR n.guardSort IS NOT NULL)" if backward else later
        sort = self._parameter(encode_sort(place.value, place.id))
        return f"n.guardSort {_beyond(backward)} {sort}" + ("" if backward else " OR n.guardSort IS NULL")

    def _after_value(self, order: By, place: After, *, backward: bool) -> str:
        reference, id = self._ref(order.field), self._parameter(place.id)
        if place.value is None:
            later = f"({reference} IS NULL AND n.id {_beyond(backward)} {id})"
            return f"({later} OR {reference} IS NOT NULL)" if backward else later
        value = self._value(order.field, place.value)
        further = f"{reference} {_beyond(order.descending != backward)} {value}"
        condition = f"{further} OR ({reference} = {value} AND n.id {_beyond(backward)} {id})"
        if backward or not names.field_of(self._kind, order.field).nullable:
            # An index can start at a plain bound, but not at an alternative.
            return f"{reference} {_beyond(order.descending != backward)}= {value} AND ({condition})"
        return f"{condition} OR {reference} IS NULL"

    def _ref(self, field: str) -> str:
        return names.reference(self._kind, field)

    def _value(self, field: str, value: Any) -> str:
        return self._parameter(encode_value(self._kind, names.field_of(self._kind, field), value))

    def _parameter(self, value: Any) -> str:
        name = f"{self._prefix}{len(self.parameters)}"
        self.parameters[name] = value
        return f"${name}"


def check_fields(kind: type[Node], where: Where | None, order: Order) -> None:
    """Refuse conditions and orders on fields that the kind does not declare.

    Raises:
        TypeError: there is no such field, or it takes no such value.
    """
    Compiler(kind).where(where)
    if isinstance(order, By):
        names.field_of(kind, order.field)


def order_by(
    kind: type[Node], order: Order, where: Where | None, *, backward: bool, leading: Sequence[str] | None = None
) -> str:
    """Return the terms of an ORDER BY: nodes without a value last, ties by id.

    Fields that are fixed by an equality lead, so that a compound index on (fixed, field) gives the order for free:
    those of the index alone (`leading`) if it is known, for any other one makes the planner sort everything.
    """
    down = " DESC" if backward else ""
    if isinstance(order, Newest):
        return f"n.guardSort{down}, n.id{down}"
    reference = names.reference(kind, order.field)
    falling = " DESC" if order.descending != backward else ""
    held = fixed_fields(where) if leading is None else leading
    fixed = [f"{names.reference(kind, name)}{falling}" for name in held if name != order.field]
    empty_last = order.descending and names.field_of(kind, order.field).nullable
    terms = [*fixed, *([f"{reference} IS NULL{down}"] if empty_last else []), f"{reference}{falling}"]
    return ", ".join([*terms, f"n.id{down}"] if order.field != "id" else terms)


def fixed_fields(where: Where | None) -> list[str]:
    """Return the fields that a condition fixes to one value."""
    return [part.field for part in parts_of(where) if isinstance(part, Eq) and part.value is not None]


def parts_of(where: Where | None) -> Sequence[Where]:
    """Return the conditions that must all hold."""
    if where is None:
        return ()
    if isinstance(where, And):
        return [inner for part in where.parts for inner in parts_of(part)]
    return (where,)


def relationship_types(types: Iterable[EdgeType]) -> str:
    """Return the alternatives of a relationship pattern, or an empty text.

    >>> relationship_types([EdgeType.CITES, EdgeType.DERIVED_FROM])
    'CITES|DERIVED_FROM'
    """
    return "|".join(sorted({names.relationship(type) for type in types}))


def _beyond(falling: bool) -> str:
    return "<" if falling else ">"
