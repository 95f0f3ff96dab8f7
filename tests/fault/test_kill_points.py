"""A process killed at any write to disk leaves before or after, never between (goals C3, F2, attack case 8)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from graph.model.access import SystemScope
from graph.model.nodes.work import AuditRecord
from graph.store.embedded import EmbeddedStore
from graph.store.query import By, Eq, Find
from tests.fault.driver import ENTRIES
from tests.fault.expected import expected, found_in
from tests.fault.tracing import copy_store, driver, inject, points, require_strace, spread
from tests.support.clock import FakeClock
from tests.support.profile import sized

CI = bool(os.environ.get("CI"))
RESTORE_POINTS = sized(small=24 if CI else 5, full=10_000)
STEP_POINTS = sized(small=100 if CI else 8, full=10_000)


@pytest.fixture(autouse=True)
def strace() -> None:
    require_strace()


async def records(path: Path, operation: str) -> list[AuditRecord]:
    store = EmbeddedStore(path, clock=FakeClock())
    await store.open()
    try:
        async with store.reading() as reader:
            scope = SystemScope(reason="looking in a test")
            where = Eq("operation", operation)
            return list((await reader.find(scope, Find(kind=AuditRecord, where=where, order=By("seq")))).nodes)
    finally:
        await store.close()


@pytest.mark.req("KN-82", "KN-97", "KN-99")
@pytest.mark.soak
async def test_a_restore_of_twenty_entries_is_whole_or_absent_whenever_it_is_killed(tmp_path: Path) -> None:
    base = tmp_path / "base.db"
    assert driver(base, "prepare-deleted", 1).code == 0
    states = await expected(copy_store(base, tmp_path / "expected.db"), "restore")
    every = points(copy_store(base, tmp_path / "counted.db"), "restore", tmp_path / "log")
    seen = set()
    for number, point in enumerate(spread(every, RESTORE_POINTS)):
        store = copy_store(base, tmp_path / f"{number}.db")
        run = inject(store, "restore", point, "signal=KILL")
        found = await found_in(store)
        states.check(found, run.transactions, one_more=True)
        written = await records(store, "restore")
        assert len(written) in (0, ENTRIES)
        assert len({record.tx_id for record in written}) <= 1, "the audit shows one batch"
        seen.add(len(written))
        store.unlink()
    assert seen == {0, ENTRIES}, "points before and after the commit were met"


@pytest.mark.req("KN-82")
@pytest.mark.soak
async def test_ten_kinds_of_writes_are_whole_or_absent_whenever_they_are_killed(tmp_path: Path) -> None:
    base = tmp_path / "base.db"
    assert driver(base, "prepare", 1).code == 0
    states = await expected(copy_store(base, tmp_path / "expected.db"), "steps")
    assert states.steps == 10
    every = points(copy_store(base, tmp_path / "counted.db"), "steps", tmp_path / "log")
    reached = set()
    for number, point in enumerate(spread(every, STEP_POINTS)):
        store = copy_store(base, tmp_path / f"{number}.db")
        run = inject(store, "steps", point, "signal=KILL")
        assert not any(line.startswith("error") for line in run.lines), run.lines
        states.check(await found_in(store), run.transactions, one_more=True)
        reached.add(run.acknowledged)
        store.unlink()
    assert len(reached) >= min(4, STEP_POINTS // 2)
