"""Every kind of background work in one table: lease, heartbeat, attempts, back-off, limits, and what a restart does.

`docs/job-kinds.md` is made of it. A claim carries a fencing number (`Job.fence`); whatever ends or prolongs a job
checks it, so that a worker that lost its lease changes nothing any more. Source: AD-33, AD-34.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class OnRestart(StrEnum):
    """What becomes of a job whose worker died."""

    RESUME = "resumes when the lease is over"
    DROP = "is dropped; its items wait for the next turn or refresh"


@dataclass(frozen=True, kw_only=True, slots=True)
class JobKind:
    """How one kind of work is done.

    Attributes:
        what: what it does, for people to read.
        lease_s: so long a claim holds without a heartbeat.
        heartbeat_s: so often a worker says that it is still at it.
        attempts: so often it is tried before it counts as failed.
        backoff_s: wait after the first failure; doubled after each further one, at most an hour.
        limit_s: one try takes no longer.
        budget: what bounds its use of models; "none" if it uses no model.
        every_s: a recurring kind is due again so long after it ended; None for work that something else asks for.
        built: false while no worker of this version does it.
    """

    what: str
    lease_s: int
    heartbeat_s: int
    attempts: int
    backoff_s: int
    limit_s: int
    budget: str = "none"
    on_restart: OnRestart = OnRestart.RESUME
    every_s: int | None = None
    built: bool = False


MAX_BACKOFF_S = 3_600
_TOKENS = "the tokens of its stage, of one call and of the day"


def _model(what: str, *, lease_s: int = 120, limit_s: int = 1_800, budget: str = _TOKENS) -> JobKind:
    return JobKind(what=what, lease_s=lease_s, heartbeat_s=30, attempts=5, backoff_s=60, limit_s=limit_s, budget=budget)


def _dropped(what: str) -> JobKind:
    return JobKind(
        what=what,
        lease_s=120,
        heartbeat_s=30,
        attempts=1,
        backoff_s=60,
        limit_s=1_800,
        budget=_TOKENS,
        on_restart=OnRestart.DROP,
    )


JOB_KINDS: Mapping[str, JobKind] = MappingProxyType(
    {
        "stage_a": _model("Reads new messages of one channel and writes down what they say."),
        "stage_b": _model("Curates what one knowledge base has gathered."),
        "learn_material": _model("Reads a file, text or page that was handed in."),
        "embed": _model("Makes vectors of texts.", limit_s=600, budget="the texts of one batch"),
        "sync_connector": JobKind(
            what="Fetches what changed at one connector.",
            lease_s=120,
            heartbeat_s=30,
            attempts=5,
            backoff_s=60,
            limit_s=1_800,
        ),
        "learn_session": _dropped("Consolidates the memory of one session."),
        "learn_agent": _dropped("Consolidates the memory of one agent."),
        "learn_bot": _model("Learns from the items of one bot."),
        "close_sandbox": _model("Keeps what is worth keeping of a sandbox that closed."),
        "purge_records": JobKind(
            what="Removes records whose time is over.",
            lease_s=120,
            heartbeat_s=30,
            attempts=8,
            backoff_s=60,
            limit_s=1_800,
        ),
        "recompute_audience": JobKind(
            what="Settles who may see what rests on a source, where too much does for one transaction.",
            lease_s=60,
            heartbeat_s=15,
            attempts=20,
            backoff_s=5,
            limit_s=3_600,
        ),
        "collect_blobs": JobKind(
            what="Removes bytes that no row names, after a day of grace.",
            lease_s=120,
            heartbeat_s=30,
            attempts=5,
            backoff_s=60,
            limit_s=3_600,
            every_s=3_600,
            built=True,
        ),
        "reseal": JobKind(
            what="Seals with the newest key what an older one sealed.",
            lease_s=120,
            heartbeat_s=30,
            attempts=20,
            backoff_s=60,
            limit_s=3_600,
        ),
    }
)


def backoff_s(kind: JobKind, failures: int) -> int:
    """Return how long to wait after the n-th failure, in seconds.

    >>> [backoff_s(JOB_KINDS["collect_blobs"], n) for n in (1, 2, 3, 12)]
    [60, 120, 240, 3600]
    """
    return min(kind.backoff_s << min(failures - 1, 20), MAX_BACKOFF_S)


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
        str(kind.attempts),
        f"from {kind.backoff_s} s",
        f"{kind.limit_s} s",
        kind.budget,
        str(kind.on_restart),
        "yes" if kind.built else "not yet",
    )
