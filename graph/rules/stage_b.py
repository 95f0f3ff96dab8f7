"""Rules of Stage B: when an agent is due, what a batch holds, what a choice of what to open may name. Pure.

Source: DR-30 to DR-36, DR-79.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from graph.model.ids import NodeId, WorkspaceId, node_id
from graph.model.nodes.learning import DreamBatch, DreamRun, PendingItem, Progress, Stage
from graph.model.time import HOUR_MS, MINUTE_MS, Millis
from graph.rules.backoff import batch_size
from graph.rules.guarding import SCHEDULED as SCHEDULED
from graph.rules.knowledge_settings import Settings

STAGE_B = "stage_b"
MANUAL = "manual"


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class StageBKey:
    """An agent, or one of its knowledge bases: the first has one run at a time, the second one batch (DR-8, DR-33)."""

    agent: NodeId
    kb: NodeId | None = None

    @property
    def name(self) -> str:
        """What the progress is called."""
        return f"{self.agent}:{self.kb}" if self.kb else self.agent

    @property
    def unique_key(self) -> str:
        """What makes the job of the agent the only one (DR-8)."""
        return f"{STAGE_B}:{self.agent}"

    @property
    def progress_id(self) -> NodeId:
        """Id of its row of progress."""
        return node_id(Progress.PREFIX, f"{STAGE_B}:{self.name}")

    def new_progress(self, workspace: WorkspaceId, at: Millis) -> Progress:
        """Return the row as it is before the first run or batch."""
        return Progress(id=self.progress_id, workspace=workspace, created_at=at, stage=str(Stage.B), key=self.name)


def run_id(progress: Progress, ahead: int = 0) -> NodeId:
    """Return the id of the run of an agent's present progress, so that a restart finds it; or of a later one."""
    return node_id(DreamRun.PREFIX, f"{progress.id}/{progress.version + ahead}")


def batch_id(progress: Progress, back: int = 0) -> NodeId:
    """Return the id of the batch of a base's present progress, or of an earlier one: every failure begins another."""
    return node_id(DreamBatch.PREFIX, f"{progress.id}/{progress.version - back}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pace:
    """When an agent is due; see KN-119."""

    min_items: int
    max_wait_hours: float
    min_interval_minutes: float


def pace_of(settings: Settings) -> Pace:
    """Return when an agent is due under these settings."""
    return Pace(
        min_items=settings["stage_b.min_items"],
        max_wait_hours=settings["stage_b.max_wait_hours"],
        min_interval_minutes=settings["stage_b.min_interval_minutes"],
    )


def is_due(count: int, oldest_at: Millis | None, last_run_at: Millis | None, pace: Pace, now: Millis) -> bool:
    """Return whether a scheduled run is due (DR-32).

    Args:
        count: items that wait.
        oldest_at: since when the oldest of them waits.
        last_run_at: when the last scheduled run began; None if there was none.
        pace: of the settings.
        now: the present time.

    >>> pace = Pace(min_items=2, max_wait_hours=6, min_interval_minutes=60)
    >>> is_due(2, Millis(0), None, pace, Millis(1)), is_due(1, Millis(0), None, pace, Millis(6 * HOUR_MS))
    (True, True)
    >>> is_due(2, Millis(0), Millis(0), pace, Millis(HOUR_MS - 1)), is_due(1, Millis(0), None, pace, Millis(1))
    (False, False)
    """
    if not count or oldest_at is None:
        return False
    if last_run_at is not None and now - last_run_at < pace.min_interval_minutes * MINUTE_MS:
        return False
    return count >= pace.min_items or now - oldest_at >= pace.max_wait_hours * HOUR_MS


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How much one batch holds at most."""

    items: int
    tokens: int


def limits_of(settings: Settings, *, halvings: int = 0, failures: int = 0, failed_size: int = 0) -> Limits:
    """Return how much a batch of a base holds under these settings; the rest as `batch_size` (DR-33, DR-79)."""
    return Limits(
        items=batch_size(settings["stage_b.max_items"], halvings=halvings, failures=failures, failed_size=failed_size),
        tokens=max(settings["stage_b.max_tokens"] >> halvings, 1),
    )


def choose(waiting: Sequence[PendingItem], costs: Mapping[NodeId, int], limits: Limits) -> tuple[PendingItem, ...]:
    """Return the items of the next batch: the oldest, as many as fit; the first one always (DR-33).

    Args:
        waiting: of one base, oldest first.
        costs: tokens of the originals behind each item; what has none is not there any more and is left out.
        limits: of the batch.
    """
    taken: list[PendingItem] = []
    left = limits.tokens
    for item in waiting:
        cost = costs.get(item.item_id)
        if cost is None:
            continue
        if taken and (cost > left or len(taken) >= limits.items):
            break
        taken.append(item)
        left -= cost
    return tuple(taken)


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What a model wants to open, by the names that it was shown (DR-36)."""

    expand: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()


def faults_of(
    choice: Choice, *, items: Collection[str], entries: Collection[str], skills: Collection[str]
) -> tuple[str, ...]:
    """Return what is wrong with a choice, for its next try: it may name only what was shown (DR-36).

    The faults count the names that are wrong and repeat none of them.

    >>> faults_of(Choice(expand=("s9",)), items=["s1"], entries=[], skills=[])
    ('1 ids in expand are not items of this batch',)
    """
    named = (
        ("expand", choice.expand, items, "items of this batch"),
        ("skip", choice.skip, items, "items of this batch"),
        ("entries", choice.entries, entries, "entries that were shown"),
        ("skills", choice.skills, skills, "Skills that were shown"),
    )
    return tuple(
        f"{len(wrong)} ids in {field} are not {what}"
        for field, given, known, what in named
        if (wrong := set(given) - set(known))
    )
