"""Turns of chats as hosts report them: begun with an operator and an input, ended well or not.

Whom a turn runs for is saved with it and is what access goes by; its author is only shown. Source: BM-82, BM-83,
BM-104, BM-115, BM-189.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from graph.model.errors import BadState, InvalidRequest, NotFound
from graph.model.ids import NodeId
from graph.model.nodes.bots import Chat, Enrichment
from graph.model.nodes.people import Principal, PrincipalKind
from graph.model.nodes.sessions import ItemType, Turn, TurnState
from graph.model.time import Millis
from graph.rules.bot_rewrite import PartKind, TurnInput
from graph.rules.rights import may_host
from graph.services.access.commands import Command
from graph.services.access.guards import put_alone
from graph.services.access.members import members_of
from graph.services.access.people import find_one
from graph.services.bots.chat_access import (
    CHATS,
    find_turn,
    hold_chat,
    rules_of_chat,
    rules_of_records,
    text_place,
    turn_id,
)
from graph.services.bots.chat_audit import record_chat_step
from graph.services.bots.chats import NewChatItem, append_items
from graph.services.bots.runs import OVER, start_runs_of
from graph.services.deps import Deps
from graph.store.query import And, Eq, Find
from graph.text.outside import is_storable

MAX_AUTHOR: Final = 200
_ITEM_TYPES: Final = {PartKind.PERSON: ItemType.PERSON_MESSAGE, PartKind.NOTIFICATION: ItemType.NOTIFICATION}


@dataclass(frozen=True, kw_only=True, slots=True)
class BegunTurn:
    """A turn that runs.

    Attributes:
        input: as it was given when the turn began first.
        rewrite: what stands for the person's words, if it was computed before; it may be out of date (BM-115).
    """

    chat: Chat
    turn: Turn
    input: TurnInput
    rewrite: str | None = None


async def begin_chat_turn(
    cmd: Command,
    chat_id: NodeId,
    turn: str,
    *,
    operator: NodeId | None,
    author: str,
    given: TurnInput,
    open_to_all: bool = False,
) -> BegunTurn:
    """Save a turn with its operator and input, and the input as items of the chat; one that runs is found again.

    Args:
        cmd: of a host.
        chat_id: where.
        turn: local id of the turn.
        operator: whom it runs for; None proves access for nobody (BM-83).
        author: who is shown; never read as an id (BM-82).
        given: the input; of a turn that was begun before, what it was begun with counts.
        open_to_all: open to all users of the bot (BM-40).

    Raises:
        Forbidden, MissingObject: as `hold_chat`.
        NotFound: the operator is unknown, or outside of what the caller hosts.
        BadState: the turn is over.
        BadInput, InvalidRequest: an id or author that cannot be kept.
    """
    if len(author) > MAX_AUTHOR or not is_storable(author):
        raise InvalidRequest(f"an author has at most {MAX_AUTHOR} characters", path="author")
    chat = await hold_chat(cmd, chat_id, with_pool=True)
    found = (await cmd.writer.get(CHATS, [turn_id(chat, turn)])).get(turn_id(chat, turn))
    if isinstance(found, Turn):
        return await _again(cmd, chat, found, given)
    if operator is not None:
        await _check_operator(cmd, chat, operator)
    made = Turn(
        id=turn_id(chat, turn),
        workspace=chat.workspace,
        pool=chat.pool,
        created_at=cmd.at,
        place_id=chat.id,
        agent_id=chat.bot_id,
        person_id=operator,
        author=author,
        state=str(TurnState.RUNNING),
        open_to_all=open_to_all,
        text=cmd.deps.vault.seal(text_place(chat.workspace, turn_id(chat, turn)), given.dump()),
        seq=chat.turn_seq + 1,
        began_at=cmd.at,
    )
    await put_alone(cmd.writer, made, rules_of_chat(chat))
    await cmd.writer.patch(chat.id, {"turn_seq": made.seq})
    items = [NewChatItem(type=_ITEM_TYPES[part.kind], text=part.text) for part in given.parts]
    await append_items(cmd, chat, items, made)
    await record_chat_step(cmd, chat, "bot.turn_begin", made.id, person=operator)
    return BegunTurn(chat=chat, turn=made, input=given)


async def resume_chat_turn(cmd: Command, chat_id: NodeId, turn: str) -> BegunTurn:
    """Return a turn that was begun, for a host that goes on with it; its input is empty once the history is deleted.

    Raises:
        Forbidden, MissingObject: as `hold_chat`; ``TurnNotFound``.
        BadState: the turn is over.
    """
    chat = await hold_chat(cmd, chat_id)
    return await _again(cmd, chat, await find_turn(cmd.writer, chat, turn), TurnInput.of(""))


async def complete_turn(cmd: Command, chat_id: NodeId, turn: str, failed: bool = False) -> Turn:
    """End a turn, and let the learning that was asked for in it begin; ending it again changes nothing.

    Args:
        cmd: of a host.
        chat_id: where.
        turn: local id of the turn.
        failed: it failed or was cancelled; that too is an end (BM-75).

    Raises:
        Forbidden, MissingObject: as `hold_chat`; ``TurnNotFound``.
    """
    chat = await hold_chat(cmd, chat_id, with_pool=True)
    found = await find_turn(cmd.writer, chat, turn)
    if found.state in OVER:
        return found
    state = TurnState.CANCELLED if failed else TurnState.COMPLETED
    await cmd.writer.patch(found.id, {"state": str(state), "ended_at": cmd.at})
    await record_chat_step(cmd, chat, "bot.turn_end", found.id, person=found.person_id, codes={"state": str(state)})
    await start_runs_of(cmd.writer, found, cmd.at)
    return replace(found, state=str(state), ended_at=cmd.at)


async def save_rewrite(
    cmd: Command, begun: BegunTurn, rewrite: str | None, entries: tuple[str, ...], *, still_visible: bool
) -> str | None:
    """Save what stands for the person's words in a turn, or that nothing does; return what counts now.

    The record of an earlier rewrite of the turn is replaced: there is one a turn (BM-169).

    Args:
        cmd: of the host.
        begun: the turn.
        rewrite: checked already but for what its entries are now; None takes an earlier one away.
        entries: what it rests on.
        still_visible: whether they may be used now, asked in this transaction (BM-102).
    """
    chat = await hold_chat(cmd, begun.chat.id)
    turn, vault = begun.turn, cmd.deps.vault
    if turn.id not in await cmd.writer.get(CHATS, [turn.id]):
        return None
    text = rewrite if still_visible else None
    where = And((Eq("chat_id", chat.id), Eq("turn_id", turn.id)))
    old = (await cmd.writer.find(CHATS, Find(kind=Enrichment, where=where))).nodes
    await cmd.writer.delete([record.id for record in old])
    if text is None:
        await cmd.writer.patch(turn.id, {"rewrite": None, "entries": ()})
        return None
    place = text_place(chat.workspace, turn.id, "rewrite")
    await cmd.writer.patch(turn.id, {"rewrite": vault.seal(place, text), "entries": entries})
    id_ = cmd.deps.new_id(Enrichment.PREFIX)
    record = Enrichment(
        id=id_,
        workspace=chat.workspace,
        pool=chat.pool,
        created_at=_first(old, cmd.at),
        chat_id=chat.id,
        turn_id=turn.id,
        text=vault.seal(text_place(chat.workspace, id_), text),
        original=vault.seal(text_place(chat.workspace, id_, "original"), begun.input.said),
        entries=entries,
    )
    await put_alone(cmd.writer, record, rules_of_records(chat))
    return text


def opened_input(deps: Deps, turn: Turn) -> TurnInput | None:
    """Return the input that a turn was begun with; None once the chat's history was deleted."""
    if turn.text is None:
        return None
    return TurnInput.load(deps.vault.open(text_place(turn.workspace, turn.id), turn.text))


def _first(old: tuple[Enrichment, ...], now: Millis) -> Millis:
    return min((record.created_at for record in old), default=now)


async def _again(cmd: Command, chat: Chat, turn: Turn, given: TurnInput) -> BegunTurn:
    """Return a turn that was begun before, for a host that resumes or recovers it."""
    if turn.state in OVER:
        raise BadState("the turn is over: begin another one")
    if turn.state != TurnState.RUNNING:
        await cmd.writer.patch(turn.id, {"state": str(TurnState.RUNNING)})
    saved = None
    if turn.rewrite is not None:
        saved = cmd.deps.vault.open(text_place(turn.workspace, turn.id, "rewrite"), turn.rewrite)
    return BegunTurn(chat=chat, turn=turn, input=opened_input(cmd.deps, turn) or given, rewrite=saved)


async def _check_operator(cmd: Command, chat: Chat, operator: NodeId) -> None:
    person = await find_one(cmd, operator, Principal)
    inside = may_host(cmd.facts) or operator in await members_of(cmd.writer, chat.organization_id)
    if person.kind != PrincipalKind.HUMAN or not inside:
        raise NotFound
