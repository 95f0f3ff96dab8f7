"""What hosts do with chats, in the chain of the bot's pool: ids and codes, told to who may read the chat.

Source: AD-16, AD-26.
"""

from __future__ import annotations

from graph.model.access import SystemScope
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.bots import BotPool, Chat
from graph.services.access.commands import Command
from graph.services.bots.chat_access import rules_of_chat
from graph.services.pool_audit import PoolStep, record_step

POOLS = SystemScope(reason="the chain of a bot's pool")


async def record_chat_step(
    cmd: Command, chat: Chat, operation: str, target: NodeId, *, person: NodeId | None = None, codes: Json = None
) -> None:
    """Record one step about a chat; the pool must be locked, and it is read anew.

    Args:
        cmd: of the host.
        chat: where.
        operation: such as ``bot.turn_begin``.
        target: what it was done to.
        person: whom the host named.
        codes: ids and codes.
    """
    assert chat.pool is not None, "a chat lives in the pool of its bot"
    pool = (await cmd.writer.get(POOLS, [chat.pool]))[chat.pool]
    assert isinstance(pool, BotPool)
    step = PoolStep(
        operation=operation,
        actor=cmd.caller.principal,
        actor_kind=cmd.actor_kind,
        on_behalf_of=person,
        target=target,
        rules=rules_of_chat(chat),
        codes=codes,
    )
    await record_step(cmd.writer, cmd.deps, pool, step, tx_id=cmd.tx_id, at=cmd.at)
