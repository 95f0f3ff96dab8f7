"""Learning runs of a bot: saved with the confide that asks for one, begun when its turn is over.

A run is a row with a state; once its turn is over, a job of the kind ``learn_bot`` does it. A used-up budget puts the
job off; whoever looks out wakes it in the new period or when the cap was raised. Source: BM-70, BM-75, BM-84, BM-97,
BM-126, AD-33.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.bots import BotPool, BotRun, BotRunState, Chat
from graph.model.nodes.sessions import Turn, TurnState
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.jobs import JobState
from graph.services.access.commands import Command
from graph.services.bots.spending import spent_until
from graph.services.deps import Deps
from graph.services.learning.jobs import JOBS, enqueue
from graph.store.port import Reader, Writer
from graph.store.query import And, Eq, Find

RUNS = SystemScope(reason="learning runs of bots")
LEARN_BOT: Final = "learn_bot"
BUDGET_SPENT: Final = "BOT_BUDGET_SPENT"
"""Why a job waits: the budget of its bot is used up (BM-126)."""
OVER: Final = frozenset({TurnState.COMPLETED, TurnState.CANCELLED})
"""States of a turn that has ended, well or not (BM-75)."""


async def save_run(cmd: Command, chat: Chat, turn: Turn) -> BotRun:
    """Save the learning run of a turn in the transaction of its confide; it begins when the turn is over."""
    run = BotRun(
        id=cmd.deps.new_id(BotRun.PREFIX),
        workspace=chat.workspace,
        pool=chat.pool,
        created_at=cmd.at,
        bot_id=chat.bot_id,
        chat_id=chat.id,
        turn_id=turn.id,
        state=str(BotRunState.WAITING),
    )
    await cmd.writer.put([run])
    if turn.state in OVER:
        await start_run(cmd.writer, run, cmd.at)
    return run


async def start_runs_of(writer: Writer, turn: Turn, now: Millis) -> None:
    """Let the waiting runs of a turn begin; call it last in the transaction that ends the turn."""
    where = And((Eq("turn_id", turn.id), Eq("state", str(BotRunState.WAITING))))
    for run in (await writer.find(RUNS, Find(kind=BotRun, where=where))).nodes:
        await start_run(writer, run, now)


async def start_run(writer: Writer, run: BotRun, now: Millis) -> None:
    """Ask for the job of a run; the message carries ids alone (BM-185)."""
    await enqueue(
        writer,
        LEARN_BOT,
        workspace=run.workspace,
        unique_key=f"{LEARN_BOT}:{run.id}",
        due_at=now,
        now=now,
        subject=run.chat_id,
        agent=run.bot_id,
        arguments={"run": run.id},
    )


async def find_run(reader: Reader, run_id: NodeId) -> BotRun | None:
    """Return a run, if there is one of this id."""
    found = (await reader.get(RUNS, [run_id])).get(run_id)
    return found if isinstance(found, BotRun) else None


async def set_run(writer: Writer, run: BotRun, changes: Mapping[str, Any]) -> None:
    """Change a run."""
    await writer.patch(run.id, changes)


def begun(now: Millis) -> Mapping[str, Any]:
    """Return what a run becomes when it begins."""
    return {"state": str(BotRunState.RUNNING), "began_at": now}


def waiting() -> Mapping[str, Any]:
    """Return what a run becomes that has to wait for its budget."""
    return {"state": str(BotRunState.WAITING)}


def ended(now: Millis, error: str | None = None) -> Mapping[str, Any]:
    """Return what a run becomes when it ends; with an error it failed (BM-97)."""
    state = BotRunState.DONE if error is None else BotRunState.FAILED
    return {"state": str(state), "error": error, "ended_at": now}


async def arrange_bot_learning(deps: Deps) -> int:
    """Wake jobs that wait for a budget which is no more used up; return how many (BM-126).

    A worker looks every fifteen seconds, so that a run begins within a minute of a new period or a changed cap.
    """
    where = And((Eq("kind", LEARN_BOT), Eq("state", str(JobState.QUEUED)), Eq("last_error", BUDGET_SPENT)))
    now = deps.now()
    async with deps.store.reading() as reader:
        jobs = (await reader.find(JOBS, Find(kind=Job, where=where))).nodes
        waits = [job for job in jobs if job.due_at > now]
        free = [job for job in waits if not await _is_spent(reader, job, now)]
    if free:
        await deps.store.transact(lambda writer: writer.patch_many({job.id: {"due_at": now} for job in free}))
    return len(free)


async def _is_spent(reader: Reader, job: Job, now: Millis) -> bool:
    run = await find_run(reader, NodeId(str(job.arguments["run"])))
    if run is None or run.pool is None:
        return False
    pool = (await reader.get(RUNS, [run.pool])).get(run.pool)
    if not isinstance(pool, BotPool):
        return False
    return await spent_until(reader, pool.bot_id, pool.budget, now) is not None
