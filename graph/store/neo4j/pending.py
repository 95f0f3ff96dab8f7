"""What a transaction has still to write: gathered, then written by one statement that is planned but once.

A round trip costs as much as some fifty rows, and a statement of a new text must be planned first; so nodes of every
kind, links, guards, audiences and texts go together, the kinds as values. Nodes that are new
are created with all that is known about them, and links that start at them are created too: MERGE, which has to look
what is there, takes three times as long.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Any

from graph.model.edges import Edge
from graph.model.ids import NodeId
from graph.store.neo4j import names
from graph.store.neo4j.driver import ONE_WAY
from graph.store.neo4j.encoding import Properties
from graph.store.neo4j.links import encode_edge
from graph.store.neo4j.rows import map_of, values_of
from graph.store.neo4j.visible import Interned

AUDIENCE_ROW = ("clause", "kind", "tag", "sort", "n", "node", "excluded")

_NODE = "MATCH (n:Node) USING INDEX SEEK n:Node(id) WHERE n.id = row[0]"
_ENDS = (
    "MATCH (a:Node) USING INDEX SEEK a:Node(id) WHERE a.id = row[0] "
    "MATCH (b:Node) USING INDEX SEEK b:Node(id) WHERE b.id = row[1]"
)
_STAR = (
    "MATCH (b:Node) USING INDEX SEEK b:Node(id) WHERE b.id = star[0] UNWIND star[2] AS row "
    "MATCH (a:Node) USING INDEX SEEK a:Node(id) WHERE a.id = row[0]"
)
_AUD = (
    "MATCH (a:Aud) USING INDEX SEEK a:Aud(clause, kind, tag, sort) "
    "WHERE a.clause = row[0] AND a.kind = row[1] AND a.tag = row[2] AND a.sort = row[3]"
)
_COUNTER = "MERGE (c:Counter {key: row[0]}) ON CREATE SET c.n = 0 SET c.lock = 0"

_STRAY = (
    "UNWIND $nodes AS row MATCH (t:Text) USING INDEX SEEK t:Text(guard) WHERE t.guard = row[1].id "
    "RETURN count(t) AS stray"
)
STRAY = "stray"
"""What `statement` binds: how many texts hang on nodes that were taken for new."""

_BEFORE_LINKS = (
    _STRAY,
    "UNWIND $nodes AS row CREATE (n:$(row[0])) SET n += row[1]",
    "UNWIND $ends AS id MERGE (n:Node {id: id}) ON CREATE SET n:Placeholder",
    f"UNWIND $patches AS row {_NODE} AND NOT n:Placeholder SET n += row[1]",
    f"UNWIND $facts AS row {_NODE} SET n += row[1]",
    f"UNWIND $fresh AS star {_STAR} CREATE (a)-[r:$(star[1])]->(b) SET r += row[1]",
)
_AFTER_LINKS = (
    "UNWIND $clauses AS row MERGE (c:Clause {id: row.id}) ON CREATE SET c = row",
    f"UNWIND $gone AS row {_AUD} DELETE a",
    f"UNWIND $come AS row CREATE (a:Aud) SET a += {map_of(AUDIENCE_ROW)}",
    f"UNWIND $several AS row CREATE (a:Aud:AudSeveral) SET a += {map_of(AUDIENCE_ROW)}",
    "UNWIND $newTexts AS row CREATE (t:$(row[0])) SET t += row[2]",
    "UNWIND $texts AS row MERGE (t:Text {id: row[2].id}) SET t = row[2], t:$(row[0]) REMOVE t:$(row[1])",
    f"UNWIND $counters AS row {_COUNTER} WITH c, row SET c.n = c.n + row[1]",
)


@lru_cache(maxsize=256)
def statement(types: tuple[str, ...]) -> str:
    """Return the statement that writes all that waits, links of these `types` (relationship types, sorted) included.

    It binds `STRAY`.

    Each look-up has one way, whatever the store holds: by a hint, or MERGE by a unique key. So its first plan stays
    the best. The types of links stand in the text for that reason: given as a value, MERGE walks through all links of
    one end, which takes a quarter of an hour for a statement with 65,537 sources.
    """
    links = [
        f"UNWIND $links.{type} AS row {_ENDS} MERGE (a)-[r:{type} {{key: row[2]}}]->(b) SET r = row[3]"
        for type in types
    ]
    return ONE_WAY + " ".join(f"CALL () {{ {part} }}" for part in (*_BEFORE_LINKS, *links, *_AFTER_LINKS))


Identity = tuple[str, ...]
Rows = Mapping[Identity, Mapping[str, Any]]


class Pending:
    """The writes that wait.

    Attributes:
        removals: nodes to remove, before anything else is written.
        nodes: labels and properties of nodes that are certainly not in the store.
        patches: changed fields of nodes; placeholders are left out.
        facts: guards and audiences of nodes, placeholders included.
        ends: ids that become placeholders unless they are there.
        links: by identity.
        clauses: by id.
        gone: audience rows to remove, by identity, before `come` are added.
        come: audience rows to add, by identity.
        texts: labels to set, labels to remove, and properties, by id.
        new_texts: ids of texts that are certainly not in the store.
        written: identities of links that were written before, in this transaction.
    """

    def __init__(self) -> None:
        self.removals: set[NodeId] = set()
        self.nodes: dict[NodeId, tuple[list[str], Properties]] = {}
        self.patches: dict[NodeId, Properties] = {}
        self.facts: dict[NodeId, Properties] = {}
        self.ends: set[NodeId] = set()
        self.links: dict[tuple[Any, ...], Edge] = {}
        self.clauses: dict[str, Interned] = {}
        self.gone: dict[Identity, Mapping[str, Any]] = {}
        self.come: dict[Identity, Mapping[str, Any]] = {}
        self.texts: dict[str, tuple[list[str], list[str], Properties]] = {}
        self.new_texts: set[str] = set()
        self.written: set[tuple[Any, ...]] = set()

    def __bool__(self) -> bool:
        return bool(
            self.nodes
            or self.patches
            or self.facts
            or self.ends
            or self.links
            or self.clauses
            or self.gone
            or self.come
            or self.texts
        )

    @property
    def changes_graph(self) -> bool:
        """True if nodes or links are among what waits."""
        return bool(self.nodes or self.ends or self.links or self.removals)

    def touches(self, ids: Collection[NodeId]) -> bool:
        """True if one of these nodes is new, changed or to be removed."""
        changed = (self.nodes, self.patches, self.facts, self.removals)
        return any(id in held for id in ids for held in changed)

    def take_removals(self) -> list[NodeId]:
        """Return the nodes to remove, in id order, and forget them."""
        gone = sorted(self.removals)
        self.removals.clear()
        return gone

    def patch(self, id: NodeId, properties: Properties) -> None:
        """Set fields of a node; None removes one."""
        if id in self.nodes:
            _merge(self.nodes[id][1], properties)
        else:
            self.patches.setdefault(id, {}).update(properties)

    def state(self, id: NodeId, properties: Properties) -> None:
        """Set the guard or audience of a node."""
        if id in self.nodes:
            _merge(self.nodes[id][1], properties)
        else:
            self.facts.setdefault(id, {}).update(properties)

    def link(self, edges: Iterable[Edge]) -> None:
        """Add or replace links; ends that are not there become placeholders."""
        for edge in edges:
            self.links[edge.identity] = edge
            self.ends.update(end for end in (edge.source, edge.target) if end not in self.nodes)

    def replace_rows(self, gone: Rows, come: Rows) -> None:
        """Take audience rows away, then add some."""
        for key, row in gone.items():
            if self.come.pop(key, None) is None:
                self.gone[key] = row
        self.come.update(come)

    def parameters(self, created: Collection[NodeId]) -> dict[str, Any]:
        """Return the parameters of `statement`, but for the counters, in an order in which all writers lock alike.

        Args:
            created: nodes that this transaction made, from which no link of another can start.
        """
        several = [row for _, row in sorted(self.come.items()) if not is_alone(row)]
        alone = [row for _, row in sorted(self.come.items()) if is_alone(row)]
        stars, links = self._split(created)
        return {
            "nodes": [list(self.nodes[id]) for id in sorted(self.nodes)],
            "ends": sorted(self.ends),
            "patches": _rows(self.patches),
            "facts": _rows(self.facts),
            "fresh": stars,
            "links": links,
            "clauses": [clause.row() for _, clause in sorted(self.clauses.items())],
            "gone": values_of((row for _, row in sorted(self.gone.items())), AUDIENCE_ROW),
            "come": values_of(alone, AUDIENCE_ROW),
            "several": values_of(several, AUDIENCE_ROW),
            "newTexts": [list(row) for id, row in sorted(self.texts.items()) if id in self.new_texts],
            "texts": [list(row) for id, row in sorted(self.texts.items()) if id not in self.new_texts],
        }

    def clear(self) -> None:
        """Forget what was written."""
        self.written.update(self.links)
        for held in (self.nodes, self.patches, self.facts, self.ends, self.links, self.clauses, self.gone, self.come):
            held.clear()
        self.texts.clear()
        self.new_texts.clear()

    def _split(self, created: Collection[NodeId]) -> tuple[list[Any], dict[str, list[Any]]]:
        """Return the links that can only be new, by target and type, and the others by type."""
        stars: dict[tuple[str, str], list[Any]] = defaultdict(list)
        others: dict[str, list[Any]] = defaultdict(list)
        for identity, edge in sorted(self.links.items()):
            type, properties = names.relationship(edge.type), encode_edge(edge)
            if edge.source in created and identity not in self.written:
                stars[edge.target, type].append([edge.source, properties])
            else:
                others[type].append([edge.source, edge.target, edge.key, properties])
        return [[target, type, rows] for (target, type), rows in sorted(stars.items())], dict(others)


def is_alone(row: Mapping[str, Any]) -> bool:
    """True for an audience row that a counter can count: of a node with one clause, shown to whoever passes it."""
    return row["n"] == 1 and "excluded" not in row


def _rows(changes: Mapping[NodeId, Properties]) -> list[list[Any]]:
    return [[id, properties] for id, properties in sorted(changes.items())]


def _merge(properties: Properties, changes: Mapping[str, Any]) -> None:
    """Change properties as ``+=`` does: None removes one."""
    for name, value in changes.items():
        if value is None:
            properties.pop(name, None)
        else:
            properties[name] = value
