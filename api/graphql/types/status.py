"""The state of an agent's memory, in the order in which a check goes through it (CO-63 to CO-69)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.ids import to_global
from api.graphql.types import enums
from api.graphql.types.dreaming import DreamRun
from api.graphql.types.evidence import Channel
from api.graphql.types.node import Node
from api.graphql.types.people import KnowledgeBase, Principal
from graph.model import fields
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes import evidence, knowledge
from graph.model.time import Millis
from graph.rules import alerts as rules
from graph.rules.alerts import AlertCode
from graph.services.learning import embedding_status, stage_a_status, stage_b_status, status, stuck

LINKS: Mapping[AlertCode, str] = {
    AlertCode.EMBEDDING_UNCONFIGURED: "status#embedding",
    AlertCode.EMBEDDING_FAILING: "status#embedding",
    AlertCode.EMBEDDING_BACKLOG: "status#vectors",
    AlertCode.LIGHT_PROFILE_UNAVAILABLE: "status#stage-b",
    AlertCode.STAGE_A_FAILING: "status#stage-a",
    AlertCode.STAGE_A_LAGGING: "status#stage-a",
    AlertCode.STAGE_B_FAILING: "dreaming",
    AlertCode.STAGE_B_STALE: "dreaming",
    AlertCode.STAGE_B_REJECTIONS: "dreaming",
    AlertCode.MEMO_NEAR_BUDGET: "status#memos",
    AlertCode.TASK_STUCK: "status#stuck",
    AlertCode.WORKER_ABSENT: "status#stuck",
    AlertCode.CONNECTOR_FAILING: "materials",
    AlertCode.EVIDENCE_WITHDRAWN: "entries",
    AlertCode.AUDIT_CHAIN_BROKEN: "audit",
    AlertCode.LINT_FINDINGS: "status#lint",
}
"""The place in the console where an alert is followed up, below the pages of its agent (CO-2)."""


@strawberry.type
class Alert:
    """One alert; it clears itself when its condition ends (CO-69)."""

    code: str
    severity: enums.Severity
    since: Millis
    message: str = strawberry.field(description="In words, without names.")
    object_ids: list[strawberry.ID] = strawberry.field(description="What is affected, as far as the caller sees it.")
    hidden_objects: int = strawberry.field(description="How many more, which the caller may not read; for admins.")
    link: str = strawberry.field(description="Where in the console it is followed up.")

    @classmethod
    def from_domain(cls, alert: rules.Alert, owner: NodeId, workspace: WorkspaceId) -> Alert:
        return cls(
            code=str(alert.code),
            severity=alert.severity,
            since=alert.since,
            message=rules.message(alert),
            object_ids=[to_global(id_, workspace) for id_ in alert.objects],
            hidden_objects=alert.hidden,
            link=f"/console/knowledge/{to_global(owner, workspace)}/{LINKS[alert.code]}",
        )


@strawberry.type
class VectorState:
    """The vectors of one kind of text, in the knowledge bases that the caller reads."""

    kind: enums.VectorKind
    total: int
    embedded: int
    pending: int
    failed: int
    oldest_pending_at: Millis | None
    model: str | None

    @classmethod
    def from_domain(cls, state: embedding_status.VectorState) -> VectorState:
        return cls(
            kind=state.kind,
            total=state.total,
            embedded=state.embedded,
            pending=state.pending,
            failed=state.failed,
            oldest_pending_at=state.oldest_pending_at,
            model=state.model,
        )


@strawberry.type
class EmbeddingState:
    """The configuration of vectors, of the whole workspace."""

    provider: str | None
    model: str | None
    dimensions: int | None
    failures: int = strawberry.field(description="Failed calls in a row.")
    last_error: str | None
    next_try_at: Millis | None

    @classmethod
    def from_domain(cls, state: embedding_status.EmbeddingState) -> EmbeddingState:
        return cls(
            provider=state.provider,
            model=state.model,
            dimensions=state.dimensions,
            failures=state.failures,
            last_error=state.last_error,
            next_try_at=state.next_try_at,
        )


@strawberry.type
class StageAChannel:
    """Stage A of one channel and knowledge base that the caller reads."""

    scope: enums.KbKind
    pending: int
    carried: int
    oldest_pending_at: Millis | None
    last_success_at: Millis | None
    attempts: int = strawberry.field(description="Failed tries in a row.")
    last_error: str | None
    next_try_at: Millis | None
    channel: Channel | None
    knowledge_base: KnowledgeBase | None

    @classmethod
    def from_domain(cls, state: stage_a_status.StageAState, places: Mapping[NodeId, fields.Node]) -> StageAChannel:
        channel, base = places.get(state.key.channel), places.get(state.key.kb)
        return cls(
            scope=enums.KbKind(state.scope),
            pending=state.pending,
            carried=state.carried,
            oldest_pending_at=state.oldest_pending_at,
            last_success_at=state.last_success_at,
            attempts=state.failures,
            last_error=state.last_error,
            next_try_at=state.next_try_at,
            channel=Channel.from_domain(channel) if isinstance(channel, evidence.Channel) else None,
            knowledge_base=KnowledgeBase.from_domain(base) if isinstance(base, knowledge.KnowledgeBase) else None,
        )


@strawberry.type
class UnreadState:
    """How many channels and tasks are affected that an admin may not read (CO-68)."""

    failing_channels: int
    lagging_channels: int
    stuck_tasks: int


@strawberry.type
class PendingCount:
    """How many items of a kind wait for Stage B."""

    kind: str = strawberry.field(description="episode, or the kind of a source.")
    count: int


@strawberry.type
class StageBState:
    """Stage B of the agent, as far as the caller sees it."""

    pending: list[PendingCount]
    pending_total: int
    oldest_pending_at: Millis | None
    last_run: DreamRun | None
    last_success_at: Millis | None
    unavailable: str | None = strawberry.field(description="Code of why no run can start.")
    next_try_at: Millis | None

    @classmethod
    def from_domain(cls, state: stage_b_status.StageBState) -> StageBState:
        return cls(
            pending=[PendingCount(kind=kind, count=count) for kind, count in state.pending.items()],
            pending_total=sum(state.pending.values()),
            oldest_pending_at=state.oldest_pending_at,
            last_run=None if state.last_run is None else DreamRun.from_domain(state.last_run),
            last_success_at=state.last_success_at,
            unavailable=state.unavailable,
            next_try_at=state.next_try_at,
        )


@strawberry.type
class MemoState:
    """The tokens of the resident memo of one knowledge base."""

    used: int
    allowed: int
    memo_id: strawberry.ID | None = strawberry.field(
        description="Null while none was written; what it says is read as a node."
    )
    knowledge_base: KnowledgeBase

    @classmethod
    def from_domain(cls, state: status.MemoState) -> MemoState:
        return cls(
            used=state.used,
            allowed=state.allowed,
            memo_id=to_global(state.memo, state.base.workspace) if state.memo else None,
            knowledge_base=KnowledgeBase.from_domain(state.base),
        )


@strawberry.type
class StuckTask:
    """Work that does not get on (CO-66)."""

    id: strawberry.ID
    kind: str = strawberry.field(description="A kind of job, or parked_item.")
    since: Millis
    attempts: int
    error: str | None
    action: enums.StuckAction | None = strawberry.field(
        description="RETRY: retryLearning(subjectId). RELEASE: releaseParked(subjectId). RELEASE_JOB: releaseJob(id)."
    )
    subject_id: strawberry.ID | None
    subject_node: strawberry.Private[NodeId | None]

    @classmethod
    def from_domain(cls, task: stuck.StuckTask, workspace: WorkspaceId) -> StuckTask:
        return cls(
            id=to_global(task.id, workspace),
            kind=task.kind,
            since=task.since,
            attempts=task.attempts,
            error=task.error,
            action=task.action,
            subject_id=None if task.subject is None else to_global(task.subject, workspace),
            subject_node=task.subject,
        )

    @strawberry.field
    async def subject(self, info: Info[Any, Any]) -> Node | None:
        from api.graphql.types.registry import show

        return None if self.subject_node is None else await show(context(info), self.subject_node)


@strawberry.type
class LintCount:
    """How many findings a rule of the lint has."""

    rule: enums.LintRule
    count: int


@strawberry.type
class Status:
    """The state of an agent's memory at a time; it only reports (CO-67)."""

    at: Millis
    owner: Principal
    alerts: list[Alert]
    vectors: list[VectorState]
    embedding: EmbeddingState
    stage_a: list[StageAChannel]
    unread: UnreadState | None = strawberry.field(description="For admins; null for all others.")
    stage_b: StageBState
    memos: list[MemoState]
    stuck: list[StuckTask]
    lint: list[LintCount]

    @classmethod
    def from_domain(cls, found: status.Status) -> Status:
        workspace = found.agent.workspace
        return cls(
            at=found.at,
            owner=Principal.from_domain(found.agent),
            alerts=[Alert.from_domain(one, found.agent.id, workspace) for one in found.alerts],
            vectors=[VectorState.from_domain(one) for one in found.vectors],
            embedding=EmbeddingState.from_domain(found.embedding),
            stage_a=[StageAChannel.from_domain(one, found.places) for one in found.stage_a],
            unread=_unread(found.unread),
            stage_b=StageBState.from_domain(found.stage_b),
            memos=[MemoState.from_domain(one) for one in found.memos],
            stuck=[StuckTask.from_domain(one, workspace) for one in found.stuck],
            lint=[LintCount(rule=rule, count=count) for rule, count in found.lint.counts.items()],
        )


def _unread(found: status.Unread | None) -> UnreadState | None:
    if found is None:
        return None
    return UnreadState(failing_channels=found.failing, lagging_channels=found.lagging, stuck_tasks=found.stuck)
