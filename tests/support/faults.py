"""A store that fails, waits or loses an answer at the n-th call, for fault tests.

>>> store = FaultyStore(inner, [fail_at(3)])                    # doctest: +SKIP
>>> store = FaultyStore(inner, [cut_at(1, "transact")])         # doctest: +SKIP
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from graph.model.errors import StoreUnavailable
from graph.store.port import Store
from graph.store.wrapping import WrappedStore

T = TypeVar("T")


class Fault(StrEnum):
    """What goes wrong."""

    FAIL = "fail"
    """The call is not made."""
    CUT = "cut"
    """The call is made and takes effect, but its answer is lost."""
    DELAY = "delay"
    """The call waits until `PlannedFault.release` is set."""


@dataclass(frozen=True, kw_only=True)
class PlannedFault:
    """One fault at the `at`-th call, from 1, of `operation` (None counts all calls).

    Attributes:
        error: made and raised by FAIL and CUT.
        reached: set once the call has arrived; a test waits for it.
        release: lets a delayed call go on.
    """

    fault: Fault
    at: int
    operation: str | None = None
    error: Callable[[], BaseException] = lambda: StoreUnavailable("the store cannot answer now: try again")
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)


def fail_at(at: int, operation: str | None = None) -> PlannedFault:
    """Plan a call that is not made."""
    return PlannedFault(fault=Fault.FAIL, at=at, operation=operation)


def cut_at(at: int, operation: str | None = None) -> PlannedFault:
    """Plan a lost answer; with ``transact``, a commit whose outcome the caller does not know."""
    return PlannedFault(fault=Fault.CUT, at=at, operation=operation)


def delay_at(at: int, operation: str | None = None) -> PlannedFault:
    """Plan a call that waits for `release`."""
    return PlannedFault(fault=Fault.DELAY, at=at, operation=operation)


class FaultyStore(WrappedStore):
    """The same store with planned faults; `calls` names every call so far, in order."""

    def __init__(self, inner: Store, faults: Sequence[PlannedFault] = ()) -> None:
        self._faulty = _Faulty(faults)
        super().__init__(inner, self._faulty)

    @property
    def calls(self) -> Sequence[str]:
        return tuple(self._faulty.calls)


class _Faulty:
    def __init__(self, faults: Sequence[PlannedFault]) -> None:
        self._faults = faults
        self._seen: Counter[str | None] = Counter()
        self.calls: list[str] = []

    async def __call__(self, operation: str, call: Callable[[], Awaitable[T]], /) -> T:
        planned = self._planned(operation)
        if planned is None:
            return await call()
        planned.reached.set()
        if planned.fault is Fault.DELAY:
            await planned.release.wait()
            return await call()
        if planned.fault is Fault.CUT:
            await call()
        raise planned.error()

    def _planned(self, operation: str) -> PlannedFault | None:
        self.calls.append(operation)
        self._seen.update([operation, None])
        due = (f for f in self._faults if f.operation in (operation, None) and f.at == self._seen[f.operation])
        return next(due, None)
