"""What every step of a restore works with."""

from __future__ import annotations

from dataclasses import dataclass

from graph.model.ids import NodeId
from graph.rules.operations.work import Work
from graph.rules.restore_past import Past
from graph.rules.restore_world import RestoreStep


@dataclass(frozen=True, slots=True)
class Step:
    """One step, on a copy of what the ones before it left.

    Attributes:
        work: the copy; it lives in one knowledge base.
        past: the ended parts of the same objects; kept up.
    """

    work: Work
    past: Past
    step: RestoreStep

    @property
    def target(self) -> NodeId:
        """Id of what the undone record changed."""
        return self.step.record.draft.target_id
