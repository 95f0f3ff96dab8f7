"""Lets the sample dream once, after it was told: with recorded answers, or with a real model if there is one.

It dreams in the night after the story's last day, by the same stages, jobs and checks as any other agent. What fails is
tried again by the server's own background work, if it has a model. Source: AD-43, ADR 31.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from dreaming.jobs import ModelMaker
from dreaming.worker import HANDLERS, LOOKOUTS, Worker
from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Channel, Episode
from graph.model.nodes.learning import DreamBatch, DreamRun
from graph.model.nodes.work import Job
from graph.model.time import Millis, from_datetime
from graph.rules.jobs import JobState
from graph.services.deps import Deps
from graph.store.query import Eq, Find, In

NIGHT = from_datetime(datetime(2026, 10, 6, 2, 0, tzinfo=UTC))
"""The story's last words fall on 5 October 2026; by now every channel is quiet."""
COUNTING = SystemScope(reason="what the sample dreamed")
KINDS = ("stage_a", "stage_b", "learn_material")
"""Kinds of learning, in the order in which they are done."""
MOST_STEPS = 100
LIMIT_S = 600.0
"""So long a start waits for a model; what is not done by then goes on in the background."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dreamed:
    """What a night brought.

    Attributes:
        model: that was asked, as the runs name it.
        operations: accepted ones of Stage B and of documents, lessons apart.
        unfinished: why jobs are not done, a code for each; they are tried again later.
    """

    model: str
    episodes: int = 0
    operations: int = 0
    skill_updates: int = 0
    rejected: int = 0
    unfinished: tuple[str, ...] = ()


class NightClock:
    """Stands in the night of the story, but really waits when somebody sleeps."""

    def now(self) -> Millis:
        """Return the time of the story."""
        return NIGHT

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


async def dream(
    deps: Deps,
    models: ModelMaker,
    progress: Callable[[int], None] | None = None,
    *,
    limit_s: float = LIMIT_S,
) -> tuple[str, ...]:
    """Do all background learning that is due in the night; return the reason of each job that is not done.

    Args:
        deps: the ports of a store that holds the sample.
        models: who is asked.
        progress: told how many jobs are done.
        limit_s: a model that takes longer is left to the background.
    """
    night = replace(deps, clock=NightClock())
    outcomes: list[str] = []
    worker = Worker(
        deps=night,
        anchor_minutes=0,
        handlers={kind: HANDLERS[kind] for kind in KINDS},
        models=models,
        on_step=lambda kind, outcome: outcomes.append(outcome),
    )
    with suppress(TimeoutError):
        async with asyncio.timeout(limit_s):
            for kind in KINDS:
                if kind in LOOKOUTS:
                    await LOOKOUTS[kind](night)
                while len(outcomes) < MOST_STEPS and await worker.step([kind]):
                    if progress is not None:
                        progress(len(outcomes))
    return await _unfinished(deps)


async def _unfinished(deps: Deps) -> tuple[str, ...]:
    """Return why each job of learning waits: code of its last failure, or its state if another worker has it."""
    async with deps.store.reading() as reader:
        jobs = (await reader.find(COUNTING, Find(kind=Job, where=In("kind", KINDS)))).nodes
    return tuple(sorted(job.last_error or job.state for job in jobs if job.state != JobState.SUCCEEDED))


async def what_was_dreamed(deps: Deps, agent: NodeId, model: str, unfinished: tuple[str, ...] = ()) -> Dreamed:
    """Count what the runs of an agent brought."""
    async with deps.store.reading() as reader:
        mine = Eq("agent_id", agent)
        runs = (await reader.find(COUNTING, Find(kind=DreamRun, where=mine))).nodes
        batches = (await reader.find(COUNTING, Find(kind=DreamBatch, where=mine))).nodes
        channels = (await reader.find(COUNTING, Find(kind=Channel, where=Eq("owner_id", agent)))).nodes
        told = In("channel_id", [channel.id for channel in channels])
        episodes = (await reader.aggregate(COUNTING, Episode, told)).get(None, 0)
    return Dreamed(
        model=model,
        episodes=episodes,
        operations=sum(run.operations for run in runs),
        skill_updates=sum(run.skill_updates for run in runs),
        rejected=sum(len(batch.rejections or ()) for batch in batches),
        unfinished=unfinished,
    )
