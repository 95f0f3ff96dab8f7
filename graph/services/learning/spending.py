"""Charging calls of models to the day of an agent and a kind of work, inside the transaction that saves the attempt."""

from __future__ import annotations

from dataclasses import dataclass

from graph.model.access import SystemScope
from graph.model.errors import ModelBudgetSpent
from graph.model.ids import NodeId, WorkspaceId, node_id
from graph.model.nodes.learning import ModelSpending
from graph.model.time import Millis
from graph.rules.knowledge_settings import Settings
from graph.rules.model_budget import DayLimits, day_of, next_day
from graph.store.port import Reader, Writer

SPENDING = SystemScope(reason="budget of models")


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """Whose budget is charged."""

    workspace: WorkspaceId
    agent: NodeId
    kind: str

    def row(self, at: Millis) -> NodeId:
        """Return the id of the row of the day."""
        return node_id(ModelSpending.PREFIX, f"{self.agent}/{self.kind}/{day_of(at)}")


def day_limits(settings: Settings) -> DayLimits:
    """Return the limits of an agent's settings."""
    return DayLimits(calls=settings["dream.daily_calls"], tokens=settings["dream.daily_tokens"])


async def spent(reader: Reader, account: Account, at: Millis) -> ModelSpending:
    """Return what was spent on the day of `at`; a row of zeros if nothing was."""
    id_ = account.row(at)
    found = (await reader.get(SPENDING, [id_])).get(id_)
    if isinstance(found, ModelSpending):
        return found
    return ModelSpending(
        id=id_,
        workspace=account.workspace,
        created_at=at,
        agent_id=account.agent,
        kind=account.kind,
        day=day_of(at),
    )


async def charge_call(writer: Writer, account: Account, at: Millis, limits: DayLimits) -> None:
    """Count a call before it is made: it counts whatever comes of it.

    Raises:
        ModelBudgetSpent: the calls or tokens of the day are used up; nothing was counted.
    """
    await writer.lock([account.row(at)])
    row = await spent(writer, account, at)
    over = limits.spent(row.calls, row.input_tokens + row.output_tokens)
    if over:
        raise ModelBudgetSpent(
            f"the {over} of the day are used up: it goes on tomorrow, or raise dream.daily_{over}",
            limit=over,
            until=next_day(at),
        )
    if not row.calls:
        await writer.put([row])
    await writer.increment(row.id, "calls")


async def charge_usage(
    writer: Writer, account: Account, at: Millis, *, tokens: tuple[int, int], cost_micro_usd: int, failed: bool
) -> None:
    """Add what a call used, on the day `at` on which it began."""
    row = account.row(at)
    used = {
        "input_tokens": tokens[0],
        "output_tokens": tokens[1],
        "cost_micro_usd": cost_micro_usd,
        "failed_calls": int(failed),
    }
    for field, by in used.items():
        if by:
            await writer.increment(row, field, by)
