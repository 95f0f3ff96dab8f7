"""A disk that fails once: no acknowledgement, a typed error, no write until restart (goal F3, attack case 9)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fault.expected import expected, found_in
from tests.fault.tracing import Point, copy_store, driver, inject, points, require_strace, spread
from tests.support.profile import sized

CI = bool(os.environ.get("CI"))
POINTS = sized(small=30 if CI else 6, full=10_000)
CALLS = ("pwrite64", "fdatasync", "fsync")


@pytest.fixture(autouse=True)
def strace() -> None:
    require_strace()


def in_the_middle(every: list[Point], opening: list[Point]) -> list[Point]:
    """Return the points that come after the opening of the store."""
    first = {call: max((p.at for p in opening if p.call == call), default=0) for call in CALLS}
    return [p for p in every if p.call in CALLS and p.at > first[p.call]]


@pytest.mark.soak
async def test_a_failed_write_is_told_not_acknowledged_and_stops_writes_until_restart(tmp_path: Path) -> None:
    base = tmp_path / "base.db"
    assert driver(base, "prepare", 1).code == 0
    states = await expected(copy_store(base, tmp_path / "expected.db"), "steps")
    every = points(copy_store(base, tmp_path / "counted.db"), "steps", tmp_path / "log")
    opening = points(copy_store(base, tmp_path / "opened.db"), "open", tmp_path / "log of opening")
    told = 0
    for number, point in enumerate(spread(in_the_middle(every, opening), POINTS)):
        store = copy_store(base, tmp_path / f"{number}.db")
        run = inject(store, "steps", point, "error=EIO")
        assert "Traceback" not in run.errors, (point, run.errors)
        errors = [line for line in run.lines if line.startswith("error")]
        outcomes = [line.split()[0] for line in run.lines if line.startswith(("ack", "error"))]
        assert outcomes == ["ack"] * run.acknowledged + ["error"] * len(errors), "nothing is written after a failure"
        codes = [line.split()[-1] for line in errors]  # what was not made is not found later
        assert codes[:1] in ([], ["STORE_READ_ONLY"]), (point, errors)
        assert set(codes) <= {"STORE_READ_ONLY", "NOT_FOUND"}, (point, errors)
        states.check(await found_in(store), run.transactions, one_more=False)
        told += bool(errors)
        store.unlink()
    assert told > 0
