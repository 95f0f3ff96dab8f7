"""A worker of tests: one job at a time, handlers given by the test, its jobs looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dreaming.jobs import Handler, ModelMaker, no_models
from dreaming.worker import Worker
from graph.model.ids import NodeId
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.jobs import Due
from graph.services.learning.jobs import enqueue, find_job
from tests.support.world import TeamWorld


@dataclass
class Workshop:
    """Jobs of one world and workers for them.

    Attributes:
        outcomes: how tries of jobs ended, in order.
    """

    world: TeamWorld
    models: ModelMaker = no_models
    outcomes: list[str] = field(default_factory=list)

    def worker(self, handler: Handler, kind: str = "stage_b", *, name: str = "") -> Worker:
        """Return a worker with one handler."""
        return Worker(
            deps=self.world.deps,
            anchor_minutes=0,
            handlers={kind: handler},
            models=self.models,
            on_step=lambda kind, outcome: self.outcomes.append(outcome),
            owner=name,
        )

    async def ask(
        self, kind: str = "stage_b", *, in_s: float = 0, due: Due = Due.EARLIER, arguments: Any = None
    ) -> Job:
        """Ask for the job of a kind for the agent Atlas."""
        now, agent = self.world.deps.now(), self.world.atlas
        return await self.world.deps.store.transact(
            lambda writer: enqueue(
                writer,
                kind,
                workspace=self.world.workspace,
                unique_key=self.key(kind),
                due_at=Millis(now + int(in_s * 1_000)),
                now=now,
                agent=agent,
                subject=agent,
                arguments=arguments,
                due=due,
            )
        )

    def key(self, kind: str) -> str:
        return f"{kind}:{self.world.atlas}"

    async def job(self, kind: str = "stage_b") -> Job:
        """Return the job as it is stored."""
        async with self.world.deps.store.reading() as reader:
            found = await find_job(reader, self.key(kind))
        assert found is not None
        return found

    async def change(self, job: NodeId, **fields: Any) -> None:
        """Change a job behind everybody's back."""
        await self.world.deps.store.transact(lambda writer: writer.patch(job, fields))
