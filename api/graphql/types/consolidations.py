"""What became of the consolidations of a session's memory (SM-122)."""

from __future__ import annotations

import strawberry

from api.graphql.ids import to_global
from graph.model.nodes import sessions
from graph.model.time import Millis


@strawberry.type
class Consolidation:
    """One consolidation of a session's memory: when it ran and how it ended, without content."""

    session: strawberry.ID
    turn: strawberry.ID | None = strawberry.field(description="That made it due; null: somebody asked for it.")
    started_at: Millis
    ended_at: Millis | None
    outcome: str | None = strawberry.field(description="applied, nothing, discarded or failed; null: it runs.")
    error: str | None = strawberry.field(description="A code, such as MODEL_TIMEOUT.")

    @classmethod
    def from_domain(cls, node: sessions.Consolidation) -> Consolidation:
        assert node.session_id is not None
        return cls(
            session=to_global(node.session_id, node.workspace),
            turn=to_global(node.turn_id, node.workspace) if node.turn_id else None,
            started_at=node.started_at,
            ended_at=node.ended_at,
            outcome=node.outcome or None,
            error=node.error,
        )
