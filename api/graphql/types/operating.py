"""Background work and model profiles, as operators see them: ids and codes, never content."""

from __future__ import annotations

import strawberry

from api.graphql.ids import to_global
from api.graphql.scalars import JSON
from api.graphql.types import enums
from graph.model.ids import WorkspaceId
from graph.model.nodes import learning
from graph.model.time import Millis
from graph.rules.model_reasons import advice_on
from graph.services.learning.operating import JobView


@strawberry.type
class Job:
    """A piece of background work (AD-33)."""

    id: strawberry.ID
    kind: str
    subject_id: strawberry.ID | None = strawberry.field(description="What it is about: a channel, agent or source.")
    agent_id: strawberry.ID | None
    state: enums.JobState = strawberry.field(description="PARKED too for one that fails again and again.")
    reason: str | None = strawberry.field(description="Code of its last failure, or of why it waits or was cancelled.")
    advice: str | None = strawberry.field(description="What the reason means and what helps, in words.")
    attempts: int
    next_try_at: Millis | None
    heartbeat_at: Millis | None

    @classmethod
    def from_domain(cls, view: JobView, workspace: WorkspaceId) -> Job:
        return cls(
            id=to_global(view.id, workspace),
            kind=view.kind,
            subject_id=None if view.subject is None else to_global(view.subject, workspace),
            agent_id=None if view.agent is None else to_global(view.agent, workspace),
            state=enums.JobState(view.state),
            reason=view.reason,
            advice=advice_on(view.reason),
            attempts=view.attempts,
            next_try_at=view.next_try_at,
            heartbeat_at=view.heartbeat_at,
        )


@strawberry.type
class ModelProfile:
    """A model under the name that settings use; `credential` says where its key is read from, never the key."""

    name: str
    provider: str
    model: str
    base_url: str | None = strawberry.field(description="For admins.")
    credential: str | None = strawberry.field(description="For admins.")
    prices: JSON | None
    version: int

    @classmethod
    def from_domain(cls, node: learning.ModelProfile) -> ModelProfile:
        return cls(
            name=node.name,
            provider=node.provider,
            model=node.model,
            base_url=node.base_url,
            credential=node.credential,
            prices=node.prices,
            version=node.version,
        )
