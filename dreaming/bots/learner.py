"""Learning from one chat, for a run that a confide asked for. Source: BM-75 to BM-98, BM-126, BM-131 to BM-133.

Select what is new and what the chat's reader may see, ask within two minutes, decide by the latest state, and commit
changes, read position and end of the run together. If somebody else read the same items meanwhile, begin again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from dreaming.bots.learn_answer import LearnAnswer, proposals
from dreaming.bots.memory_bot import BudgetSpent, Limits, MemoryBot, TooLate, limits, memory_bot
from dreaming.bots.request_text import lines, request_of
from dreaming.jobs import PutOff, WorkContext, confirm_lease
from dreaming.models.answers import Good, read_answer
from dreaming.models.port import Finish, ModelAnswer, ModelRequest
from dreaming.prompts import load_prompt
from graph.model.errors import ModelError, NotFound
from graph.model.fields import Json
from graph.model.ids import NodeId, local_part
from graph.model.nodes.bots import BotRun, BotRunState, Chat
from graph.rules.bot_budget import STEP_S
from graph.rules.bot_learning import INVALID_ANSWER, MODEL_ERROR, TIMEOUT, longest_shown
from graph.rules.bot_tags import topics_of
from graph.services.bots.apply_learning import Applied, RunResult, Saved, apply_learning
from graph.services.bots.call_log import budget_spent, find_step_call, name_made, saved_answer
from graph.services.bots.chat_access import find_chat
from graph.services.bots.learning_context import (
    LearningContext,
    NewItems,
    confided_in,
    learning_context,
    new_items,
)
from graph.services.bots.readers import read_for_chat
from graph.services.bots.runs import BUDGET_SPENT, begun, ended, find_run, set_run, waiting
from graph.services.turnstile import Ticket
from graph.store.port import Writer

T = TypeVar("T")

PURPOSE = "bot.learn"
ATTEMPTS = 3
"""So often an answer that does not parse is asked for, in one step (BM-96)."""


class _Failed(Exception):
    """The run fails with one of the codes of BM-97."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, kw_only=True, slots=True)
class _Selected:
    """What a step is about.

    Attributes:
        request: what to ask.
        shown: ids of the entries in it.
    """

    new: NewItems
    request: ModelRequest
    shown: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Told:
    """What the model said, and what it had been shown then: of a saved call, what that was shown."""

    answer: LearnAnswer
    shown: tuple[str, ...]
    call: str


async def learn_bot(work: WorkContext) -> Json:
    """Do the learning run of a job, once its turn is over.

    Raises:
        PutOff: the budget is used up; the run waits (BM-126).
        LeaseLost: another worker has the job.
    """
    deps = work.deps
    async with deps.store.reading() as reader:
        run = await find_run(reader, NodeId(str(work.job.arguments["run"])))
        chat = None if run is None else await find_chat(reader, run.chat_id)
    if run is None or run.state in (BotRunState.DONE, BotRunState.FAILED):
        return {"outcome": "over"}
    if chat is None:
        return await _end(work, run, None)
    try:
        bot = await memory_bot(deps, work.models, chat)
        return await _learn(work, run, bot)
    except NotFound:  # the bot or the person of the chat is gone: nobody is left to learn for
        return await _end(work, run, None)
    except _Failed as failure:
        return await _end(work, run, failure.code)
    except BudgetSpent as spent:
        await _commit(work, lambda writer, tx_id: set_run(writer, run, waiting()))
        raise PutOff(BUDGET_SPENT, spent.until) from spent


async def _learn(work: WorkContext, run: BotRun, bot: MemoryBot) -> Json:
    """Learn until the result was taken: an outdated one is discarded, and the run begins again (BM-87)."""
    if not bot.switches.on or bot.switches.model is None:
        return await _end(work, run, None)
    while True:
        async with work.deps.store.reading() as reader:
            chat = await find_chat(reader, run.chat_id)
            new = None if chat is None else await new_items(work.deps, reader, chat, run.turn_id)
        if chat is None or new is None or new.is_empty:
            return await _end(work, run, None)
        saved = await _step(work, run, bot, chat, new)
        if saved.applied is not Applied.MOVED:
            return {"outcome": str(saved.applied), "made": len(saved.made), "dropped": saved.dropped}


async def _step(work: WorkContext, run: BotRun, bot: MemoryBot, chat: Chat, new: NewItems) -> Saved:
    """Ask about the new items and save what comes of it; of items without any text nothing is asked."""
    told: _Told | None = None
    if new.items:
        told = await _asked(work, run, bot, await _select(work, bot, chat, run, new))
    found, malformed = ([], 0) if told is None else proposals(told.answer)
    result = RunResult(
        run=run.id,
        bot=bot.bot,
        chat=chat.id,
        start=new.start,
        upto=new.upto,
        shown=() if told is None else told.shown,
        proposals=found,
        malformed=malformed,
    )

    async def write(writer: Writer, tx_id: str) -> Saved:
        saved = await apply_learning(writer, work.deps, result, tx_id=tx_id, at=work.deps.now())
        if told is not None:
            await name_made(writer, told.call, saved.made)
        return saved

    return await _commit(work, write)


async def _select(work: WorkContext, bot: MemoryBot, chat: Chat, run: BotRun, new: NewItems) -> _Selected:
    known = await read_for_chat(work.deps, bot.bot, chat, learning_context)
    async with work.deps.store.reading() as reader:
        confided = await confided_in(work.deps, reader, chat, run.turn_id)
    parts = {
        "New items": lines(_items(chat, new)),
        "Confided about them": lines({"text": text} for text in confided),
        "Entries": lines(_entries(known)),
        "Entries by topic": lines([dict(known.topics)] if known.topics else []),
    }
    schema = LearnAnswer.model_json_schema()
    request = request_of(PURPOSE, load_prompt("bot_learn"), parts, instructions=bot.instructions, schema=schema)
    return _Selected(new=new, request=request, shown=tuple(one.entry.id for one in known.entries))


def _items(chat: Chat, new: NewItems) -> list[dict[str, Json]]:
    longest = longest_shown([len(shown.text) for shown in new.items])
    return [
        {
            "chat": local_part(chat.id),
            "item": local_part(shown.item.id),
            "type": shown.item.type,
            **({} if shown.item.tool is None else {"tool": shown.item.tool}),
            **({} if shown.turn is None or not shown.turn.author else {"author": shown.turn.author}),
            **({"shortened": True} if len(shown.text) > longest else {}),
            "text": shown.text[:longest],
        }
        for shown in new.items
    ]


def _entries(known: LearningContext) -> list[dict[str, Json]]:
    return [
        {
            "entry": shown.entry.id,
            "layer": shown.entry.layer,
            "content": shown.content,
            "topics": list(topics_of(shown.entry.tags)),
        }
        for shown in known.entries
    ]


async def _asked(work: WorkContext, run: BotRun, bot: MemoryBot, selected: _Selected) -> _Told:
    """Return the first answer that parses, a saved one before a new one is asked for (BM-85, BM-96).

    Raises:
        BudgetSpent: nothing more is asked before the next period.
        _Failed: by its code.
    """
    step = f"{run.id}/{selected.new.start}"
    number = 1
    while number <= ATTEMPTS:
        saved = await _saved(work, f"{step}/{number}")
        if saved is None:
            break
        answer, shown = saved
        read = read_answer(answer, LearnAnswer)
        if isinstance(read, Good):
            return _Told(answer=read.value, shown=shown, call=f"{step}/{number}")
        number += 1
    return await _asked_anew(work, run, bot, selected, step, number)


async def _asked_anew(
    work: WorkContext, run: BotRun, bot: MemoryBot, selected: _Selected, step: str, number: int
) -> _Told:
    if number > ATTEMPTS:
        raise _Failed(INVALID_ANSWER)
    if bot.model is None:
        raise _Failed(MODEL_ERROR)
    deps = work.deps
    async with deps.store.reading() as reader:
        until = await budget_spent(reader, bot.chat.pool, bot.bot.home, deps.now())
    if until is not None:
        raise BudgetSpent(until)
    ticket = await deps.turnstile.enter(bot.bot.home, bot.concurrency)
    try:
        await _commit(work, lambda writer, tx_id: set_run(writer, run, begun(deps.now())))
        return await _tried(run, bot, selected, step, number, limits(deps.clock, STEP_S), ticket)
    except TooLate as error:
        raise _Failed(TIMEOUT) from error
    except ModelError as error:
        raise _Failed(MODEL_ERROR) from error
    finally:
        ticket.leave()


async def _tried(
    run: BotRun, bot: MemoryBot, selected: _Selected, step: str, number: int, until: Limits, ticket: Ticket
) -> _Told:
    assert bot.model is not None, "a run without a model was ended before"
    while number <= ATTEMPTS:
        key = f"{step}/{number}"
        draft = bot.draft(selected.request, shown=selected.shown, turn=run.turn_id, run=run.id, step=key)
        read = read_answer(await bot.call(bot.model, selected.request, draft, until, ticket), LearnAnswer)
        if isinstance(read, Good):
            return _Told(answer=read.value, shown=selected.shown, call=key)
        number += 1
    raise _Failed(INVALID_ANSWER)


async def _saved(work: WorkContext, step: str) -> tuple[ModelAnswer, tuple[str, ...]] | None:
    """Return the saved answer of a step and what the model had been shown for it."""
    async with work.deps.store.reading() as reader:
        call = await find_step_call(reader, step)
    text = None if call is None else saved_answer(work.deps, call)
    if call is None or text is None:
        return None
    return ModelAnswer(text=text, finish=Finish(call.finish or Finish.STOP), model=call.model), call.shown


async def _end(work: WorkContext, run: BotRun, error: str | None) -> Json:
    """End a run; the read position stays (BM-88, BM-98, BM-133)."""

    async def write(writer: Writer, tx_id: str) -> None:
        await writer.lock([run.id])
        found = await find_run(writer, run.id)
        if found is not None and found.state not in (BotRunState.DONE, BotRunState.FAILED):
            await set_run(writer, run, ended(work.deps.now(), error))

    await _commit(work, write)
    return {"outcome": "nothing"} if error is None else {"outcome": "failed", "error": error}


async def _commit(work: WorkContext, write: Callable[[Writer, str], Awaitable[T]]) -> T:
    """Run `write` in one transaction that counts only while the job is this worker's; it is told the id of it."""
    tx_id = work.deps.ids.new()

    async def checked(writer: Writer) -> T:
        result = await write(writer, tx_id)
        await confirm_lease(writer, work.job, work.deps.now())
        return result

    return await work.deps.store.transact(checked, tx_id=tx_id)
