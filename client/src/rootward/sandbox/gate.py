"""Which runs are under way in a session, so that closing waits for them and lets no new one in."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from rootward.errors import SandboxClosedError


class RunGate:
    """Open until it is shut."""

    def __init__(self) -> None:
        self.is_shut = False
        self._runs: list[asyncio.Task[object] | None] = []
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def run(self) -> Iterator[None]:
        """Be under way; raises `SandboxClosedError` if the gate is shut, unless this task was let in before."""
        task = asyncio.current_task()
        if self.is_shut and task not in self._runs:
            raise SandboxClosedError("this sandbox session is closed; resume it, or start one from a snapshot")
        self._runs.append(task)
        self._idle.clear()
        try:
            yield
        finally:
            self._runs.remove(task)
            if not self._runs:
                self._idle.set()

    async def shut(self) -> None:
        """Let no new run in and wait for those under way.

        Raises:
            RuntimeError: it is called inside a run, which would wait for itself.
        """
        if asyncio.current_task() in self._runs:
            raise RuntimeError("close the sandbox session after its run, not inside it")
        self.is_shut = True
        await self._idle.wait()
