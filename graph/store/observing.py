"""Counts the round trips to a store and measures how long they take. It sees names of operations, never content."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from graph.store.port import Store
from graph.store.wrapping import WrappedStore

T = TypeVar("T")

_counted: ContextVar[Counter[str] | None] = ContextVar("round_trips", default=None)

_NO_ROUND_TRIP = frozenset({"transact", "begin"})
"""Operations that stand around others: measured, not counted."""


class StoreMetrics(Protocol):
    """Takes what was measured."""

    def store_call(self, *, engine: str, operation: str, seconds: float, failed: bool) -> None:
        """Note one call; must not raise."""
        ...


class NoMetrics:
    """Takes nothing."""

    def store_call(self, *, engine: str, operation: str, seconds: float, failed: bool) -> None:
        """Drop the call."""


@contextmanager
def counting_round_trips() -> Iterator[Counter[str]]:
    """Count, by operation, the round trips made within the block and by tasks started in it.

    Each read or write operation counts once, a commit too. What an inner `counting_round_trips` counts is not counted
    by the outer one.
    """
    counts: Counter[str] = Counter()
    token = _counted.set(counts)
    try:
        yield counts
    finally:
        _counted.reset(token)


class ObservingStore(WrappedStore):
    """The same store, measured."""

    def __init__(
        self, inner: Store, metrics: StoreMetrics | None = None, *, timer: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__(inner, _Observe(inner.engine, metrics or NoMetrics(), timer))


class _Observe:
    def __init__(self, engine: str, metrics: StoreMetrics, timer: Callable[[], float]) -> None:
        self._engine = engine
        self._metrics = metrics
        self._timer = timer

    async def __call__(self, operation: str, call: Callable[[], Awaitable[T]], /) -> T:
        _count(operation)
        started, failed = self._timer(), True
        try:
            result = await call()
            failed = False
            return result
        finally:
            self._metrics.store_call(
                engine=self._engine, operation=operation, seconds=self._timer() - started, failed=failed
            )


def _count(operation: str) -> None:
    counts = _counted.get()
    if counts is not None and operation not in _NO_ROUND_TRIP:
        counts[operation] += 1
