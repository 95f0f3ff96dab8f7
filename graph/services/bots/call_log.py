"""The call log of Memory Bots: requests and answers, sealed, with their attempts and what they cost.

An attempt is saved before it is made and charged when it ends, so that a restart uses a saved answer and nothing is
paid for unseen. Source: BM-85, BM-125, BM-134, BM-135, BM-186.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from graph.model.access import SystemScope
from graph.model.ids import NodeId, node_id
from graph.model.nodes.bots import BotCall, BotPool, Chat
from graph.model.time import Millis
from graph.services.bots.spending import charge, spent_until
from graph.services.deps import Deps
from graph.store.port import Reader, Writer
from graph.store.query import Eq, Find
from graph.store.sealing import Place

CALLS = SystemScope(reason="calls of a Memory Bot's model")
ASKED, ANSWERED, LATE, FAILED = "asked", "answered", "late", "failed"
LOST: Final = "lost"
"""Outcome of an attempt whose process went before it ended."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CallDraft:
    """A call that is about to be made.

    Attributes:
        home: the bot whose pool and budget it is.
        step: names a learning step; empty for what is never recovered.
        request: all that the model sees, as text.
        shown: ids of the entries in it.
    """

    chat: Chat
    home: NodeId
    turn_id: NodeId | None
    run_id: NodeId | None = None
    step: str = ""
    purpose: str
    prompt: str
    model: str
    request: str
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class CallEnd:
    """How an attempt ended.

    Attributes:
        state: ``answered``, ``late`` or ``failed``.
        outcome: why it stopped, or a code.
        answer: None if none came.
        cost_micro_usd: confirmed; None: unknown.
    """

    state: str
    outcome: str
    answer: str | None = None
    finish: str | None = None
    cost_micro_usd: int | None = None


def step_call_id(step: str) -> NodeId:
    """Return the id of the call of a learning step."""
    return node_id(BotCall.PREFIX, step.replace("_", ".", 1))


async def find_step_call(reader: Reader, step: str) -> BotCall | None:
    """Return the call of a learning step, if it was ever made."""
    id_ = step_call_id(step)
    found = (await reader.get(CALLS, [id_])).get(id_)
    return found if isinstance(found, BotCall) else None


async def begin_call(writer: Writer, deps: Deps, draft: CallDraft, at: Millis) -> NodeId | Millis:
    """Save that a call is about to be made and return its id; or when the budget is whole again, if it is used up."""
    until = await budget_spent(writer, draft.chat.pool, draft.home, at)
    if until is not None:
        return until
    id_ = step_call_id(draft.step) if draft.step else deps.new_id(BotCall.PREFIX)
    await writer.lock([id_])
    found = (await writer.get(CALLS, [id_])).get(id_)
    attempt = {"at": at, "outcome": ASKED}
    request = deps.vault.seal(_place(draft.chat.workspace, id_, "request"), draft.request)
    if isinstance(found, BotCall):  # its process went during the call: it is made again
        before = [{**one, "outcome": LOST} if one["outcome"] == ASKED else one for one in found.attempts or []]
        fields: dict[str, Any] = {"request": request, "shown": draft.shown, "attempts": [*before, attempt]}
        await writer.patch(id_, {**fields, "state": ASKED})
        return id_
    await writer.put([_call(draft, id_, request, attempt, at)])
    return id_


def _call(draft: CallDraft, id_: NodeId, request: Any, attempt: Any, at: Millis) -> BotCall:
    return BotCall(
        id=id_,
        workspace=draft.chat.workspace,
        pool=draft.chat.pool,
        created_at=at,
        bot_id=draft.home,
        chat_id=draft.chat.id,
        turn_id=draft.turn_id,
        run_id=draft.run_id,
        step=draft.step,
        purpose=draft.purpose,
        prompt=draft.prompt,
        model=draft.model,
        state=ASKED,
        request=request,
        attempts=[attempt],
        shown=draft.shown,
    )


async def end_call(
    writer: Writer, deps: Deps, draft: CallDraft, id_: NodeId, end: CallEnd, *, began: Millis, now: Millis
) -> None:
    """Save how an attempt ended and charge it to the day on which it began.

    A call that was taken away meanwhile, with the history of its chat or by a purge, is charged all the same.
    """
    await writer.lock([id_])
    await charge(writer, draft.chat.workspace, draft.home, began, end.cost_micro_usd)
    found = (await writer.get(CALLS, [id_])).get(id_)
    if not isinstance(found, BotCall):
        return
    attempts = [_ended(one, end, began, now) for one in found.attempts or []]
    fields: dict[str, Any] = {"state": end.state, "finish": end.finish, "attempts": attempts, "ended_at": now}
    if end.answer is not None:
        fields["answer"] = deps.vault.seal(_place(found.workspace, id_, "answer"), end.answer)
    await writer.patch(id_, {**fields, "cost_micro_usd": end.cost_micro_usd})


async def name_made(writer: Writer, step: str, made: Collection[str]) -> None:
    """Add the entries that were made of the answer of a learning step to those that its call is about."""
    call = await find_step_call(writer, step)
    if call is not None and made:
        await writer.patch(call.id, {"shown": (*call.shown, *made)})


def saved_answer(deps: Deps, call: BotCall) -> str | None:
    """Return the answer that a call was given in time; None if there is none."""
    if call.state != ANSWERED or call.answer is None:
        return None
    return deps.vault.open(_place(call.workspace, call.id, "answer"), call.answer)


async def budget_spent(reader: Reader, pool_id: NodeId | None, home: NodeId, at: Millis) -> Millis | None:
    """Return when the budget of a bot is whole again; None if something is left or nothing limits it (BM-125)."""
    found = (await reader.get(CALLS, [pool_id])).get(pool_id) if pool_id is not None else None
    return await spent_until(reader, home, found.budget, at) if isinstance(found, BotPool) else None


async def forget_calls_of_chat(writer: Writer, chat_id: NodeId) -> None:
    """Take the calls of a chat away, with its history."""
    page = await writer.find(CALLS, Find(kind=BotCall, where=Eq("chat_id", chat_id)))
    await writer.delete([call.id for call in page.nodes])


async def forget_calls_about(writer: Writer, home: NodeId, entries: Collection[str]) -> None:
    """Take the calls away in whose texts one of these entries stands: for a purge, which reads none of them."""
    gone = frozenset(entries)
    page = await writer.find(CALLS, Find(kind=BotCall, where=Eq("bot_id", home)))
    await writer.delete([call.id for call in page.nodes if not gone.isdisjoint(call.shown)])


def _ended(attempt: Any, end: CallEnd, began: Millis, now: Millis) -> Any:
    if attempt["at"] != began or attempt["outcome"] != ASKED:
        return attempt
    return {**attempt, "outcome": end.outcome, "seconds": (now - began) / 1_000}


def _place(workspace: str, node: NodeId, field: str) -> Place:
    return Place(workspace=workspace, node=node, field=field)
