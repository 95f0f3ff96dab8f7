"""A material of Atlas, a scripted model, and a worker that learns from it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dreaming.materials import learn_material
from dreaming.materials.learner import PURPOSE
from dreaming.models.port import ModelRequest, Role
from dreaming.models.scripted import ScriptedModel
from dreaming.worker import Worker
from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.work import Job
from graph.rules.pools import base_id
from graph.services.access.commands import command
from graph.services.knowledge.materials import prepare_file, submit_file
from graph.services.learning.profiles import set_model_profile
from graph.store.query import By, Find
from tests.support.clock import FakeClock
from tests.support.world import TeamWorld

LOOK = SystemScope(reason="test")
CREDENTIAL = "env:OPENAI_API_KEY"
Json = dict[str, Any]


def lines(request: ModelRequest) -> list[Json]:
    """Return what a request quotes, line by line."""
    asked = next(message.text for message in request.messages if message.role is Role.USER)
    return [json.loads(line) for line in asked.splitlines() if line.startswith("{")]


def name_of(request: ModelRequest, **facts: Any) -> str:
    """Return the short name of what a request shows with these facts."""
    return str(next(line["id"] for line in lines(request) if facts.items() <= line.items()))


def nothing(request: ModelRequest) -> Mapping[str, Any]:
    """Answer that nothing is worth keeping."""
    return {"operations": []}


@dataclass
class Study:
    """Attributes: outcomes: how tries of jobs ended, in order."""

    world: TeamWorld
    clock: FakeClock
    model: ScriptedModel = field(default_factory=ScriptedModel)
    outcomes: list[str] = field(default_factory=list)

    async def make(self) -> Study:
        """Give the agent a model and a knowledge base."""
        await self.world.open(self.world.ops)
        dan = self.world.caller(self.world.dan)
        await command(
            self.world.deps,
            dan,
            lambda cmd: set_model_profile(cmd, "light", provider="openai", model="small", credential=CREDENTIAL),
        )
        return self

    @property
    def kb(self) -> NodeId:
        """The base of the channel."""
        return base_id(self.world.name, self.world.atlas, KbKind.CHANNEL, self.world.ops)

    async def submit(self, data: str | bytes, filename: str = "plan.txt") -> Source:
        body = data.encode() if isinstance(data, str) else data
        ana = self.world.caller(self.world.ana)
        file = await prepare_file(self.world.deps, ana, self.kb, body, filename=filename)
        return await command(self.world.deps, ana, lambda cmd: submit_file(cmd, self.kb, file))

    def on(self, *answers: Any) -> None:
        """Let the model answer so, one after the other."""
        self.model.on(PURPOSE, *answers)

    def worker(self, name: str = "") -> Worker:
        return Worker(
            deps=self.world.deps,
            anchor_minutes=0,
            handlers={"learn_material": learn_material},
            models=lambda profile: self.model,
            on_step=lambda kind, outcome: self.outcomes.append(outcome),
            owner=name,
        )

    async def learn(self) -> list[str]:
        """Do what is due and return how it ended."""
        before, worker = len(self.outcomes), self.worker()
        while await worker.step():
            pass
        return self.outcomes[before:]

    async def source(self, id_: NodeId) -> Source:
        found: Source = next(source for source in await self.all(Source) if source.id == id_)
        return found

    async def job(self) -> Job:
        last: Job = [job for job in await self.all(Job) if job.kind == "learn_material"][-1]
        return last

    async def all(self, kind: type[Any]) -> Sequence[Any]:
        async with self.world.deps.store.reading() as reader:
            found = await reader.find(LOOK, Find(kind=kind, order=By("created_at")))
        return [node for node in found.nodes if node.workspace == self.world.workspace]
