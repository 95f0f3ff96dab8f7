"""Answering what a bot confides, at once and within its time; learning comes later. Source: BM-65 to BM-74."""

from __future__ import annotations

import re

from dreaming.bots.confide_tool import CALM_ANSWER, is_unsaid
from dreaming.bots.memory_bot import Limits, MemoryBot, limits, memory_bot
from dreaming.bots.request_text import lines, request_of
from dreaming.jobs import ModelMaker
from dreaming.models.port import Finish, ModelAnswer
from dreaming.prompts import load_prompt
from graph.model.errors import NotFound, StoreError
from graph.model.ids import NodeId
from graph.rules.bot_budget import WAIT_S
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.bots.context import MemoryContext, context, validate_references
from graph.services.bots.pool import find_bot
from graph.services.bots.readers import read_for_chat, reads_in
from graph.services.bots.records import Confided, check_confided, given_answer, save_answer, save_confession_once
from graph.services.deps import Deps
from graph.text.outside import is_storable

PURPOSE = "bot.confide"
_NOTHING = MemoryContext(text="", references=(), has_entries=False)
_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)


async def confide(
    deps: Deps,
    models: ModelMaker,
    caller: Caller,
    *,
    chat_id: NodeId,
    turn: str,
    text: str,
    key: str | None = None,
) -> str:
    """Save what a bot confides, with the learning it asks for, and return an answer within 15 seconds.

    If no model answers in time or the store is away, it is `CALM_ANSWER`.

    Args:
        deps: of this process.
        models: makes the model that the chat's organization names.
        caller: a host.
        chat_id: where.
        turn: local id of the turn.
        text: what the bot says.
        key: an idempotency key; the same request sent again saves nothing more and gets the answer that was given.

    Raises:
        Conflict: the key was used for another request.
        InvalidRequest: the text is not 1 to 8000 code points.
        Forbidden: a review chat, or the caller hosts nothing; nothing is saved.
        MissingObject: ``ChatNotFound``, ``TurnNotFound``.
    """
    check_confided(text)
    until = limits(deps.clock, WAIT_S)
    try:
        confided = await command(deps, caller, lambda cmd: save_confession_once(cmd, key, chat_id, turn, text))
        if confided.confession.answer is not None or confided.confession.entries:
            return await command(deps, caller, lambda cmd: _given(cmd, confided))
        answer, shown = await _answered(deps, models, confided, text, until)
        return await command(deps, caller, lambda cmd: _kept(cmd, confided, answer, shown))
    except StoreError:
        return CALM_ANSWER


async def _answered(
    deps: Deps, models: ModelMaker, confided: Confided, text: str, until: Limits
) -> tuple[str, tuple[NodeId, ...]]:
    """Return the answer of the model and the entries that it was shown."""
    try:
        bot = await memory_bot(deps, models, confided.chat)
    except NotFound:
        return CALM_ANSWER, ()
    if bot.model is None:
        return CALM_ANSWER, ()
    known = await _known(bot, confided)
    notes = lines({"note": content} for content in known.contents)
    parts = {"Notes from earlier work": notes, "What was told": text}
    request = request_of(PURPOSE, load_prompt("bot_confide"), parts, instructions=bot.instructions)
    answer = await bot.ask(request, shown=known.references, turn=confided.turn.id, until=until)
    said = "" if answer is None else _said(answer)
    return (said, known.references) if said else (CALM_ANSWER, ())


async def _known(bot: MemoryBot, confided: Confided) -> MemoryContext:
    """Return what the chat's reader may see; nothing if learning is off or nobody is known (BM-72, BM-74, BM-83)."""
    if not bot.switches.on or confided.turn.person_id is None:
        return _NOTHING
    try:
        return await read_for_chat(bot.deps, bot.bot, confided.chat, context)
    except NotFound:  # the person of the chat is gone
        return _NOTHING


async def _kept(cmd: Command, confided: Confided, answer: str, shown: tuple[NodeId, ...]) -> str:
    """Save the answer and return it, or the calm one if what it rests on may not be used any more (BM-50)."""
    if shown and not await _may_use(cmd, confided, shown):
        answer, shown = CALM_ANSWER, ()
    await save_answer(cmd, confided, answer, shown)
    return answer


async def _given(cmd: Command, confided: Confided) -> str:
    """Return the answer that was saved, or the calm one if what it rests on may not be used any more."""
    shown = tuple(NodeId(entry) for entry in confided.confession.entries)
    if shown and not await _may_use(cmd, confided, shown):
        return CALM_ANSWER
    return given_answer(cmd.deps, confided.confession) or CALM_ANSWER


async def _may_use(cmd: Command, confided: Confided, shown: tuple[NodeId, ...]) -> bool:
    try:
        bot = await find_bot(cmd.writer, confided.chat.workspace, confided.chat.bot_id)
        return await validate_references(await reads_in(cmd.session, bot, confided.chat), shown)
    except NotFound:  # bot or person are gone
        return False


def _said(answer: ModelAnswer) -> str:
    """Return what a model said, without what it thought aloud; empty if the bot may not get it (BM-66)."""
    said = _THINKING.sub("", answer.text).strip()
    usable = answer.finish is not Finish.REFUSED and is_storable(said) and not is_unsaid(said)
    return said if usable else ""
