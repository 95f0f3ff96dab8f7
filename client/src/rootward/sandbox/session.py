"""The port of a sandbox session: what `run` needs of one, on a local directory or through the service."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from rootward.models import Model, ModelRef
from rootward.sandbox.engine import Recorded
from rootward.sandbox.identity import ConversationRef
from rootward.sandbox.manifest import Manifest
from rootward.sandbox.memory import Memory
from rootward.sandbox.report import MemoryReport
from rootward.sandbox.segments import Segment


@dataclass(frozen=True, kw_only=True)
class CommandResult:
    """What a command did; `output` holds both its streams and may be shortened in the middle."""

    exit_code: int
    output: str
    timed_out: bool = False


class SandboxFiles(Protocol):
    """The files of a workspace. Paths are relative to it; `PathRefused` for all others."""

    async def read_text(self, path: str) -> str | None:
        """Return a file; None if there is none."""
        ...

    async def write_text(self, path: str, text: str) -> None:
        """Replace a file, or make it."""
        ...

    async def delete(self, path: str) -> None:
        """Delete a file; one that is not there is no error."""
        ...

    async def paths(self, directory: str = "") -> list[str]:
        """Return the paths of all files below a directory, sorted."""
        ...


class SandboxSession(Protocol):
    """One live workspace."""

    @property
    def id(self) -> str:
        """Names the workspace, never a conversation (SB-56)."""
        ...

    @property
    def files(self) -> SandboxFiles:
        """The files of the workspace."""
        ...

    def model(self, ref: ModelRef) -> Model:
        """Return a model by its name; raises `ModelUnavailable`."""
        ...

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep the session open for the length of a run; raises `SandboxClosedError`."""
        ...

    async def begin_run(self, memory: Memory | None, manifest: Manifest | None) -> str | None:
        """Prepare the workspace, reserve the layout, and return what the run is told of memory, if anything.

        Raises:
            MemoryLayoutClash: the layout does not go with another of this session.
        """
        ...

    async def record(self, memory: Memory, conversation: ConversationRef, segment: Segment) -> Recorded | None:
        """Append a finished run to its conversation; None if this memory generates nothing."""
        ...

    async def execute(self, command: str, *, timeout_s: float) -> CommandResult:
        """Run a shell command in the workspace."""
        ...

    async def close(self) -> MemoryReport:
        """Make memory of what was recorded; again, return the first report."""
        ...
