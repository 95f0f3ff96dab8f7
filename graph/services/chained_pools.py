"""Pools that have an audit chain, of every surface: which of them a reader may follow, and where their chains end.

Knowledge bases, sessions, agent memories and bot pools each have a chain of their own (AD-27). Who reads a pool may
follow its chain, by the pool's own guard: an auditor those of knowledge, never those of sessions or bots (AD-5).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, TypeAlias

from graph.model.access import SystemScope
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.bots import BotPool
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.sandbox import SandboxSession
from graph.model.nodes.sessions import AgentMemory
from graph.model.nodes.sessions import Session as SessionPool
from graph.model.nodes.workspace import WorkspaceMemory
from graph.rules.audit_chain import Head
from graph.services.access.session import Session
from graph.store.port import Reader
from graph.store.query import Eq, Find, In

HEADS = SystemScope(reason="where all chains of a workspace end")

ChainedPool: TypeAlias = KnowledgeBase | SessionPool | AgentMemory | BotPool | WorkspaceMemory | SandboxSession
CHAINED: Final[tuple[type[ChainedPool], ...]] = (
    KnowledgeBase,
    SessionPool,
    AgentMemory,
    BotPool,
    WorkspaceMemory,
    SandboxSession,
)


def head_of(pool: ChainedPool) -> Head:
    """Return the last record that a pool names."""
    return Head(seq=pool.audit_seq, hash=pool.audit_head)


async def readable_pools(session: Session, ids: Collection[NodeId] | None = None) -> tuple[ChainedPool, ...]:
    """Return the pools that the caller reads, proved, by id; of `ids` alone if given."""
    where = None if ids is None else In("id", sorted(ids))
    found: list[ChainedPool] = []
    for kind in CHAINED:
        found += (await session.reader.find(session.viewer, Find(kind=kind, where=where))).nodes
    proved = await session.prove([pool.id for pool in found])
    return tuple(sorted((pool for pool in found if pool.id in proved), key=lambda pool: pool.id))


async def every_head(reader: Reader, workspace: WorkspaceId) -> Mapping[str, Head]:
    """Return the head of every pool of a workspace, by pool."""
    heads: dict[str, Head] = {}
    for kind in CHAINED:
        page = await reader.find(HEADS, Find(kind=kind, where=Eq("workspace", workspace)))
        heads |= {pool.id: head_of(pool) for pool in page.nodes}
    return heads
