"""Chats of bots and their items, as hosts report them; texts are sealed. Source: BM-39, BM-40, BM-57, BM-184, BM-189.

A chat is with one person or is the group chat of a channel. An item is a source; what it allows an entry to show
stands on the link between the two, so that deleting a chat's history takes texts away and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from graph.model.edges import EdgeType
from graph.model.errors import AlreadyExists, InvalidRequest, MissingObject, NotFound
from graph.model.fields import Node
from graph.model.ids import NodeId, hosted_id, local_part
from graph.model.nodes.bots import Chat, ChatItem, Confession, Enrichment
from graph.model.nodes.people import Group, Organization, Principal, PrincipalKind
from graph.model.nodes.sessions import ItemType, Turn
from graph.model.time import Millis
from graph.rules.rights import may_host
from graph.services.access.commands import Command
from graph.services.access.guards import put_alone
from graph.services.access.members import members_of
from graph.services.access.people import find_one
from graph.services.bots.call_log import forget_calls_of_chat
from graph.services.bots.chat_access import (
    CHATS,
    find_turn,
    hold_chat,
    require_some_host,
    rules_of_chat,
    text_place,
)
from graph.services.bots.chat_audit import record_chat_step
from graph.services.bots.pool import find_bot, hold_pool
from graph.store.query import Direction, Eq, Find
from graph.text.outside import is_storable

MAX_ITEM_CHARACTERS: Final = 200_000
_TOOL: Final = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_WITH_TOOL: Final = (ItemType.TOOL_RESULT, ItemType.APP_RESULT)


@dataclass(frozen=True, kw_only=True, slots=True)
class NewChatItem:
    """An item as a host reports it.

    Attributes:
        local_id: its id in the chat; None lets the service make one.
        tool: of a result: the tool or app that gave it.
        turn: local id of the turn it belongs to; an item of no turn proves access for nobody (BM-83).
        occurred_at: None is now.
    """

    local_id: str | None = None
    type: ItemType
    text: str
    tool: str | None = None
    turn: str | None = None
    occurred_at: Millis | None = None


async def create_chat(
    cmd: Command,
    *,
    bot_id: NodeId,
    organization_id: NodeId,
    local_id: str | None = None,
    person_id: NodeId | None = None,
    group_id: NodeId | None = None,
    review: bool = False,
) -> Chat:
    """Make the chat of a bot with a person, or the group chat of a channel group.

    Args:
        cmd: of a host.
        bot_id: the bot, or a link to it.
        organization_id: whose settings and budget the chat's work follows (BM-118).
        local_id: made if None.
        person_id: whose chat it is; either this or `group_id`.
        group_id: the channel group whose chat it is.
        review: nothing is learned from it, and it has no `confide` (BM-71).

    Raises:
        Forbidden: the caller hosts nothing.
        InvalidRequest: not exactly one of person and group.
        MissingObject: ``BotNotFound``, or ``NotFound`` for what else the caller does not host.
        AlreadyExists: the id is taken.
    """
    require_some_host(cmd.facts)
    if (person_id is None) == (group_id is None):
        raise InvalidRequest("name the person of the chat or its group", path="person")
    await _check_named(cmd, bot_id, organization_id, person_id, group_id)
    workspace = cmd.caller.workspace
    pool = await hold_pool(cmd.writer, await find_bot(cmd.writer, workspace, bot_id), cmd.at)
    made = Chat(
        id=hosted_id(Chat.PREFIX, workspace, cmd.deps.ids.new() if local_id is None else local_id),
        workspace=workspace,
        pool=pool.id,
        created_at=cmd.at,
        bot_id=bot_id,
        organization_id=organization_id,
        person_id=person_id,
        group_id=group_id,
        review=review,
    )
    await cmd.writer.lock([made.id])
    if made.id in await cmd.writer.get(CHATS, [made.id]):
        raise AlreadyExists("the id of the chat is taken", kind=Chat.__name__, key_fields=("id",))
    await put_alone(cmd.writer, made, rules_of_chat(made))
    await record_chat_step(cmd, made, "bot.chat_create", made.id, person=person_id)
    return made


async def append_item(cmd: Command, chat_id: NodeId, item: NewChatItem) -> ChatItem:
    """Add an item at the end of a chat; the same item sent again is returned as it is.

    Raises:
        Forbidden, MissingObject: as `hold_chat`; ``TurnNotFound``.
        InvalidRequest: a type, text or tool that cannot be kept.
        BadInput: an id that cannot be one.
        AlreadyExists: another item has the id.
    """
    _check_item(item)
    chat = await hold_chat(cmd, chat_id)
    turn = None if item.turn is None else await find_turn(cmd.writer, chat, item.turn)
    return (await append_items(cmd, chat, [item], turn))[0]


async def append_items(cmd: Command, chat: Chat, items: Collection[NewChatItem], turn: Turn | None) -> list[ChatItem]:
    """Add items, checked already, to a chat that is held; see `append_item`."""
    local = local_part(chat.id)
    made: list[ChatItem] = []
    seq = chat.item_seq
    for item in items:
        name = cmd.deps.ids.new() if item.local_id is None else item.local_id
        id_ = hosted_id(ChatItem.PREFIX, chat.workspace, name, container=local)
        found = (await cmd.writer.get(CHATS, [id_])).get(id_)
        if isinstance(found, ChatItem):
            _check_same(cmd, found, item, turn)
            made.append(found)
            continue
        seq += 1
        made.append(_item(cmd, chat, item, id_, seq, turn))
        await put_alone(cmd.writer, made[-1], rules_of_chat(chat))
    if seq != chat.item_seq:
        await cmd.writer.patch(chat.id, {"item_seq": seq})
    return made


def _check_same(cmd: Command, found: ChatItem, item: NewChatItem, turn: Turn | None) -> None:
    """Refuse another item under an id that is taken: it would be lost, and its host told that it is there."""
    asked = (str(item.type), _tool_of(item), None if turn is None else turn.id)
    if (found.type, found.tool, found.turn_id) != asked or not is_text_of(cmd, found, item.text):
        raise AlreadyExists("choose another id: this one is taken", kind=ChatItem.__name__, key_fields=("id",))


def is_text_of(cmd: Command, item: ChatItem, text: str) -> bool:
    """Tell whether an item has a text; of an item whose history was deleted nothing speaks against it."""
    if item.text is None:
        return True
    return item.chars == len(text) and cmd.deps.vault.open(text_place(item.workspace, item.id), item.text) == text


def _item(cmd: Command, chat: Chat, item: NewChatItem, id_: NodeId, seq: int, turn: Turn | None) -> ChatItem:
    return ChatItem(
        id=id_,
        workspace=chat.workspace,
        pool=chat.pool,
        created_at=cmd.at,
        chat_id=chat.id,
        seq=seq,
        turn_id=None if turn is None else turn.id,
        type=str(item.type),
        tool=_tool_of(item),
        text=cmd.deps.vault.seal(text_place(chat.workspace, id_), item.text),
        chars=len(item.text),
        occurred_at=cmd.at if item.occurred_at is None else item.occurred_at,
    )


def _tool_of(item: NewChatItem) -> str | None:
    return item.tool if item.type in _WITH_TOOL else None


async def delete_chat_history(cmd: Command, chat_id: NodeId) -> int:
    """Take the texts of a chat away: of its items and turns, its confessions, enrichments and saved calls of models.

    Items stay as sources with their access records on the links, so that no entry goes with them (BM-57, BM-161).
    Returns how many items lost their text.

    Raises:
        Forbidden, MissingObject: as `hold_chat`.
    """
    chat = await hold_chat(cmd, chat_id, with_pool=True)
    writer = cmd.writer
    items = (await writer.find(CHATS, Find(kind=ChatItem, where=Eq("chat_id", chat.id)))).nodes
    with_text = [item.id for item in items if item.text is not None]
    await writer.patch_many({id_: {"text": None, "chars": 0} for id_ in with_text})
    turns = (await writer.find(CHATS, Find(kind=Turn, where=Eq("place_id", chat.id)))).nodes
    await writer.patch_many({turn.id: {"text": None, "rewrite": None, "entries": ()} for turn in turns})
    kinds: tuple[type[Node], ...] = (Confession, Enrichment)
    for kind in kinds:
        page = await writer.find(CHATS, Find(kind=kind, where=Eq("chat_id", chat.id)))
        await writer.delete([node.id for node in page.nodes])
    await forget_calls_of_chat(writer, chat.id)
    await writer.patch(chat.id, {"deleted_at": cmd.at})
    await record_chat_step(cmd, chat, "bot.history_delete", chat.id)
    return len(with_text)


def _check_item(item: NewChatItem) -> None:
    if item.type is ItemType.MEMORY_EDIT:
        raise InvalidRequest("a chat has no such items", path="type")
    if len(item.text) > MAX_ITEM_CHARACTERS or not is_storable(item.text):
        raise InvalidRequest(
            f"a text has at most {MAX_ITEM_CHARACTERS} characters, no U+0000 and no lone surrogates", path="text"
        )
    if item.tool is not None and not _TOOL.fullmatch(item.tool):
        raise InvalidRequest("a tool is named by 1 to 128 characters of A-Z a-z 0-9 . _ : -", path="tool")
    if item.type is ItemType.APP_RESULT and item.tool is None:
        raise InvalidRequest("name the app that gave the result", path="tool")


async def _check_named(
    cmd: Command, bot_id: NodeId, organization_id: NodeId, person_id: NodeId | None, group_id: NodeId | None
) -> None:
    """Refuse what is unknown, and what is outside of what a host of one organization reports for (AD-15)."""
    await find_one(cmd, organization_id, Organization)
    if not may_host(cmd.facts, organization_id):
        raise NotFound
    await find_bot(cmd.writer, cmd.caller.workspace, bot_id)
    if not (may_host(cmd.facts) or await _serves(cmd, bot_id, organization_id)):
        raise MissingObject("BotNotFound")
    if group_id is not None:
        await find_one(cmd, group_id, Group)
    if person_id is not None:
        await _check_person(cmd, person_id, organization_id)


async def _serves(cmd: Command, bot_id: NodeId, organization_id: NodeId) -> bool:
    edges = await cmd.writer.edges(CHATS, [bot_id], [EdgeType.SERVES], Direction.OUT)
    return any(edge.target == organization_id for edge in edges)


async def _check_person(cmd: Command, person_id: NodeId, organization_id: NodeId) -> None:
    person = await find_one(cmd, person_id, Principal)
    inside = may_host(cmd.facts) or person_id in await members_of(cmd.writer, organization_id)
    if person.kind != PrincipalKind.HUMAN or not inside:
        raise NotFound
