"""Every kind of background work in one table, and what becomes of a job when a try of it ends. Pure.

`docs/job-kinds.md` is made of the table. A claim carries a fencing number (`Job.fence`); whatever ends or prolongs a
job or commits what it did checks it, so that a worker that lost its lease changes nothing any more.
Source: AD-33, AD-34, DR-8, DR-27.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.backoff import MODEL_BACKOFF_S, delay_s


class OnRestart(StrEnum):
    """What becomes of a job whose worker died."""

    RESUME = "resumes when the lease is over"
    DROP = "is dropped; its items wait for the next turn or refresh"


class JobState(StrEnum):
    """Life of a job. `PARKED` waits for a person; a finished one is queued again when something asks for its work."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    PARKED = "parked"
    CANCELLED = "cancelled"


class Due(StrEnum):
    """What a second wish for a job that waits already does to its time."""

    EARLIER = "earlier"
    """The earlier time counts: there is enough to do now."""
    LATER = "later"
    """The new time counts: something is to be quiet for so long."""


PARK_AFTER = 3
"""After so many failures in a row a job counts as parked: people see it with its reason."""
DROPPED = "DROPPED_BY_RESTART"
WORKER_DIED = "WORKER_DIED"
RECOMPUTE_AUDIENCE = "recompute_audience"
"""The kind whose open jobs say which pools are read by proof (`graph.services.access.by_proof`)."""

PURGE_RECORDS = "purge_records"
CLOSE_SANDBOX = "close_sandbox"


@dataclass(frozen=True, kw_only=True, slots=True)
class JobKind:
    """How one kind of work is done.

    Attributes:
        what: what it does, for people to read.
        backoff_s: waits after the first, second, … failure in a row; the last one repeats.
        attempts: so often it is tried before it waits for a person; None: it is tried again and again at the last
            wait, and people see it as parked from the third failure on.
        lease_s: so long a claim holds without a heartbeat.
        heartbeat_s: so often a worker says that it is still at it.
        limit_s: one try takes no longer.
        budget: what bounds its use of models; empty if it uses none.
        every_s: a recurring kind is due again so long after it ended; None for work that something else asks for.
        gives_up: after the last attempt it is over for good and frees what it held, instead of waiting for a person.
        built: false while no worker of this version does it.
    """

    what: str
    backoff_s: tuple[int, ...] = (60, 120, 240, 480, 960, 1_920, 3_600)
    attempts: int | None = PARK_AFTER
    lease_s: int = 600
    heartbeat_s: int = 30
    limit_s: int = 1_800
    budget: str = ""
    on_restart: OnRestart = OnRestart.RESUME
    every_s: int | None = None
    gives_up: bool = False
    built: bool = False

    @property
    def uses_model(self) -> bool:
        """True if it asks a language model or an embedder."""
        return bool(self.budget)


_DAY = "calls and tokens of a day, per agent and kind"


def _model(what: str, *, attempts: int | None = PARK_AFTER, limit_s: int = 3_600, built: bool = False) -> JobKind:
    return JobKind(what=what, backoff_s=MODEL_BACKOFF_S, attempts=attempts, limit_s=limit_s, budget=_DAY, built=built)


def _dropped(what: str) -> JobKind:
    return JobKind(
        what=what,
        backoff_s=(60,),
        attempts=1,
        lease_s=60,
        heartbeat_s=15,
        limit_s=600,
        budget=_DAY,
        on_restart=OnRestart.DROP,
        built=True,
    )


JOB_KINDS: Mapping[str, JobKind] = MappingProxyType(
    {
        "stage_a": _model(
            "Reads new messages of one channel and writes down what they say.", attempts=None, built=True
        ),
        "stage_b": _model("Curates what an agent's new evidence says.", attempts=None, built=True),
        "learn_material": _model("Reads a file, text or page that was handed in.", built=True),
        "embed": JobKind(
            what="Makes vectors of texts.",
            backoff_s=MODEL_BACKOFF_S,
            attempts=None,
            limit_s=600,
            budget="the texts of one batch",
            built=True,
        ),
        "sync_connector": JobKind(what="Fetches what changed at one connector.", attempts=None, built=True),
        "learn_session": _dropped("Consolidates the memory of one session."),
        "learn_agent": _dropped("Consolidates the memory of one agent."),
        "learn_bot": JobKind(
            what="Learns from the new items of one chat of a bot.",
            backoff_s=MODEL_BACKOFF_S,
            attempts=None,
            limit_s=3_600,
            budget="what its bot may spend",
            built=True,
        ),
        CLOSE_SANDBOX: JobKind(
            what="Makes memory of what was recorded in a sandbox that closes.",
            backoff_s=MODEL_BACKOFF_S,
            attempts=PARK_AFTER,
            lease_s=60,
            heartbeat_s=15,
            limit_s=14_400,
            budget="the turns and seconds of its phases",
            built=True,
        ),
        PURGE_RECORDS: JobKind(
            what="Deletes the records of a deleted memory at their backend; at the end their namespace is free.",
            backoff_s=(5, 30, 120, 600, 3_600),
            attempts=12,
            lease_s=60,
            heartbeat_s=15,
            limit_s=600,
            gives_up=True,
            built=True,
        ),
        RECOMPUTE_AUDIENCE: JobKind(
            what="Settles who may see what rests on a source, where too much does for one transaction.",
            backoff_s=(5, 10, 20, 40, 80, 160, 320),
            attempts=None,
            lease_s=60,
            heartbeat_s=15,
            limit_s=3_600,
            built=True,
        ),
        "collect_blobs": JobKind(
            what="Removes bytes that no row names, after a day of grace.",
            attempts=5,
            limit_s=3_600,
            every_s=3_600,
            built=True,
        ),
        "reseal": JobKind(
            what="Seals with the newest key what an older one sealed.",
            attempts=20,
            lease_s=30,
            heartbeat_s=7,
            limit_s=3_600,
            built=True,
        ),
    }
)


def purging_by(attempts: int, lease_s: int) -> JobKind:
    """Return the kind `purge_records` as the outbox settings want it (RM-48)."""
    return replace(JOB_KINDS[PURGE_RECORDS], attempts=attempts, lease_s=lease_s, heartbeat_s=max(lease_s // 4, 1))


_FREE: Mapping[str, Any] = MappingProxyType({"owner": None, "lease_until": None, "heartbeat_at": None})


def asked_again(job: Job, due_at: Millis, due: Due, arguments: Any = None) -> dict[str, Any]:
    """Return what a new wish for its work changes in a job that is there already; nothing while it is parked.

    A job that waits after a failure keeps its time: new material does not shorten the back-off.
    """
    given = {} if arguments is None else {"arguments": arguments}
    if job.state == JobState.PARKED:
        return {}
    if job.state == JobState.RUNNING:
        return {**given, "again_at": _moved(job.again_at, due_at, due)}
    if job.state == JobState.QUEUED:
        return {**given, "due_at": job.due_at if job.attempts else _moved(job.due_at, due_at, due)}
    return {**given, **_FREE, "state": str(JobState.QUEUED), "due_at": due_at, "attempts": 0, "last_error": None}


def _moved(old: Millis | None, new: Millis, due: Due) -> Millis:
    return new if old is None or due is Due.LATER else min(old, new)


def prolonged(job: Job, *, kind: JobKind, now: Millis) -> dict[str, Any]:
    """Return what a heartbeat changes."""
    del job
    return {"heartbeat_at": now, "lease_until": Millis(now + kind.lease_s * 1_000)}


def succeeded(job: Job, *, kind: JobKind, now: Millis, result: Any) -> dict[str, Any]:
    """Return what a success makes of a job: over, or due again if it recurs or was asked for meanwhile."""
    ended = {**_FREE, "attempts": 0, "last_error": None, "result": result, "again_at": None}
    again = Millis(now + kind.every_s * 1_000) if kind.every_s is not None else job.again_at
    if again is None:
        return {**ended, "state": str(JobState.SUCCEEDED)}
    return {**ended, "state": str(JobState.QUEUED), "due_at": again}


def failed(job: Job, *, kind: JobKind, now: Millis, code: str, retry_after_s: float | None = None) -> dict[str, Any]:
    """Return what a failure makes of a job: tried again later, or parked for a person."""
    wait = delay_s(kind.backoff_s, job.attempts, asked_for_s=retry_after_s)
    if kind.attempts is None or job.attempts < kind.attempts:
        return {**_later(now, wait), "last_error": code}
    if kind.every_s is not None:
        return {**_later(now, kind.every_s), "attempts": 0, "last_error": code}
    ends = kind.gives_up or kind.on_restart is OnRestart.DROP
    return _ended(job, code) if ends else parked(code)


def parked(code: str) -> dict[str, Any]:
    """Return what makes a job wait for a person."""
    return {**_FREE, "state": str(JobState.PARKED), "last_error": code, "again_at": None}


def put_off(job: Job, until: Millis, code: str) -> dict[str, Any]:
    """Return what lets a job wait for a time without counting as a failure, such as the next day's budget."""
    return {
        **_FREE,
        "state": str(JobState.QUEUED),
        "due_at": until,
        "attempts": max(job.attempts - 1, 0),
        "last_error": code,
        "again_at": None,
    }


def handed_back(job: Job, kind: JobKind, now: Millis) -> dict[str, Any]:
    """Return what a worker that is told to end makes of the job it has."""
    if kind.on_restart is OnRestart.DROP:
        return dropped(job)
    return {**_later(now, 0), "attempts": max(job.attempts - 1, 0)}


def dropped(job: Job) -> dict[str, Any]:
    """Return what becomes of a job that does not survive its worker (AD-34)."""
    return _ended(job, DROPPED)


def _ended(job: Job, code: str) -> dict[str, Any]:
    """Return what ends a job whose items wait for the next turn or refresh; one that came meanwhile asks for it now."""
    ended = {**parked(code), "state": str(JobState.FAILED)}
    if job.again_at is None:
        return ended
    return {**ended, "state": str(JobState.QUEUED), "due_at": job.again_at, "attempts": 0}


def cancelled(job: Job, reason: str) -> dict[str, Any]:
    """Return what cancelling makes of a job; the fence keeps a worker that is at it from committing."""
    return {
        **_FREE,
        "state": str(JobState.CANCELLED),
        "last_error": reason,
        "fence": job.fence + 1,
        "again_at": None,
    }


def released(now: Millis) -> dict[str, Any]:
    """Return what lets a job begin afresh at once."""
    return {**_later(now, 0), "attempts": 0, "last_error": None, "again_at": None}


def _later(now: Millis, seconds: float) -> dict[str, Any]:
    return {**_FREE, "state": str(JobState.QUEUED), "due_at": Millis(now + int(seconds * 1_000)), "again_at": None}


def must_drop(job: Job, kind: JobKind) -> bool:
    """Return whether a job just claimed was begun by a worker that died, and is not resumed (AD-34)."""
    return kind.on_restart is OnRestart.DROP and job.attempts > 1


def wore_workers_out(job: Job, kind: JobKind) -> bool:
    """Return whether a job just claimed was begun too often by workers that died at it; a failure is counted by them.

    One that fails is given up at its last attempt, so more attempts than that are take-overs.
    """
    return kind.attempts is not None and job.attempts > kind.attempts


def counts_as_parked(job: Job) -> bool:
    """Return whether people should see the job among those that do not get on (bug case 20)."""
    waits = job.state == JobState.QUEUED and job.attempts >= PARK_AFTER and job.last_error is not None
    return job.state == JobState.PARKED or waits


def as_markdown() -> str:
    """Return the table as `docs/job-kinds.md` shows it."""
    heads = ("Kind", "What it does", "Lease", "Heartbeat", "Attempts", "Back-off", "Time limit", "Budget")
    rows = [(*heads, "After a restart", "Built"), ("---",) * 10, *(_row(*item) for item in JOB_KINDS.items())]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(name: str, kind: JobKind) -> tuple[str, ...]:
    return (
        f"`{name}`",
        kind.what,
        f"{kind.lease_s} s",
        f"{kind.heartbeat_s} s",
        "no end" if kind.attempts is None else str(kind.attempts),
        ", ".join(f"{wait:,}" for wait in kind.backoff_s) + " s",
        f"{kind.limit_s:,} s",
        kind.budget or "no model",
        str(kind.on_restart),
        "yes" if kind.built else "not yet",
    )
