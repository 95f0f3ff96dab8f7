"""The alerts of long-term memory: exactly those of CO-69, each with code, severity, since when, and about what. Pure.

An alert is decided anew at every look, so it clears itself when its condition ends. What a reader may not see is in no
alert of his; an admin learns how many such channels or tasks are affected, and not which (CO-68).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from graph.model.ids import NodeId
from graph.model.time import DAY_MS, Millis

IN_A_ROW = 3
"""So many failures in a row are an alert."""
BACKLOG = 500
BACKLOG_MS = 60 * 60_000
ABSENT_MS = 120_000
MIN_JUDGED = 10
"""Fewer operations of a run are too few to judge it by its rejections."""
REJECTED_SHARE = 0.5
NEAR_BUDGET = 0.9


class Severity(StrEnum):
    """How much an alert matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class AlertCode(StrEnum):
    """The alerts, in the order in which they are listed."""

    EMBEDDING_UNCONFIGURED = "embedding_unconfigured"
    EMBEDDING_FAILING = "embedding_failing"
    EMBEDDING_BACKLOG = "embedding_backlog"
    LIGHT_PROFILE_UNAVAILABLE = "light_profile_unavailable"
    STAGE_A_FAILING = "stage_a_failing"
    STAGE_A_LAGGING = "stage_a_lagging"
    STAGE_B_FAILING = "stage_b_failing"
    STAGE_B_STALE = "stage_b_stale"
    STAGE_B_REJECTIONS = "stage_b_rejections"
    MEMO_NEAR_BUDGET = "memo_near_budget"
    TASK_STUCK = "task_stuck"
    WORKER_ABSENT = "worker_absent"
    CONNECTOR_FAILING = "connector_failing"
    EVIDENCE_WITHDRAWN = "evidence_withdrawn"
    AUDIT_CHAIN_BROKEN = "audit_chain_broken"
    LINT_FINDINGS = "lint_findings"


SEVERITIES: Mapping[AlertCode, Severity] = {
    AlertCode.EMBEDDING_UNCONFIGURED: Severity.INFO,
    AlertCode.EMBEDDING_FAILING: Severity.ERROR,
    AlertCode.EMBEDDING_BACKLOG: Severity.WARNING,
    AlertCode.LIGHT_PROFILE_UNAVAILABLE: Severity.ERROR,
    AlertCode.STAGE_A_FAILING: Severity.ERROR,
    AlertCode.STAGE_A_LAGGING: Severity.WARNING,
    AlertCode.STAGE_B_FAILING: Severity.ERROR,
    AlertCode.STAGE_B_STALE: Severity.WARNING,
    AlertCode.STAGE_B_REJECTIONS: Severity.WARNING,
    AlertCode.MEMO_NEAR_BUDGET: Severity.WARNING,
    AlertCode.TASK_STUCK: Severity.ERROR,
    AlertCode.WORKER_ABSENT: Severity.ERROR,
    AlertCode.CONNECTOR_FAILING: Severity.WARNING,
    AlertCode.EVIDENCE_WITHDRAWN: Severity.WARNING,
    AlertCode.AUDIT_CHAIN_BROKEN: Severity.ERROR,
    AlertCode.LINT_FINDINGS: Severity.INFO,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Alert:
    """One alert.

    Attributes:
        objects: what is affected, in id order, as far as the reader sees it.
        count: how many things are affected, those that only an admin is told the number of included.
        hidden: how many of them the reader does not see; 0 for all but admins.
    """

    code: AlertCode
    since: Millis
    objects: tuple[NodeId, ...] = ()
    count: int = 1
    hidden: int = 0

    @property
    def severity(self) -> Severity:
        """How much it matters."""
        return SEVERITIES[self.code]


@dataclass(frozen=True, kw_only=True, slots=True)
class Affected:
    """One thing that meets the condition of an alert.

    Attributes:
        id: None for what the reader does not see.
        since: from when on.
    """

    id: NodeId | None
    since: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class Embedding:
    """What the alerts of vectors look at; `pending` is of all kinds together."""

    configured: bool
    since: Millis
    failures: int = 0
    failing_since: Millis | None = None
    pending: int = 0
    oldest_pending_at: Millis | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Lagging:
    """What the alerts of Stage A look at, of one channel and base.

    Attributes:
        channel: None for one that the reader does not read.
        failing_since: when the third failure in a row was; None while there are fewer.
    """

    channel: NodeId | None
    failures: int
    failing_since: Millis | None
    oldest_pending_at: Millis | None


@dataclass(frozen=True, kw_only=True, slots=True)
class EndedRun:
    """A run of Stage B that has ended."""

    id: NodeId
    ended_at: Millis
    succeeded: bool
    accepted: int
    rejected: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Curating:
    """What the alerts of Stage B look at; `ended` is newest first."""

    agent: NodeId
    ended: Sequence[EndedRun] = ()
    oldest_pending_at: Millis | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoUse:
    """Tokens of a memo, used and allowed."""

    memo: NodeId
    used: int
    allowed: int
    updated_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class Waiting:
    """Whether anybody works: since when a job waits that could be done, and when a worker last showed itself."""

    job: NodeId | None = None
    due_since: Millis | None = None
    heartbeat_at: Millis | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Condition:
    """All that the alerts of one agent are decided by, as one reader sees it.

    Attributes:
        profile_missing_since: None while the profile is there and usable.
        stuck, connectors, withdrawn, broken, lint: what meets the condition already.
    """

    embedding: Embedding
    profile_missing_since: Millis | None = None
    channels: Sequence[Lagging] = ()
    curating: Curating
    memos: Sequence[MemoUse] = ()
    stuck: Sequence[Affected] = ()
    waiting: Waiting = field(default_factory=Waiting)
    connectors: Sequence[Affected] = ()
    withdrawn: Sequence[Affected] = ()
    broken: Sequence[Affected] = ()
    lint: Sequence[Affected] = ()


def alerts(found: Condition, now: Millis) -> list[Alert]:
    """Return the alerts of an agent, in the order of `AlertCode`."""
    met: Mapping[AlertCode, Sequence[Affected]] = {
        AlertCode.EMBEDDING_UNCONFIGURED: _of(not found.embedding.configured, None, found.embedding.since),
        AlertCode.EMBEDDING_FAILING: _embedding_failing(found.embedding),
        AlertCode.EMBEDDING_BACKLOG: _backlog(found.embedding, now),
        AlertCode.LIGHT_PROFILE_UNAVAILABLE: _since(found.curating.agent, found.profile_missing_since),
        AlertCode.STAGE_A_FAILING: [_failing(one) for one in found.channels if one.failures >= IN_A_ROW],
        AlertCode.STAGE_A_LAGGING: [one for each in found.channels for one in _lagging(each, now)],
        AlertCode.STAGE_B_FAILING: _stage_b_failing(found.curating),
        AlertCode.STAGE_B_STALE: _stale(found.curating, now),
        AlertCode.STAGE_B_REJECTIONS: _rejections(found.curating),
        AlertCode.MEMO_NEAR_BUDGET: [
            Affected(id=memo.memo, since=memo.updated_at)
            for memo in found.memos
            if memo.used >= NEAR_BUDGET * memo.allowed
        ],
        AlertCode.TASK_STUCK: found.stuck,
        AlertCode.WORKER_ABSENT: _absent(found.waiting, now),
        AlertCode.CONNECTOR_FAILING: found.connectors,
        AlertCode.EVIDENCE_WITHDRAWN: found.withdrawn,
        AlertCode.AUDIT_CHAIN_BROKEN: found.broken,
        AlertCode.LINT_FINDINGS: found.lint,
    }
    return [_alert(code, met[code]) for code in AlertCode if met[code]]


def message(alert: Alert) -> str:
    """Return an alert in words; it holds numbers and no name.

    >>> message(Alert(code=AlertCode.STAGE_A_LAGGING, since=Millis(0), count=1, hidden=1))
    '1 channel has waited for more than 24 hours, 1 of them not yours to read'
    """
    text = _WORDS[alert.code](alert.count)
    return f"{text}, {alert.hidden} of them not yours to read" if alert.hidden else text


def is_lagging(found: Lagging, now: Millis) -> bool:
    """Return whether a message of a channel has waited for more than 24 hours."""
    return found.oldest_pending_at is not None and now - found.oldest_pending_at > DAY_MS


def streak(ended: Iterable[EndedRun]) -> list[EndedRun]:
    """Return the failures since the last success, newest first."""
    failed: list[EndedRun] = []
    for run in ended:
        if run.succeeded:
            break
        failed.append(run)
    return failed


def _alert(code: AlertCode, met: Sequence[Affected]) -> Alert:
    objects = {one.id for one in met if one.id is not None}
    return Alert(
        code=code,
        since=min(one.since for one in met),
        objects=tuple(sorted(objects)),
        count=len(met),
        hidden=sum(one.id is None for one in met) if code in _COUNTED_UNSEEN else 0,
    )


_COUNTED_UNSEEN = frozenset({AlertCode.STAGE_A_FAILING, AlertCode.STAGE_A_LAGGING, AlertCode.TASK_STUCK})


def _of(met: bool, id_: NodeId | None, since: Millis) -> list[Affected]:
    return [Affected(id=id_, since=since)] if met else []


def _since(id_: NodeId | None, since: Millis | None) -> list[Affected]:
    return [] if since is None else [Affected(id=id_, since=since)]


def _embedding_failing(found: Embedding) -> list[Affected]:
    return _of(found.configured and found.failures >= IN_A_ROW, None, found.failing_since or found.since)


def _backlog(found: Embedding, now: Millis) -> list[Affected]:
    oldest = found.oldest_pending_at
    if not found.configured or oldest is None:
        return []
    old = now - oldest > BACKLOG_MS
    return _of(old or found.pending > BACKLOG, None, Millis(oldest + BACKLOG_MS) if old else oldest)


def _failing(found: Lagging) -> Affected:
    return Affected(id=found.channel, since=found.failing_since or found.oldest_pending_at or Millis(0))


def _lagging(found: Lagging, now: Millis) -> list[Affected]:
    return _of(is_lagging(found, now), found.channel, Millis((found.oldest_pending_at or 0) + DAY_MS))


def _stage_b_failing(found: Curating) -> list[Affected]:
    failed = streak(found.ended)
    return _of(len(failed) >= IN_A_ROW, found.agent, failed[-IN_A_ROW].ended_at) if len(failed) >= IN_A_ROW else []


def _stale(found: Curating, now: Millis) -> list[Affected]:
    """Judge whether something has waited for a day in which no run succeeded."""
    if found.oldest_pending_at is None:
        return []
    last = next((run.ended_at for run in found.ended if run.succeeded), None)
    begun = max(found.oldest_pending_at, last or found.oldest_pending_at)
    return _of(now - begun > DAY_MS, found.agent, Millis(begun + DAY_MS))


def _rejections(found: Curating) -> list[Affected]:
    if not found.ended:
        return []
    last = found.ended[0]
    judged = last.accepted + last.rejected
    return _of(judged >= MIN_JUDGED and last.rejected > REJECTED_SHARE * judged, last.id, last.ended_at)


def _absent(found: Waiting, now: Millis) -> list[Affected]:
    if found.due_since is None:
        return []
    since = max(found.due_since, found.heartbeat_at or found.due_since) + ABSENT_MS
    return _of(now >= since, found.job, Millis(since))


def _many(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


_WORDS: Mapping[AlertCode, Callable[[int], str]] = {
    AlertCode.EMBEDDING_UNCONFIGURED: lambda n: "no embedding provider is configured: search finds words alone",
    AlertCode.EMBEDDING_FAILING: lambda n: "the embedding provider fails again and again",
    AlertCode.EMBEDDING_BACKLOG: lambda n: "vectors are made more slowly than texts arrive",
    AlertCode.LIGHT_PROFILE_UNAVAILABLE: lambda n: "this agent has no usable model: set its model profile",
    AlertCode.STAGE_A_FAILING: lambda n: f"{_many(n, 'channel')} failed three times in a row",
    AlertCode.STAGE_A_LAGGING: lambda n: (
        f"{_many(n, 'channel')} {'has' if n == 1 else 'have'} waited for more than 24 hours"
    ),
    AlertCode.STAGE_B_FAILING: lambda n: "curation failed three times in a row",
    AlertCode.STAGE_B_STALE: lambda n: "material has waited for curation for more than 24 hours",
    AlertCode.STAGE_B_REJECTIONS: lambda n: "more than half of what the last run wanted to write broke a rule",
    AlertCode.MEMO_NEAR_BUDGET: lambda n: f"{_many(n, 'resident memo')} {'is' if n == 1 else 'are'} almost full",
    AlertCode.TASK_STUCK: lambda n: f"{_many(n, 'task')} {'does' if n == 1 else 'do'} not get on",
    AlertCode.WORKER_ABSENT: lambda n: "work is waiting and no worker shows itself: start one with rootward worker",
    AlertCode.CONNECTOR_FAILING: lambda n: f"{_many(n, 'connector')} failed three times in a row",
    AlertCode.EVIDENCE_WITHDRAWN: lambda n: f"{_many(n, 'entry', 'entries')} lost evidence and wait for curation",
    AlertCode.AUDIT_CHAIN_BROKEN: lambda n: f"the audit chain of {_many(n, 'knowledge base')} is broken",
    AlertCode.LINT_FINDINGS: lambda n: f"the lint found {_many(n, 'thing')} to look at",
}
