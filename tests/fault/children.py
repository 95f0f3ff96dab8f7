"""A process whose children do the work that is to be killed: it starts each in a fork, and tells what they say."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.fault.tracing import ROOT


@dataclass
class Children:
    """The process; it says ``pid N`` when a child begins and ``ended CODE`` when it is over."""

    process: subprocess.Popen[str]

    def ask(self, line: str) -> None:
        """Let a child begin."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def line(self) -> str:
        """Return the next line that the process or a child says."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the process ended"
        return line.rstrip("\n")


@contextmanager
def children(module: str) -> Iterator[Children]:
    """Start the process of a module, and end it."""
    command = [sys.executable, "-m", module]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        found = Children(process)
        assert found.line() == "ready"
        yield found
        assert process.stdin is not None
        process.stdin.close()
    assert process.returncode == 0
