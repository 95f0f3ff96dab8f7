"""The Memory Bot of one chat: its model, its settings, and asking it within its limits.

A confide and an input wait for so long and no longer, a learning step for as long as it takes to get a free task and
then two minutes. What comes later is not used; it is let go on for a while, so that its cost is known and counts.
Source: BM-116 to BM-126, BM-129 to BM-135.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from dreaming.bots.request_text import as_text
from dreaming.jobs import ModelMaker
from dreaming.models.making import OneModel
from dreaming.models.port import ModelAnswer, ModelPort, ModelRequest
from graph.model.errors import ModelError, ProfileUnavailable, StoreError
from graph.model.ids import NodeId
from graph.model.nodes.bots import Chat
from graph.model.time import Clock, Millis
from graph.rules.bot_budget import LATE_S
from graph.services.bots.call_log import ANSWERED, FAILED, LATE, CallDraft, CallEnd, begin_call, end_call
from graph.services.bots.pool import Bot, find_bot, find_pool
from graph.services.bots.settings import shown_settings
from graph.services.bots.switches import BotSwitches, model_profile, switches_of
from graph.services.deps import Deps
from graph.services.turnstile import Ticket
from graph.store.port import Reader

T = TypeVar("T")


class BudgetSpent(Exception):
    """The budget is used up until a time (BM-126)."""

    def __init__(self, until: Millis) -> None:
        super().__init__(f"until {until}")
        self.until = until


class TooLate(Exception):
    """The time was over before an answer came (BM-130, BM-132)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """When asking has to end: a time of the clock."""

    clock: Clock
    ends_at: Millis

    @property
    def left_s(self) -> float:
        """Seconds that are left; 0 if none."""
        return max(self.ends_at - self.clock.now(), 0) / 1_000


def limits(clock: Clock, seconds: float, *, since: Millis | None = None) -> Limits:
    """Return the limits of what takes at most `seconds` from `since` on, now by default."""
    start = clock.now() if since is None else since
    return Limits(clock=clock, ends_at=Millis(start + int(seconds * 1_000)))


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryBot:
    """What asks for one chat.

    Attributes:
        bot: the chat's bot and whose pool it has.
        switches: of the chat's organization.
        concurrency: of the pool; None limits nothing.
        instructions: rules on privacy and sharing in plain language (BM-121).
        model: None where none is set or none can be made.
    """

    deps: Deps
    chat: Chat
    bot: Bot
    switches: BotSwitches
    concurrency: int | None
    instructions: str
    model: ModelPort | None

    async def ask(
        self, request: ModelRequest, *, shown: tuple[str, ...], turn: NodeId | None, until: Limits
    ) -> ModelAnswer | None:
        """Return what the model answers in time; None if it does not, whatever the reason (BM-69, BM-130)."""
        if self.model is None:
            return None
        ticket: Ticket | None = None
        try:
            ticket = await in_time(self.deps.turnstile.enter(self.bot.home, self.concurrency), until)
            return await self.call(self.model, request, self.draft(request, shown=shown, turn=turn), until, ticket)
        except (TooLate, BudgetSpent, ModelError):
            return None
        finally:
            if ticket is not None:
                ticket.leave()

    def draft(
        self,
        request: ModelRequest,
        *,
        shown: tuple[str, ...],
        turn: NodeId | None,
        run: NodeId | None = None,
        step: str = "",
    ) -> CallDraft:
        """Return the call of a request as the log keeps it."""
        assert self.model is not None, "nothing is asked without a model"
        return CallDraft(
            chat=self.chat,
            home=self.bot.home,
            turn_id=turn,
            run_id=run,
            step=step,
            purpose=request.purpose,
            prompt=request.prompt,
            model=self.model.name,
            request=as_text(request),
            shown=shown,
        )

    async def call(
        self, model: ModelPort, request: ModelRequest, draft: CallDraft, until: Limits, ticket: Ticket
    ) -> ModelAnswer:
        """Ask once, with the task that was taken; the caller gives it back.

        Raises:
            TooLate: no answer in time; it is waited for in the background, and keeps the task so long.
            BudgetSpent: nothing was asked.
            ModelError: no answer came.
        """
        began = self.deps.now()
        id_ = await self.deps.store.transact(
            lambda writer: begin_call(writer, self.deps, draft, began), tx_id=self.deps.ids.new()
        )
        if isinstance(id_, int):
            raise BudgetSpent(id_)
        asking = asyncio.ensure_future(model.complete(request))
        try:
            answered = await done_in_time(asking, until)
        except asyncio.CancelledError:
            asking.cancel()
            raise
        if not answered:
            self.deps.turnstile.keep(self._late(asking, draft, id_, began, ticket.hand_over()))
            raise TooLate
        return await self._ended(asking, draft, id_, began)

    async def _ended(
        self, asking: asyncio.Future[ModelAnswer], draft: CallDraft, id_: NodeId, began: Millis
    ) -> ModelAnswer:
        try:
            answer = asking.result()
        except ModelError as error:
            await self._end(draft, id_, CallEnd(state=FAILED, outcome=error.wire_code), began)
            raise
        await self._end(draft, id_, _end_of(answer, ANSWERED), began)
        return answer

    async def _late(
        self, asking: asyncio.Future[ModelAnswer], draft: CallDraft, id_: NodeId, began: Millis, ticket: Ticket
    ) -> None:
        """Wait for an answer that nobody uses, so that what it cost counts; its task is busy so long."""
        try:
            end = CallEnd(state=FAILED, outcome="MODEL_TIMEOUT")
            if await done_in_time(asking, limits(self.deps.clock, LATE_S, since=began)):
                end = _late_end(asking)
            else:
                asking.cancel()
            await self._end(draft, id_, end, began)
        except StoreError:
            self.deps.figures.count("bot_calls_not_charged")
        finally:
            ticket.leave()

    async def _end(self, draft: CallDraft, id_: NodeId, end: CallEnd, began: Millis) -> None:
        now = self.deps.now()
        await self.deps.store.transact(
            lambda writer: end_call(writer, self.deps, draft, id_, end, began=began, now=now), tx_id=self.deps.ids.new()
        )


async def memory_bot(deps: Deps, models: ModelMaker, chat: Chat) -> MemoryBot:
    """Return the Memory Bot of a chat, with the settings in force now.

    Raises:
        MissingObject: the bot is gone.
    """
    async with deps.store.reading() as reader:
        bot = await find_bot(reader, chat.workspace, chat.bot_id)
        pool = await find_pool(reader, bot)
        switches = await switches_of(reader, chat.organization_id)
        make = await _maker(reader, models, chat, switches)
    return MemoryBot(
        deps=deps,
        chat=chat,
        bot=bot,
        switches=switches,
        concurrency=None if pool is None else pool.concurrency,
        instructions="" if pool is None else shown_settings(deps, pool).instructions,
        model=None if make is None else await _made(make),
    )


async def _maker(
    reader: Reader, models: ModelMaker, chat: Chat, switches: BotSwitches
) -> partial[ModelPort] | ModelPort | None:
    if switches.model is None:
        return None
    if isinstance(models, OneModel):
        return models.model
    try:
        return partial(models, await model_profile(reader, chat.workspace, switches.model))
    except ProfileUnavailable:
        return None


async def _made(make: partial[ModelPort] | ModelPort) -> ModelPort | None:
    if not isinstance(make, partial):
        return make
    try:
        return await asyncio.to_thread(make)  # the first model of a provider imports its library
    except ProfileUnavailable:
        return None


async def done_in_time(work: asyncio.Future[T], until: Limits) -> bool:
    """Wait for work until the time is over; tell whether it is done. It is not cancelled."""
    await asyncio.wait({work}, timeout=0)  # what is there at once needs no clock
    if work.done() or until.left_s <= 0:
        return work.done()
    timer = asyncio.ensure_future(until.clock.sleep(until.left_s))
    try:
        both: set[asyncio.Future[Any]] = {work, timer}
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    finally:
        timer.cancel()
    return work.done()


async def in_time(work: Awaitable[T], until: Limits) -> T:
    """Return what comes of work; raises `TooLate`, and cancels it, if that takes too long."""
    task = asyncio.ensure_future(work)
    try:
        if not await done_in_time(task, until):
            raise TooLate
        return task.result()
    finally:
        task.cancel()


def _end_of(answer: ModelAnswer, state: str) -> CallEnd:
    cost = answer.cost_micro_usd if answer.usage_reported else None
    return CallEnd(
        state=state,
        outcome=str(answer.finish),
        answer=answer.text,
        finish=str(answer.finish),
        cost_micro_usd=cost,
    )


def _late_end(asking: asyncio.Future[ModelAnswer]) -> CallEnd:
    try:
        return _end_of(asking.result(), LATE)
    except ModelError as error:
        return CallEnd(state=FAILED, outcome=error.wire_code)
