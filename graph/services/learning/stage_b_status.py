"""What people see of Stage B for an agent: what waits, how the last runs ended, why none can start (CO-66).

Numbers, times and codes by the index alone: an auditor who looks at them has read no private chat (KN-59).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph.model.errors import ProfileUnavailable
from graph.model.ids import NodeId
from graph.model.nodes.learning import DreamBatch, DreamRun, PendingItem, RunState, Stage
from graph.model.nodes.people import Principal
from graph.model.nodes.work import AdminRecord, Job
from graph.model.time import Millis
from graph.rules.jobs import JobState
from graph.rules.model_profiles import LIGHT_PROFILE_UNAVAILABLE
from graph.rules.seen_runs import as_seen
from graph.rules.stage_b import StageBKey
from graph.services.access.admin_log import ADMIN_AUDIT
from graph.services.access.session import Session
from graph.services.learning.jobs import find_job
from graph.services.learning.pending import pending_items
from graph.services.learning.profiles import agent_profile, profile_id
from graph.services.learning.stage_b import DREAMING_DISABLED
from graph.services.settings import load_settings
from graph.store.query import And, By, Eq, Find, In, Newest

LAST_RUNS = 50
"""So many of the newest runs are looked at."""
CURATING = ("scheduled", "manual")
"""Triggers of runs of Stage B; a learning task's run is about one material."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StageBState:
    """Stage B of one agent, as one reader sees it.

    Attributes:
        pending: how many items wait, by kind.
        runs: the newest ones, newest first, those under way and queued included.
        unavailable: code of why no run can start; None if one can.
        profile_missing_since: since when its model profile is missing or unusable.
        next_try_at: when its job is due; None if nothing is asked for.
    """

    pending: Mapping[str, int]
    oldest_pending_at: Millis | None
    runs: Sequence[DreamRun]
    unavailable: str | None
    profile_missing_since: Millis | None
    next_try_at: Millis | None

    @property
    def last_run(self) -> DreamRun | None:
        """The newest run."""
        return self.runs[0] if self.runs else None

    @property
    def last_success_at(self) -> Millis | None:
        """When the newest run that succeeded ended."""
        return next((run.ended_at for run in self.runs if run.state == RunState.SUCCEEDED), None)


async def stage_b_state(session: Session, agent: Principal) -> StageBState:
    """Return the state of Stage B of an agent of which the caller was found to read something."""
    waiting = await _seen(session, await pending_items(session.reader, agent.id))
    job = await find_job(session.reader, StageBKey(agent=agent.id).unique_key)
    missing = await _profile_missing(session, agent, job)
    return StageBState(
        pending=dict(sorted(Counter(item.item_kind for item in waiting).items())),
        oldest_pending_at=min((item.created_at for item in waiting), default=None),
        runs=await _runs(session, agent.id),
        unavailable=await _unavailable(session, agent, missing, job),
        profile_missing_since=missing,
        next_try_at=job.due_at if job and job.state == JobState.QUEUED else None,
    )


async def _seen(session: Session, items: Sequence[PendingItem]) -> list[PendingItem]:
    """Return the rows of those items that the caller sees."""
    shown = await session.reader.get(session.viewer, [item.item_id for item in items])
    return [item for item in items if item.item_id in shown]


async def _runs(session: Session, agent: NodeId) -> list[DreamRun]:
    where = And((Eq("agent_id", agent), Eq("stage", str(Stage.B)), In("trigger", CURATING)))
    query = Find(kind=DreamRun, where=where, order=Newest(), first=LAST_RUNS)
    found = (await session.reader.find(session.viewer, query)).nodes
    batches: dict[NodeId, list[DreamBatch]] = {run.id: [] for run in found}
    if found:
        inside = Find(kind=DreamBatch, where=In("run_id", list(batches)), order=By("created_at"))
        for batch in (await session.reader.find(session.viewer, inside)).nodes:
            batches[batch.run_id].append(batch)
    return [as_seen(run, batches[run.id]) for run in found]


async def _unavailable(session: Session, agent: Principal, missing: Millis | None, job: Job | None) -> str | None:
    settings = await load_settings(session.reader, agent.workspace, agent.id)
    if agent.disabled_at is not None or not settings["dream.enabled"]:
        return DREAMING_DISABLED
    if missing is not None:
        return LIGHT_PROFILE_UNAVAILABLE
    put_off = job is not None and job.state == JobState.QUEUED and not job.attempts
    return job.last_error if job is not None and put_off else None


async def _profile_missing(session: Session, agent: Principal, job: Job | None) -> Millis | None:
    """Return since when the agent has no usable model: its profile was removed, never made, or a worker found it so."""
    reader, workspace = session.reader, agent.workspace
    try:
        profile = await agent_profile(reader, workspace, agent.id)
    except ProfileUnavailable:
        settings = await load_settings(reader, workspace, agent.id)
        return await _last_step(session, profile_id(workspace, settings["dream.model_profile"])) or agent.created_at
    found = job is not None and job.state == JobState.QUEUED and job.last_error == LIGHT_PROFILE_UNAVAILABLE
    return max(profile.created_at, job.created_at) if job is not None and found else None


async def _last_step(session: Session, target: NodeId) -> Millis | None:
    """Return when administration last did something to a thing."""
    where = And((Eq("workspace", session.caller.workspace), Eq("target_id", target)))
    query = Find(kind=AdminRecord, where=where, order=By("seq", descending=True), first=1)
    page = await session.reader.find(ADMIN_AUDIT, query)
    return page.nodes[0].created_at if page.nodes else None
