"""A live sandbox session in a service: what `run` needs, over the routes. Source: SB-104 to SB-119."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Final

from rootward.errors import NoShell, SandboxClosedError
from rootward.models import Model, ModelBook, ModelRef, find_model
from rootward.remote.files import ServiceSandboxFiles
from rootward.remote.wire import generate_body, layout_body, memory_body, refusing, segment_body, text_of
from rootward.sandbox.engine import Recorded
from rootward.sandbox.gate import RunGate
from rootward.sandbox.identity import ConversationRef
from rootward.sandbox.manifest import Manifest
from rootward.sandbox.memory import Memory
from rootward.sandbox.report import MemoryReport
from rootward.sandbox.segments import Segment
from rootward.sandbox.session import CommandResult
from rootward.service.failures import ConnectionFailed, UnexpectedAnswer
from rootward.service.sandboxes import AsyncSandboxes, Rollout, SandboxSnapshot, SandboxView

Sleep = Callable[[float], Awaitable[None]]
LOOK_AGAIN_S: Final = 2.0
"""Between two looks at a session that is being closed."""


class ServiceSandboxSession:
    """One live workspace in a service; `ServiceSandboxClient` makes it.

    ``async with`` closes it. Its files may also be read and changed after closing.
    """

    def __init__(
        self,
        sandboxes: AsyncSandboxes,
        session_id: str,
        *,
        models: ModelBook,
        manifest_is_due: bool,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """The session is open; `manifest_is_due` as long as the first agent's default manifest counts."""
        self.files = ServiceSandboxFiles(sandboxes, session_id)
        self._sandboxes, self._id, self._models, self._sleep = sandboxes, session_id, models, sleep
        self._manifest_is_due = manifest_is_due
        self._report: MemoryReport | None = None
        self._gate = RunGate()
        self._preparing, self._closing = asyncio.Lock(), asyncio.Lock()

    @property
    def id(self) -> str:
        """Names the session; `ServiceSandboxClient.resume` takes it."""
        return self._id

    @property
    def status(self) -> str:
        """``open``, ``closing`` or ``closed``, as far as this session was told."""
        if not self._gate.is_shut:
            return "open"
        return "closed" if self._report is not None else "closing"

    def model(self, ref: ModelRef) -> Model:
        """Return a model of an agent by its name, which the client was given; raises `ModelUnavailable`."""
        return find_model(ref, self._models)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the session open for the length of a run; raises `SandboxClosedError`."""
        with self._gate.run():
            yield

    async def begin_run(self, memory: Memory | None, manifest: Manifest | None) -> str | None:
        """Prepare the workspace, reserve the layout, and return what the run is told of memory, if anything.

        Raises:
            SandboxClosedError: somebody else closed the session.
            MemoryLayoutClash: the layout does not go with another of this session.
            NotThroughService: a model that makes memory is an object; give the name of one that the service knows.
        """
        body = memory_body(memory) if memory is not None else None
        await self._prepare(manifest or Manifest())
        if body is None:
            await self._check_open()
            return None
        with refusing():
            return (await self._sandboxes.begin_run(self._id, memory=body)).developer_prompt

    async def record(self, memory: Memory, conversation: ConversationRef, segment: Segment) -> Recorded | None:
        """Append a finished run to its conversation; None if this memory generates nothing.

        For runs that another runtime made; `run` does it by itself.

        Raises:
            SandboxClosedError: the session is closed.
            InvalidConversationId, InvalidSegment, MemoryLayoutClash, NotThroughService: nothing is written.
        """
        with self._gate.run():
            if memory.generate is None:
                return None
            conversation.rollout_id()  # refuses what would be refused, also what is no text
            body, size = await asyncio.to_thread(segment_body, segment)
            with refusing(size):
                rollout = await self._sandboxes.record(
                    self._id,
                    segment=body,
                    conversation_id=conversation.conversation_id,
                    run_session_id=conversation.session_id,
                    group_id=conversation.group_id,
                    layout=layout_body(memory.layout),
                    generate=generate_body(memory.generate),
                )
            return _recorded(rollout)

    async def execute(self, command: str, *, timeout_s: float = 60) -> CommandResult:
        """Run no command: raise `NoShell`, which the `shell` tool tells the model."""
        raise NoShell("this sandbox runs no commands: list_files, read_file and write_file reach its files")

    async def close(self) -> MemoryReport:
        """Wait for the runs that are under way, let the service make memory of what was recorded, return what it did.

        Again, it calls no model and returns the same report. A connection that is lost meanwhile does no harm.
        """
        await self._gate.shut()
        async with self._closing:
            if self._report is None:
                self._report = MemoryReport.from_dict(await self._closed())
            return self._report

    async def snapshot(self) -> SandboxSnapshot:
        """Copy the workspace; `ServiceSandboxClient.create` starts a new one from it. Source: SB-99."""
        return await self._sandboxes.snapshot(self._id)

    async def __aenter__(self) -> ServiceSandboxSession:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _prepare(self, manifest: Manifest) -> None:
        """Write the first agent's default manifest into a workspace that was given none."""
        async with self._preparing:
            if self._manifest_is_due:
                for path, data in manifest.files.items():
                    await self.files.create(path, text_of(path, data))
                self._manifest_is_due = False

    async def _check_open(self) -> None:
        if (await self._sandboxes.read(self._id)).status != "open":
            raise SandboxClosedError("this sandbox session is closed; resume it, or start one from a snapshot")

    async def _closed(self) -> Mapping[str, object]:
        try:
            report = await self._sandboxes.close(self._id)
        except ConnectionFailed:
            report = None
        view = None
        while report is None:
            view = await self._looked(view)
            report = view.report
        return report

    async def _looked(self, last: SandboxView | None) -> SandboxView:
        if last is not None:
            await self._sleep(LOOK_AGAIN_S)
        view = await self._sandboxes.read(self._id)
        if view.status == "open":  # the request to close it never came
            await self._sandboxes.close(self._id, wait=False)
        return view


def _recorded(rollout: Rollout) -> Recorded:
    if rollout.rollout_id is None or rollout.path is None or rollout.updated_at is None:
        raise UnexpectedAnswer("the answer does not tell where the run was recorded")
    return Recorded(
        rollout_id=rollout.rollout_id,
        path=rollout.path,
        segment_count=rollout.segment_count or 0,
        updated_at=rollout.updated_at,
    )
