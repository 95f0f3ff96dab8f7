"""Who applies an operation list, and which rules bind him. Source: KN-111, DR-45, DR-54."""

from __future__ import annotations

from dataclasses import dataclass

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import ModifierKind
from graph.model.time import Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class ActorRules:
    """The writer of a list.

    Attributes:
        name: how a note of his names the speaker.
        reason: of the whole list; an operation may give its own.
        skip_rejected: leave out what is refused and go on (Dreaming); else one refusal refuses all.
        opened: evidence that was shown to the model in this batch; None: whatever the actor may see.
        offered: blocks whose text nobody sees any more, which he may write anew or end all the same (MA-24).
        dream_run_id, run_started_at: of the Dreaming run or learning task.
        on_behalf_of: the person that a host named.
        origin: of the entries that the list makes; None: follows from `kind`.
    """

    id: NodeId
    kind: ModifierKind
    name: str = ""
    reason: str | None = None
    skip_rejected: bool = False
    opened: frozenset[NodeId] | None = None
    offered: frozenset[NodeId] = frozenset()
    dream_run_id: NodeId | None = None
    run_started_at: Millis | None = None
    on_behalf_of: NodeId | None = None
    origin: str | None = None

    @property
    def is_human(self) -> bool:
        """True for a person, who may author, needs no quote and may override; all others are bound like Dreaming."""
        return self.kind is ModifierKind.HUMAN
