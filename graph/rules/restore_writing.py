"""Carrying out the steps of a restore: every value that returns is a new version of the same object.

`graph.rules.restore` has decided what may return; here nothing is checked. Made of the same steps as the operations
(`graph.rules.operations`). Source: KN-23, KN-94, KN-101, KN-102.
"""

from __future__ import annotations

from collections.abc import Iterable

from graph.model.ids import prefix_of
from graph.model.nodes.knowledge import Block, CurationGuide, Entry, Relation
from graph.model.nodes.learning import Lesson, ResidentMemo
from graph.rules.operations.work import Work
from graph.rules.restore_blocks import BlockStep
from graph.rules.restore_entries import EntryStep
from graph.rules.restore_learning import LearningStep
from graph.rules.restore_past import Past
from graph.rules.restore_relations import RelationStep
from graph.rules.restore_world import RestoreStep


def carry_out(work: Work, past: Past, steps: Iterable[RestoreStep]) -> None:
    """Put the changes of all steps into `work`, each on what the ones before it left.

    Args:
        work: on the present of everything that the steps touch; it lives in one knowledge base.
        past: the ended parts of the same objects; kept up.
        steps: of a plan that may be carried out, in its order.
    """
    for step in steps:
        part = work.fork(step.record.draft.reason)
        part.reason = work.reason
        _write(part, past, step)
        work.adopt(part)


def _write(work: Work, past: Past, step: RestoreStep) -> None:
    kind = prefix_of(step.record.draft.target_id)
    if kind == Entry.PREFIX:
        EntryStep(work, past, step).run()
    elif kind == Block.PREFIX:
        BlockStep(work, past, step).run()
    elif kind == Relation.PREFIX:
        RelationStep(work, past, step).run()
    elif kind == CurationGuide.PREFIX:
        LearningStep(work, past, step).guide()
    elif kind == Lesson.PREFIX:
        LearningStep(work, past, step).lesson()
    elif kind == ResidentMemo.PREFIX:
        LearningStep(work, past, step).memo()
