"""Beginning a turn: what the bot's model gets in place of the person's words, if entries help.

The model is asked outside of any lock and within its time; a rewrite counts only if it keeps what the person said and
rests on entries that the readers of the answer may see when it is saved. Source: BM-99 to BM-108, BM-115, BM-129,
BM-181.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from dreaming.bots.memory_bot import Limits, MemoryBot, limits, memory_bot
from dreaming.bots.request_text import lines, request_of
from dreaming.jobs import ModelMaker
from dreaming.models.answers import Good, read_answer
from dreaming.prompts import load_prompt
from graph.model.errors import NotFound, StoreError
from graph.model.ids import NodeId
from graph.rules.bot_budget import WAIT_S
from graph.rules.bot_rewrite import TurnInput, may_replace
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.bots.context import MemoryContext, context, validate_references
from graph.services.bots.pool import find_bot
from graph.services.bots.readers import read_for_chat, reads_in
from graph.services.bots.turns import BegunTurn, begin_chat_turn, save_rewrite
from graph.services.deps import Deps

PURPOSE = "bot.rewrite"


class RewriteAnswer(BaseModel):
    """What the model says: the text anew and what it used, or None (BM-100)."""

    model_config = ConfigDict(strict=True)

    text: str | None
    entries: list[str]


async def begin_turn(
    deps: Deps,
    models: ModelMaker,
    caller: Caller,
    *,
    chat_id: NodeId,
    turn: str,
    operator: NodeId | None,
    author: str,
    input: str | TurnInput,
    open_to_all: bool = False,
) -> str:
    """Begin a turn of a chat, or go on with it, and return the input for the bot's model within 15 seconds.

    The chat's history keeps the input as it was given. While the store is away the original comes back, and if the
    turn could not be saved, nothing is kept of it (BM-181).

    Args:
        deps: of this process.
        models: makes the model that the chat's organization names.
        caller: a host.
        chat_id: where.
        turn: local id of the turn; one that runs already is resumed, and its saved rewrite used again (BM-115).
        operator: whom it runs for; None proves access for nobody.
        author: who is shown as its author; never read as an id (BM-82).
        input: a text of the person, or parts of him and notifications.
        open_to_all: open to all users of the bot (BM-40).

    Raises:
        Forbidden, MissingObject, NotFound, BadState, BadInput, InvalidRequest: as `begin_chat_turn`.
    """
    given = TurnInput.of(input)
    until = limits(deps.clock, WAIT_S)
    try:
        begun = await command(
            deps,
            caller,
            lambda cmd: begin_chat_turn(
                cmd, chat_id, turn, operator=operator, author=author, given=given, open_to_all=open_to_all
            ),
        )
    except StoreError:
        return given.for_model()
    return await input_of(deps, models, caller, begun, until)


async def input_of(deps: Deps, models: ModelMaker, caller: Caller, begun: BegunTurn, until: Limits) -> str:
    """Return the input of a begun turn for the bot's model: as it was given where anything is in the way of more."""
    try:
        return begun.input.for_model(await _rewrite(deps, models, caller, begun, until))
    except (StoreError, NotFound):  # bot or person may be gone meanwhile
        return begun.input.for_model()


async def _rewrite(deps: Deps, models: ModelMaker, caller: Caller, begun: BegunTurn, until: Limits) -> str | None:
    """Return what stands for the person's words; None if they stay."""
    if not _has_reader(begun) or not begun.input.said.strip():
        return None
    bot = await memory_bot(deps, models, begun.chat)
    if bot.model is None or not bot.switches.on:
        return None
    if begun.rewrite is not None and await _still_valid(bot, begun):
        return begun.rewrite
    known = await _known(bot, begun)
    made = await _asked(bot, begun, known, until) if known.contents else None
    if made is None and begun.rewrite is None:
        return None
    text, entries = (None, ()) if made is None else made
    return await command(deps, caller, lambda cmd: _saved(cmd, begun, text, entries))


def _has_reader(begun: BegunTurn) -> bool:
    """Tell whether it is known who reads the answer of a turn, and that he is the reader of the chat (BM-83, BM-102).

    A review sees only what was proposed, never additions (BM-106).
    """
    chat, operator = begun.chat, begun.turn.person_id
    if chat.review or operator is None:
        return False
    return chat.group_id is not None or chat.person_id == operator


async def _known(bot: MemoryBot, begun: BegunTurn) -> MemoryContext:
    return await read_for_chat(bot.deps, bot.bot, begun.chat, context)


async def _still_valid(bot: MemoryBot, begun: BegunTurn) -> bool:
    entries = begun.turn.entries
    return await read_for_chat(bot.deps, bot.bot, begun.chat, lambda reads: validate_references(reads, entries))


async def _asked(
    bot: MemoryBot, begun: BegunTurn, known: MemoryContext, until: Limits
) -> tuple[str, tuple[NodeId, ...]] | None:
    """Return a rewrite that keeps what the person said, with what it rests on; None if there is none."""
    said = begun.input.said
    notes = lines({"id": id_, "note": text} for id_, text in zip(known.references, known.contents, strict=True))
    parts: dict[str, Any] = {"Notes": notes, "The person's words": said}
    schema = RewriteAnswer.model_json_schema()
    request = request_of(PURPOSE, load_prompt("bot_rewrite"), parts, instructions=bot.instructions, schema=schema)
    answer = await bot.ask(request, shown=known.references, turn=begun.turn.id, until=until)
    read = None if answer is None else read_answer(answer, RewriteAnswer)
    if not isinstance(read, Good) or read.value.text is None:
        return None
    used = tuple(NodeId(id_) for id_ in dict.fromkeys(read.value.entries))
    if not used or not set(used) <= set(known.references):
        return None
    return (read.value.text, used) if may_replace(said, read.value.text, ids=known.references) else None


async def _saved(cmd: Command, begun: BegunTurn, text: str | None, entries: tuple[NodeId, ...]) -> str | None:
    """Save a rewrite if what it rests on may still be used, in the same transaction (BM-102)."""
    bot = await find_bot(cmd.writer, begun.chat.workspace, begun.chat.bot_id)
    reads = await reads_in(cmd.session, bot, begun.chat)
    visible = text is not None and await validate_references(reads, entries)
    return await save_rewrite(cmd, begun, text, entries, still_visible=visible)
