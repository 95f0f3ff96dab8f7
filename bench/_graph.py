"""Statements and sources written straight through the store port, for figures that concern the store and the law.

A node is guarded by the rule of its channel; what rests on it carries the same clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from graph.model.access import Audience, Guard, LawEdge, Need, Rule, RuleKind, Viewer
from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import BlockVersion
from graph.model.time import Millis
from graph.services.audience import law_edge
from graph.store.port import Store, Writer

WORKSPACE = WorkspaceId("bench")
START = 1_746_867_600_000
TEXT = "Somebody said something of about a hundred characters, which is what an ordinary chat message holds."


def rule(pool: str) -> Rule:
    """Return the rule of a channel."""
    return Rule(RuleKind.CHANNEL, f"chn_{pool}", f"prn_{pool}")


def viewer(*pools: str) -> Viewer:
    """Return somebody who is in these channels."""
    return Viewer(workspace=WORKSPACE, principal=NodeId("prn_ana"), held=frozenset(map(rule, pools)))


@dataclass(frozen=True, kw_only=True)
class Written:
    """Nodes with what the law knows of them, ready to be written."""

    nodes: Sequence[Node]
    guards: Sequence[Guard]
    audiences: Sequence[Audience]
    edges: Sequence[Edge] = ()

    @property
    def law_edges(self) -> list[LawEdge]:
        """The edges as the law sees them."""
        return [law_edge(edge) for edge in self.edges]

    async def write(self, store: Store) -> None:
        """Write all in one transaction."""
        await store.transact(partial(_write, written=self))


async def _write(writer: Writer, written: Written) -> None:
    await writer.put(written.nodes)
    await writer.guard(written.guards)
    await writer.admit(written.audiences)
    await writer.link(written.edges)


def sources(pool: str, count: int, *, every_ms: int = 60_000, first: int = 0, tag: str = "message") -> Written:
    """Return messages of a channel, one each `every_ms`."""
    nodes = [_source(pool, number, Millis(START + number * every_ms)) for number in range(first, first + count)]
    return _guarded(nodes, pool, Need.SOURCE, tag)


def batches(pool: str, count: int, size: int, *, every_ms: int = 60_000, tag: str = "message") -> Iterator[Written]:
    """Yield messages of a channel in writable portions."""
    for first in range(0, count, size):
        yield sources(pool, min(size, count - first), every_ms=every_ms, first=first, tag=tag)


def scattered(pools: Sequence[str]) -> Written:
    """Return one message in each of these channels: as many clauses as channels."""
    parts = [sources(pool, 1) for pool in pools]
    return Written(
        nodes=[node for part in parts for node in part.nodes],
        guards=[guard for part in parts for guard in part.guards],
        audiences=[audience for part in parts for audience in part.audiences],
    )


def layers(pool: str, width: int, depth: int) -> list[Written]:
    """Return `width` sources and above them `depth` layers of observations, each resting on two of the layer below."""
    made = [sources(pool, width)]
    for layer in range(1, depth + 1):
        below = [node.id for node in made[-1].nodes]
        nodes = [_observation(pool, layer, number) for number in range(width)]
        edges = [
            Edge(type=EdgeType.DERIVED_FROM, source=node.id, target=below[(number + step) % width])
            for number, node in enumerate(nodes)
            for step in (0, 1)
        ]
        made.append(_guarded(nodes, pool, Need.ALL, "topic", edges))
    return made


def _guarded(nodes: Sequence[Node], pool: str, need: Need, tag: str, edges: Sequence[Edge] = ()) -> Written:
    clause = frozenset({rule(pool)})
    clauses = frozenset({clause})
    guards = [
        Guard(
            node=node.id,
            kind=type(node).__name__,
            workspace=WORKSPACE,
            pool=node.pool,
            need=need,
            rules=clause,
            tags=(tag,),
            sort_at=node.created_at,
        )
        for node in nodes
    ]
    audiences = [Audience(node=node.id, clauses=clauses) for node in nodes]
    return Written(nodes=nodes, guards=guards, audiences=audiences, edges=edges)


def _source(pool: str, number: int, at: Millis) -> Source:
    id_ = NodeId(f"src_{pool}{number:026d}")
    return Source(
        id=id_,
        workspace=WORKSPACE,
        pool=NodeId(f"knb_{pool}"),
        created_at=at,
        kind="message",
        content_hash=id_,
        text=TEXT,
        author_id=NodeId("prn_bob"),
        speaker="Bob",
        occurred_at=at,
        recorded_at=at,
        series=id_,
        channel_id=NodeId(f"chn_{pool}"),
        conversation_id=NodeId(f"cnv_{pool}"),
        seq=number + 1,
        external_id=id_,
    )


def _observation(pool: str, layer: int, number: int) -> BlockVersion:
    return BlockVersion(
        id=NodeId(f"blv_{pool}{layer:02d}{number:024d}"),
        workspace=WORKSPACE,
        pool=NodeId(f"knb_{pool}"),
        created_at=Millis(START + layer),
        block_id=NodeId(f"blk_{pool}{number}"),
        entry_id=NodeId(f"ent_{pool}"),
        version=1,
        text=TEXT,
        basis="stated",
        standing="settled",
        recorded_at=Millis(START),
        modifier_id=NodeId("prn_bob"),
        modifier_kind="dreaming",
    )
