"""Finding chats and turns of bots: what a host may name, under which ids and rules they stand.

Source: AD-15, BM-176.
"""

from __future__ import annotations

from typing import Final

from graph.model.access import Clause, SystemScope, for_rule
from graph.model.errors import Forbidden, MissingObject
from graph.model.ids import NodeId, hosted_id, local_part
from graph.model.nodes.bots import Chat, ChatItem
from graph.model.nodes.people import Right
from graph.model.nodes.sessions import Turn
from graph.rules.rights import ViewerFacts, may_host, rights_on
from graph.rules.scopes import session_rule
from graph.services.access.commands import Command
from graph.services.bots.pool import Bot, find_bot, hold_pool
from graph.store.port import Reader
from graph.store.query import And, By, Eq, Find, Range
from graph.store.sealing import Place

CHATS = SystemScope(reason="chats that a host reports")
CHAT_NOT_FOUND: Final = "ChatNotFound"
TURN_NOT_FOUND: Final = "TurnNotFound"


async def hold_chat(cmd: Command, chat_id: NodeId, *, with_pool: bool = False) -> Chat:
    """Lock a chat that the caller reports for and return it.

    Args:
        cmd: of a host.
        chat_id: which.
        with_pool: lock the pool first, for a step that its chain records.

    Raises:
        Forbidden: the caller hosts nothing.
        MissingObject: ``ChatNotFound``: unknown, or outside what he hosts, which answers alike (AD-15).
    """
    require_some_host(cmd.facts)
    found = await find_chat(cmd.writer, chat_id)
    if found is not None:
        if with_pool:
            await hold_pool(cmd.writer, await bot_of_chat(cmd.writer, found), cmd.at)
        await cmd.writer.lock([found.id])
        found = await find_chat(cmd.writer, chat_id)
    if found is None or found.workspace != cmd.caller.workspace or not may_host(cmd.facts, found.organization_id):
        raise MissingObject(CHAT_NOT_FOUND)
    return found


async def find_chat(reader: Reader, chat_id: NodeId) -> Chat | None:
    """Return a chat, if there is one of this id."""
    found = (await reader.get(CHATS, [chat_id])).get(chat_id)
    return found if isinstance(found, Chat) else None


async def bot_of_chat(reader: Reader, chat: Chat) -> Bot:
    """Return the bot of a chat.

    Raises:
        MissingObject: ``ChatNotFound``: the bot was deleted; the chat stays only for what entries of a home rest on.
    """
    try:
        return await find_bot(reader, chat.workspace, chat.bot_id)
    except MissingObject:
        raise MissingObject(CHAT_NOT_FOUND) from None


async def find_turn(reader: Reader, chat: Chat, local: str) -> Turn:
    """Return a turn of a chat by its local id.

    Raises:
        MissingObject: ``TurnNotFound``.
        BadInput: the id cannot be one.
    """
    id_ = turn_id(chat, local)
    found = (await reader.get(CHATS, [id_])).get(id_)
    if not isinstance(found, Turn):
        raise MissingObject(TURN_NOT_FOUND)
    return found


async def items_after(reader: Reader, chat: Chat, seq: int, upto: int) -> tuple[ChatItem, ...]:
    """Return the items of a chat behind number `seq`, up to number `upto`, in order."""
    where = And((Eq("chat_id", chat.id), Range("seq", seq + 1, upto + 1)))
    return (await reader.find(CHATS, Find(kind=ChatItem, where=where, order=By("seq")))).nodes


def turn_id(chat: Chat, local: str) -> NodeId:
    """Return the id of a turn of a chat; its container tells it from a turn of a session of the same name.

    Raises:
        BadInput: it cannot be an id.
    """
    return hosted_id(Turn.PREFIX, chat.workspace, local, container=f"cht:{local_part(chat.id)}")


def rules_of_chat(chat: Chat) -> Clause:
    """Return who may read a chat and its items: its person, or its group, and who holds a grant on it (AD-5)."""
    if chat.group_id is None:
        return frozenset({session_rule(chat.id, chat.person_id)})
    return frozenset({for_rule([f"object:{chat.id}", f"channel:{chat.group_id}"])})


def rules_of_records(chat: Chat) -> Clause:
    """Return who may read what was confided in a chat and how inputs were rewritten: who has `read` on it (BM-171).

    That is its person, or who holds a grant; being in the group of a channel is no right on its chat.
    """
    return frozenset({session_rule(chat.id, chat.person_id)})


def text_place(workspace: str, node: NodeId, field: str = "text") -> Place:
    """Return where a sealed text of a chat stands."""
    return Place(workspace=workspace, node=node, field=field)


def hosts_something(facts: ViewerFacts) -> bool:
    """Return whether a principal reports for the workspace or for any organization."""
    return may_host(facts) or any(Right.HOST in rights_on(facts, grant.object_id) for grant in facts.grants)


def require_some_host(facts: ViewerFacts) -> None:
    """Refuse who hosts nothing at all.

    Raises:
        Forbidden: he has the right on no object.
    """
    if not hosts_something(facts):
        raise Forbidden("this needs the right host on the workspace or organization")
