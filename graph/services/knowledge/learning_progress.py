"""How far the learning of a material has come, for who may see it (KN-123, MA-6, MA-26)."""

from __future__ import annotations

from dataclasses import dataclass

from graph.model.errors import NotFound
from graph.model.ids import NodeId
from graph.model.nodes.evidence import LearningState, Source
from graph.rules.learning import is_stuck
from graph.services.access.session import Session
from graph.services.knowledge.materials import job_of
from graph.services.learning.material_tasks import find_learning
from graph.services.settings import load_settings


@dataclass(frozen=True, kw_only=True, slots=True)
class LearningProgress:
    """Where a learning task stands.

    Attributes:
        material: with its learning state, code and time.
        read_characters: of its text, so many were learned from by now.
        characters: of its text in all.
        stuck: its task has shown no sign of life for too long and may be retried.
    """

    material: Source
    read_characters: int
    characters: int
    stuck: bool


async def learning_progress(session: Session, material_id: NodeId) -> LearningProgress:
    """Return how far the learning of a material has come.

    Raises:
        NotFound: no such material for the caller.
    """
    source = await session.open_one(material_id, Source)
    if source.learning_state is None:
        raise NotFound
    progress = await find_learning(session.reader, source, session.deps.now())
    done = source.learning_state == LearningState.SUCCEEDED
    job = None if done else await job_of(session.reader, source.id)
    settings = await load_settings(session.reader, session.caller.workspace)
    return LearningProgress(
        material=source,
        read_characters=len(source.text) if done else min(progress.cursor, len(source.text)),
        characters=len(source.text),
        stuck=job is not None and is_stuck(job, session.deps.now(), float(settings["jobs.stuck_minutes"])),
    )
