"""The provenance of a node in a form that other tools read: PROV-JSON or GraphML (KN-122)."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Episode, Source
from graph.model.nodes.knowledge import Attribute, BlockVersion, Entry, Facet, Relation
from graph.model.nodes.learning import Lesson, MemoLine
from graph.model.nodes.people import Principal
from graph.rules.prov_export import NODE_FIELDS, TIME_FIELDS, to_graphml, to_prov_json
from graph.rules.provenance import MAX_DEPTH, Direction
from graph.services.access.session import Session
from graph.services.knowledge.provenance import Provenance, provenance

if TYPE_CHECKING:
    import networkx as nx

LABEL_CHARACTERS = 120


class ProvenanceFormat(StrEnum):
    """Forms of an export."""

    PROV_JSON = "prov_json"
    GRAPHML = "graphml"


async def provenance_export(
    session: Session,
    root_id: NodeId,
    *,
    direction: Direction = Direction.UPSTREAM,
    format: ProvenanceFormat,
    named: Callable[[NodeId], str] = str,
) -> str:
    """Return the graph around one node, as deep as provenance goes, holding only what the caller may see.

    Args:
        session: the caller's.
        root_id: where it begins.
        direction: to the sources or to the dependents.
        format: of the text.
        named: gives each node the id that it has for who reads the export.

    Raises:
        NotFound: missing and hidden alike.
    """
    found = await provenance(session, root_id, depth=MAX_DEPTH, direction=direction)
    graph = to_networkx(found, named)
    return to_prov_json(graph) if format is ProvenanceFormat.PROV_JSON else to_graphml(graph)


def to_networkx(found: Provenance, named: Callable[[NodeId], str] = str) -> nx.MultiDiGraph[Any]:
    """Return a walk as a graph: nodes with kind, label and times, edges with type, depth and what they quote."""
    import networkx as nx  # here: a server at rest does without its 11 MiB

    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    names = {node.id: named(node.id) for node in found.nodes}
    for node in found.nodes:
        graph.add_node(names[node.id], **_data(node))
    for step in found.edges:
        edge = step.edge
        if edge.source in names and edge.target in names:
            key = f"{edge.type}:{edge.key}"
            graph.add_edge(
                names[edge.source],
                names[edge.target],
                key=key,
                **{**edge.props, "type": str(edge.type), "depth": step.depth},
            )
    return graph


def label_of(node: Node) -> str:
    """Return a few words that stand for a node."""
    match node:
        case Entry():
            text = node.name
        case Facet():
            text = node.value
        case BlockVersion():
            text = node.text
        case Source():
            text = node.title or node.text
        case Attribute():
            text = f"{node.key}: {node.value}"
        case Relation():
            text = node.type
        case Episode():
            text = node.topic
        case Lesson() | MemoLine():
            text = node.text
        case Principal():
            text = node.display_name
        case _:
            text = ""
    return text if len(text) <= LABEL_CHARACTERS else text[: LABEL_CHARACTERS - 1] + "…"


def _data(node: Node) -> dict[str, Any]:
    fields = {name: getattr(node, name) for name in (*NODE_FIELDS, *TIME_FIELDS) if hasattr(node, name)}
    return {**fields, "kind": type(node).__name__, "label": label_of(node)}
