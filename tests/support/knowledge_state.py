"""The knowledge of a store in a canonical form: equal forms mean the same to every reader.

What a restore must bring back: all that is believed, with its proofs, who may see it, what finds it and how it hangs
together. Left out is what only grows: versions, times, history, audit, and the evidence that names gather on top of
their own (it never goes: it belongs to history as well).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from graph.model.access import Audience, Guard
from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Block, BlockVersion, CurationGuide, Entry, Facet, Relation, RelationVersion
from graph.rules.canonical import canonical_json
from graph.rules.images import without_nulls
from graph.rules.operations import imaging
from graph.rules.operations.state import GATHERED
from graph.services.knowledge.states import read_states
from graph.store.port import Store
from graph.store.query import TextIndex, TextRow

_LINKS = (EdgeType.RELATES, EdgeType.CONTAINS, EdgeType.DISTINCT_FROM, EdgeType.SAME_AS, EdgeType.IDENTIFIES)


async def knowledge_state(store: Store) -> dict[str, Any]:
    """Return what is believed now, by object."""
    rows = [row async for row in store.export_rows()]
    nodes = {row.id: row for row in rows if isinstance(row, Node)}
    guards = {row.node: row for row in rows if isinstance(row, Guard)}
    audiences = {row.node: row for row in rows if isinstance(row, Audience)}
    edges = [row for row in rows if isinstance(row, Edge)]
    texts = [row for row in rows if isinstance(row, TextRow) and row.index is TextIndex.ENTRY]
    objects = [id_ for id_, node in nodes.items() if isinstance(node, Entry | Block | Relation)]
    async with store.reading() as reader:
        states = await read_states(reader, objects)
    form: dict[str, Any] = {}
    live = {**states.entries, **states.blocks, **states.relations}
    for id_, entry in states.entries.items():
        closed = sorted(canonical_json(imaging.attribute(value)) for value in entry.closed_attributes)
        form[id_] = {"image": imaging.entry(entry), "name": entry.entry.live_name, "closed": str(closed)}
    form |= {id_: {"image": imaging.block(state, placed=True)} for id_, state in states.blocks.items()}
    form |= {id_: {"image": imaging.relation(state)} for id_, state in states.relations.items()}
    form |= {id_: {"text": node.text} for id_, node in nodes.items() if isinstance(node, CurationGuide)}
    current = {id_: key for id_, key in ((id_, _key(node)) for id_, node in nodes.items()) if key is not None}
    for id_, key in current.items():
        if id_ in live or _is_current(nodes[id_]):
            form[f"seen {key}"] = _seen(guards[id_], audiences.get(id_))
    form["texts"] = sorted(_text(text, audiences) for text in texts)
    form["links"] = sorted(_link(edge) for edge in edges if edge.type in _LINKS and edge.source in live)
    form["shown by"] = sorted(
        f"{edge.source} {current.get(edge.target)}"
        for edge in edges
        if edge.type is EdgeType.SHOWN_BY and edge.source in states.entries
    )
    form["support"] = sorted(
        f"{current[edge.source]} {edge.type} {edge.target} {edge.key}"
        for edge in edges
        if edge.type in (EdgeType.CITES, EdgeType.DERIVED_FROM)
        and edge.source in current
        and (edge.source in live or _is_current(nodes[edge.source]))
        and GATHERED not in edge.props
        and edge.key != GATHERED
    )
    form["blocks"] = sorted(
        f"{edge.source} {edge.target}" for edge in edges if edge.type is EdgeType.HAS_BLOCK and edge.target in live
    )
    plain: dict[str, Any] = without_nulls(form)
    return plain


def hash_of(state: Mapping[str, Any]) -> str:
    """Return the canonical hash of a state."""
    return hashlib.sha256(canonical_json(dict(state))).hexdigest()


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return what differs between two states, for the message of a failed test."""
    keys = sorted(one.keys() | other.keys())
    return {key: _difference(one.get(key), other.get(key)) for key in keys if one.get(key) != other.get(key)}


def _difference(left: Any, right: Any) -> tuple[Any, Any]:
    if isinstance(left, list) and isinstance(right, list):
        return [x for x in left if x not in right], [x for x in right if x not in left]
    return left, right


def _key(node: Node) -> str | None:
    """Return what stands for a node whose id changes when it returns."""
    match node:
        case Entry() | Block() | Relation():
            return str(node.id)
        case Facet():
            return f"{node.entry_id} {node.field} {node.value}"
        case BlockVersion():
            return f"version of {node.block_id}"
        case RelationVersion():
            return f"version of {node.relation_id}"
        case _:
            return None


def _is_current(node: Node) -> bool:
    return isinstance(node, Facet | BlockVersion | RelationVersion) and node.invalidated_at is None


def _seen(guard: Guard, audience: Audience | None) -> dict[str, Any]:
    return {
        "rules": None if guard.rules is None else sorted(rule.encode() for rule in guard.rules),
        "need": str(guard.need),
        "tags": list(guard.tags),
        "clauses": _clauses(audience),
    }


def _clauses(audience: Audience | None) -> list[list[str]]:
    clauses = audience.clauses if audience else frozenset()
    return sorted(sorted(rule.encode() for rule in clause) for clause in clauses)


def _text(text: TextRow, audiences: Mapping[NodeId, Audience]) -> str:
    return f"{text.item} {text.part} {' '.join(text.words)} {_clauses(audiences.get(text.guard))}"


def _link(edge: Edge) -> str:
    props = {key: value for key, value in edge.props.items() if key != "recorded_at"}
    return f"{edge.type} {edge.source} {edge.target} {edge.key} {canonical_json(props).decode()}"
