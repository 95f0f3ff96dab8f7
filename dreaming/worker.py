"""The worker: claims due jobs, does them under a lease with a heartbeat, and binds the audit chains now and then.

Any number of workers may share a store. A worker that is told to end hands its job back; one that dies loses its lease
and another goes on. Source: AD-27, AD-33, AD-38.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from dreaming.jobs import JOB_KINDS, JobKind, backoff_s
from graph.model.access import SystemScope
from graph.model.errors import AlreadyExists, NotFound, RootwardError, VersionConflict
from graph.model.fields import Json
from graph.model.ids import node_id
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.services.admin.blobs import collect_blobs
from graph.services.deps import Deps
from graph.services.knowledge.anchors import AnchorSink, keep_anchoring, workspaces
from graph.store.port import Writer
from graph.store.query import And, Find, In, Range

JOBS = SystemScope(reason="background work")
IDLE_S = 5.0
TIMED_OUT = "TIMED_OUT"
FAULT = "INTERNAL"

Handler = Callable[[Deps, Job], Awaitable[Json]]
"""Does the work of a job and returns what came of it, without content."""


async def _collect(deps: Deps, job: Job) -> Json:
    del job
    return {"removed": len(await collect_blobs(deps))}


HANDLERS: Mapping[str, Handler] = MappingProxyType({"collect_blobs": _collect})
"""What this version does; the table says of the other kinds that they are not built."""


@dataclass(kw_only=True, slots=True)
class Worker:
    """Does background work of one store.

    Attributes:
        on_step: told the kind of a job and how it ended: ``done``, ``failed``, ``lost`` or ``handed_back``.
        on_fault: told of a fault that no code of ours stands for; it is recorded as failed in any case.
    """

    deps: Deps
    anchor_minutes: float
    anchor_sink: AnchorSink | None = None
    handlers: Mapping[str, Handler] = field(default_factory=lambda: HANDLERS)
    on_step: Callable[[str, str], None] = lambda kind, outcome: None
    on_fault: Callable[[BaseException], None] = lambda error: None
    owner: str = ""

    def __post_init__(self) -> None:
        """Take a name that no other worker has."""
        self.owner = self.owner or self.deps.ids.new()

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(keep_anchoring(self.deps, self.anchor_minutes, sink=self.anchor_sink))
            group.create_task(self._keep_working())

    async def _keep_working(self) -> None:
        while True:
            worked = False
            with suppress(RootwardError):  # the store is away: try again after a pause
                await self.arrange()
                worked = await self.step()
            if not worked:
                await self.deps.clock.sleep(IDLE_S)

    async def arrange(self) -> None:
        """Make the jobs of recurring kinds that are not there yet."""
        recurring = [kind for kind in self.handlers if JOB_KINDS[kind].every_s is not None]
        wanted = {node_id(Job.PREFIX, kind): kind for kind in recurring}
        async with self.deps.store.reading() as reader:
            there = await reader.get(JOBS, list(wanted))
        missing = {id_: kind for id_, kind in wanted.items() if id_ not in there}
        homes = sorted(await workspaces(self.deps)) if missing else []
        if not homes:
            return
        now = self.deps.now()
        new = [
            Job(id=id_, workspace=homes[0], created_at=now, kind=kind, unique_key=kind, due_at=now)
            for id_, kind in missing.items()
        ]
        with suppress(AlreadyExists):  # another worker was faster
            await self.deps.store.transact(lambda writer: writer.put(new))

    async def step(self) -> bool:
        """Do the job that is due longest; false if none is."""
        job = await self._claim()
        if job is None:
            return False
        try:
            outcome = await self._do(job)
        except asyncio.CancelledError:
            await asyncio.shield(self._end(job, _handed_back(job, self.deps.now())))
            self.on_step(job.kind, "handed_back")
            raise
        self.deps.figures.count("jobs", kind=job.kind, outcome=outcome)
        self.on_step(job.kind, outcome)
        return True

    async def _claim(self) -> Job | None:
        """Take a due job; looking comes first, so that an idle worker writes nothing."""
        kinds, now = sorted(self.handlers), self.deps.now()
        due = And((In("kind", kinds), In("state", ["queued", "running"]), Range("due_at", None, now + 1)))
        async with self.deps.store.reading() as reader:
            waiting = (await reader.find(JOBS, Find(kind=Job, where=due))).nodes
        for kind in dict.fromkeys(job.kind for job in waiting if _is_due(job, now)):
            claimed = await self._claim_of(kind, now)
            if claimed is not None:
                return claimed
        return None

    async def _claim_of(self, kind: str, now: Millis) -> Job | None:
        lease_ms = JOB_KINDS[kind].lease_s * 1_000
        return await self.deps.store.transact(lambda writer: writer.claim([kind], self.owner, now, lease_ms))

    async def _do(self, job: Job) -> str:
        kind = JOB_KINDS[job.kind]
        work = asyncio.ensure_future(self._try(job, kind))
        beat = asyncio.ensure_future(self._beat(job, kind))
        try:
            await asyncio.wait({work, beat}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                return "lost"  # somebody else has the job: what was done so far must not be recorded
            error, result = work.result()
            ending = _failed(job, kind, self.deps.now(), error) if error else _done(kind, self.deps.now(), result)
            kept = await self._end(job, ending)
            return ("failed" if error else "done") if kept else "lost"
        finally:
            for task in (work, beat):
                task.cancel()
            await asyncio.gather(work, beat, return_exceptions=True)

    async def _try(self, job: Job, kind: JobKind) -> tuple[str, Json]:
        """Return the code of the failure, empty for none, and what came of the work."""
        try:
            async with asyncio.timeout(kind.limit_s):
                return "", await self.handlers[job.kind](self.deps, job)
        except RootwardError as error:
            return error.wire_code, None
        except TimeoutError:
            return TIMED_OUT, None
        except Exception as error:  # noqa: BLE001 - the edge of the process: a job
            self.on_fault(error)
            return FAULT, None

    async def _beat(self, job: Job, kind: JobKind) -> None:
        """Prolong the lease until it is lost."""
        while True:
            await self.deps.clock.sleep(kind.heartbeat_s)
            now = self.deps.now()
            if not await self._end(job, {"heartbeat_at": now, "lease_until": Millis(now + kind.lease_s * 1_000)}):
                return

    async def _end(self, job: Job, changes: Mapping[str, Any]) -> bool:
        """Change a job if this worker still has it; false if it was lost."""

        async def work(writer: Writer) -> None:
            await writer.patch(job.id, changes, expected={"fence": job.fence, "owner": self.owner})

        try:
            await self.deps.store.transact(work)
        except (VersionConflict, NotFound):
            return False
        return True


def _is_due(job: Job, now: Millis) -> bool:
    return job.state == "queued" or (job.lease_until is not None and job.lease_until <= now)


_FREE: Mapping[str, Any] = MappingProxyType({"owner": None, "lease_until": None, "heartbeat_at": None})


def _done(kind: JobKind, now: Millis, result: Json) -> dict[str, Any]:
    if kind.every_s is None:
        return {**_FREE, "state": "succeeded", "result": result, "last_error": None}
    return {**_again(now, kind.every_s), "attempts": 0, "result": result, "last_error": None}


def _failed(job: Job, kind: JobKind, now: Millis, code: str) -> dict[str, Any]:
    """Return what a failure makes of a job: tried again, failed for good, or, if it recurs, due at its next time."""
    if job.attempts < kind.attempts:
        return {**_again(now, backoff_s(kind, job.attempts)), "last_error": code}
    if kind.every_s is not None:
        return {**_again(now, kind.every_s), "attempts": 0, "last_error": code}
    return {**_FREE, "state": "failed", "last_error": code}


def _handed_back(job: Job, now: Millis) -> dict[str, Any]:
    return {**_again(now, 0), "attempts": job.attempts - 1}


def _again(now: Millis, seconds: float) -> dict[str, Any]:
    return {**_FREE, "state": "queued", "due_at": Millis(now + int(seconds * 1_000))}
