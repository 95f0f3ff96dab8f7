"""The states that a script leaves behind, transaction by transaction: what a killed driver may be found in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from graph.model.time import Millis
from graph.store.embedded import EmbeddedStore
from graph.store.port import Writer
from tests.fault.driver import Steps, TickingClock, world_on
from tests.support.clock import START, FakeClock
from tests.support.ids import SequentialIds
from tests.support.row_state import check_invariants, row_hash

T = TypeVar("T")


class NotingStore(EmbeddedStore):
    """Notes the hash of all rows after every transaction."""

    def __init__(self, path: Path, *, clock: FakeClock) -> None:
        super().__init__(path, clock=clock)
        self.hashes: list[str] = []

    async def transact(self, work: Callable[[Writer], Awaitable[T]], *, tx_id: str | None = None) -> T:
        result = await super().transact(work, tx_id=tx_id)
        self.hashes.append(await row_hash(self))
        return result


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """Hashes after each transaction, the start first, and the number of steps."""

    hashes: tuple[str, ...]
    steps: int

    def check(self, found: str, transactions: int, *, one_more: bool) -> None:
        """Assert that a state is the one after so many transactions, or the next where `one_more` may be there."""
        assert found in self.hashes, "a state between before and after"
        place = self.hashes.index(found)
        assert place >= transactions, "an acknowledged write is lost"
        assert place <= transactions + one_more, "a write that was not acknowledged is there"


async def expected(path: Path, script: str, seed: int = 2) -> Expected:
    """Run a script here, as the driver does, on a store of its own."""
    clock = TickingClock(Millis(START + seed * 10_000_000))
    store = NotingStore(path, clock=clock)
    await store.open()
    told: list[str] = []
    try:
        store.hashes.append(await row_hash(store))
        steps = Steps(world_on(store, clock, SequentialIds(start=1 + seed * 1_000_000), seed), told.append)
        await (steps.all() if script == "steps" else steps.restore_all())
    finally:
        await store.close()
    assert all(line.startswith("ack ") for line in told), told
    return Expected(hashes=tuple(store.hashes), steps=len(told))


async def found_in(path: Path) -> str:
    """Open a store that a driver left behind, assert that nothing is half done, and return the hash of its rows."""
    store = EmbeddedStore(path, clock=FakeClock())
    await store.open()
    try:
        await check_invariants(store)
        return await row_hash(store)
    finally:
        await store.close()
