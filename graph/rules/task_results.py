"""Results of tasks as sources: steps and the final answer in one text, told apart by offsets. Source: KN-66, DR-34."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from graph.model.errors import BadInput, LimitExceeded
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.text.quotes import normalise_source

MAX_STEPS = 1_000
MAX_TEXT_CHARACTERS = 200_000
MAX_ACTION_CHARACTERS = 200
MAX_TASK_ID = 512
_GAP = "\n\n"


class TaskState(StrEnum):
    """How a task ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StepOutcome(StrEnum):
    """How one step ended."""

    OK = "ok"
    ERROR = "error"


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskStep:
    """One step of a task: what was done, how it ended, and what it showed."""

    action: str
    outcome: StepOutcome
    text: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskResult:
    """What a task did.

    Attributes:
        task_id: the host's own id; recording it again is a repetition or a new version.
        steps: in the order in which they were taken.
        ended_at: when the task ended; None for the time of recording.
    """

    task_id: str
    state: TaskState
    steps: tuple[TaskStep, ...] = ()
    final: str = ""
    ended_at: Millis | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LaidOut:
    """A result as its source keeps it.

    Attributes:
        text: the texts of the steps, then the final answer, with an empty line between; in the form in which quotes
            are compared, so that the offsets in `meta` count like those of citations.
        meta: ``{"state", "steps": [{"action", "outcome", "start", "end"}], "final": {"start", "end"}}``.
    """

    text: str
    meta: Mapping[str, Json]


def lay_out(result: TaskResult) -> LaidOut:
    r"""Return the text and the offsets of a result.

    >>> made = lay_out(TaskResult(task_id="t", state=TaskState.SUCCEEDED, final="done",
    ...     steps=(TaskStep(action="run", outcome=StepOutcome.OK, text="it ran"),)))
    >>> made.text, made.meta["final"]
    ('it ran\n\ndone', {'start': 8, 'end': 12})
    """
    pieces = [_clean(step.text) for step in result.steps] + [_clean(result.final)]
    places: list[tuple[int, int]] = []
    at = 0
    for piece in pieces:
        places.append((at, at + len(piece)))
        at += len(piece) + len(_GAP)
    steps = [
        {"action": step.action, "outcome": str(step.outcome), "start": start, "end": end}
        for step, (start, end) in zip(result.steps, places, strict=False)
    ]
    start, end = places[-1]
    meta = {"state": str(result.state), "steps": steps, "final": {"start": start, "end": end}}
    return LaidOut(text=_GAP.join(pieces), meta=meta)


def check_result(result: TaskResult) -> None:
    """Refuse a result that is too large or has no task.

    Raises:
        BadInput, LimitExceeded: says what is allowed.
    """
    if not result.task_id.strip() or len(result.task_id) > MAX_TASK_ID:
        raise BadInput(f"a task id has 1 to {MAX_TASK_ID} characters", field="taskId")
    if len(result.steps) > MAX_STEPS:
        raise LimitExceeded(f"a result has at most {MAX_STEPS} steps", field="steps", limit=MAX_STEPS)
    if any(not step.action.strip() or len(step.action) > MAX_ACTION_CHARACTERS for step in result.steps):
        raise BadInput(f"an action has 1 to {MAX_ACTION_CHARACTERS} characters", field="action")
    if sum(len(step.text) for step in result.steps) + len(result.final) > MAX_TEXT_CHARACTERS:
        raise LimitExceeded(
            f"the texts of a result have at most {MAX_TEXT_CHARACTERS} characters",
            field="text",
            limit=MAX_TEXT_CHARACTERS,
        )


def is_recovery(meta: Json) -> bool:
    """True for a stored result in which a step failed and a later one did not (SK-15).

    >>> is_recovery({"steps": [{"outcome": "error"}, {"outcome": "ok"}]})
    True
    >>> is_recovery({"steps": [{"outcome": "ok"}, {"outcome": "error"}]})
    False
    """
    outcomes = [step.get("outcome") for step in _steps(meta)]
    return StepOutcome.ERROR in outcomes and StepOutcome.OK in outcomes[outcomes.index(StepOutcome.ERROR) :]


def is_success(meta: Json, min_steps: int = 0) -> bool:
    """True for a stored result of a task that succeeded in at least so many steps (SK-15)."""
    succeeded = isinstance(meta, Mapping) and meta.get("state") == TaskState.SUCCEEDED
    return succeeded and len(_steps(meta)) >= min_steps


def _steps(meta: Json) -> list[Mapping[str, Json]]:
    steps = meta.get("steps") if isinstance(meta, Mapping) else None
    return [step for step in steps or () if isinstance(step, Mapping)]


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskPlace:
    """Where a result belongs: a conversation, or the own knowledge of its agent (DR-34)."""

    agent: NodeId
    pool: NodeId
    conversation_id: NodeId | None = None
    channel_id: NodeId | None = None


def _clean(text: str) -> str:
    # A lone CR at the end of a piece would form a CRLF with the gap and move every later offset.
    return normalise_source(text).replace("\r", "\n")
