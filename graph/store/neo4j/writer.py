"""Writes of one transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from graph.model import schema
from graph.model.access import Audience, Guard, Scope
from graph.model.edges import Edge
from graph.model.errors import AlreadyExists, NotFound, VersionConflict
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.work import Job
from graph.model.schema import KindSpec
from graph.model.time import Millis
from graph.store.neo4j import audience, jobs, names, texts
from graph.store.neo4j.conditions import Compiler
from graph.store.neo4j.counters import Counters
from graph.store.neo4j.driver import InTransaction
from graph.store.neo4j.encoding import decode_value, encode_changes, encode_node, properties_of, spec_of
from graph.store.neo4j.facts import GUARD_PROPERTIES, encode_guard
from graph.store.neo4j.links import encode_edge
from graph.store.neo4j.reader import Neo4jReader
from graph.store.neo4j.rows import map_of, values_of
from graph.store.query import Match, Matches, TextRow, Where

T = TypeVar("T")


class Neo4jWriter(Neo4jReader):
    """Reads and writes of one explicit transaction.

    Every statement that reads before it writes first takes the node's write lock (``SET n.lock = 0``): Neo4j reads
    committed data without locks, so what was read before the lock may be out of date.

    Attributes:
        given_up: why the transaction cannot be committed any more, even if `work` went on.
    """

    def __init__(self, runner: InTransaction) -> None:
        super().__init__(runner)
        self._transaction = runner
        self._counters = Counters()
        self._states = audience.States()
        self.given_up: AlreadyExists | None = None

    async def put(self, nodes: Sequence[Node]) -> None:
        groups: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
        kinds: dict[tuple[str, ...], KindSpec] = {}
        for node in nodes:
            spec = spec_of(node)
            labels = names.labels_of(spec, getattr(node, "kind", None))
            groups[labels].append(encode_node(node))
            kinds[labels] = spec
        for labels, rows in sorted(groups.items()):
            await self._put(kinds[labels], labels, rows)

    async def patch(self, id: NodeId, changes: Mapping[str, Any], *, expected: Mapping[str, Any] | None = None) -> None:
        spec = _kind(id)
        properties = encode_changes(spec, changes)
        current = await self._lock_and_read(spec, id, tuple(expected or ()))
        if expected and current != dict(expected):
            raise VersionConflict("the object has changed: read it again", current=current)
        await self._set(spec, [{"id": id, "properties": properties}])

    async def patch_many(self, changes: Mapping[NodeId, Mapping[str, Any]]) -> None:
        groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for id, fields in sorted(changes.items()):
            spec = schema.kind_of(id)
            if spec is not None:
                groups[spec.name].append({"id": id, "properties": encode_changes(spec, fields)})
        for name, rows in sorted(groups.items()):
            await self._set(schema.kinds()[name], rows)

    async def patch_where(self, kind: type[Node], where: Where, changes: Mapping[str, Any]) -> int:
        spec, compiler = schema.kinds()[kind.__name__], Compiler(kind)
        condition = compiler.where(where)
        ((count,),) = await self._run_for(
            spec,
            f"MATCH (n:{spec.name}) WHERE {condition} WITH n ORDER BY n.id SET n.lock = 0 WITH n "
            f"WHERE {condition} SET n += $properties RETURN count(n)",
            properties=encode_changes(spec, changes),
            **compiler.parameters,
        )
        return int(count)

    async def delete(self, ids: Sequence[NodeId]) -> None:
        gone = sorted(set(ids))
        if not gone:
            return
        await self._runner.run("UNWIND $ids AS id MATCH (n:Node {id: id}) SET n.lock = 0", ids=gone)
        await audience.withdraw(self._runner, self._counters, self._states, gone)
        await texts.unindex_guards(self._runner, self._counters, gone)
        await self._runner.run("UNWIND $ids AS id MATCH (n:Node {id: id})-[r]->() DELETE r", ids=gone)
        labels = "".join(f":{label}" for label in names.all_labels())
        await self._runner.run(
            "UNWIND $ids AS id MATCH (n:Node {id: id}) WHERE EXISTS { (n)<--() } "
            f"SET n = {{id: id}} REMOVE n{labels} SET n:Placeholder",
            ids=gone,
        )
        await self._runner.run(
            "UNWIND $ids AS id MATCH (n:Node {id: id}) WHERE NOT EXISTS { (n)<--() } DELETE n", ids=gone
        )

    async def link(self, edges: Sequence[Edge]) -> None:
        keyed = {edge.identity: edge for edge in edges}
        if not keyed:
            return
        await self._make_ends({end for edge in keyed.values() for end in (edge.source, edge.target)})
        for type, rows in _by_type(keyed.values()).items():
            await self._runner.run(
                "UNWIND $rows AS row MATCH (a:Node {id: row.source}) USING INDEX SEEK a:Node(id) "
                "MATCH (b:Node {id: row.target}) USING INDEX SEEK b:Node(id) "
                f"MERGE (a)-[r:{type} {{key: row.key}}]->(b) SET r = row.properties",
                rows=rows,
            )

    async def unlink(self, edges: Sequence[Edge]) -> None:
        for type, rows in _by_type(edges).items():
            await self._runner.run(
                "UNWIND $rows AS row MATCH (a:Node {id: row.source}) USING INDEX SEEK a:Node(id) "
                f"MATCH (a)-[r:{type} {{key: row.key}}]->(b:Node {{id: row.target}}) DELETE r",
                rows=rows,
            )

    async def guard(self, guards: Sequence[Guard]) -> None:
        rows = [{"id": guard.node, **encode_guard(guard)} for guard in sorted(guards, key=lambda guard: guard.node)]
        if rows:
            properties = ("id", *GUARD_PROPERTIES)
            await self._runner.run(
                "UNWIND $rows AS row MERGE (n:Node {id: row[0]}) ON CREATE SET n:Placeholder "
                f"SET n += {map_of(properties)}",
                rows=values_of(rows, properties),
            )
            for row in rows:
                self._states.guarded(row["id"], row)

    async def admit(self, audiences: Sequence[Audience]) -> None:
        self._clauses.clear()
        await audience.admit(self._runner, self._counters, self._states, audiences)

    async def index(self, texts_: Sequence[TextRow]) -> None:
        if texts_:
            audiences = await self._states.of(self._runner, {text.guard for text in texts_})
            await texts.index(self._runner, self._counters, texts_, audiences)

    async def unindex(self, text_ids: Sequence[str]) -> None:
        await texts.unindex(self._runner, self._counters, text_ids)

    async def texts_of(self, guards: Sequence[NodeId]) -> Sequence[TextRow]:
        return await texts.texts_of(self._runner, guards)

    async def lock(self, ids: Sequence[NodeId]) -> None:
        wanted = sorted(set(ids))
        if wanted:
            await self._runner.run(
                "UNWIND $ids AS id MERGE (n:Node {id: id}) ON CREATE SET n:Placeholder SET n.lock = 0", ids=wanted
            )

    async def increment(self, id: NodeId, field: str, by: int = 1) -> int:
        spec = _kind(id)
        reference = names.reference(spec.node, field)
        rows = await self._run_for(
            spec,
            f"MATCH (n:{spec.name} {{id: $id}}) SET n.lock = 0 WITH n SET {reference} = {reference} + $by "
            f"RETURN {reference}",
            id=id,
            by=by,
        )
        if not rows:
            raise NotFound
        return int(rows[0][0])

    async def claim(self, kinds: Sequence[str], owner: str, now: Millis, lease_ms: int) -> Job | None:
        return await jobs.claim(self._runner, kinds, owner, now, lease_ms)

    async def aggregate(
        self, scope: Scope, kind: type[Node], where: Where | None = None, by: str | None = None
    ) -> Mapping[Any, int]:
        await self.flush()
        return await super().aggregate(scope, kind, where, by)

    async def match(self, scope: Scope, question: Match) -> Matches:
        await self.flush()
        return await super().match(scope, question)

    async def flush(self) -> None:
        """Write what is kept back until a read needs it or the transaction ends."""
        await self._counters.flush(self._runner)

    async def _put(self, spec: KindSpec, labels: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert nodes of one kind; MERGE holds each id against other writers, so only a true duplicate is refused."""
        ids, properties = [row["id"] for row in rows], properties_of(spec.name)
        if len(set(ids)) < len(ids):
            raise self._taken(spec, ("id",))
        found = await self._run_for(
            spec,
            "UNWIND $rows AS row MERGE (n:Node {id: row[0]}) ON CREATE SET n:Placeholder "
            "WITH n, row WHERE n:Placeholder SET n.lock = 0 WITH n, row WHERE n:Placeholder "
            f"REMOVE n:Placeholder SET n:{':'.join(labels)} SET n += {map_of(properties)} "
            "RETURN n.id, n.workspaceId, n.guardKind IS NOT NULL, n.audClauses IS NOT NULL",
            rows=values_of(sorted(rows, key=lambda row: str(row["id"])), properties),
        )
        if len(found) < len(ids):
            raise self._taken(spec, ("id",))
        for id, workspace, guarded, _ in found:
            if guarded:
                self._states.forget([NodeId(id)])
            else:
                self._states.put(NodeId(id), workspace)
        admitted = [NodeId(id) for id, _, _, admitted in found if admitted]
        await audience.arrive(self._runner, self._counters, self._states, admitted)

    async def _lock_and_read(self, spec: KindSpec, id: NodeId, fields: Sequence[str]) -> dict[str, Any]:
        """Lock a node and return some of its fields as they are now."""
        declared = [names.field_of(spec.node, name) for name in fields]
        values = ", ".join(names.reference(spec.node, name) for name in fields)
        rows = await self._runner.run(
            f"MATCH (n:{spec.name} {{id: $id}}) SET n.lock = 0 WITH n RETURN [{values}]", id=id
        )
        if not rows:
            raise NotFound
        found: list[Any] = rows[0][0]
        return {spec.name: decode_value(spec, value) for spec, value in zip(declared, found, strict=True)}

    async def _set(self, spec: KindSpec, rows: Sequence[Mapping[str, Any]]) -> None:
        await self._run_for(
            spec, f"UNWIND $rows AS row MATCH (n:{spec.name} {{id: row.id}}) SET n += row.properties", rows=rows
        )

    async def _make_ends(self, ids: Iterable[NodeId]) -> None:
        await self._runner.run("UNWIND $ids AS id MERGE (n:Node {id: id}) ON CREATE SET n:Placeholder", ids=sorted(ids))

    async def _run_for(self, spec: KindSpec, statement: str, **parameters: Any) -> list[list[Any]]:
        key_fields = spec.unique[0] if len(spec.unique) == 1 else None
        return await self._transaction.run_for(statement, spec.name, key_fields, **parameters)

    def _taken(self, spec: KindSpec, fields: tuple[str, ...]) -> AlreadyExists:
        self.given_up = AlreadyExists("there is one already: read it instead", kind=spec.name, key_fields=fields)
        return self.given_up


def _kind(id: NodeId) -> KindSpec:
    spec = schema.kind_of(id)
    if spec is None:
        raise NotFound
    return spec


def _by_type(edges: Iterable[Edge]) -> Mapping[str, list[dict[str, Any]]]:
    """Return edges as rows by relationship type, in order of identity, so that writers lock alike."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for edge in sorted(edges, key=lambda edge: edge.identity):
        row = {"source": edge.source, "target": edge.target, "key": edge.key, "properties": encode_edge(edge)}
        groups[names.relationship(edge.type)].append(row)
    return groups
