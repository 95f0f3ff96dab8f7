"""Writes of one transaction."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from graph.model import schema
from graph.model.access import Audience, Guard, Scope, SystemScope, Viewer
from graph.model.edges import Edge, EdgeType
from graph.model.errors import AlreadyExists, NotFound, VersionConflict
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.work import Job
from graph.model.schema import KindSpec
from graph.model.time import Millis
from graph.store.neo4j import audience, jobs, names, pending, removing, texts, visible
from graph.store.neo4j.asking import First, Question, table
from graph.store.neo4j.conditions import Compiler
from graph.store.neo4j.counters import Counters
from graph.store.neo4j.driver import ONE_WAY, Runner
from graph.store.neo4j.encoding import (
    columns,
    decode_node,
    decode_value,
    encode_changes,
    encode_node,
    is_whole,
    properties_of,
    spec_of,
)
from graph.store.neo4j.facts import encode_guard
from graph.store.neo4j.faults import TakenForNew, already_exists
from graph.store.neo4j.pending import Pending
from graph.store.neo4j.reader import Neo4jReader
from graph.store.neo4j.rows import map_of, values_of
from graph.store.query import Direction, Find, Match, Matches, Neighbour, Page, Reached, TextRow, Where

N = TypeVar("N", bound=Node)

_READ_WITH_LOCK = 100
"""So many nodes are read with the statement that locks them."""


class Neo4jWriter(Neo4jReader):
    """Reads and writes of one explicit transaction.

    Writes wait in `Pending` until something is read that they may bear on, or the transaction ends; so an error of a
    write (a taken key) may come with a later call. Every statement that reads before it writes first takes the node's
    write lock (``SET n.lock = 0``): Neo4j reads committed data without locks, so what was read before the lock may be
    out of date.

    Nodes that are put are taken for new, as their ids were just made as a rule: a constraint objects if one is there,
    and then the transaction runs again and looks first (`cautious`).

    Attributes:
        given_up: why the transaction cannot be committed any more, even if `work` went on.
    """

    def __init__(self, runner: Runner, first: First | None = None, *, cautious: bool = False) -> None:
        super().__init__(runner, first)
        self._cautious = cautious
        self._met: set[NodeId] = set()
        self._counters = Counters()
        self._states = audience.States()
        self._pending = Pending()
        self._created: set[NodeId] = set()
        self._texted: set[NodeId] = set()
        self._locked: set[NodeId] = set()
        self._read: dict[NodeId, Node] = {}
        self._guards: dict[NodeId, Guard] = {}
        self._flushing = asyncio.Lock()
        self.given_up: AlreadyExists | TakenForNew | None = None

    async def put(self, nodes: Sequence[Node]) -> None:
        groups: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
        kinds: dict[tuple[str, ...], KindSpec] = {}
        there = await self._there([node.id for node in nodes if self._cautious or self._may_be_there(node.id)])
        for node in nodes:
            spec = spec_of(node)
            labels = names.labels_of(spec, getattr(node, "kind", None))
            if node.id in self._pending.nodes:
                raise self._taken(spec, ("id",))
            if node.id in there:
                groups[labels].append(encode_node(node))
                kinds[labels] = spec
            else:
                self._create(node, labels)
        for labels, rows in sorted(groups.items()):
            await self._put(kinds[labels], labels, rows)

    def _may_be_there(self, id: NodeId) -> bool:
        """True for a node of which this transaction has made, or met, at least a placeholder."""
        waits = id in self._pending.ends or id in self._pending.facts
        return waits or id in self._met or id in self._locked

    async def _there(self, ids: Sequence[NodeId]) -> Collection[NodeId]:
        """Return those of `ids` that are nodes or placeholders; they stay so. Notes on which of them texts hang."""
        if not ids:
            return ()
        if any(id in self._pending.ends for id in ids) or self._pending.touches(ids):
            await self._flush_nodes()
        found, texted = await self._runner.ask(
            f"{ONE_WAY}CALL () {{ UNWIND $ids AS id MATCH (n:Node) USING INDEX SEEK n:Node(id) WHERE n.id = id "
            "SET n.lock = 0 RETURN collect(id) AS there } "
            "CALL () { UNWIND $ids AS id MATCH (t:Text) USING INDEX SEEK t:Text(guard) WHERE t.guard = id "
            "RETURN collect(DISTINCT id) AS texted }",
            "[there, texted]",
            ids=sorted(set(ids)),
        )
        self._texted.update(map(NodeId, texted))
        return frozenset(map(NodeId, found))

    def _create(self, node: Node, labels: Sequence[str]) -> None:
        self._pending.nodes[node.id] = ([names.NODE, *labels], encode_node(node))
        self._created.add(node.id)
        self._states.put(node.id, node.workspace)

    async def patch(self, id: NodeId, changes: Mapping[str, Any], *, expected: Mapping[str, Any] | None = None) -> None:
        spec = _kind(id)
        properties = encode_changes(spec, changes)
        if self._pending.touches([id]):
            await self._flush_nodes()
        self._read.pop(id, None)
        current = await self._lock_and_read(spec, id, tuple(expected or ()))
        if expected and current != dict(expected):
            raise VersionConflict("the object has changed: read it again", current=current)
        self._pending.patch(id, properties)

    async def patch_many(self, changes: Mapping[NodeId, Mapping[str, Any]]) -> None:
        for id, fields in changes.items():
            spec = schema.kind_of(id)
            if spec is not None:
                self._read.pop(id, None)
                self._pending.patch(id, encode_changes(spec, fields))

    async def patch_where(self, kind: type[Node], where: Where, changes: Mapping[str, Any]) -> int:
        await self._flush_nodes()
        self._read.clear()
        spec, compiler = schema.kinds()[kind.__name__], Compiler(kind)
        condition = compiler.where(where)
        ((count,),) = await self._runner.run(
            f"MATCH (n:{spec.name}) WHERE {condition} WITH n ORDER BY n.id SET n.lock = 0 WITH n "
            f"WHERE n:{spec.name} AND ({condition}) SET n += $properties RETURN count(n)",
            properties=encode_changes(spec, changes),
            **compiler.parameters,
        )
        return int(count)

    async def delete(self, ids: Sequence[NodeId]) -> None:
        gone = sorted(set(ids))
        if not gone:
            return
        if self._pending:
            await self._flush_nodes()
        self._pending.removals.update(gone)
        self._states.forget(gone)
        self._created.difference_update(gone)
        self._met.update(gone)
        self._read.clear()
        self._guards.clear()

    async def link(self, edges: Sequence[Edge]) -> None:
        self._pending.link(edges)

    async def unlink(self, edges: Sequence[Edge]) -> None:
        if not edges:
            return
        await self._flush_nodes()
        for type, rows in _by_type(edges).items():
            await self._runner.run(
                "UNWIND $rows AS row MATCH (a:Node {id: row.source}) USING INDEX SEEK a:Node(id) "
                f"MATCH (a)-[r:{type} {{key: row.key}}]->(b:Node {{id: row.target}}) DELETE r",
                rows=rows,
            )

    async def guard(self, guards: Sequence[Guard]) -> None:
        for guard in guards:
            self._guards.pop(guard.node, None)
            properties = encode_guard(guard)
            if guard.node not in self._pending.nodes:
                self._pending.ends.add(guard.node)
            self._pending.state(guard.node, properties)
            self._states.guarded(guard.node, properties)

    async def admit(self, audiences: Sequence[Audience]) -> None:
        if not audiences:
            return
        self._clauses.clear()
        nodes = {audience.node for audience in audiences}
        if self._pending.touches(nodes - self._states.known()) or self._waiting_texts(nodes):
            await self._flush_nodes()
        after = await audience.admit(self._runner, self._counters, self._states, self._pending, audiences)
        hanging = {node: state for node, state in after.items() if node not in self._created or node in self._texted}
        await texts.readmit(self._runner, self._counters, hanging)

    async def index(self, texts_: Sequence[TextRow]) -> None:
        if not texts_:
            return
        guards = {text.guard for text in texts_}
        waits = self._pending.removals or any(text.id in self._pending.texts for text in texts_)
        if waits or self._pending.touches(guards - self._states.known()):
            await self._flush_nodes()
        fresh = (guards & self._created) - self._texted
        await texts.index(self._runner, self._counters, self._pending, texts_, self._states, new_guards=fresh)
        self._texted |= guards

    def _waiting_texts(self, guards: Collection[NodeId]) -> bool:
        return any(row[2]["guard"] in guards for row in self._pending.texts.values())

    async def unindex(self, text_ids: Sequence[str]) -> None:
        if any(id in self._pending.texts for id in text_ids):
            await self._flush_nodes()
        await texts.unindex(self._runner, self._counters, text_ids)

    async def texts_of(self, guards: Sequence[NodeId]) -> Sequence[TextRow]:
        if self._waiting_texts(guards) or self._pending.touches(guards):
            await self._flush_nodes()
        return await texts.texts_of(self._runner, guards)

    async def lock(self, ids: Sequence[NodeId]) -> None:
        wanted = sorted(set(ids) - self._pending.nodes.keys() - self._locked)
        if wanted:
            self._locked.update(wanted)
            await self._lock(wanted)

    async def _lock(self, ids: Sequence[NodeId]) -> None:
        """Lock nodes and, if they are few, remember them as they are now: whoever locks a node reads it next."""
        held = f"{ONE_WAY}UNWIND $ids AS id MERGE (n:Node {{id: id}}) ON CREATE SET n:Placeholder SET n.lock = 0"
        kinds = {spec.name for id in ids if (spec := schema.kind_of(id)) is not None}
        if not kinds or len(ids) > _READ_WITH_LOCK:
            await self._runner.run(held, ids=ids)
            return
        rows = await table(self._runner, f"{held} WITH n", columns(*kinds), ids=ids)
        nodes = [decode_node(values) for (values,) in rows if is_whole(values)]
        self._read.update((node.id, node) for node in nodes if not self._pending.touches([node.id]))

    async def hold(self, scope: SystemScope, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
        if self._pending.touches(ids):
            await self._flush_nodes()
        kinds = {spec.name for id in ids if (spec := schema.kind_of(id)) is not None}
        if not kinds:
            return {}
        statement = (
            f"{ONE_WAY}UNWIND $ids AS id MATCH (n:Node) USING INDEX SEEK n:Node(id) WHERE n.id = id "
            f"AND {visible.seen(scope)} SET n.lock = 0 WITH n WHERE NOT n:Placeholder"
        )
        parameters = {"ids": sorted(set(ids)), **visible.scope_parameters(scope)}
        # Whoever holds something after he has written looks whether it moved, before the commit: what waits goes along.
        questions: list[Callable[[], Awaitable[Any]]] = [
            lambda: table(self._runner, statement, columns(*kinds), **parameters),
            self.flush,
        ]
        rows, _ = await self.together(questions)
        found = {node.id: node for (values,) in rows if is_whole(values) for node in [decode_node(values)]}
        self._locked.update(found)
        self._read.update(found)
        return {id: found[id] for id in ids if id in found}

    async def increment(self, id: NodeId, field: str, by: int = 1) -> int:
        spec = _kind(id)
        if self._pending.touches([id]):
            await self._flush_nodes()
        self._read.pop(id, None)
        reference = names.reference(spec.node, field)
        now = await self._runner.ask(
            f"{_held(spec)} SET {reference} = {reference} + $by", f"collect({reference})", id=id, by=by
        )
        if not now:
            raise NotFound
        return int(now[0])

    async def claim(self, kinds: Sequence[str], owner: str, now: Millis, lease_ms: int) -> Job | None:
        await self._flush_nodes()
        self._read.clear()
        return await jobs.claim(self._runner, kinds, owner, now, lease_ms)

    async def get(self, scope: Scope, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
        if isinstance(scope, SystemScope) and all(id in self._read for id in ids):
            return {id: self._read[id] for id in ids if scope.workspace in (None, self._read[id].workspace)}
        if not isinstance(scope, SystemScope) or self._pending.touches(ids):
            await self._flush_nodes()
        if isinstance(scope, Viewer) and ids and all(id in self._read for id in ids):
            shown = await self.shown(scope, ids)
            return {id: self._read[id] for id in ids if id in shown}
        found = await super().get(scope, ids)
        # What this transaction has locked stays as it was read, until the transaction itself changes it.
        self._read.update((id, node) for id, node in found.items() if id in self._locked)
        return found

    async def find(self, scope: Scope, query: Find[N]) -> Page[N]:
        await self._flush_nodes()
        return await super().find(scope, query)

    async def edges(
        self, scope: Scope, ids: Sequence[NodeId], types: Iterable[EdgeType], direction: Direction
    ) -> Sequence[Edge]:
        await self._flush_nodes()
        return await super().edges(scope, ids, types, direction)

    async def closure(
        self,
        ids: Sequence[NodeId],
        types: Iterable[EdgeType],
        direction: Direction,
        *,
        depth: int | None = None,
        limit: int | None = None,
        guarded: bool = False,
    ) -> Reached:
        if self._pending.changes_graph or (guarded and self._pending.facts):
            await self._flush_nodes()
        reached = await super().closure(ids, types, direction, depth=depth, limit=limit, guarded=guarded)
        self._remember(reached.guards)
        return reached

    async def guards(self, ids: Sequence[NodeId]) -> Mapping[NodeId, Guard]:
        if all(id in self._guards for id in ids):
            return {id: self._guards[id] for id in ids}
        if all(id in self._pending.nodes and not self._states.has_guard(id) for id in ids):
            return {}
        if self._pending.touches(ids):
            await self._flush_nodes()
        found = await super().guards(ids)
        self._remember(found)
        return found

    def _remember(self, guards: Mapping[NodeId, Guard]) -> None:
        """Note guards of nodes that this transaction has locked: they stay so until it changes them itself."""
        self._guards.update((id, guard) for id, guard in guards.items() if id in self._locked)

    async def audiences(self, ids: Sequence[NodeId]) -> Mapping[NodeId, Audience]:
        if self._pending.clauses or self._pending.touches(ids):
            await self._flush_nodes()
        return await super().audiences([id for id in ids if not self._states.has_no_audience(id)])

    async def aggregate(
        self, scope: Scope, kind: type[Node], where: Where | None = None, by: str | None = None
    ) -> Mapping[Any, int]:
        await self.flush()
        return await super().aggregate(scope, kind, where, by)

    async def match(self, scope: Scope, question: Match) -> Matches:
        await self.flush()
        return await super().match(scope, question)

    async def nearest(
        self,
        scope: Scope,
        kind: type[Node],
        vector: Sequence[float],
        *,
        model: str,
        limit: int,
        where: Where | None = None,
    ) -> Sequence[Neighbour]:
        await self._flush_nodes()
        return await super().nearest(scope, kind, vector, model=model, limit=limit, where=where)

    async def flush(self) -> None:
        """Write all that waits; counters, which all writers of a pool share, as late and as briefly as can be."""
        async with self._flushing:
            await self._flush(self._counters.take())
            if counted := self._counters.take():  # of what was removed
                await self._flush(counted)

    async def finish(self) -> None:
        """Do all that is still to be done before the commit."""
        await self.flush()
        await self._runner.begin()

    async def confirm(self) -> None:
        """Look whether what waits, and was taken for new, is there.

        Raises:
            TakenForNew: some of it is; whatever `work` objects to may come of that.
        """
        ids = [] if self._cautious else sorted(self._pending.nodes)
        look = f"{ONE_WAY}UNWIND $ids AS id MATCH (n:Node) USING INDEX SEEK n:Node(id) WHERE n.id = id"
        if ids and await self._runner.ask(look, "count(n)", ids=ids):
            raise TakenForNew

    async def _flush_nodes(self) -> None:
        """Write all that waits but the counters."""
        async with self._flushing:
            await self._flush([])

    async def _flush(self, counted: list[list[Any]]) -> None:
        """Write what waits; it takes its turn at once, so that whatever is asked from now on comes after it."""
        gone = self._pending.take_removals()
        questions = [removing.removal(gone)] if gone else []
        if self._pending or counted:
            questions.append(self._writing(counted))
        if not questions:
            return
        answers = [*await self._runner.in_turn(questions)]
        if gone:
            removing.uncount(self._counters, answers.pop(0))
        if any(answers) and not self._cautious:
            self.given_up = TakenForNew()
            raise self.given_up

    def _writing(self, counted: list[list[Any]]) -> Question:
        """Return what writes all that waits, removals aside; it gives how many texts hang on what is new."""
        parameters = self._pending.parameters(self._created)
        self._met.update(self._pending.ends, self._pending.facts)
        self._pending.clear()
        statement = pending.statement(tuple(sorted(parameters["links"])))
        return Question(statement, pending.STRAY, {"counters": counted, **parameters})

    async def _put(self, spec: KindSpec, labels: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert nodes of one kind; MERGE holds each id against other writers, so only a true duplicate is refused."""
        ids, properties = [row["id"] for row in rows], properties_of(spec.name)
        if len(set(ids)) < len(ids):
            raise self._taken(spec, ("id",))
        found = await self._runner.run(
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
        await audience.arrive(self._runner, self._counters, self._states, self._pending, admitted)

    async def _lock_and_read(self, spec: KindSpec, id: NodeId, fields: Sequence[str]) -> dict[str, Any]:
        """Lock a node and return some of its fields as they are now."""
        declared = [names.field_of(spec.node, name) for name in fields]
        values = ", ".join(names.reference(spec.node, name) for name in fields)
        rows = await table(self._runner, _held(spec), values, id=id)
        if not rows:
            raise NotFound
        (found,) = rows
        return {spec.name: decode_value(spec, value) for spec, value in zip(declared, found, strict=True)}

    def _taken(self, spec: KindSpec, fields: tuple[str, ...]) -> AlreadyExists:
        self.given_up = already_exists(spec.name, fields)
        return self.given_up


def _held(spec: KindSpec) -> str:
    """Return the start of a statement that locks the node `$id` and goes on if it is of a kind then.

    The index of ids is of all nodes: looked for by its kind alone, a node is looked for among all of the kind.
    """
    return (
        f"{ONE_WAY}MATCH (n:Node) USING INDEX SEEK n:Node(id) WHERE n.id = $id AND n:{spec.name} SET n.lock = 0 "
        f"WITH n WHERE n:{spec.name}"
    )


def _kind(id: NodeId) -> KindSpec:
    spec = schema.kind_of(id)
    if spec is None:
        raise NotFound
    return spec


def _by_type(edges: Iterable[Edge]) -> Mapping[str, list[dict[str, Any]]]:
    """Return edges as rows by relationship type, in order of identity, so that writers lock alike."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for edge in sorted(edges, key=lambda edge: edge.identity):
        groups[names.relationship(edge.type)].append({"source": edge.source, "target": edge.target, "key": edge.key})
    return groups
