"""Stage B in tests: a scripted model that browses and decides, a worker, and words for what it is shown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from dreaming.jobs import Handler
from dreaming.models.port import ModelPort, ModelRequest, Role
from dreaming.models.scripted import ScriptedModel
from dreaming.stage_b import dream_agent
from dreaming.worker import Worker
from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.learning import DreamBatch, DreamRun, PendingItem
from graph.model.nodes.work import Job
from graph.rules.stage_b import StageBKey
from graph.services.access.commands import command
from graph.services.learning.jobs import find_job
from graph.services.learning.profiles import set_model_profile
from graph.services.learning.stage_b import arrange_stage_b, request_run
from graph.store.query import By, Find
from tests.support.channel_room import CREDENTIAL
from tests.support.clock import FakeClock
from tests.support.learning import episode
from tests.support.world import TeamWorld

Json = dict[str, Any]
Decides = Callable[["Shown"], Sequence[Json]]

SELECT = "stage_b.select"
DECIDE = "stage_b.decide"
LONG = timedelta(hours=7)
LOOK = SystemScope(reason="test")


@dataclass(frozen=True)
class Shown:
    """What a request shows, line by line."""

    request: ModelRequest

    @property
    def text(self) -> str:
        return next(message.text for message in self.request.messages if message.role is Role.USER)

    @property
    def system(self) -> str:
        return next(message.text for message in self.request.messages if message.role is Role.SYSTEM)

    def lines(self, title: str) -> list[Json]:
        """Return the lines of a section."""
        found: list[Json] = []
        inside = False
        for line in self.text.splitlines():
            if line.startswith("## "):
                inside = line == f"## {title}"
            elif inside and line.startswith("{"):
                found.append(json.loads(line))
        return found

    def source(self, text: str) -> str:
        """Return the name of the source that says this, in full or in a quote of a block."""
        for line in self.lines("Evidence"):
            if text in str(line.get("text", "")) or text in json.dumps(line.get("steps", ""), ensure_ascii=False):
                return str(line["id"])
        return next(str(cited["source"]) for cited in self._cited() if text in cited["quote"])

    def _cited(self) -> Iterator[Json]:
        for entry in self.lines("Entries"):
            for part in (*entry.get("blocks", ()), *entry.get("attributes", ())):
                yield from part.get("sources", ())

    def entry(self, name: str) -> Json:
        """Return the line of an entry."""
        return next(line for line in self.lines("Entries") if line["name"] == name)

    def block(self, text: str) -> Json:
        """Return a block by its text."""
        blocks = [block for entry in self.lines("Entries") for block in entry.get("blocks", ())]
        return next(block for block in blocks if block.get("text") == text)

    def relation(self, type: str) -> Json:
        """Return the line of a relation of a type."""
        return next(line for line in self.lines("Relations") if line["type"] == type)

    def hidden(self) -> list[Json]:
        """Return the blocks without a text."""
        return [b for entry in self.lines("Entries") for b in entry.get("blocks", ()) if b.get("hidden")]


def everything(request: ModelRequest) -> Json:
    """Open all that is shown."""
    shown = Shown(request)
    return {
        "expand": [line["id"] for line in shown.lines("Items")],
        "entries": [line["id"] for line in shown.lines("Entries")],
        "skills": [line["skill"] for line in shown.lines("Skills")],
        "skip": [],
    }


def nothing(request: ModelRequest) -> Json:
    """Open nothing."""
    items = [{"item": line["id"], "reason": "small talk"} for line in Shown(request).lines("Items")]
    return {"expand": [], "entries": [], "skills": [], "skip": items}


@dataclass
class Night:
    """Stage B of the agent Atlas.

    Attributes:
        model: opens everything and writes nothing unless a test says otherwise.
        instead: asked in its place, if given.
        outcomes: how tries of jobs ended.
    """

    world: TeamWorld
    clock: FakeClock
    model: ScriptedModel = field(
        default_factory=lambda: ScriptedModel().on(SELECT, everything).on(DECIDE, {"operations": []})
    )
    instead: ModelPort | None = None
    handlers: dict[str, Handler] = field(default_factory=lambda: {"stage_b": dream_agent})
    outcomes: list[str] = field(default_factory=list)

    async def make(self) -> Night:
        """Give the agent a model."""
        await command(
            self.world.deps,
            self.world.caller(self.world.dan),
            lambda cmd: set_model_profile(cmd, "light", provider="openai", model="small", credential=CREDENTIAL),
        )
        return self

    async def talk(self, *lines: str, topic: str = "Talk", channel: NodeId | None = None, **how: Any) -> list[NodeId]:
        """Let people say something that Stage A has made an episode of; return the messages."""
        said = [await self.world.say(channel or self.world.ops, line, **how) for line in lines]
        await episode(self.world, topic, *said)
        return said

    def decides(self, *answers: Decides) -> None:
        """Answer the second call with the operations that each function returns, one after the other."""
        self.model.on(DECIDE, *(self._said(decide) for decide in answers))

    def _said(self, decide: Decides) -> Callable[[ModelRequest], Json]:
        return lambda request: {"operations": list(decide(Shown(request)))}

    def asked(self, purpose: str = DECIDE) -> list[Shown]:
        """Return what the model was shown."""
        return [Shown(request) for request in self.model.asked_for(purpose)]

    def worker(self, name: str = "") -> Worker:
        """Return a worker that does Stage B and nothing else, unless a test says otherwise."""
        return Worker(
            deps=self.world.deps,
            anchor_minutes=0,
            handlers=self.handlers,
            models=lambda profile: self.instead or self.model,
            on_step=lambda kind, outcome: self.outcomes.append(outcome),
            owner=name,
        )

    async def work(self) -> list[str]:
        """Do the jobs that are due; return how they ended."""
        before = len(self.outcomes)
        worker = self.worker()
        while await worker.step():
            pass
        return self.outcomes[before:]

    async def dream(self) -> list[str]:
        """Ask for what is due by itself and do it."""
        await arrange_stage_b(self.world.deps)
        return await self.work()

    async def later(self, by: timedelta = LONG) -> list[str]:
        """Let time pass, then dream."""
        self.clock.advance(by)
        return await self.dream()

    async def by_hand(self, who: NodeId | None = None) -> DreamRun:
        """Start a run as a person does."""
        caller = self.world.caller(who or self.world.ana)
        return await command(self.world.deps, caller, lambda cmd: request_run(cmd, self.world.atlas))

    async def job(self) -> Job | None:
        async with self.world.deps.store.reading() as reader:
            return await find_job(reader, StageBKey(agent=self.world.atlas).unique_key)

    async def all(self, kind: type[Any]) -> list[Any]:
        """Return all nodes of a kind in the order in which they were made."""
        async with self.world.deps.store.reading() as reader:
            found = await reader.find(LOOK, Find(kind=kind, order=By("created_at")))
        return [node for node in found.nodes if node.workspace == self.world.workspace]

    async def runs(self) -> list[DreamRun]:
        return [run for run in await self.all(DreamRun) if run.stage == "b"]

    async def batches(self) -> list[DreamBatch]:
        return await self.all(DreamBatch)

    async def pending(self) -> list[PendingItem]:
        return [item for item in await self.all(PendingItem) if item.state == "pending"]

    async def rejected(self) -> list[tuple[int, str, str]]:
        """Return index, operation and code of what was rejected in the last batch."""
        [*_, last] = await self.batches()
        return [(row["index"], row["op"], row["code"]) for row in last.rejections or ()]
