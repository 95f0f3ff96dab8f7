"""Runs of Dreaming: what was read, written and rejected, and how much of it people left alone (sections 12 and 13)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.dataloader import DataLoader
from strawberry.types import Info

from api.graphql.connection import Connection, Cursors, check_first, connection_of
from api.graphql.context import context
from api.graphql.ids import to_global
from api.graphql.types import enums
from api.graphql.types.evidence import Channel
from api.graphql.types.node import Node
from api.graphql.types.people import KnowledgeBase, Principal, base_of, principal_of
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes import evidence, learning
from graph.model.time import Millis
from graph.rules.model_reasons import advice_on
from graph.services.learning import dream_runs, survival


@strawberry.type
class Rejection:
    """One operation of a model that broke a rule and was skipped (DR-54)."""

    batch_id: strawberry.ID
    index: int = strawberry.field(description="Its place in the list of its batch, from 0.")
    op: str
    code: str
    reason: str

    @classmethod
    def from_domain(cls, view: dream_runs.RejectionView, workspace: WorkspaceId) -> Rejection:
        return cls(
            batch_id=to_global(view.batch_id, workspace),
            index=view.index,
            op=view.op,
            code=view.code,
            reason=view.reason,
        )


@strawberry.type
class RejectionConnection(Connection[Rejection]):
    """A page of rejected operations."""


@strawberry.type
class DreamBatch(Node):
    """One batch of a run: items of one knowledge base that were read together and committed together."""

    state: enums.RunState
    attempts: int
    tx_id: strawberry.ID | None = strawberry.field(description="Of its commit; the audit is filtered by it.")
    item_ids: list[strawberry.ID]
    rejected: int
    error: str | None
    pool: strawberry.Private[NodeId | None]

    @classmethod
    def from_domain(cls, node: learning.DreamBatch) -> DreamBatch:
        return cls(
            id=to_global(node.id, node.workspace),
            state=learning.RunState(node.state),
            attempts=node.attempts,
            tx_id=strawberry.ID(node.tx_id) if node.tx_id else None,
            item_ids=[to_global(NodeId(item), node.workspace) for item in node.item_ids],
            rejected=len(node.rejections or ()),
            error=node.error,
            pool=node.pool,
        )

    @strawberry.field
    async def knowledge_base(self, info: Info[Any, Any]) -> KnowledgeBase | None:
        return await base_of(info, self.pool)


@strawberry.type
class DreamRun(Node):
    """A run of Stage A over a channel, of Stage B for an agent, or of a learning task (DR-80, DR-81)."""

    stage: enums.DreamStage
    trigger: enums.DreamTrigger
    state: enums.RunState
    started_at: Millis
    ended_at: Millis | None
    materials_processed: int
    operations: int
    skill_updates: int
    rejected: int
    error: str | None
    advice: str | None = strawberry.field(description="What the error means and what helps, in words.")
    model: str | None
    node: strawberry.Private[learning.DreamRun]

    @classmethod
    def from_domain(cls, node: learning.DreamRun) -> DreamRun:
        return cls(
            id=to_global(node.id, node.workspace),
            stage=learning.Stage(node.stage),
            trigger=enums.DreamTrigger(node.trigger),
            state=learning.RunState(node.state),
            started_at=node.started_at,
            ended_at=node.ended_at,
            materials_processed=node.materials_processed,
            operations=node.operations,
            skill_updates=node.skill_updates,
            rejected=node.rejected,
            error=node.error,
            advice=advice_on(node.error),
            model=node.model,
            node=node,
        )

    @strawberry.field
    async def agent(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.node.agent_id)

    @strawberry.field(description="The channel that Stage A read; null for who does not see it.")
    async def channel(self, info: Info[Any, Any]) -> Channel | None:
        found = await context(info).loaders.nodes.load(self.node.channel_id) if self.node.channel_id else None
        return Channel.from_domain(found) if isinstance(found, evidence.Channel) else None

    @strawberry.field(description="The knowledge base it writes to, where it is one.")
    async def knowledge_base(self, info: Info[Any, Any]) -> KnowledgeBase | None:
        return await base_of(info, self.node.pool)

    @strawberry.field(description="Its batches, oldest first.")
    async def batches(self, info: Info[Any, Any]) -> list[DreamBatch]:
        loader: DataLoader[NodeId, tuple[learning.DreamBatch, ...]] = context(info).loaders.get(
            "dream_batches", dream_runs.batches_of_runs, tuple
        )
        return [DreamBatch.from_domain(batch) for batch in await loader.load(self.node.id)]

    @strawberry.field
    async def rejections(
        self, info: Info[Any, Any], first: int | None = 20, after: str | None = None
    ) -> RejectionConnection:
        ctx = context(info)
        loader: DataLoader[NodeId, tuple[dream_runs.RejectionView, ...]] = ctx.loaders.get(
            "rejections", dream_runs.rejections_of, tuple
        )
        cursors = Cursors.of("rejections", {"run": self.id, "caller": ctx.caller.principal})
        found = dream_runs.rejection_page(
            await loader.load(self.node.id), first=check_first(first), after=cursors.decode(after)
        )
        return connection_of(
            RejectionConnection,
            found,
            lambda view: Rejection.from_domain(view, ctx.caller.workspace),
            cursors,
            after,
        )


@strawberry.type
class DreamRunConnection(Connection[DreamRun]):
    """A page of runs, newest first."""


@strawberry.type(description="A signal for changes of curation quality; no rate of correctness, no score of a model.")
class SurvivalRate:
    """The share of Dreaming text that people left alone for the observation period (DR-84 to DR-86)."""

    survived: int
    cohort: int
    rate: float | None
    window_days: int
    lookback_days: int

    @classmethod
    def from_domain(cls, found: survival.SurvivalRate) -> SurvivalRate:
        return cls(
            survived=found.found.survived,
            cohort=found.found.cohort,
            rate=found.found.rate,
            window_days=int(found.window_days),
            lookback_days=int(found.lookback_days),
        )


async def run_of(info: Info[Any, Any], id_: NodeId | None) -> DreamRun | None:
    """Return a run that the caller sees."""
    found = await context(info).loaders.dream_runs.load(id_) if id_ else None
    return None if found is None else DreamRun.from_domain(found)
