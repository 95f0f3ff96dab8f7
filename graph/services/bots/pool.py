"""Bots and their pools: who is asked about, whose pool that is, and holding it for a change.

A linked bot has the memory of its home: everything here that takes a `Bot` reads and writes the home's pool.
Source: BM-1, BM-62, BM-176 to BM-178.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from graph.model.access import Rule, RuleKind, SystemScope
from graph.model.errors import BadInput, Forbidden, MissingObject
from graph.model.ids import NodeId, WorkspaceId, hosted_id
from graph.model.nodes.bots import BotPool
from graph.model.nodes.people import Principal, PrincipalKind, Right
from graph.model.time import Millis
from graph.rules.bot_entries import pool_of
from graph.rules.rights import ViewerFacts, surface_rights
from graph.services.access.commands import Command
from graph.services.access.guards import put_alone
from graph.store.port import Reader, Writer

BOTS = SystemScope(reason="a bot and its pool")
LINKED: Final = "linked_bot"


@dataclass(frozen=True, kw_only=True, slots=True)
class Bot:
    """A bot as it was named, and the bot whose memory it has.

    Attributes:
        id: the bot that was named.
        home: the one whose pool it is; the same unless it is a linked bot.
    """

    id: NodeId
    home: NodeId
    workspace: WorkspaceId

    @property
    def is_linked(self) -> bool:
        """True if it is used through a link to its home."""
        return self.id != self.home

    @property
    def pool(self) -> NodeId:
        """Id of the pool, whether or not it is there yet."""
        return pool_of(self.workspace, self.home)


def bot_id(workspace: WorkspaceId, local: str) -> NodeId:
    """Return the id of a bot by its local id.

    Raises:
        MissingObject: it cannot be the id of one.
    """
    try:
        return hosted_id(Principal.PREFIX, workspace, local, container="agent")
    except BadInput:
        raise MissingObject("BotNotFound") from None


async def find_bot(reader: Reader, workspace: WorkspaceId, id_: NodeId) -> Bot:
    """Return a bot of a workspace.

    Raises:
        MissingObject: there is none.
    """
    found = (await reader.get(BOTS, [id_])).get(id_)
    if not isinstance(found, Principal) or found.kind != PrincipalKind.AGENT or found.workspace != workspace:
        raise MissingObject("BotNotFound")
    if found.deleted_at is not None:
        raise MissingObject("BotNotFound")
    return Bot(id=id_, home=found.home_id or id_, workspace=workspace)


async def bot_of(reader: Reader, facts: ViewerFacts, id_: NodeId) -> Bot:
    """Return a bot that the caller may read.

    Raises:
        MissingObject: there is none, or he has no `read` on it: the same answer (BM-176).
    """
    bot = await find_bot(reader, facts.workspace, id_)
    if Right.READ not in surface_rights(facts, bot.id):
        raise MissingObject("BotNotFound")
    return bot


async def own_bot_of(reader: Reader, facts: ViewerFacts, id_: NodeId) -> Bot:
    """Return a bot whose settings the caller may change and whose pool he may purge.

    Raises:
        MissingObject: as `bot_of`.
        Forbidden: it is a linked bot (reason ``linked_bot``, even with `write`), or he has no `write` (BM-177, BM-178).
    """
    bot = await bot_of(reader, facts, id_)
    if bot.is_linked:
        raise Forbidden("do this with the bot that this one is a link to", reason=LINKED)
    if Right.WRITE not in surface_rights(facts, bot.id):
        raise Forbidden("this needs the right write on the bot")
    return bot


async def find_pool(reader: Reader, bot: Bot) -> BotPool | None:
    """Return the pool of a bot, None before its first use."""
    found = (await reader.get(BOTS, [bot.pool])).get(bot.pool)
    return found if isinstance(found, BotPool) else None


async def hold_pool(writer: Writer, bot: Bot, at: Millis) -> BotPool:
    """Lock the pool of a bot against all other changes, and return it, made if it was not there (BM-62).

    Everything that a change is decided by must be read after this. `at` is the time of the commit.

    Raises:
        MissingObject: the bot was deleted meanwhile, and its pool with it.
    """
    await writer.lock([bot.pool])
    found = await find_pool(writer, bot)
    return found or await _new_pool(writer, bot, at)


async def ensure_pool(cmd: Command, id_: NodeId) -> BotPool:
    """Hold the pool of a bot that the caller of the command named, made if it was not there.

    Raises:
        MissingObject: there is no such bot in his workspace.
    """
    return await hold_pool(cmd.writer, await find_bot(cmd.writer, cmd.caller.workspace, id_), cmd.at)


async def _new_pool(writer: Writer, bot: Bot, at: Millis) -> BotPool:
    await find_bot(writer, bot.workspace, bot.home)
    pool = BotPool(id=bot.pool, workspace=bot.workspace, pool=bot.pool, created_at=at, bot_id=bot.home)
    await put_alone(writer, pool, frozenset({Rule(RuleKind.BOT, bot.home)}))
    return pool
