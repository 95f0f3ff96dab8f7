"""Sessions and agents that learn: a scripted model, a worker that does what is due, and what came of it.

`LearningRoom` belongs to one test. Models are named, never made from a profile: whatever is asked, `model` answers,
or what a test put in its place.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from dreaming.agents import learn_agent
from dreaming.jobs import WorkContext
from dreaming.models.making import OneModel
from dreaming.models.port import ModelAnswer, ModelPort, ModelRequest, Role
from dreaming.models.scripted import ScriptedModel
from dreaming.sessions import learn_session
from dreaming.sessions.refresh import refresh_session
from dreaming.worker import Worker
from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.people import Organization
from graph.model.nodes.sessions import Consolidation
from graph.model.nodes.work import Job
from graph.services.access.session import read
from graph.services.agents.commands import forget, remember
from graph.services.agents.memory import AgentEntryView, AgentMemoryView, agent_memory
from graph.services.agents.promotion import promote
from graph.services.deps import Deps
from graph.services.sessions.turns import begin_turn, cancel_turn, queue_turn, resume_turn, suspend_turn
from graph.store.query import And, By, Eq, Find
from tests.support.session_room import SessionRoom
from tests.support.two_services import HeldModel

Json = dict[str, Any]

SESSION = "learn_session.changes"
AGENT = "learn_agent.changes"
LOOK = SystemScope(reason="test")
HANDLERS = {"learn_session": learn_session, "learn_agent": learn_agent}


def change(key: str, content: str = "Porto.", *, sources: Sequence[Any], kind: str = "decision", **more: Any) -> Json:
    """Return a Remember as a model writes it."""
    return {"_tag": "Remember", "key": key, "content": content, "kind": kind, "sources": list(sources), **more}


def gone(key: str, *, sources: Sequence[Any]) -> Json:
    """Return a Forget as a model writes it."""
    return {"_tag": "Forget", "key": key, "sources": list(sources)}


def says(*changes: Any) -> Json:
    """Return an answer with these changes."""
    return {"changes": list(changes)}


def shown(request: ModelRequest, title: str = "Items") -> list[Json]:
    """Return the lines of a section of what a model was shown."""
    text = next(message.text for message in request.messages if message.role is Role.USER)
    part = text[text.index(f"## {title}") :].removeprefix(f"## {title}").split("\n\n## ")[0]
    return [json.loads(line) for line in part.splitlines() if line.startswith("{")]


def names(request: ModelRequest) -> list[str]:
    """Return the ids of the items that a model was shown."""
    return [line.get("id") or line["item"] for line in shown(request)]


@dataclass
class Stand:
    """A model whose place another may take for a while."""

    inner: ModelPort

    @property
    def name(self) -> str:
        return self.inner.name

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        return await self.inner.complete(request)


@dataclass
class LearningRoom(SessionRoom):
    """The sessions of one test, with what learns from them.

    Attributes:
        model: answers unless a test says otherwise.
        stand: what is asked; `model` stands in it.
        outcomes: how tries of jobs ended, in order.
    """

    model: ScriptedModel = field(default_factory=ScriptedModel)
    stand: Stand = field(init=False)
    outcomes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.stand = Stand(self.model)

    @property
    def models(self) -> OneModel:
        return OneModel(model=self.stand)

    def worker(self, owner: str = "", *, deps: Deps | None = None, model: ModelPort | None = None) -> Worker:
        """Return a worker for sessions and agents; of another service, or with another model, if they are given."""
        return Worker(
            deps=deps or self.world.deps,
            anchor_minutes=0,
            handlers=HANDLERS,
            models=self.models if model is None else OneModel(model=model),
            on_step=lambda kind, outcome: self.outcomes.append(f"{kind} {outcome}"),
            owner=owner,
        )

    async def work(self) -> list[str]:
        """Do all that is due and return how it ended."""
        self.outcomes.clear()
        worker = self.worker()
        while await worker.step():
            pass
        return list(self.outcomes)

    async def turn(self, turn: str, *items: str, local: str = "ses_41", model: str | None = "m-1", **said: Any) -> None:
        """Let a turn of Ana begin, say these items and complete; nothing is learned yet."""
        await self.begin(turn, local=local)
        for item in items:
            await self.say(item, local=local, **said)
        await self.complete(turn, model, local=local)

    async def learned(self, turn: str, *items: str, local: str = "ses_41", **said: Any) -> list[str]:
        """Let a turn complete and be learned from."""
        await self.turn(turn, *items, local=local, **said)
        return await self.work()

    @asynccontextmanager
    async def held(self) -> AsyncIterator[HeldModel]:
        """Let a worker do what is due with a model that answers when the block ends."""
        model = HeldModel(self.model)
        self.stand.inner = model
        task = asyncio.ensure_future(self.work())
        try:
            await asyncio.wait({asyncio.ensure_future(model.asked.wait()), task}, return_when=asyncio.FIRST_COMPLETED)
            assert not task.done(), f"nobody asked: {self.outcomes}"
            yield model
            model.go.set()
            await task
        finally:
            task.cancel()
            self.stand.inner = self.model

    async def die(self) -> None:
        """Let a worker begin what is due and die before the answer comes: it writes nothing any more."""
        model = HeldModel(self.model)
        self.stand.inner = model
        worker = self.worker("dead")
        job = await worker._claim(list(HANDLERS))
        assert job is not None
        work = WorkContext(deps=self.world.deps, job=job, models=self.models)
        task = asyncio.ensure_future(HANDLERS[job.kind](work))
        await model.asked.wait()
        task.cancel()
        await asyncio.wait({task})
        self.stand.inner = self.model

    async def prolong(self, lease_until: int) -> None:
        """Let the leases of jobs hold until a time, as heartbeats would."""
        jobs = {job.id: {"lease_until": lease_until} for job in await self.jobs() if job.state == "running"}
        await self.world.deps.store.transact(lambda writer: writer.patch_many(jobs))

    async def queue(self, turn: str, *, local: str = "ses_41", person: NodeId | None = None) -> None:
        """Let a turn wait."""
        who = person or self.world.ana
        await self.host(lambda cmd: queue_turn(cmd, self.id(local), turn, who))

    async def begin_for(self, turn: str, person: NodeId, *, local: str = "ses_41") -> str:
        """Begin a turn of a person and return its instructions."""
        return await self.host(lambda cmd: begin_turn(cmd, self.id(local), turn, person))

    async def suspend(self, turn: str, *, local: str = "ses_41") -> None:
        """Let a turn wait for approval."""
        await self.host(lambda cmd: suspend_turn(cmd, self.id(local), turn))

    async def resume(self, turn: str, *, local: str = "ses_41") -> str:
        """Let a turn go on and return its instructions."""
        return await self.host(lambda cmd: resume_turn(cmd, self.id(local), turn))

    async def cancel(self, turn: str, *, local: str = "ses_41") -> None:
        """Cancel a turn."""
        await self.host(lambda cmd: cancel_turn(cmd, self.id(local), turn))

    async def refresh(self, *, local: str = "ses_41", who: NodeId | None = None) -> None:
        """Consolidate at once, as Ana."""
        await refresh_session(self.world.deps, self.models, self.world.caller(who or self.world.ana), self.id(local))

    async def facts(self, local: str = "ses_41") -> dict[str, str]:
        """Return the contents of active facts by key."""
        view = await self.memory(local)
        return {key: fact.content for key, fact in view.entries.items() if fact.status == "active"}

    async def processed(self, local: str = "ses_41") -> list[str]:
        """Return what was read beside the items of the beginning."""
        return [item for item in (await self.memory(local)).processed if not item.startswith(("i-0", "i-10"))]

    async def records(self, of: str = "session") -> list[Consolidation]:
        """Return the records of consolidations in the order in which they began."""
        where = And((Eq("workspace", self.world.workspace), Eq("of", of)))
        async with self.world.deps.store.reading() as reader:
            found = await reader.find(LOOK, Find(kind=Consolidation, where=where, order=By("id")))
        return sorted(found.nodes, key=lambda record: (record.started_at, record.id))

    async def endings(self, of: str = "session") -> list[tuple[str, str | None]]:
        """Return outcome and error of each consolidation."""
        return [(record.outcome, record.error) for record in await self.records(of)]

    async def jobs(self) -> list[Job]:
        """Return the jobs of the test's workspace."""
        async with self.world.deps.store.reading() as reader:
            found = await reader.find(LOOK, Find(kind=Job, where=Eq("workspace", self.world.workspace)))
        return list(found.nodes)

    async def teaching(self, **settings: Any) -> Organization:
        """Make an organization that lets its agents learn."""
        return await self.organization(**{"agentMemoryModel": "m-mem", **settings})

    async def agent(self, who: NodeId | None = None) -> AgentMemoryView:
        """Return the memory of Atlas as somebody sees it, Ana if nobody is named."""
        caller = self.world.caller(who or self.world.ana)
        view, _ = await read(self.world.deps, caller, lambda reading: agent_memory(reading, self.world.atlas))
        return view

    async def entry(self, key: str, who: NodeId | None = None) -> AgentEntryView:
        """Return one entry of Atlas."""
        return next(entry for entry in (await self.agent(who)).entries if entry.key == key)

    async def teach(self, key: str, content: str = "Write it.", *, kind: str = "procedure") -> int:
        """Remember an entry of Atlas as Ana and return the version."""
        version = (await self.agent()).version
        pool = await self.as_ana(
            lambda cmd: remember(cmd, self.world.atlas, expected_version=version, key=key, content=content, kind=kind)
        )
        return pool.version

    async def unteach(self, key: str) -> int:
        """Forget an entry of Atlas as Ana and return the version."""
        version = (await self.agent()).version
        pool = await self.as_ana(lambda cmd: forget(cmd, self.world.atlas, expected_version=version, key=key))
        return pool.version

    async def promote(self, local: str = "ses_41") -> int:
        """Promote a session as the host and return the version of the agent's memory."""
        return (await self.host(lambda cmd: promote(cmd, self.id(local)))).version
