"""Closing a sandbox session, for who waits for it and for who does not. Source: SB-102, SB-113 to SB-116."""

from __future__ import annotations

from dataclasses import dataclass, field

from dreaming.jobs import WorkContext
from dreaming.sandbox.closer import close_sandbox
from dreaming.sandbox.rules import SandboxRules
from dreaming.taking import LOOK_AGAIN_S, take
from dreaming.worker import Worker
from graph.model.errors import StoreUnavailable
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.sandbox import SandboxSession, SandboxState
from graph.model.nodes.work import Job
from graph.rules.jobs import CLOSE_SANDBOX
from graph.services.access.caller import Caller
from graph.services.access.session import read
from graph.services.deps import Deps
from graph.services.learning.jobs import job_id
from graph.services.sandbox.acting import change
from graph.services.sandbox.closing import begin_close, close_key
from graph.services.sandbox.finding import open_sandbox


async def ask_to_close(deps: Deps, caller: Caller, id_: NodeId) -> SandboxSession:
    """Let a worker close a session; return it as it is now.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``.
    """
    return await change(deps, caller, lambda cmd, act: begin_close(cmd, act, id_, waits=False))


async def close_at_once(deps: Deps, caller: Caller, rules: SandboxRules, id_: NodeId) -> SandboxSession:
    """Close a session and return it with its report; again, return the first one. A failed phase is in the report.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``.
        StoreUnavailable: it was interrupted; a worker goes on with it.
    """
    session = await change(deps, caller, lambda cmd, act: begin_close(cmd, act, id_, waits=True))
    while session.status != SandboxState.CLOSED:
        await _Closing(deps=deps, rules=rules, session=session).step()
        session, _ = await read(deps, caller, lambda reading: open_sandbox(reading, id_, Right.RUN))
    return session


@dataclass(kw_only=True, slots=True)
class _Closing:
    """One look at a session that is to be closed: do its job, or wait a moment for who has it.

    Attributes:
        failed: why the job failed, if it did.
    """

    deps: Deps
    rules: SandboxRules
    session: SandboxSession
    failed: Exception | None = field(default=None, init=False)

    async def step(self) -> None:
        worker = Worker(deps=self.deps, anchor_minutes=0, handlers={CLOSE_SANDBOX: self._close}, sandbox=self.rules)
        job = await self.deps.store.transact(lambda writer: take(writer, self._made(), worker.owner, self.deps.now()))
        if job is None:
            await self.deps.clock.sleep(LOOK_AGAIN_S)
            return
        outcome = await worker.do(job)
        if outcome in ("done", "lost"):  # of a lost one another worker has the rest
            return
        raise self.failed or StoreUnavailable("closing was interrupted: try again")

    async def _close(self, work: WorkContext) -> Json:
        try:
            return await close_sandbox(work)
        except Exception as error:
            self.failed = error
            raise

    def _made(self) -> Job:
        key = close_key(self.session.id)
        return Job(
            id=job_id(key),
            workspace=self.session.workspace,
            created_at=self.deps.now(),
            kind=CLOSE_SANDBOX,
            subject_id=self.session.id,
            unique_key=key,
            due_at=self.deps.now(),
        )
