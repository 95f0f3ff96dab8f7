"""What the Memory Bot of a bot has cost, by UTC day; only usage that a provider confirmed counts (BM-123 to BM-135)."""

from __future__ import annotations

from graph.model.access import SystemScope
from graph.model.fields import Json
from graph.model.ids import NodeId, WorkspaceId, node_id
from graph.model.nodes.bots import BotSpending
from graph.model.time import Millis
from graph.rules.bot_budget import budget_of, days_of, next_period
from graph.rules.model_budget import day_of
from graph.store.port import Reader, Writer
from graph.store.query import And, Eq, Find, Range

SPENDING = SystemScope(reason="budget of a Memory Bot")


async def spent_until(reader: Reader, bot: NodeId, budget: Json, at: Millis) -> Millis | None:
    """Return when a used-up budget is whole again; None if there is none, or something is left of it.

    Args:
        reader: any.
        bot: whose pool it is; of a linked bot its home.
        budget: as the pool keeps it.
        at: in which period.
    """
    limits = budget_of(budget)
    if limits is None:
        return None
    first, after = days_of(limits.period, at)
    where = And((Eq("bot_id", bot), Range("day", first, after)))
    rows = (await reader.find(SPENDING, Find(kind=BotSpending, where=where))).nodes
    confirmed = sum(row.confirmed_micro_usd for row in rows)
    return next_period(limits.period, at) if limits.is_spent(confirmed) else None


async def charge(writer: Writer, workspace: WorkspaceId, bot: NodeId, at: Millis, cost_micro_usd: int | None) -> None:
    """Count one call of a model on the day `at`: its confirmed cost, or that nobody knows it (BM-134, BM-135)."""
    id_ = node_id(BotSpending.PREFIX, f"{bot}/{day_of(at)}")
    await writer.lock([id_])
    if id_ not in await writer.get(SPENDING, [id_]):
        await writer.put([BotSpending(id=id_, workspace=workspace, created_at=at, bot_id=bot, day=day_of(at))])
    if cost_micro_usd is None:
        await writer.increment(id_, "unknown_calls")
    elif cost_micro_usd:
        await writer.increment(id_, "confirmed_micro_usd", cost_micro_usd)
