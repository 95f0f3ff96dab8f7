"""Edges as relationship properties, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.store.neo4j import names

_OWN = frozenset({"key", "record", "extra"})
_INT64 = 2**63


def encode_edge(edge: Edge) -> dict[str, Any]:
    """Return the properties of a relationship: its key, record and props, camelCase where that can be undone."""
    plain: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for name, value in edge.props.items():
        if names.survives_camel(name) and name not in _OWN and _is_plain(value):
            plain[names.camel(name)] = value
        else:
            extra[name] = value
    record = None if edge.record is None else list(edge.record)
    return {
        **plain,
        "key": edge.key,
        "record": record,
        "extra": json.dumps(extra, allow_nan=False, ensure_ascii=False, sort_keys=True) if extra else None,
    }


def decode_edge(type: str, source: str, target: str, properties: Mapping[str, Any]) -> Edge:
    """Return the edge that `encode_edge` wrote; a missing record is a missing proof."""
    record, extra = properties.get("record"), properties.get("extra")
    props = {names.snake(name): value for name, value in properties.items() if name not in _OWN}
    return Edge(
        type=EdgeType(type),
        source=NodeId(source),
        target=NodeId(target),
        key=properties["key"],
        props=props | (json.loads(extra) if extra else {}),
        record=None if record is None else tuple(record),
    )


def is_whole_edge(near: str | None, far: str | None, key: str | None, type: str | None) -> bool:
    """False for an edge that another transaction removed while it was read; its type is to be read last.

    The engine takes an edge away before its properties, so whoever missed some of these then misses the type.
    """
    return None not in (near, far, key, type)


def whole_edges(rows: Iterable[Sequence[Any]]) -> list[Edge]:
    """Return the edges of rows of source, target, properties and type, in order of identity."""
    edges = (
        decode_edge(type, source, target, properties)
        for source, target, properties, type in rows
        if is_whole_edge(source, target, (properties or {}).get("key"), type)
    )
    return sorted(edges, key=lambda edge: edge.identity)


def _is_plain(value: Any) -> bool:
    if isinstance(value, bool | str):
        return True
    if isinstance(value, int):
        return -_INT64 <= value < _INT64
    return isinstance(value, float) and math.isfinite(value)
