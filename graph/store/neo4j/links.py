"""Edges as relationship properties, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
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


def _is_plain(value: Any) -> bool:
    if isinstance(value, bool | str):
        return True
    if isinstance(value, int):
        return -_INT64 <= value < _INT64
    return isinstance(value, float) and math.isfinite(value)
