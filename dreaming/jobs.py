"""What a learner works with: its job under a lease, a model, and commits that a worker who lost the lease cannot make.

The table of kinds is `graph.rules.jobs`; `enqueue` is here too, for learners that ask for more work.
Source: AD-33, DR-8.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from dreaming.models.port import ModelPort
from dreaming.sandbox.rules import SandboxRules
from graph.model.errors import LeaseLost, NotFound, ProfileUnavailable, VersionConflict
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.learning import ModelProfile
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.jobs import JOB_KINDS as JOB_KINDS
from graph.rules.jobs import JobState
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.deps import Deps
from graph.services.learning.jobs import JOBS
from graph.services.learning.jobs import enqueue as enqueue
from graph.store.port import Writer

T = TypeVar("T")

ModelMaker = Callable[[ModelProfile], ModelPort]
"""Makes the model that a profile names; raises `ProfileUnavailable` if it cannot."""


def no_models(profile: ModelProfile) -> ModelPort:
    """Make no model: what a worker without adapters does."""
    raise ProfileUnavailable("this process has no models: start it with the extra `models`", reason="no_models")


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkContext:
    """What a handler gets.

    Attributes:
        job: as it was claimed; `job.fence` numbers the claim.
        models: makes models out of profiles; see `dreaming.light_model`.
        sandbox: what is set for sandbox memory, which has models of its own.
    """

    deps: Deps
    job: Job
    models: ModelMaker
    sandbox: SandboxRules = field(default_factory=SandboxRules)

    @property
    def agent(self) -> NodeId:
        """The agent the job works for; every learner's job names one."""
        assert self.job.agent_id is not None, "this kind of job names no agent"
        return self.job.agent_id


Handler = Callable[[WorkContext], Awaitable[Json]]
"""Does the work of a job and returns what came of it, without content. It may raise `PutOff`, `LeaseLost` or any
error of the tree; a handler may be run again at any time, so what it did must show in the store."""


class PutOff(Exception):
    """The job has to wait until a time; this is no failure. `reason` is a code that people can look up."""

    def __init__(self, reason: str, until: Millis) -> None:
        super().__init__(f"{reason} until {until}")
        self.reason = reason
        self.until = until


async def confirm_lease(writer: Writer, job: Job, now: Millis) -> None:
    """Make sure, inside a transaction, that the claim still holds; call it last, after other locks were taken.

    Raises:
        LeaseLost: another worker has the job, it was cancelled, or the lease ran out. Nothing may be committed.
    """
    claim = {"fence": job.fence, "owner": job.owner, "state": str(JobState.RUNNING)}
    try:
        await writer.patch(job.id, {"heartbeat_at": now}, expected=claim)
    except (VersionConflict, NotFound) as error:
        raise LeaseLost from error
    found = (await writer.get(JOBS, [job.id])).get(job.id)
    if not isinstance(found, Job) or found.lease_until is None or found.lease_until <= now:
        raise LeaseLost


async def guarded_commit(work: WorkContext, write: Callable[[Writer], Awaitable[T]]) -> T:
    """Run `write` in one transaction that is given up if the job is no longer this worker's; like `Store.transact`.

    Raises:
        LeaseLost: nothing was written; let it pass, the worker knows what to do.
    """

    async def checked(writer: Writer) -> T:
        result = await write(writer)
        await confirm_lease(writer, work.job, work.deps.now())
        return result

    return await work.deps.store.transact(checked, tx_id=work.deps.ids.new())


async def guarded_command(work: WorkContext, caller: Caller, write: Callable[[Command], Awaitable[T]]) -> T:
    """Run a command under the lease; like `graph.services.access.commands.command` and `guarded_commit`."""

    async def checked(cmd: Command) -> T:
        result = await write(cmd)
        await confirm_lease(cmd.writer, work.job, work.deps.now())
        return result

    return await command(work.deps, caller, checked)
