"""A channel whose talk Stage A reads: a scripted model, a worker, short words for what is said and answered."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from dreaming.models.port import ModelPort, ModelRequest, Role
from dreaming.models.scripted import ScriptedModel
from dreaming.stage_a import dream_channel
from dreaming.worker import Worker
from graph.model.access import SystemScope
from graph.model.edges import EdgeType
from graph.model.ids import NodeId, node_id
from graph.model.nodes.evidence import Channel, Episode
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.learning import DreamBatch, DreamRun, PendingItem, Progress
from graph.model.nodes.people import SettingValue
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.ingest import IncomingMessage
from graph.rules.pools import base_id
from graph.rules.stage_a import StageAKey
from graph.services.access.commands import command
from graph.services.knowledge.conversations import open_conversation
from graph.services.knowledge.ingest import ingest_messages
from graph.services.learning.jobs import find_job
from graph.services.learning.profiles import set_model_profile
from graph.services.learning.progress import find_progress
from graph.services.learning.stage_a import arrange_stage_a
from graph.store.port import Writer
from graph.store.query import By, Direction, Find
from tests.support.clock import FakeClock
from tests.support.world import TeamWorld

LOOK = SystemScope(reason="test")
PURPOSE = "stage_a.split"
CREDENTIAL = "env:OPENAI_API_KEY"
QUIET = timedelta(seconds=1_800)


def episode(names: Sequence[str], topic: str = "Release", **fields: Any) -> dict[str, Any]:
    """Return one episode as a model answers it."""
    made = {
        "topic": topic,
        "summary": f"They talked about {topic}.",
        "questions": [f"What about {topic}?"],
        "conclusions": [{"text": "It ships on Friday.", "messageIds": list(names[:1])}],
        "systems": ["Orion"],
        "sideTopic": False,
        "messageIds": list(names),
    }
    return {**made, **fields}


def answer(
    *episodes: dict[str, Any], skipped: Sequence[str] = (), open: Sequence[str] = (), **more: Any
) -> dict[str, Any]:
    """Return an answer of Stage A."""
    return {"episodes": list(episodes), "skipped": list(skipped), "open": list(open), **more}


def names(first: int, last: int) -> list[str]:
    """Return the short names of the messages from one number to another."""
    return [f"m{number}" for number in range(first, last + 1)]


def shown(request: ModelRequest) -> list[dict[str, Any]]:
    """Return the messages that a request quotes."""
    asked = next(message.text for message in request.messages if message.role is Role.USER)
    return [json.loads(line) for line in asked.splitlines() if line.startswith("{")]


def everything(request: ModelRequest) -> dict[str, Any]:
    """Answer with one episode of all messages."""
    return answer(episode([message["id"] for message in shown(request)]))


@dataclass
class Room:
    """One channel of a world.

    Attributes:
        model: what the agent asks; it makes one episode of everything unless a test says otherwise.
        instead: asked in its place, if given.
        outcomes: how tries of jobs ended.
    """

    world: TeamWorld
    clock: FakeClock
    model: ScriptedModel = field(default_factory=lambda: ScriptedModel().on(PURPOSE, everything))
    instead: ModelPort | None = None
    outcomes: list[str] = field(default_factory=list)
    said: int = 0

    async def make(self) -> Room:
        """Give the agent a model."""
        await command(
            self.world.deps,
            self.world.caller(self.world.dan),
            lambda cmd: set_model_profile(cmd, "light", provider="openai", model="small", credential=CREDENTIAL),
        )
        return self

    def key(self, kind: KbKind = KbKind.CHANNEL, channel: NodeId | None = None) -> StageAKey:
        """Return a pair of the channel."""
        place = channel or self.world.ops
        own = None if kind is KbKind.SHARED else place
        return StageAKey(channel=place, kb=base_id(self.world.name, self.world.atlas, kind, own))

    async def talk(
        self,
        lines: int | Sequence[str],
        *,
        channel: NodeId | None = None,
        ids: Sequence[str] | None = None,
        sent: Sequence[Millis] | None = None,
        thread: str | None = None,
        by_agent: bool = False,
    ) -> list[NodeId]:
        """Report lines (or so many) in one call and return their sources."""
        texts = [f"line {self.said + n + 1}" for n in range(lines)] if isinstance(lines, int) else lines
        incoming = []
        for number, text in enumerate(texts):
            self.said += 1
            at = sent[number] if sent else Millis(self.clock.now() + number)
            who = self.world.atlas if by_agent else self.world.ana
            incoming.append(
                IncomingMessage(
                    external_id=ids[number] if ids else f"x{self.said}",
                    sent_at=at,
                    text=text,
                    speaker_id=who,
                    thread=thread,
                )
            )
        deps, host, place = self.world.deps, self.world.caller(self.world.host), channel or self.world.ops
        conversation = await command(deps, host, lambda cmd: open_conversation(cmd, place))
        receipt = await command(deps, host, lambda cmd: ingest_messages(cmd, conversation.id, incoming))
        return list(receipt.source_ids)

    async def set_to(self, **values: Any) -> None:
        """Set settings of the workspace; ``stage_a__quiet_seconds`` is ``stage_a.quiet_seconds``."""

        async def work(writer: Writer) -> None:
            for name, value in values.items():
                dotted = name.replace("__", ".")
                made = SettingValue(
                    id=node_id(SettingValue.PREFIX, f"{self.world.name}/{dotted}"),
                    workspace=self.world.workspace,
                    created_at=self.clock.now(),
                    scope_id=self.world.node,
                    name=dotted,
                    value=value,
                )
                await writer.delete([made.id])
                await writer.put([made])

        await self.world.deps.store.transact(work)

    def worker(self, name: str = "") -> Worker:
        """Return a worker that does Stage A and nothing else."""
        return Worker(
            deps=self.world.deps,
            anchor_minutes=0,
            handlers={"stage_a": dream_channel},
            models=lambda profile: self.instead or self.model,
            on_step=lambda kind, outcome: self.outcomes.append(outcome),
            owner=name,
        )

    async def dream(self) -> list[str]:
        """Ask for what is due and do it; return how the jobs ended."""
        before = len(self.outcomes)
        await arrange_stage_a(self.world.deps)
        worker = self.worker()
        while await worker.step():
            pass
        return self.outcomes[before:]

    async def quiet(self) -> list[str]:
        """Let the channel be quiet for long enough, then dream."""
        self.clock.advance(QUIET)
        return await self.dream()

    async def progress(self, key: StageAKey | None = None) -> Progress | None:
        async with self.world.deps.store.reading() as reader:
            return await find_progress(reader, key or self.key())

    async def job(self, key: StageAKey | None = None) -> Job:
        async with self.world.deps.store.reading() as reader:
            found = await find_job(reader, (key or self.key()).unique_key)
        assert found is not None
        return found

    async def channel(self) -> Channel:
        async with self.world.deps.store.reading() as reader:
            found = (await reader.get(LOOK, [self.world.ops]))[self.world.ops]
        assert isinstance(found, Channel)
        return found

    async def all(self, kind: type[Any]) -> list[Any]:
        """Return all nodes of a kind in the order in which they were made."""
        async with self.world.deps.store.reading() as reader:
            found = await reader.find(LOOK, Find(kind=kind, order=By("created_at")))
        return [node for node in found.nodes if node.workspace == self.world.workspace]

    async def episodes(self) -> list[Episode]:
        return await self.all(Episode)

    async def runs(self) -> list[DreamRun]:
        return await self.all(DreamRun)

    async def batches(self) -> list[DreamBatch]:
        return await self.all(DreamBatch)

    async def pending(self) -> list[PendingItem]:
        return await self.all(PendingItem)

    async def targets(self, source: NodeId, type: EdgeType) -> list[NodeId]:
        """Return where the edges of a type lead to from a node."""
        async with self.world.deps.store.reading() as reader:
            edges = await reader.edges(LOOK, [source], [type], Direction.OUT)
        return [edge.target for edge in edges]
