"""Random kills under load: no acknowledged write is lost, nothing is half done, the chains verify (goal F1).

The list of acknowledged transactions is kept here, outside of the process that dies.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.work import Receipt
from graph.store.embedded import EmbeddedStore
from graph.store.query import Find
from tests.fault.tracing import ROOT, driver
from tests.support.clock import FakeClock
from tests.support.profile import sized
from tests.support.row_state import check_invariants

CI = bool(os.environ.get("CI"))
KILLS = sized(small=50 if CI else 3, full=500)
MOST_WRITES = 12
"""Most acknowledged writes before a kill."""


def run_until_killed(store: Path, seed: int, writes: int, rng: random.Random) -> list[str]:
    """Let the driver write, kill it after so many acknowledgements and a moment more; return what it acknowledged."""
    command = [sys.executable, "-m", "tests.fault.driver", str(store), "load", str(seed)]
    acknowledged: list[str] = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("ack "):
                acknowledged.append(line.split()[-1])
            if len(acknowledged) >= writes:
                break
        _busy(rng.randrange(200_000))
        process.send_signal(signal.SIGKILL)
        acknowledged += [line.split()[-1] for line in process.stdout if line.startswith("ack ") and line.endswith("\n")]
    assert process.returncode == -signal.SIGKILL
    return acknowledged


def _busy(turns: int) -> None:
    """Let a little time pass, a different one each time, without sleeping."""
    for _ in range(turns):
        pass


async def receipts(path: Path) -> set[NodeId]:
    """Open a store that was left behind, assert that nothing is half done, and return its receipts."""
    store = EmbeddedStore(path, clock=FakeClock())
    await store.open()
    try:
        await check_invariants(store)
        async with store.reading() as reader:
            page = await reader.find(SystemScope(reason="looking in a test"), Find(kind=Receipt))
        return {node.id for node in page.nodes}
    finally:
        await store.close()


@pytest.mark.req("KN-82", "KN-85")
@pytest.mark.soak
async def test_kills_under_load_lose_no_acknowledged_write(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    assert driver(store, "prepare", 1).code == 0
    rng = random.Random(7)
    acknowledged: set[str] = set()
    for kill in range(KILLS):
        acknowledged |= {f"rcp_{tx}" for tx in run_until_killed(store, 100 + kill, rng.randrange(MOST_WRITES), rng)}
        kept = await receipts(store)
        assert acknowledged <= kept, f"lost after kill {kill}"
    assert acknowledged
