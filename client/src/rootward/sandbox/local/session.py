"""A live sandbox session on a local directory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType

from rootward.models import Model, ModelRef
from rootward.sandbox.engine import Recorded, SandboxMemory
from rootward.sandbox.gate import RunGate
from rootward.sandbox.identity import ConversationRef
from rootward.sandbox.layout import clean_path
from rootward.sandbox.local.shell import execute
from rootward.sandbox.local.snapshot import Snapshot
from rootward.sandbox.local.state import SessionLock, SessionState
from rootward.sandbox.local.workspace import LocalWorkspace
from rootward.sandbox.manifest import Manifest, add_entries
from rootward.sandbox.memory import Memory
from rootward.sandbox.report import MemoryReport
from rootward.sandbox.segments import Segment
from rootward.sandbox.session import CommandResult
from rootward.sandbox.workspace import read_text


class LocalSandboxFiles:
    """The files of a local workspace."""

    def __init__(self, workspace: LocalWorkspace) -> None:
        self._workspace = workspace

    async def read_text(self, path: str) -> str | None:
        """Return a file, bytes that are no UTF-8 replaced by U+FFFD; None if there is none."""
        return await read_text(self._workspace, clean_path(path))

    async def write_text(self, path: str, text: str) -> None:
        """Replace a file, or make it, at once."""
        await self._workspace.apply({clean_path(path): text.encode("utf-8", "replace")})

    async def delete(self, path: str) -> None:
        """Delete a file; one that is not there is no error."""
        await self._workspace.apply({clean_path(path): None})

    async def paths(self, directory: str = "") -> list[str]:
        """Return the paths of all files below a directory, sorted."""
        return await self._workspace.paths(clean_path(directory) if directory not in ("", ".") else "")


class LocalSandboxSession:
    """One live workspace on this machine; `UnixLocalSandboxClient` makes it.

    ``async with`` closes it. Its files may also be read and changed after closing.
    """

    def __init__(
        self,
        *,
        folder: Path,
        root: Path,
        state: SessionState,
        lock: SessionLock,
        workspace: LocalWorkspace,
        memory: SandboxMemory,
    ) -> None:
        """Everything is open already; `memory` works on the state's own works."""
        self.files = LocalSandboxFiles(workspace)
        self._folder, self._root, self._state, self._lock = folder, root, state, lock
        self._workspace, self._memory = workspace, memory
        self._gate = RunGate()
        self._preparing = asyncio.Lock()
        memory.save = self._save

    @property
    def id(self) -> str:
        """Names the session; `UnixLocalSandboxClient.resume` takes it."""
        return self._state.id

    @property
    def root(self) -> Path:
        """The directory of the workspace."""
        return self._root

    @property
    def status(self) -> str:
        """``open``, ``closing`` or ``closed``."""
        if not self._gate.is_shut:
            return "open"
        return "closed" if self._memory.report is not None else "closing"

    def model(self, ref: ModelRef) -> Model:
        """Return a model by its name; raises `ModelUnavailable`."""
        return self._memory.find_model(ref)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the session open for the length of a run; raises `SandboxClosedError`."""
        with self._gate.run():
            yield

    async def begin_run(self, memory: Memory | None, manifest: Manifest | None) -> str | None:
        """Prepare the workspace, reserve the layout, and return what the run is told of memory, if anything."""
        if memory is not None:
            self._memory.claim(memory)
        async with self._preparing:
            if self._state.manifest_is_due:
                await add_entries(self._workspace, manifest or Manifest())
                self._state.manifest_is_due = False
                await self._save()
        return await self._memory.developer_prompt(memory) if memory is not None else None

    async def record(self, memory: Memory, conversation: ConversationRef, segment: Segment) -> Recorded | None:
        """Append a finished run to its conversation; None if this memory generates nothing.

        For runs that another runtime made; `run` does it by itself.

        Raises:
            SandboxClosedError: the session is closed.
            InvalidConversationId, InvalidSegment, MemoryLayoutClash, PathRefused: nothing is written.
        """
        with self._gate.run():
            return await self._memory.record(memory, conversation, segment)

    async def execute(self, command: str, *, timeout_s: float = 60) -> CommandResult:
        """Run a shell command in the workspace, with the rights of this process and without its secrets."""
        return await execute(command, folder=self.root, timeout_s=timeout_s)

    async def close(self) -> MemoryReport:
        """Wait for the runs that are under way, make memory of what was recorded, and return what was done.

        Again, it calls no model and returns the same report. A close that was cancelled goes on with the next.
        """
        await self._gate.shut()
        report = await self._memory.close()
        self._lock.release()
        return report

    async def snapshot(self) -> Snapshot:
        """Copy the workspace; `UnixLocalSandboxClient.create` starts a new one from it. Source: SB-99."""
        made = Snapshot.new(self._folder.parent)
        async with self._memory.quiet():
            await asyncio.to_thread(made.take, self.root)
        return made

    async def __aenter__(self) -> LocalSandboxSession:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _save(self) -> None:
        self._state.report = self._memory.report
        await asyncio.to_thread(self._state.save, self._folder)
