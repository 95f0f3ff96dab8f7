"""Writes of one transaction: all into an overlay, which the store merges at commit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from graph.model import schema
from graph.model.access import Audience, Guard, SystemScope
from graph.model.edges import Edge
from graph.model.errors import AlreadyExists, BadState, NotFound, VersionConflict
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.store.memory import values
from graph.store.memory.conditions import check_fields, fits
from graph.store.memory.reads import MemoryReader, round_trip
from graph.store.memory.tables import EdgeKey, Tables, UniqueKey
from graph.store.query import TextRow, Where

K = TypeVar("K")
T = TypeVar("T")


class MemoryWriter(MemoryReader):
    """Reads what it wrote; nothing is seen by others before the commit.

    Attributes:
        given_up: why the transaction cannot be committed any more, even if `work` went on.
    """

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables)
        self.given_up: AlreadyExists | None = None

    async def put(self, nodes: Sequence[Node]) -> None:
        await round_trip()
        for node in map(values.stored, nodes):
            if self._tables.node(node.id) is not None:
                raise self._taken(node, ("id",))
            self._claim_keys(node)
            self._tables.of_kind(type(node))[node.id] = node

    async def patch(self, id: NodeId, changes: Mapping[str, Any], *, expected: Mapping[str, Any] | None = None) -> None:
        await round_trip()
        node = self._existing(id)
        current = {name: getattr(node, name) for name in expected or ()}
        if expected and current != dict(expected):
            raise VersionConflict("the object has changed: read it again", current=current)
        self._replace(node, changes)

    async def patch_many(self, changes: Mapping[NodeId, Mapping[str, Any]]) -> None:
        await round_trip()
        for id, fields in changes.items():
            node = self._tables.node(id)
            if node is not None:
                self._replace(node, fields)

    async def patch_where(self, kind: type[Node], where: Where, changes: Mapping[str, Any]) -> int:
        await round_trip()
        check_fields(kind, where)
        fitting = [node for node in self._tables.of_kind(kind).values() if fits(self._tables, node, where)]
        for node in fitting:
            self._replace(node, changes)
        return len(fitting)

    async def delete(self, ids: Sequence[NodeId]) -> None:
        await round_trip()
        for id in dict.fromkeys(ids):
            self._unlink(self._tables.outgoing.get(id, frozenset()))
            self._unindex(self._tables.texts_at.get(id, frozenset()))
            self._tables.guards.pop(id, None)
            self._tables.audiences.pop(id, None)
            node = self._tables.node(id)
            if node is not None:
                self._release_keys(node)
                del self._tables.of_kind(type(node))[id]

    async def link(self, edges: Sequence[Edge]) -> None:
        await round_trip()
        keyed = {edge.identity: values.stored_edge(edge) for edge in edges}
        self._tables.edges.update(keyed)
        _add(self._tables.outgoing, ((key[1], key) for key in keyed))
        _add(self._tables.incoming, ((key[2], key) for key in keyed))

    async def unlink(self, edges: Sequence[Edge]) -> None:
        await round_trip()
        self._unlink(edge.identity for edge in edges if edge.identity in self._tables.edges)

    async def guard(self, guards: Sequence[Guard]) -> None:
        await round_trip()
        self._tables.guards.update((guard.node, guard) for guard in guards)

    async def admit(self, audiences: Sequence[Audience]) -> None:
        await round_trip()
        for audience in audiences:
            if audience.node not in self._tables.guards:
                raise BadState("set the guard of a node before its audience", node=audience.node)
            self._tables.audiences[audience.node] = audience

    async def index(self, texts: Sequence[TextRow]) -> None:
        await round_trip()
        rows = {text.id: text for text in texts}
        self._unindex(rows.keys() & self._tables.texts.keys())
        self._tables.texts.update(rows)
        _add(self._tables.texts_at, ((text.guard, text.id) for text in rows.values()))

    async def unindex(self, text_ids: Sequence[str]) -> None:
        await round_trip()
        self._unindex(id for id in dict.fromkeys(text_ids) if id in self._tables.texts)

    async def texts_of(self, guards: Sequence[NodeId]) -> Sequence[TextRow]:
        await round_trip()
        ids = {id for guard in guards for id in self._tables.texts_at.get(guard, ())}
        return [self._tables.texts[id] for id in sorted(ids)]

    async def lock(self, ids: Sequence[NodeId]) -> None:
        await round_trip()  # there is one writer at a time, so it holds everything

    async def hold(self, scope: SystemScope, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
        return await self.get(scope, ids)

    async def increment(self, id: NodeId, field: str, by: int = 1) -> int:
        await round_trip()
        node = self._existing(id)
        value = int(getattr(node, field)) + by
        self._replace(node, {field: value})
        return value

    async def claim(self, kinds: Sequence[str], owner: str, now: Millis, lease_ms: int) -> Job | None:
        await round_trip()
        jobs = (job for job in self._tables.of_kind(Job).values() if isinstance(job, Job))
        due = [job for job in jobs if job.kind in kinds and _is_due(job, now)]
        if not due:
            return None
        job = min(due, key=lambda job: (job.due_at, job.id))
        claimed = replace(
            job,
            state="running",
            owner=owner,
            fence=job.fence + 1,
            attempts=job.attempts + 1,
            heartbeat_at=now,
            lease_until=Millis(now + lease_ms),
        )
        self._tables.of_kind(Job)[job.id] = claimed
        return claimed

    def _existing(self, id: NodeId) -> Node:
        node = self._tables.node(id)
        if node is None:
            raise NotFound
        return node

    def _replace(self, node: Node, changes: Mapping[str, Any]) -> None:
        after = values.patched(node, changes)
        self._release_keys(node)
        self._claim_keys(after)
        self._tables.of_kind(type(node))[node.id] = after

    def _claim_keys(self, node: Node) -> None:
        for key in _unique_keys(node):
            if key in self._tables.unique:
                raise self._taken(node, key[1])
            self._tables.unique[key] = node.id

    def _taken(self, node: Node, fields: tuple[str, ...]) -> AlreadyExists:
        self.given_up = AlreadyExists(
            "there is one already: read it instead", kind=type(node).__name__, key_fields=fields
        )
        return self.given_up

    def _release_keys(self, node: Node) -> None:
        for key in _unique_keys(node):
            del self._tables.unique[key]

    def _unlink(self, keys: Iterable[EdgeKey]) -> None:
        gone = tuple(keys)
        for key in gone:
            del self._tables.edges[key]
        _remove(self._tables.outgoing, ((key[1], key) for key in gone))
        _remove(self._tables.incoming, ((key[2], key) for key in gone))

    def _unindex(self, ids: Iterable[str]) -> None:
        gone = [self._tables.texts[id] for id in ids]
        for text in gone:
            del self._tables.texts[text.id]
        _remove(self._tables.texts_at, ((text.guard, text.id) for text in gone))


def _is_due(job: Job, now: Millis) -> bool:
    if job.state == "running":
        return job.lease_until is not None and job.lease_until <= now
    return job.state == "queued" and job.due_at <= now


def _unique_keys(node: Node) -> Iterable[UniqueKey]:
    for fields in schema.kinds()[type(node).__name__].unique:
        key = tuple(getattr(node, name) for name in fields)
        if None not in key:
            yield (type(node).__name__, fields, key)


def _grouped(pairs: Iterable[tuple[K, T]]) -> Mapping[K, set[T]]:
    groups: dict[K, set[T]] = {}
    for key, value in pairs:
        groups.setdefault(key, set()).add(value)
    return groups


def _add(table: MutableMapping[K, frozenset[T]], pairs: Iterable[tuple[K, T]]) -> None:
    for key, new in _grouped(pairs).items():
        table[key] = table.get(key, frozenset()) | new


def _remove(table: MutableMapping[K, frozenset[T]], pairs: Iterable[tuple[K, T]]) -> None:
    for key, gone in _grouped(pairs).items():
        left = table[key] - gone
        if left:
            table[key] = left
        else:
            del table[key]
