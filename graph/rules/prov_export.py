"""A provenance graph in two forms that other tools read: PROV-JSON (W3C) and GraphML.

The graph is already what the viewer may see; an export holds its nodes, its edges and of their data only the
fields listed here, so that an access rule or an id that happens to hang on a node never leaves with it. Equal
graphs give equal text. Source: KN-122, KN-80.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from prov.identifier import Namespace, QualifiedName
from prov.model import ProvDocument

from graph.model.edges import EdgeType
from graph.model.fields import Json
from graph.model.time import Millis, parse, render, to_datetime

if TYPE_CHECKING:
    import networkx as nx

Graph = Any
"""A directed networkx graph, with or without parallel edges; its nodes are ids. (networkx types the two apart.)"""

TIME_FIELDS = (
    "recorded_at",
    "occurred_at",
    "created_at",
    "invalidated_at",
    "valid_from",
    "valid_to",
    "started_at",
    "ended_at",
    "said_at",
)
"""Data in UTC milliseconds; exported as RFC 3339."""

NODE_FIELDS = ("kind", "label", "depth", "state", "version", "basis", "standing", "operation", "content_hash")
EDGE_FIELDS = ("type", "depth", "quote", "start", "end", "role", "change")

ACTIVITY_KINDS = frozenset({"DreamRun", "DreamBatch", "AuditRecord", "Job", "ModelCall", "Run", "Turn"})
AGENT_KINDS = frozenset({"Principal", "Group", "Organization"})

NAMESPACE = Namespace("rw", "urn:rootward:")
"""Ids become names in this namespace."""

EDGES = Namespace("rwe", "urn:rootward:edge:")
"""Edges have names of their own, by their order, so that an export read and written again is equal."""

_DERIVATIONS = frozenset(
    {EdgeType.CITES, EdgeType.DERIVED_FROM, EdgeType.SUMMARIZES, EdgeType.CONCLUDES_FROM, EdgeType.SUPERSEDES}
)
_AGAINST_THE_ARROW = frozenset({EdgeType.PRODUCED, EdgeType.TARGETS})
"""Stored from the cause to what it made or changed; PROV points from the effect to the cause."""
_NO_XML = re.compile(r"[^\t\n\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")


def exported(graph: Graph) -> nx.MultiDiGraph[str]:
    """Return what an export of `graph` holds: nodes and edges in order of ids, with the listed fields alone.

    Nodes carry at least `kind`, edges `type`; times are in UTC milliseconds.
    """
    import networkx as nx  # here: a server at rest does without its 11 MiB

    clean: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for node in sorted(graph):
        clean.add_node(node, **_data(graph.nodes[node], NODE_FIELDS))
    edges = [(source, target, _data(data, EDGE_FIELDS)) for source, target, data in graph.edges(data=True)]
    for number, (source, target, data) in enumerate(sorted(edges, key=lambda edge: (*edge[:2], repr(edge[2])))):
        clean.add_edge(source, target, key=f"e{number}", **data)
    return clean


def to_graphml(graph: Graph) -> str:
    """Return the graph as GraphML.

    Characters that XML 1.0 cannot hold become U+FFFD. `networkx.read_graphml(…, force_multigraph=True)` gives
    back what `exported` gives, but for those.
    """
    import networkx as nx

    clean = exported(graph)
    for data in (*clean.nodes.values(), *clean.edges.values()):
        data.update({key: _xml_text(value) for key, value in data.items() if isinstance(value, str)})
    sink = io.BytesIO()
    nx.write_graphml(clean, sink)
    return sink.getvalue().decode()


def to_prov_json(graph: Graph) -> str:
    """Return the graph as PROV-JSON.

    Runs, batches and audit records are activities, principals are agents, everything else is an entity. A citation
    or derivation is `wasDerivedFrom`, what a batch consumed is `used`, activities that led to one another are
    `wasInformedBy`; any other edge, among them the target of an audit record, is `wasInfluencedBy`, which says
    least: an entity with ten audit records was not generated ten times.
    """
    clean = exported(graph)
    document = ProvDocument()
    document.add_namespace(NAMESPACE)
    for node, data in clean.nodes(data=True):
        _add_node(document, NAMESPACE[node], data)
    document.add_namespace(EDGES)
    for source, target, key, data in clean.edges(keys=True, data=True):
        kinds = (_prov_kind(clean.nodes[source]), _prov_kind(clean.nodes[target]))
        _add_edge(document, EDGES[key], (NAMESPACE[source], NAMESPACE[target]), kinds, data)
    return str(document.serialize(format="json", sort_keys=True))


def _data(data: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Json]:
    plain = {key: _plain(data[key]) for key in fields if isinstance(data.get(key), str | int)}
    times = {key: render(Millis(data[key])) for key in TIME_FIELDS if isinstance(data.get(key), int)}
    return {key: value for key, value in {**plain, **times}.items() if value != ""}


def _plain(value: str | int) -> str | int:
    """Return a StrEnum as a plain string, which the writers of both formats ask for."""
    return str(value) if isinstance(value, str) else value


def _xml_text(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)


class _Prov(StrEnum):
    ENTITY = "entity"
    ACTIVITY = "activity"
    AGENT = "agent"


def _prov_kind(data: Mapping[str, Json]) -> _Prov:
    kind = data.get("kind", "")
    if kind in ACTIVITY_KINDS:
        return _Prov.ACTIVITY
    return _Prov.AGENT if kind in AGENT_KINDS else _Prov.ENTITY


def _add_node(document: ProvDocument, name: QualifiedName, data: Mapping[str, Json]) -> None:
    attributes = _attributes(data)
    kind = _prov_kind(data)
    if kind is _Prov.ACTIVITY:
        start, end = (_moment(data.get(key)) for key in ("started_at", "ended_at"))
        document.activity(name, start, end, attributes)
    elif kind is _Prov.AGENT:
        document.agent(name, attributes)
    else:
        document.entity(name, attributes)


def _add_edge(
    document: ProvDocument,
    name: QualifiedName,
    ends: tuple[QualifiedName, QualifiedName],
    kinds: tuple[_Prov, _Prov],
    data: Mapping[str, Json],
) -> None:
    (source, target), attributes = ends, _attributes(data)
    type_ = data.get("type")
    if type_ in _DERIVATIONS and kinds == (_Prov.ENTITY, _Prov.ENTITY):
        document.wasDerivedFrom(source, target, identifier=name, other_attributes=attributes)
    elif type_ == EdgeType.CONSUMED and kinds == (_Prov.ACTIVITY, _Prov.ENTITY):
        document.used(source, target, identifier=name, other_attributes=attributes)
    elif type_ == EdgeType.PRODUCED and kinds == (_Prov.ACTIVITY, _Prov.ACTIVITY):
        document.wasInformedBy(target, source, identifier=name, other_attributes=attributes)
    elif type_ in _AGAINST_THE_ARROW:
        document.wasInfluencedBy(target, source, identifier=name, other_attributes=attributes)
    else:
        document.wasInfluencedBy(source, target, identifier=name, other_attributes=attributes)


def _attributes(data: Mapping[str, Json]) -> dict[QualifiedName, Json]:
    return {NAMESPACE[key]: value for key, value in data.items()}


def _moment(text: Json) -> datetime | None:
    return None if text is None else to_datetime(parse(text))
