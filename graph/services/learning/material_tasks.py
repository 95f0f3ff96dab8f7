"""Learning tasks in the core: what a task is about, how far it came, and how it ended (MA-6, MA-7)."""

from __future__ import annotations

from dataclasses import replace

from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.evidence import LearningState, Source, SourceState
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.learning import Progress
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.learning import LEARN_MATERIAL, learning_progress_id
from graph.rules.unreadable import with_reason
from graph.store.port import Reader, Writer

LEARNING = SystemScope(reason="learning tasks")
WITHDRAWN = "WITHDRAWN"
"""Why the learning of a source ended that is not there any more."""


async def material_of(reader: Reader, id_: NodeId | None) -> tuple[Source, KnowledgeBase] | None:
    """Return the source of a task with its base; None if there is nothing left to learn from it.

    Learned already, replaced by a newer version: both need no work. What is withdrawn or erased is told by its state.
    """
    found = (await reader.get(LEARNING, [id_])).get(id_) if id_ else None
    if not isinstance(found, Source) or not found.latest or found.pool is None:
        return None
    if found.learning_state in (None, LearningState.SUCCEEDED):
        return None
    base = (await reader.get(LEARNING, [found.pool])).get(found.pool)
    return (found, base) if isinstance(base, KnowledgeBase) else None


def is_there(source: Source) -> bool:
    """True for a source that may be learned from."""
    return source.state == SourceState.LIVE


async def find_learning(reader: Reader, source: Source, at: Millis) -> Progress:
    """Return how far a source was read: `cursor` counts characters of its text, `failures` failed runs."""
    id_ = learning_progress_id(source.id)
    found = (await reader.get(LEARNING, [id_])).get(id_)
    if isinstance(found, Progress):
        return found
    return Progress(id=id_, workspace=source.workspace, created_at=at, stage=LEARN_MATERIAL, key=source.id)


async def put_learning(writer: Writer, progress: Progress) -> None:
    """Write how far a source was read; the caller holds the id."""
    there = await writer.get(LEARNING, [progress.id])
    if progress.id not in there:
        await writer.put([progress])
        return
    await writer.patch(
        progress.id,
        {"cursor": progress.cursor, "failures": progress.failures, "version": progress.version},
    )


async def set_learning_state(
    writer: Writer, source: NodeId, state: LearningState, at: Millis, *, code: str | None = None
) -> None:
    """Write the learning state of a source (MA-6)."""
    await writer.patch_many({source: {"learning_state": str(state), "learning_code": code, "learning_at": at}})


async def set_text(writer: Writer, source: Source, text: str, title: str | None) -> Source:
    """Keep the text that was read out of the bytes of a source, which had none; the bytes stay as they are (KN-63)."""
    given = {"text": text, "title": source.title or title, "meta": with_reason(source.meta, None)}
    await writer.patch(source.id, given, expected={"text": ""})
    return replace(source, text=text, title=source.title or title)


async def refuse_material(writer: Writer, source: Source, at: Millis, *, code: str, reason: str | None = None) -> None:
    """End the learning of a source from which nothing can be learned, and tell people why."""
    await set_learning_state(writer, source.id, LearningState.FAILED, at, code=code)
    await writer.patch(source.id, {"meta": with_reason(source.meta, reason)})


async def name_agent(writer: Writer, job: Job, agent: NodeId) -> Job:
    """Let a job that was made before jobs named their agent name it."""
    await writer.patch(job.id, {"agent_id": agent})
    return replace(job, agent_id=agent)
