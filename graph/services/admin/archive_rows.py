"""Rows of a store as JSON objects, for archives: what is written is read back equal. Source: AD-41.

Every line names its fields as the model does; bytes are base64, rules are encoded as in a store.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any

from graph.model.access import Audience, Guard, Need, Rule
from graph.model.edges import Edge, EdgeType
from graph.model.errors import BadInput
from graph.model.fields import FieldType, Json, Node
from graph.model.ids import NodeId, WorkspaceId
from graph.model.schema import KindSpec, kind_of, kinds
from graph.model.sealed import Sealed
from graph.model.time import Millis
from graph.store.query import TextIndex, TextRow

Row = Node | Edge | Guard | Audience | TextRow
Line = dict[str, Json]

NODES, EDGES, GUARDS, AUDIENCES, TEXTS = "nodes", "edges", "guards", "audiences", "texts"
PARTS = (NODES, EDGES, GUARDS, AUDIENCES, TEXTS)
"""Kinds of rows in the order in which they are loaded."""


def part_of(row: Row) -> str:
    """Return the part of an archive that a row belongs to."""
    match row:
        case Node():
            return NODES
        case Edge():
            return EDGES
        case Guard():
            return GUARDS
        case Audience():
            return AUDIENCES
        case _:
            return TEXTS


def to_line(row: Row) -> Line:
    """Return a row as a JSON object."""
    match row:
        case Node():
            return _node_line(row)
        case Edge():
            record = None if row.record is None else list(row.record)
            ends = {"type": str(row.type), "source": row.source, "target": row.target, "key": row.key}
            return {**ends, "props": dict(row.props), "record": record}
        case Guard():
            return _guard_line(row)
        case Audience():
            clauses = sorted(_clause_line(clause) for clause in row.clauses)
            return {"node": row.node, "clauses": clauses, "excluded": sorted(row.excluded)}
        case _:
            return _text_line(row)


def from_line(part: str, line: Mapping[str, Any]) -> Row:
    """Return the row that a JSON object of a part stands for.

    Raises:
        BadInput: it is no such row; the message holds nothing of it.
    """
    try:
        return _READERS[part](line)
    except (KeyError, TypeError, ValueError, AttributeError, binascii.Error) as error:
        raise BadInput("a line of the archive is no row of this kind", field=part) from error


def _node_line(node: Node) -> Line:
    spec = kinds()[type(node).__name__]
    return {"class": spec.name, **{f.name: _value_line(getattr(node, f.name)) for f in spec.fields}}


def _value_line(value: Any) -> Json:
    if isinstance(value, bytes | Sealed):
        return base64.b64encode(value.data if isinstance(value, Sealed) else value).decode()
    if isinstance(value, str):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def _read_node(line: Mapping[str, Any]) -> Node:
    spec = kinds()[line["class"]]
    names = {field.name for field in spec.fields}
    if line.keys() - {"class"} - names:
        raise ValueError("a field that the kind does not have")
    node = spec.node(**_fields(spec, line))
    named = kind_of(node.id)
    if named is None or named.node is not spec.node:
        raise ValueError("an id of another kind")
    return node


def _fields(spec: KindSpec, line: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a line; one that has to have a value and has none in an older archive gets its default."""
    found = {}
    for field in spec.fields:
        if field.name in line and (line[field.name] is not None or field.nullable):
            found[field.name] = _read_value(field.type, line[field.name])
    return found


_TYPES: Mapping[FieldType, tuple[type, ...]] = {
    FieldType.TEXT: (str,),
    FieldType.INTEGER: (int,),
    FieldType.REAL: (int, float),
    FieldType.BOOLEAN: (bool,),
}


def _read_value(type_: FieldType, value: Any) -> Any:
    if value is None or type_ is FieldType.JSON:
        return value
    if type_ in (FieldType.BYTES, FieldType.SEALED):
        data = base64.b64decode(value, validate=True)
        return Sealed(data) if type_ is FieldType.SEALED else data
    if type_ is FieldType.TEXTS:
        return tuple(_text(item) for item in value)
    if not isinstance(value, _TYPES[type_]) or (isinstance(value, bool) and type_ is not FieldType.BOOLEAN):
        raise TypeError("a value of another type")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a value of another type")
    return value


def _read_edge(line: Mapping[str, Any]) -> Edge:
    record = line["record"]
    return Edge(
        type=EdgeType(line["type"]),
        source=NodeId(_text(line["source"])),
        target=NodeId(_text(line["target"])),
        key=_text(line["key"]),
        props=dict(line["props"]),
        record=None if record is None else tuple(map(_text, record)),
    )


def _clause_line(clause: frozenset[Rule]) -> list[str]:
    return sorted(rule.encode() for rule in clause)


def _read_clause(rules: Any) -> frozenset[Rule]:
    return frozenset(Rule.decode(rule) for rule in rules)


def _guard_line(guard: Guard) -> Line:
    return {
        "node": guard.node,
        "kind": guard.kind,
        "workspace": guard.workspace,
        "pool": guard.pool,
        "need": str(guard.need),
        "rules": None if guard.rules is None else _clause_line(guard.rules),
        "live": guard.live,
        "held": guard.held,
        "excluded": sorted(guard.excluded),
        "tags": list(guard.tags),
        "sort_at": guard.sort_at,
    }


def _read_guard(line: Mapping[str, Any]) -> Guard:
    return Guard(
        node=NodeId(_text(line["node"])),
        kind=_text(line["kind"]),
        workspace=WorkspaceId(_text(line["workspace"])),
        pool=None if line["pool"] is None else NodeId(_text(line["pool"])),
        need=Need(line["need"]),
        rules=None if line["rules"] is None else _read_clause(line["rules"]),
        live=bool(line["live"]),
        held=bool(line["held"]),
        excluded=frozenset(map(NodeId, line["excluded"])),
        tags=tuple(map(_text, line["tags"])),
        sort_at=Millis(int(line["sort_at"])),
    )


def _read_audience(line: Mapping[str, Any]) -> Audience:
    return Audience(
        node=NodeId(_text(line["node"])),
        clauses=frozenset(_read_clause(clause) for clause in line["clauses"]),
        excluded=frozenset(map(NodeId, line["excluded"])),
    )


def _text_line(row: TextRow) -> Line:
    return {
        "id": row.id,
        "index": str(row.index),
        "guard": row.guard,
        "item": row.item,
        "part": row.part,
        "pool": row.pool,
        "words": list(row.words),
        "sort_at": row.sort_at,
    }


def _read_text(line: Mapping[str, Any]) -> TextRow:
    return TextRow(
        id=_text(line["id"]),
        index=TextIndex(line["index"]),
        guard=NodeId(_text(line["guard"])),
        item=NodeId(_text(line["item"])),
        part=_text(line["part"]),
        pool=NodeId(_text(line["pool"])),
        words=tuple(map(_text, line["words"])),
        sort_at=Millis(int(line["sort_at"])),
    )


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Row]] = {
    NODES: _read_node,
    EDGES: _read_edge,
    GUARDS: _read_guard,
    AUDIENCES: _read_audience,
    TEXTS: _read_text,
}
