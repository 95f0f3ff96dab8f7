"""Builders with sensible defaults, so that a test shows only what it is about.

`World` belongs to one test: a workspace of its own, ids that count up, and nodes, guards, audiences and viewers that
fit together. The ``make_…`` methods only build; `write` stores.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar
from uuid import uuid4

from graph.model.access import Audience, Clause, Guard, Need, Rule, RuleKind, SystemScope, Viewer
from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId, WorkspaceId, node_id
from graph.model.nodes.evidence import Channel, Episode, Source
from graph.model.nodes.knowledge import BlockVersion, Entry, KnowledgeBase
from graph.model.nodes.people import Grant, Principal
from graph.model.nodes.work import Job, Receipt
from graph.model.time import Millis
from graph.store.port import Store, Writer
from graph.store.query import TextIndex, TextRow

N = TypeVar("N", bound=Node)

NOW = Millis(1_746_867_600_000)
AGENT = "prn_agent"


def shared(agent: str = AGENT) -> Rule:
    """Return the rule "may read the shared knowledge of this agent"."""
    return Rule(RuleKind.SHARED, agent, agent)


def private(channel: str, agent: str = AGENT) -> Rule:
    """Return the rule "may read this private chat"."""
    return Rule(RuleKind.PRIVATE, channel, agent)


def channel(name: str, agent: str = AGENT) -> Rule:
    """Return the rule "may read this shared channel"."""
    return Rule(RuleKind.CHANNEL, name, agent)


def person(principal: str) -> Rule:
    """Return the rule "is this person"; no auditor passes it."""
    return Rule(RuleKind.PERSON, principal)


def clause(*rules: Rule) -> Clause:
    """Return a conjunction."""
    return frozenset(rules)


def vector(*values: float) -> bytes:
    """Return a vector as it is stored: 32-bit floats, little endian."""
    return struct.pack(f"<{len(values)}f", *values)


@dataclass
class World:
    """One workspace of one test."""

    name: str = field(default_factory=lambda: f"w{uuid4().hex[:12]}")
    _numbers: count[int] = field(default_factory=lambda: count(1), repr=False)

    @property
    def workspace(self) -> WorkspaceId:
        return WorkspaceId(self.name)

    @property
    def pool(self) -> NodeId:
        """The pool that nodes live in unless a test says otherwise."""
        return self.id("knb", "pool")

    @property
    def system(self) -> SystemScope:
        """Sees everything of this workspace."""
        return SystemScope(reason="test", workspace=self.workspace)

    def id(self, prefix: str, body: str | None = None) -> NodeId:
        """Return an id of this workspace alone; without a body, one that counts up."""
        return node_id(prefix, f"{self.name}/{body if body is not None else f'{next(self._numbers):06}'}")

    def viewer(
        self,
        *held: Rule,
        principal: str = "prn_reader",
        audits: Iterable[str] = (),
        pools: Iterable[NodeId] | None = None,
        workspace: WorkspaceId | None = None,
    ) -> Viewer:
        """Return a viewer who passes `held`."""
        return Viewer(
            workspace=self.workspace if workspace is None else workspace,
            principal=NodeId(principal),
            held=frozenset(held),
            audits=frozenset(audits),
            pools=None if pools is None else frozenset(pools),
        )

    def make(self, kind: type[N], /, **values: Any) -> N:
        """Return a node of any kind in this workspace; what has no default must be given."""
        defaults: dict[str, Any] = {"workspace": self.workspace, "created_at": NOW}
        if "id" not in values:
            defaults["id"] = self.id(kind.PREFIX)
        return kind(**{**defaults, **values})

    def make_entry(self, **values: Any) -> Entry:
        name = values.get("name", "Entry")
        defaults = {"pool": self.pool, "owner_id": AGENT, "name": name, "type": "topic", "origin": "dreaming"}
        return self.make(Entry, **{**defaults, "updated_at": NOW, **values})

    def make_source(self, **values: Any) -> Source:
        id = values.pop("id", None) or self.id("src")
        defaults = {"pool": self.pool, "kind": "message", "content_hash": f"hash of {id}", "text": "text"}
        return self.make(Source, id=id, **{**defaults, "occurred_at": NOW, "recorded_at": NOW, "series": id, **values})

    def make_block_version(self, **values: Any) -> BlockVersion:
        defaults = {
            "pool": self.pool,
            "block_id": self.id("blk", "block"),
            "entry_id": self.id("ent", "entry"),
            "version": 1,
            "text": "text",
            "basis": "stated",
            "standing": "settled",
            "recorded_at": NOW,
            "modifier_id": AGENT,
            "modifier_kind": "dreaming",
        }
        return self.make(BlockVersion, **{**defaults, **values})

    def make_episode(self, **values: Any) -> Episode:
        defaults = {"pool": self.pool, "channel_id": self.id("chn", "channel"), "topic": "topic", "summary": "summary"}
        return self.make(Episode, **{**defaults, "from_at": NOW, "to_at": NOW, **values})

    def make_knowledge_base(self, **values: Any) -> KnowledgeBase:
        id = values.pop("id", None) or self.id("knb")
        return self.make(KnowledgeBase, id=id, **{"pool": id, "owner_id": AGENT, "kind": "shared", **values})

    def make_channel(self, **values: Any) -> Channel:
        return self.make(Channel, **{"kind": "shared_channel", "owner_id": AGENT, **values})

    def make_principal(self, **values: Any) -> Principal:
        return self.make(Principal, **{"kind": "human", "display_name": "Ana", **values})

    def make_grant(self, **values: Any) -> Grant:
        defaults = {"principal_id": self.id("prn", "ana"), "right": "reader", "object_id": self.id("prn", "agent")}
        return self.make(Grant, **{**defaults, **values})

    def make_job(self, **values: Any) -> Job:
        return self.make(Job, **{"kind": f"{self.name}-learn", "due_at": NOW, **values})

    def make_receipt(self, **values: Any) -> Receipt:
        return self.make(Receipt, **values)

    def guard_for(self, node: Node, *rules: Rule, **values: Any) -> Guard:
        """Return the guard of a node; without rules, `shared()`."""
        defaults: dict[str, Any] = {
            "node": node.id,
            "kind": type(node).__name__,
            "workspace": node.workspace,
            "pool": node.pool,
            "need": Need.NONE,
            "rules": clause(*(rules or (shared(),))),
            "sort_at": node.created_at,
        }
        return Guard(**{**defaults, **values})

    def audience_for(self, node: Node | NodeId, *clauses: Clause, excluded: Iterable[str] = ()) -> Audience:
        """Return an audience; without clauses, the one of `shared()`."""
        id = node.id if isinstance(node, Node) else node
        return Audience(
            node=id,
            clauses=frozenset(clauses or (clause(shared()),)),
            excluded=frozenset(NodeId(who) for who in excluded),
        )

    def cites(self, statement: Node | NodeId, source: Node | NodeId, **values: Any) -> Edge:
        """Return a CITES edge; any other type by ``type=``."""
        ends = [end.id if isinstance(end, Node) else end for end in (statement, source)]
        return Edge(**{"type": EdgeType.CITES, "source": ends[0], "target": ends[1], **values})

    def text_for(self, guard: Node | NodeId, words: str | Sequence[str], **values: Any) -> TextRow:
        """Return a keyword text; a str is cut at its blanks."""
        id = guard.id if isinstance(guard, Node) else guard
        defaults: dict[str, Any] = {
            "id": f"{id}#block",
            "index": TextIndex.ENTRY,
            "guard": id,
            "item": id,
            "part": "block",
            "pool": self.pool,
            "words": tuple(words.split() if isinstance(words, str) else words),
            "sort_at": NOW,
        }
        return TextRow(**{**defaults, **values})

    async def write(
        self,
        store: Store,
        *nodes: Node,
        clauses: Sequence[Clause] | None = None,
        guards: Sequence[Guard] = (),
        audiences: Sequence[Audience] = (),
        edges: Sequence[Edge] = (),
        texts: Sequence[TextRow] = (),
    ) -> None:
        """Store nodes and what belongs to them in one transaction.

        Args:
            store: where.
            nodes: put as they are.
            clauses: if given, every node gets a guard of the default rule and an audience of these clauses.
            guards: set after the nodes.
            audiences: admitted after the guards.
            edges: linked.
            texts: indexed.
        """
        every_guard, every_audience = list(guards), list(audiences)
        if clauses is not None:
            every_guard += [self.guard_for(node) for node in nodes]
            every_audience += [self.audience_for(node, *clauses) for node in nodes]

        async def work(writer: Writer) -> None:
            await writer.put(nodes)
            await writer.link(edges)
            await writer.guard(every_guard)
            await writer.admit(every_audience)
            await writer.index(texts)

        await store.transact(work)
