"""Memories, threads and runs in process, with records that a test scripts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryKind, WorkspaceMemory, WorkspaceRun
from graph.rules.run_mounts import Mount
from graph.rules.run_tool_errors import ToolFailed
from graph.services.access.commands import Command, command
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.deps import Deps
from graph.services.workspace.agents import create_agent
from graph.services.workspace.attempts import Attempt, start_attempt
from graph.services.workspace.changing import put_in
from graph.services.workspace.kinds import NewMemory
from graph.services.workspace.memories import create_memory
from graph.services.workspace.run_finding import find_one
from graph.services.workspace.runs import accept_run, end_run
from graph.services.workspace.threads import create_thread
from graph.services.workspace.tools import ToolCall, call_tool
from tests.support.memory_client import allow
from tests.support.scripted_records import ScriptedRecords
from tests.support.world import TeamWorld

T = TypeVar("T")


@dataclass
class RunRoom:
    """Ana, who may write, and her threads."""

    world: TeamWorld
    records: ScriptedRecords = field(default_factory=ScriptedRecords)
    agent: NodeId | None = None
    _calls: int = 0

    async def make(self) -> RunRoom:
        """Let Ana write, and make an agent."""
        await allow(self.world, self.world.ana, Right.WRITE)
        self.agent = (await self.do(lambda cmd: create_agent(cmd, "Scout", [], {}))).id
        return self

    @property
    def deps(self) -> Deps:
        return replace(self.world.deps, records=self.records)

    async def do(self, work: Callable[[Command], Awaitable[T]]) -> T:
        """Run a command as Ana."""
        return await command(self.deps, self.world.caller(self.world.ana), work)

    async def files(self, **fields: Any) -> WorkspaceMemory:
        """Make a file memory."""
        return await self.do(lambda cmd: create_memory(cmd, NewMemory(name="Files", **fields)))

    async def facts(self) -> WorkspaceMemory:
        """Make a record memory, without a provider: its records are the scripted ones."""

        async def work(cmd: Command) -> WorkspaceMemory:
            id_ = cmd.deps.new_id(WorkspaceMemory.PREFIX)
            memory = WorkspaceMemory(
                id=id_,
                workspace=self.world.workspace,
                pool=id_,
                created_at=cmd.at,
                updated_at=cmd.at,
                created_by=self.world.ana,
                updated_by=self.world.ana,
                name="Facts",
                kind=MemoryKind.RECORD,
                type="mem0_oss",
            )
            await put_in(cmd, memory, [memory])
            return memory

        return await self.do(work)

    async def thread(self, **memories: WorkspaceMemory | tuple[WorkspaceMemory, dict[str, Any]]) -> NodeId:
        """Make a thread with mounts by name, to write unless a mount says otherwise."""
        mounts = []
        for name, given in memories.items():
            memory, fields = given if isinstance(given, tuple) else (given, {})
            mounts.append(Mount(name=name, memory_id=memory.id, **{"access": "write", **fields}))
        return (await self.do(lambda cmd: create_thread(cmd, mounts))).thread.id

    async def accept(self, thread: NodeId, text: str = "Where do I live?") -> NodeId:
        """Accept a run."""
        agent = self.agent
        assert agent is not None
        return (await self.do(lambda cmd: accept_run(cmd, thread, agent, text))).id

    async def attempt(self, run: NodeId, deps: Deps | None = None) -> Attempt:
        """Start an attempt."""
        return await start_attempt(deps or self.deps, self.world.caller(self.world.ana), run)

    async def complete(self, run: NodeId) -> None:
        """End a run."""
        await self.do(lambda cmd: end_run(cmd, run, "completed"))

    async def call(self, run: NodeId, tool: str, deps: Deps | None = None, /, **arguments: Any) -> Any:
        """Call a tool; return its output, or the code of its failure."""
        self._calls += 1
        caller = self.world.caller(self.world.ana)

        async def look(reading: Reading) -> WorkspaceRun:
            return await find_one(reading, run, WorkspaceRun)

        found, _ = await read(self.deps, caller, look)
        call = ToolCall(tool_call_id=f"c-{self._calls}", arguments=arguments)
        try:
            return await call_tool(deps or self.deps, caller, found, f"memory_{tool}", call)
        except ToolFailed as failure:
            return failure.code
