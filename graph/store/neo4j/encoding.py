"""Nodes as Neo4j properties, and back."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from graph.model import schema
from graph.model.fields import FieldType, Node
from graph.model.schema import FieldSpec, KindSpec
from graph.model.sealed import Sealed
from graph.store import scalars
from graph.store.neo4j import names

Properties = dict[str, Any]

VECTOR = "embedding"
VECTOR_BYTES = "embeddingBytes"

_FIXED = frozenset({"id", "workspace"})
_FLOAT_BYTES = 4


def spec_of(node: Node) -> KindSpec:
    """Return the declaration of a node's kind.

    Raises:
        TypeError: the id names another kind than the class.
    """
    spec = schema.kind_of(node.id)
    if spec is None or spec.node is not type(node):
        raise TypeError(f"the id of a {type(node).__name__} starts with {type(node).PREFIX}_")
    return spec


def encode_node(node: Node) -> Properties:
    """Return the properties of a node; None is left out, as Neo4j has no such value."""
    spec = spec_of(node)
    properties: Properties = {}
    for name, place, encode, nullable in _encoders(spec.name):
        value = getattr(node, name)
        if value is None and nullable:
            continue
        try:
            properties[place] = encode(value)
        except (TypeError, ValueError):
            encode_fields(spec, {name: value})  # says what is wrong
            raise
    vector = _vector_of(spec.name)
    if vector is not None:
        given = encode_fields(spec, {vector: getattr(node, vector)})
        properties |= {name: value for name, value in given.items() if value is not None}
    return properties


@cache
def _vector_of(kind: str) -> str | None:
    return names.vector_field(schema.kinds()[kind].node)


@cache
def _encoders(kind: str) -> tuple[tuple[str, str, Callable[[Any], Any], bool], ...]:
    """Return of each field, but for vectors: its name, its property, how its value is kept, and whether it may lack."""
    spec = schema.kinds()[kind]
    vector = _vector_of(kind)
    held = [declared for declared in spec.fields if declared.name != vector]
    return tuple((f.name, names.property_of(kind, f.name), _ENCODE[f.type], f.nullable) for f in held)


@cache
def properties_of(kind: str) -> tuple[str, ...]:
    """Return the names of all properties that `encode_node` can give for a kind, the id first."""
    vector = names.vector_field(schema.kinds()[kind].node)
    held = [names.property_of(kind, name) for name, _ in _layout(kind) if name != vector]
    return (*held, VECTOR_BYTES, VECTOR) if vector else tuple(held)


def encode_changes(spec: KindSpec, changes: Mapping[str, Any]) -> Properties:
    """Return changed fields as properties; None removes one.

    Raises:
        TypeError: a field is not declared, may not change, or does not take the value.
    """
    for name in changes:
        if name in _FIXED:
            raise TypeError(f"{spec.name}.{name} cannot be set")
    return encode_fields(spec, changes)


def encode_fields(spec: KindSpec, values: Mapping[str, Any]) -> Properties:
    """Return fields as properties.

    Raises:
        TypeError: a field is not declared or does not take the value.
    """
    properties: Properties = {}
    for name, value in values.items():
        declared = names.field_of(spec.node, name)
        if name == names.vector_field(spec.node):
            properties |= _vector_properties(spec, declared, value)
        else:
            properties[names.property_of(spec.name, name)] = encode_value(spec.node, declared, value)
    return properties


def encode_value(kind: type[Node], declared: FieldSpec, value: Any) -> Any:
    """Return one field's value as Neo4j keeps it.

    Raises:
        TypeError: the field does not take the value.
    """
    if value is None:
        if not declared.nullable:
            raise TypeError(f"{kind.__name__}.{declared.name} needs a value")
        return None
    try:
        return _ENCODE[declared.type](value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{kind.__name__}.{declared.name} takes {declared.type.value}") from error


def columns(*kinds: str) -> str:
    """Return the expression of a node's fields, for nodes of these kinds: a list, which is quicker than a map.

    The label stands last: the engine takes a node away before its properties, so whoever missed some of these, which
    may have been any, then misses the label.
    """
    if len(kinds) == 1:
        return _columns(kinds[0])
    cases = " ".join(f"WHEN n:{kind} THEN {_columns(kind)}" for kind in sorted(kinds))
    return f"CASE {cases} END"


def decode_node(values: Sequence[Any]) -> Node:
    """Return the node whose `columns` these are, and that `is_whole`; the first one is its id, which names its kind."""
    spec = schema.kind_of(values[0])
    if spec is None:
        raise TypeError("a stored id names no kind")
    fields = zip(_layout(spec.name), values[:-1], strict=True)
    return spec.node(
        **{name: convert(value) if convert and value is not None else value for (name, convert), value in fields}
    )


def is_whole(values: Sequence[Any] | None) -> bool:
    """False for a node that another transaction removed while it was read: some of its parts are gone."""
    if values is None or values[0] is None or not values[-1]:
        return False
    spec = schema.kind_of(values[0])
    return spec is not None and all(values[place] is not None for place in _required(spec.name))


@cache
def _required(kind: str) -> tuple[int, ...]:
    """Return the places of the columns that always have a value."""
    nullable = {spec.name for spec in schema.kinds()[kind].fields if spec.nullable}
    return tuple(place for place, (name, _) in enumerate(_layout(kind)) if name not in nullable)


@cache
def _columns(kind: str) -> str:
    spec = schema.kinds()[kind]
    vector = names.vector_field(spec.node)
    held = [VECTOR_BYTES if name == vector else names.property_of(kind, name) for name, _ in _layout(kind)]
    return "[" + ", ".join([*(f"n.`{name}`" for name in held), f"n:{kind}"]) + "]"


@cache
def _layout(kind: str) -> tuple[tuple[str, Callable[[Any], Any] | None], ...]:
    """Return the fields of a kind in the order of its columns, the id first, and how their values are read."""
    declared = sorted(schema.kinds()[kind].fields, key=lambda spec: spec.name != "id")
    return tuple((spec.name, _DECODE.get(spec.type)) for spec in declared)


def decode_value(declared: FieldSpec, value: Any) -> Any:
    """Return a field's value as the model has it."""
    if value is None:
        return None
    convert = _DECODE.get(declared.type)
    return convert(value) if convert else value


def _vector_properties(spec: KindSpec, declared: FieldSpec, value: Any) -> Properties:
    """Return the bytes, and the floats for the engine's own function if it can take them."""
    data = encode_value(spec.node, declared, value)
    return {VECTOR_BYTES: data, VECTOR: None if data is None else usable_vector(data)}


def usable_vector(data: bytes) -> list[float] | None:
    """Return the floats of a vector that has a direction; None for any other bytes."""
    if not data or len(data) % _FLOAT_BYTES:
        return None
    values = list(struct.unpack(f"<{len(data) // _FLOAT_BYTES}f", data))
    return values if all(map(math.isfinite, values)) and any(values) else None


def _texts(value: Any) -> list[str]:
    return list(scalars.texts(value))


def _sealed(value: Any) -> bytes:
    return scalars.sealed(value).data


def _opened(value: Any) -> Sealed:
    return Sealed(bytes(value))


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


_ENCODE: Mapping[FieldType, Callable[[Any], Any]] = {
    FieldType.TEXT: scalars.text,
    FieldType.INTEGER: scalars.integer,
    FieldType.REAL: scalars.real,
    FieldType.BOOLEAN: scalars.boolean,
    FieldType.BYTES: scalars.raw,
    FieldType.TEXTS: _texts,
    FieldType.JSON: _json,
    FieldType.SEALED: _sealed,
}

_DECODE: Mapping[FieldType, Callable[[Any], Any]] = {
    FieldType.TEXTS: tuple,
    FieldType.JSON: json.loads,
    FieldType.BYTES: bytes,
    FieldType.SEALED: _opened,
}
