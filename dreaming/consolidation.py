"""What consolidating a session and an agent have in common: asking a model for changes, and reading its answer.

The answer is one object with a list of changes; what is no such object is a failure of the model, a single bad change
is dropped alone. Nothing is asked twice: the next turn tries again. Source: SM-109 to SM-112, AM-33.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from dreaming.jobs import WorkContext, guarded_commit
from dreaming.models.answers import Unusable, read_answer, read_items
from dreaming.models.port import ModelRequest
from dreaming.models.wrappers import TimedModel
from dreaming.saved_calls import LightModel, saved_call
from graph.model.errors import ModelAnswerInvalid, ModelError
from graph.model.fields import Json
from graph.model.ids import local_part
from graph.model.nodes.people import Principal
from graph.model.nodes.sessions import Consolidation, Outcome, Session
from graph.rules.agent_memory_text import person_called
from graph.rules.consolidation import Decision, Proposal, Tag
from graph.services.deps import Figures
from graph.services.sessions.consolidations import Ending, begin_record, end_record

ANSWER_S: Final = 120
"""An answer that takes longer is a failure (SM-111)."""
MAX_OUTPUT_TOKENS: Final = 8_192
ITEM_CHARS: Final = 24_000
ITEMS_CHARS: Final = 160_000
KNOWN_CHARS: Final = 60_000


class ChangeList(BaseModel):
    """What a model answers; what a change has to be is judged change by change."""

    model_config = ConfigDict(hide_input_in_errors=True)

    changes: list[Any]


class Change(BaseModel):
    """The shape of one change; `sources` as each memory names them."""

    model_config = ConfigDict(strict=True, hide_input_in_errors=True)

    tag: Literal["Remember", "Forget"] = Field(alias="_tag")
    key: str
    content: str = ""
    kind: str = ""
    sources: list[Any]


def new_record(work: WorkContext, of: str, session: Session) -> Consolidation:
    """Return the record of a step that begins now; `of` is ``session`` or ``agent``."""
    now = work.deps.now()
    return Consolidation(
        id=work.deps.new_id(Consolidation.PREFIX),
        workspace=session.workspace,
        pool=session.id,
        created_at=now,
        of=of,
        session_id=session.id,
        agent_id=session.agent_id,
        turn_id=(work.job.arguments or {}).get("turn"),
        started_at=now,
    )


async def recorded(
    work: WorkContext, record: Consolidation, asked: Callable[[], Awaitable[Sequence[Proposal | None]]]
) -> Sequence[Proposal | None]:
    """Write that a step begins, ask, and return what is proposed; a failure of the model ends the record.

    Raises:
        ModelError: the model failed; the record says so.
    """
    await guarded_commit(work, lambda writer: begin_record(writer, record))
    try:
        return await asked()
    except ModelError as error:
        ending = Ending(outcome=Outcome.FAILED, error=error.wire_code)
        await guarded_commit(work, lambda writer: end_record(writer, record.id, work.deps.now(), ending))
        raise


async def ask_for_changes(work: WorkContext, light: LightModel, key: str, request: ModelRequest) -> Sequence[Json]:
    """Return the changes that a model proposes, unread.

    Raises:
        ModelUnavailable, ModelBudgetSpent: no answer, or nothing may be asked today.
        ModelAnswerInvalid: it answered something else.
        LeaseLost: nothing was asked.
    """
    timed = LightModel(
        model=TimedModel(inner=light.model, seconds=ANSWER_S, clock=work.deps.clock), settings=light.settings
    )
    answer = await saved_call(work, timed, key, request, kept=False)
    read = read_answer(answer, ChangeList)
    if isinstance(read, Unusable):
        work.deps.figures.count("model_answers_unusable", purpose=request.purpose, problem=str(read.problem))
        raise ModelAnswerInvalid("the model's answer cannot be used", problem=str(read.problem))
    return read.value.changes


def proposals(changes: Sequence[Json], named: Callable[[Json], str]) -> Sequence[Proposal | None]:
    """Return the changes of an answer in their order; None for each that has not the shape of one.

    Args:
        changes: as the model wrote them.
        named: returns the id of the item that a source names, or any text that is none.
    """
    good = dict(read_items(changes, Change).good)
    return [_proposal(good[index], named) if index in good else None for index in range(len(changes))]


def count_dropped(figures: Figures, purpose: str, decision: Decision) -> None:
    """Count why changes were dropped."""
    for reason in decision.rejected:
        figures.count("consolidation_changes_dropped", purpose=purpose, reason=str(reason))


def people_called(people: Iterable[object]) -> dict[str, str]:
    """Return by id what people are called in a prompt."""
    found = [person for person in people if isinstance(person, Principal)]
    return {person.id: person_called(person.display_name, local_part(person.id)) for person in found}


def cut_text(text: str) -> dict[str, Json]:
    """Return the text of an item for a prompt; only the beginning of a very long one, and then marked."""
    return {"text": text} if len(text) <= ITEM_CHARS else {"text": text[:ITEM_CHARS], "shortened": True}


def section(title: str, rows: Iterable[Json]) -> str:
    """Return a section of a prompt: one JSON object a line, so that no text passes for another line."""
    return "\n".join([f"## {title}", *(json.dumps(row, ensure_ascii=False) for row in rows)])


def fitting(sizes: Iterable[int], most: int) -> int:
    """Return how many of these fit, from the first on: at least one, even if it alone does not.

    >>> fitting([3, 3, 3], 7), fitting([9, 1], 7), fitting([], 7)
    (2, 1, 0)
    """
    count, used = 0, 0
    for size in sizes:
        used += size
        if count and used > most:
            break
        count += 1
    return count


def answer_schema(kinds: Iterable[str], source: Json) -> Json:
    """Return the JSON schema of an answer, for a provider that takes one."""
    change = {
        "type": "object",
        "properties": {
            "_tag": {"enum": [str(tag) for tag in Tag]},
            "key": {"type": "string"},
            "content": {"type": "string"},
            "kind": {"enum": sorted(kinds)},
            "sources": {"type": "array", "items": source},
        },
        "required": ["_tag", "key", "sources"],
    }
    changes = {"type": "array", "items": change}
    return {"type": "object", "properties": {"changes": changes}, "required": ["changes"]}


def _proposal(change: Change, named: Callable[[Json], str]) -> Proposal:
    return Proposal(
        tag=Tag(change.tag),
        key=change.key,
        content=change.content,
        kind=change.kind,
        sources=tuple(named(source) for source in change.sources),
    )
