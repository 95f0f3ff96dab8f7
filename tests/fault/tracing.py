"""Runs the driver under strace, which kills it or lets a system call fail at a chosen one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WRITES = ("pwrite64", "fdatasync", "fsync", "ftruncate", "unlink")
"""System calls by which SQLite changes files; standard output is written by another one."""
_LINE = re.compile(r"(?P<thread>\d+) +(?P<call>\w+)\(")
_TIME_LIMIT_S = 120


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What became of a driver: what it said, and how it ended (negative: the signal)."""

    lines: tuple[str, ...]
    code: int
    errors: str

    @property
    def transactions(self) -> int:
        """Number of acknowledged transactions."""
        return self.lines.count("tx")

    @property
    def acknowledged(self) -> int:
        """Number of acknowledged steps."""
        return sum(line.startswith("ack ") for line in self.lines)


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """The `at`-th call of `call` in one thread."""

    call: str
    at: int


def require_strace() -> None:
    """Return if strace works here; else leave the test out loudly, or fail where it must work (CI)."""
    found = shutil.which("strace")
    works = found and subprocess.run([found, "-f", "true"], capture_output=True, check=False).returncode == 0
    if works:
        return
    reason = "strace is missing or not allowed: the kill and fault tests of the embedded store cannot run"
    if os.environ.get("CI"):
        pytest.fail(f"{reason}; install the Debian package strace")
    pytest.skip(f"LEFT OUT: {reason}")


DRIVER = "tests.fault.driver"


def driver(store: Path, script: str, seed: int = 2, *, strace: tuple[str, ...] = (), module: str = DRIVER) -> Run:
    """Run the driver, or another module that takes the same arguments, to its end."""
    command = [*strace, sys.executable, "-m", module, str(store), script, str(seed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=_TIME_LIMIT_S)
    return Run(lines=tuple(done.stdout.split("\n")), code=done.returncode, errors=done.stderr)


def inject(store: Path, script: str, point: Point, what: str, seed: int = 2, *, module: str = DRIVER) -> Run:
    """Run the driver with `what` done to it at a point, such as ``signal=KILL`` or ``error=EIO``."""
    options = ("-f", "-qq", "-e", f"trace={point.call}", "-o", "/dev/null")  # --seccomp-bpf miscounts in 6.1
    strace = ("strace", *options, "-e", f"inject={point.call}:{what}:when={point.at}")
    return driver(store, script, seed, strace=strace, module=module)


def points(store: Path, script: str, log: Path, seed: int = 2, *, module: str = DRIVER) -> list[Point]:
    """Return every point at which the script changes a file, in the thread that does so most, each call by itself."""
    options = ("-f", "-qq", "--seccomp-bpf", "-e", f"trace={','.join(WRITES)}", "-o", str(log))
    run = driver(store, script, seed, strace=("strace", *options), module=module)
    assert run.code == 0, run.errors
    calls: Counter[tuple[str, str]] = Counter()
    for line in log.read_text().splitlines():
        match = _LINE.match(line)
        if match:
            calls[match["call"], match["thread"]] += 1
    most = {call: max(n for (c, _), n in calls.items() if c == call) for call, _ in calls}
    return [Point(call=call, at=at) for call in WRITES for at in range(1, most.get(call, 0) + 1)]


def spread(every: list[Point], count: int) -> list[Point]:
    """Return so many points, evenly over all, the first and the last among them."""
    if len(every) <= count:
        return every
    return [every[round(place * (len(every) - 1) / (count - 1))] for place in range(count)]


def copy_store(base: Path, target: Path) -> Path:
    """Return a copy of a closed store."""
    shutil.copyfile(base, target)
    return target
