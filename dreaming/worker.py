"""The worker: claims due jobs, does them under a lease with a heartbeat, and binds the audit chains now and then.

Any number of workers may share a store. A worker that is told to end hands its jobs back; one that dies loses its
leases and another goes on. Work that asks models has lanes of its own, so that it never holds up the rest.
Source: AD-27, AD-33, AD-34, AD-38, DR-8.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from dreaming.agents import learn_agent
from dreaming.audience import recompute_audience
from dreaming.bots.learner import learn_bot
from dreaming.connectors import sync_connector
from dreaming.embedding import make_vectors
from dreaming.jobs import Handler, ModelMaker, PutOff, WorkContext, confirm_lease, no_models
from dreaming.materials import learn_material
from dreaming.records import purge_records
from dreaming.resealing import reseal
from dreaming.sandbox.closer import close_sandbox
from dreaming.sandbox.rules import SandboxRules
from dreaming.sessions import learn_session
from dreaming.stage_a import dream_channel
from dreaming.stage_b import dream_agent
from graph.model.errors import AlreadyExists, LeaseLost, ModelBudgetSpent, ModelUnavailable, RootwardError, StoreError
from graph.model.fields import Json
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules import jobs as rules
from graph.rules.jobs import CLOSE_SANDBOX, JOB_KINDS, PURGE_RECORDS, RECOMPUTE_AUDIENCE, JobKind, JobState
from graph.services.admin.blobs import collect_blobs
from graph.services.bots.runs import LEARN_BOT, arrange_bot_learning
from graph.services.deps import Deps
from graph.services.knowledge.anchors import AnchorSink, keep_anchoring, workspaces
from graph.services.knowledge.connectors import arrange_syncs
from graph.services.learning.embedding import arrange_embedding
from graph.services.learning.given_up import given_up
from graph.services.learning.jobs import JOBS, enqueue, job_id
from graph.services.learning.stage_a import arrange_stage_a
from graph.services.learning.stage_b import arrange_stage_b
from graph.store.port import Writer
from graph.store.query import And, By, Find, In, Range

ALONE = frozenset({"reseal"})
"""Kinds that go through the whole store: they have a lane of their own, so that nothing waits behind them."""
SOON = frozenset({"learn_agent", "learn_bot", "learn_session"})
"""Kinds whose result the next turn of a conversation should have: one more lane is theirs, beside those of all that
asks models, so that they do not wait behind an hour of curation."""
IDLE_S = 5.0
STOP_S = 10.0
"""So long a handler may take to end when it is told to; then its job is handed back all the same (AD-38)."""
LOOK_AHEAD = 200
TIMED_OUT = "TIMED_OUT"
FAULT = "INTERNAL"


async def _collect(work: WorkContext) -> Json:
    return {"removed": len(await collect_blobs(work.deps))}


HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        CLOSE_SANDBOX: close_sandbox,
        "collect_blobs": _collect,
        "embed": make_vectors,
        "learn_agent": learn_agent,
        LEARN_BOT: learn_bot,
        "learn_material": learn_material,
        "learn_session": learn_session,
        PURGE_RECORDS: purge_records,
        RECOMPUTE_AUDIENCE: recompute_audience,
        "reseal": reseal,
        "stage_a": dream_channel,
        "stage_b": dream_agent,
        "sync_connector": sync_connector,
    }
)
"""What this version does; the table says of the other kinds that they are not built."""

LOOKOUTS: Mapping[str, Callable[[Deps], Awaitable[object]]] = MappingProxyType(
    {
        "embed": arrange_embedding,
        LEARN_BOT: arrange_bot_learning,
        "stage_a": arrange_stage_a,
        "stage_b": arrange_stage_b,
        "sync_connector": arrange_syncs,
    }
)
"""Of kinds whose work becomes due by itself: looks what is due and asks for its jobs."""
LOOK_EVERY_MS = 15_000


Change = Callable[[Job], Mapping[str, Any]]
"""What to change in a job as it is in the transaction that changes it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ending:
    """How a try of a job ended and what that makes of the job."""

    outcome: str
    change: Change


@dataclass(kw_only=True, slots=True)
class Worker:
    """Does background work of one store.

    Attributes:
        kinds: how each kind of work is done.
        models: makes models out of profiles.
        sandbox: what is set for sandbox memory.
        learners: so many jobs that ask models are done side by side.
        on_step: told the kind of a job and how it ended: ``done``, ``failed``, ``put_off``, ``lost``, ``dropped`` or
            ``handed_back``.
        on_fault: told of a fault that no code of ours stands for; it is recorded as failed in any case.
    """

    deps: Deps
    anchor_minutes: float
    anchor_sink: AnchorSink | None = None
    handlers: Mapping[str, Handler] = field(default_factory=lambda: HANDLERS)
    kinds: Mapping[str, JobKind] = field(default_factory=lambda: JOB_KINDS)
    models: ModelMaker = no_models
    sandbox: SandboxRules = field(default_factory=SandboxRules)
    learners: int = 2
    on_step: Callable[[str, str], None] = lambda kind, outcome: None
    on_fault: Callable[[BaseException], None] = lambda error: None
    owner: str = ""
    _looked_at: Millis = field(default=Millis(0), init=False)

    def __post_init__(self) -> None:
        """Take a name that no other worker has."""
        self.owner = self.owner or self.deps.ids.new()

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(keep_anchoring(self.deps, self.anchor_minutes, sink=self.anchor_sink))
            for kinds in self._lanes():
                group.create_task(self._keep_working(kinds))

    def _lanes(self) -> list[list[str]]:
        asking = sorted(kind for kind in self.handlers if self.kinds[kind].uses_model)
        alone = sorted(kind for kind in self.handlers if kind in ALONE)
        soon = sorted(kind for kind in asking if kind in SOON)
        others = sorted(self.handlers.keys() - set(asking) - set(alone))
        return [kinds for kinds in (others, alone, soon, *([asking] * self.learners)) if kinds]

    async def _keep_working(self, kinds: Sequence[str]) -> None:
        while True:
            worked = False
            with suppress(RootwardError):  # the store is away: try again after a pause
                await self.arrange()
                await self.look_out()
                worked = await self.step(kinds)
            if not worked:
                await self.deps.clock.sleep(IDLE_S)

    async def arrange(self) -> None:
        """Make the jobs of recurring kinds that are not there yet."""
        recurring = {job_id(kind): kind for kind in self.handlers if self.kinds[kind].every_s is not None}
        async with self.deps.store.reading() as reader:
            there = await reader.get(JOBS, list(recurring))
        missing = [kind for id_, kind in recurring.items() if id_ not in there]
        homes = sorted(await workspaces(self.deps)) if missing else []
        if not homes:
            return
        now = self.deps.now()

        async def make(writer: Writer) -> None:
            for kind in missing:
                await enqueue(writer, kind, workspace=homes[0], unique_key=kind, due_at=now, now=now)

        with suppress(AlreadyExists):  # another worker was faster
            await self.deps.store.transact(make)

    async def look_out(self) -> None:
        """Ask for the work that became due by itself; not more often than every 15 seconds."""
        now = self.deps.now()
        if now - self._looked_at < LOOK_EVERY_MS:
            return
        self._looked_at = now
        for kind in sorted(LOOKOUTS.keys() & self.handlers.keys()):
            await LOOKOUTS[kind](self.deps)

    async def step(self, kinds: Sequence[str] | None = None) -> bool:
        """Do the job that is due longest, of these kinds or of all that have a handler; false if none is."""
        job = await self._claim(sorted(self.handlers) if kinds is None else kinds)
        if job is None:
            return False
        kind = self.kinds[job.kind]
        if rules.must_drop(job, kind):
            await self._change(job, rules.dropped)
            self._told(job, "dropped")
            return True
        if rules.wore_workers_out(job, kind):
            await self._change(job, partial(rules.failed, kind=kind, now=self.deps.now(), code=rules.WORKER_DIED))
            self._told(job, "failed")
            return True
        await self.do(job)
        return True

    async def do(self, job: Job) -> str:
        """Do a job that was claimed in this worker's name and return how that ended."""
        kind = self.kinds[job.kind]
        try:
            outcome = await self._do(job, kind)
        except asyncio.CancelledError:
            await asyncio.shield(self._change(job, lambda found: rules.handed_back(found, kind, self.deps.now())))
            self._told(job, "handed_back")
            raise
        self._told(job, outcome)
        return outcome

    def _told(self, job: Job, outcome: str) -> None:
        self.deps.figures.count("jobs", kind=job.kind, outcome=outcome)
        self.on_step(job.kind, outcome)

    async def _claim(self, kinds: Sequence[str]) -> Job | None:
        """Take a due job; looking comes first, so that an idle worker writes nothing."""
        now = self.deps.now()
        due = And((In("kind", kinds), In("state", ["queued", "running"]), Range("due_at", None, now + 1)))
        query = Find(kind=Job, where=due, order=By("due_at"), first=LOOK_AHEAD)
        async with self.deps.store.reading() as reader:
            waiting = (await reader.find(JOBS, query)).nodes
        for kind in dict.fromkeys(job.kind for job in waiting if _is_due(job, now)):
            claimed = await self._claim_of(kind, now)
            if claimed is not None:
                return claimed
        return None

    async def _claim_of(self, kind: str, now: Millis) -> Job | None:
        lease_ms = self.kinds[kind].lease_s * 1_000
        return await self.deps.store.transact(lambda writer: writer.claim([kind], self.owner, now, lease_ms))

    async def _do(self, job: Job, kind: JobKind) -> str:
        work = asyncio.ensure_future(self._try(job, kind))
        beat = asyncio.ensure_future(self._beat(job, kind))
        try:
            await asyncio.wait({work, beat}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                return "lost"  # somebody else has the job: what was done so far must not be recorded
            ending = work.result()
            return ending.outcome if await self._change(job, ending.change) else "lost"
        finally:
            for task in (work, beat):
                task.cancel()
            await asyncio.wait({work, beat}, timeout=STOP_S)

    async def _try(self, job: Job, kind: JobKind) -> _Ending:
        try:
            async with asyncio.timeout(kind.limit_s):
                context = WorkContext(deps=self.deps, job=job, models=self.models, sandbox=self.sandbox)
                result = await self.handlers[job.kind](context)
        except PutOff as wait:
            return _Ending(outcome="put_off", change=partial(rules.put_off, until=wait.until, code=wait.reason))
        except ModelBudgetSpent as spent:
            change = partial(rules.put_off, until=spent.details["until"], code=spent.wire_code)
            return _Ending(outcome="put_off", change=change)
        except Exception as error:  # noqa: BLE001 - the edge of the process: a job
            return self._failure(kind, error)
        return _Ending(outcome="done", change=partial(rules.succeeded, kind=kind, now=self.deps.now(), result=result))

    def _failure(self, kind: JobKind, error: Exception) -> _Ending:
        wait = error.retry_after_s if isinstance(error, ModelUnavailable) else None
        if not isinstance(error, RootwardError | TimeoutError):
            self.on_fault(error)
        change = partial(rules.failed, kind=kind, now=self.deps.now(), code=_code(error), retry_after_s=wait)
        return _Ending(outcome="failed", change=change)

    async def _beat(self, job: Job, kind: JobKind) -> None:
        """Prolong the lease until it is lost; a store that is away for a moment is no loss yet."""
        while True:
            await self.deps.clock.sleep(kind.heartbeat_s)
            with suppress(StoreError):
                if not await self._change(job, partial(rules.prolonged, kind=kind, now=self.deps.now())):
                    return

    async def _change(self, job: Job, change: Change) -> bool:
        """Change a job if this worker still has it; false if it was lost."""

        async def work(writer: Writer) -> None:
            await confirm_lease(writer, job, self.deps.now())
            found = (await writer.get(JOBS, [job.id]))[job.id]
            assert isinstance(found, Job)
            changes = change(found)
            await writer.patch(job.id, changes)
            if changes.get("state") in (JobState.PARKED, JobState.FAILED):
                await given_up(writer, found, str(changes["last_error"]), self.deps.now())

        try:
            await self.deps.store.transact(work)
        except LeaseLost:
            return False
        return True


def _code(error: Exception) -> str:
    if isinstance(error, RootwardError):
        return error.wire_code
    return TIMED_OUT if isinstance(error, TimeoutError) else FAULT


def _is_due(job: Job, now: Millis) -> bool:
    return job.state == JobState.QUEUED or (job.lease_until is not None and job.lease_until <= now)
