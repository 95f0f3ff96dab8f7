"""Commands on bot memory: one's own entries, and for who may write the bot its purge and settings (AD-22, AD-23)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.scalars import Long
from api.graphql.tagging import tagged
from api.graphql.types.bots import BotEntry, BotMemoryEdit, BotMemorySettings
from graph.model.errors import InvalidRequest
from graph.model.ids import NodeId
from graph.model.nodes import bots
from graph.services.access.commands import Command
from graph.services.bots import commands
from graph.services.bots.pool import own_bot_of
from graph.services.bots.purging import purge
from graph.services.bots.settings import MAX_INSTRUCTIONS, BotSettings, change_settings

PERIODS: Final = ("day", "month")


@strawberry.input
class BotBudgetInput:
    """A cap on confirmed model cost in one day or month, in micro-USD."""

    period: str
    limit_micros: Long


@strawberry.type
class PurgedBotMemory:
    """How many entries a purge deleted, and nothing more."""

    deleted: int


@strawberry.type
class BotMutations:
    """What people do to the memory of a bot."""

    @strawberry.mutation(description="Add an entry that only the caller sees; each call makes a new one.")
    async def remember_for_bot(
        self, info: Info[Any, Any], bot_id: strawberry.ID, content: str, tags: list[str] | None = None
    ) -> BotMemoryEdit:
        ctx = context(info)
        with tagged():
            changed = await ctx.run(
                info, lambda cmd: commands.remember(cmd, ctx.id(bot_id), content, tuple(tags or ()))
            )
        return await _edit(info, changed)

    @strawberry.mutation(description="Take back the caller's part of an entry.")
    async def forget_for_bot(self, info: Info[Any, Any], bot_id: strawberry.ID, id: strawberry.ID) -> BotMemoryEdit:
        ctx = context(info)
        with tagged():
            changed = await ctx.run(info, lambda cmd: commands.forget(cmd, ctx.id(bot_id), ctx.id(id)))
        return await _edit(info, changed)

    @strawberry.mutation(description="Delete for good, unread, what has a from:, chat:, org: or channel: tag.")
    async def purge_bot_memory(self, info: Info[Any, Any], bot_id: strawberry.ID, tag: str) -> PurgedBotMemory:
        ctx = context(info)
        with tagged():
            return PurgedBotMemory(deleted=await ctx.run(info, lambda cmd: purge(cmd, ctx.id(bot_id), tag)))

    @strawberry.mutation(description="Fields that are left out stay; null empties the instructions or lifts a limit.")
    async def set_bot_memory_settings(
        self,
        info: Info[Any, Any],
        bot_id: strawberry.ID,
        expected_version: int,
        instructions: str | None = strawberry.UNSET,
        concurrency: int | None = strawberry.UNSET,
        budget: BotBudgetInput | None = strawberry.UNSET,
    ) -> BotMemorySettings:
        given = {"instructions": instructions, "concurrency": concurrency, "budget": _budget(budget)}
        changes = {name: value for name, value in given.items() if value is not strawberry.UNSET}
        id_ = context(info).id(bot_id)

        async def work(cmd: Command) -> BotSettings:
            await own_bot_of(cmd.writer, cmd.facts, id_)  # before the arguments are looked at (BM-182)
            _check_settings(expected_version, changes)
            return await change_settings(cmd, id_, expected=expected_version, changes=changes)

        with tagged():
            return BotMemorySettings.from_domain(await context(info).run(info, work))


def _check_settings(expected: int, changes: Mapping[str, Any]) -> None:
    """Refuse settings out of their range (BM-120 to BM-125).

    Raises:
        InvalidRequest: `path` names the argument.
    """
    if expected < 0:
        raise InvalidRequest("a version is at least 0", path="expectedVersion")
    if len(changes.get("instructions") or "") > MAX_INSTRUCTIONS:
        raise InvalidRequest(f"instructions have at most {MAX_INSTRUCTIONS} characters", path="instructions")
    concurrency, budget = changes.get("concurrency"), changes.get("budget")
    if concurrency is not None and concurrency < 1:
        raise InvalidRequest("concurrency is at least 1", path="concurrency")
    if budget is not None and budget["period"] not in PERIODS:
        raise InvalidRequest("a period is day or month", path="budget.period")
    if budget is not None and budget["limitMicros"] < 0:
        raise InvalidRequest("a limit is at least 0", path="budget.limitMicros")


def _budget(given: BotBudgetInput | None) -> Any:
    if given is None or given is strawberry.UNSET:
        return given
    return {"period": given.period, "limitMicros": given.limit_micros}


async def _edit(info: Info[Any, Any], changed: commands.Changed) -> BotMemoryEdit:
    id_ = None if changed.entry is None else NodeId(changed.entry["id"])
    found = await context(info).loaders.nodes.load(id_) if id_ else None
    entry = BotEntry.from_domain(found) if isinstance(found, bots.BotEntry) else None
    return BotMemoryEdit(entry=entry, version=changed.version)
