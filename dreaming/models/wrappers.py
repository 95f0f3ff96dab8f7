"""Wrappers of a model that each change one thing: its time, how many calls run at once, what is counted.

The budget of a day is no wrapper: it is charged in the transaction that saves the attempt (`dreaming.saved_calls`), so
that a worker killed during a call has paid for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from dreaming.models.port import ModelAnswer, ModelPort, ModelRequest
from graph.model.errors import ModelUnavailable
from graph.model.time import Clock
from graph.services.deps import Figures

Priced = Callable[[ModelAnswer], int | None]
"""Returns what an answer cost in millionths of a USD; None if nobody knows."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TimedModel:
    """Gives up after `seconds`; a call over the time is a failure (DR-27).

    Attributes:
        clock: if given, an answer that took longer by the clock of the service is none either (SM-111).
    """

    inner: ModelPort
    seconds: float
    clock: Clock | None = None

    @property
    def name(self) -> str:
        """Name of the model within."""
        return self.inner.name

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the answer.

        Raises:
            ModelUnavailable: ``timeout``, or as the model within.
        """
        began = self._now()
        try:
            async with asyncio.timeout(self.seconds):
                answer = await self.inner.complete(request)
        except TimeoutError as error:
            raise ModelUnavailable("timeout") from error
        if self._now() - began > self.seconds * 1_000:
            raise ModelUnavailable("timeout")
        return answer

    def _now(self) -> int:
        return 0 if self.clock is None else self.clock.now()


@dataclass(frozen=True, kw_only=True, slots=True)
class LimitedModel:
    """Lets only as many calls through at once as `turns` has room for; the others wait for theirs."""

    inner: ModelPort
    turns: asyncio.Semaphore

    @property
    def name(self) -> str:
        """Name of the model within."""
        return self.inner.name

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the answer; raises like the model within."""
        async with self.turns:
            return await self.inner.complete(request)


@dataclass(frozen=True, kw_only=True, slots=True)
class MeteredModel:
    """Counts calls, failures, tokens and cost, by purpose and without content, and writes the cost into the answer."""

    inner: ModelPort
    figures: Figures
    priced: Priced

    @property
    def name(self) -> str:
        """Name of the model within."""
        return self.inner.name

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the answer with its cost; raises like the model within."""
        try:
            answer = await self.inner.complete(request)
        except ModelUnavailable as error:
            self._count(request, error.reason)
            raise
        self._count(request, str(answer.finish))
        self.figures.count("model_input_tokens", answer.input_tokens, purpose=request.purpose)
        self.figures.count("model_output_tokens", answer.output_tokens, purpose=request.purpose)
        priced = replace(answer, cost_micro_usd=self.priced(answer) if answer.usage_reported else None)
        self.figures.count("model_cost_micro_usd", priced.cost_micro_usd or 0, purpose=request.purpose)
        return priced

    def _count(self, request: ModelRequest, outcome: str) -> None:
        self.figures.count("model_calls", purpose=request.purpose, outcome=outcome)
