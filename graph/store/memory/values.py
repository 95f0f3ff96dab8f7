"""Checks that a node holds only what the schema declares, and keeps the values as an engine would give them back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from graph.model import schema
from graph.model.edges import Edge
from graph.model.fields import FieldType, Node
from graph.model.schema import FieldSpec, KindSpec
from graph.store import scalars

N = TypeVar("N", bound=Node)

_FIXED = frozenset({"id", "workspace"})


def spec_of(node: Node) -> KindSpec:
    """Return the declaration of a node's kind.

    Raises:
        TypeError: the id names another kind than the class.
    """
    spec = schema.kind_of(node.id)
    if spec is None or spec.node is not type(node):
        raise TypeError(f"the id of a {type(node).__name__} starts with {type(node).PREFIX}_")
    return spec


def stored(node: N) -> N:
    """Return the node as it is kept: plain texts for enum members, JSON of its own."""
    spec = spec_of(node)
    return changed(node, {f.name: getattr(node, f.name) for f in spec.fields}, spec, keys=True)


def patched(node: N, changes: Mapping[str, Any]) -> N:
    """Return the node with some fields set.

    Raises:
        TypeError: a field is not declared, may not change, or does not take the value.
    """
    return changed(node, changes, spec_of(node), keys=False)


def changed(node: N, values: Mapping[str, Any], spec: KindSpec, *, keys: bool) -> N:
    """Return the node with checked values; `keys` allows those that identify it."""
    declared = {f.name: f for f in spec.fields}
    for name in values:
        if name not in declared or (name in _FIXED and not keys):
            raise TypeError(f"{spec.name}.{name} cannot be set")
    return replace(node, **{name: _checked(spec, declared[name], value) for name, value in values.items()})


def stored_edge(edge: Edge) -> Edge:
    """Return the edge as it is kept."""
    record = None if edge.record is None else tuple(edge.record)
    return replace(edge, props=_json(dict(edge.props)), record=record)


def _checked(spec: KindSpec, declared: FieldSpec, value: Any) -> Any:
    if value is None:
        if not declared.nullable:
            raise TypeError(f"{spec.name}.{declared.name} needs a value")
        return None
    try:
        return _CONVERT[declared.type](value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{spec.name}.{declared.name} takes {declared.type.value}") from error


def _json(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


_CONVERT: Mapping[FieldType, Callable[[Any], Any]] = {
    FieldType.TEXT: scalars.text,
    FieldType.INTEGER: scalars.integer,
    FieldType.REAL: scalars.real,
    FieldType.BOOLEAN: scalars.boolean,
    FieldType.BYTES: scalars.raw,
    FieldType.TEXTS: scalars.texts,
    FieldType.JSON: _json,
    FieldType.SEALED: scalars.sealed,
}
