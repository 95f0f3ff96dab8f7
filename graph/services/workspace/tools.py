"""One call of a tool by a run: offered, begun, done with the rights of the run's principal (MT-31, MT-54, MT-64)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from graph.model.errors import StoreError, StoreUnavailable
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryKind, RunToolCall, WorkspaceMemory, WorkspaceRun
from graph.rules.memory_refusals import conflicting, forbidden, invalid, missing
from graph.rules.run_mounts import Access, Mount
from graph.rules.run_tool_errors import ToolFailed
from graph.rules.run_tools import BY_NAME, TOOLSET, Served, Tool, checked_arguments, default_toolsets
from graph.rules.workspace_ids import outside
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.access.session import Session as Reading
from graph.services.deps import Deps
from graph.services.workspace.changing import Actor
from graph.services.workspace.file_tools import FileCall, call_file_tool
from graph.services.workspace.finding import MEMORIES, verbs_on
from graph.services.workspace.record_tools import call_record_tool
from graph.services.workspace.records_port import RecordActor
from graph.services.workspace.run_finding import RUNS, find_one
from graph.services.workspace.runs import check_unfinished
from graph.store.query import And, Eq, Find

MAX_CALL_ID: Final = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCall:
    """A call as a runtime sends it; ids and arguments are not checked yet."""

    tool_call_id: str
    arguments: Mapping[str, Any]


async def check_driver(reading: Reading, run_id: NodeId) -> WorkspaceRun:
    """Return a run for somebody who drives it: with `run`, or its principal, who hears of lost rights call by call.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``.
    """
    run = await find_one(reading, run_id, WorkspaceRun)
    if reading.caller.principal != run.principal_id and Right.RUN not in verbs_on(reading.facts, None):
        raise forbidden(Right.RUN)
    return run


async def call_tool(deps: Deps, caller: Caller, run: WorkspaceRun, name: str, call: ToolCall) -> Any:
    """Execute one call of a tool and return its output.

    Raises:
        ToolFailed: the call failed, and only it.
        WorkspaceRefused: ``not_found`` of kind ``tool``; ``conflict`` with reason ``run_ended`` or ``already_begun``;
            ``invalid_argument`` at `tool_call_id` or an argument.
    """
    check_unfinished(run)
    if not 1 <= len(call.tool_call_id) <= MAX_CALL_ID:
        raise invalid("tool_call_id", f"has 1 to {MAX_CALL_ID} characters")
    mounts = [Mount.of(given) for given in run.mounts or ()]
    tool = await _offered(deps, run, mounts, name)
    given = checked_arguments(tool, call.arguments)
    mount = _mount_of(tool, mounts, given.pop("memory"))
    await _check_kind(deps, tool, mount)
    if not tool.writes:
        return await _done(deps, caller, run, tool, mount, call.tool_call_id, given)
    await command(deps, caller, lambda cmd: _begin(cmd, run, tool, call.tool_call_id))
    try:
        return await _done(deps, caller, run, tool, mount, call.tool_call_id, given)
    except StoreError as error:  # it has begun and is never done again: nobody may be told to send it once more
        raise StoreUnavailable("the call had begun: look before you write again", outcome="unknown") from error


async def _done(
    deps: Deps, caller: Caller, run: WorkspaceRun, tool: Tool, mount: Mount, call_id: str, given: Mapping[str, Any]
) -> Any:
    # With no more than the verb that driving a run takes, whatever else its principal may do.
    principal = Caller(workspace=run.workspace, principal=run.principal_id, kind=caller.kind)
    if tool.kind is MemoryKind.FILE:
        actor = Actor(principal_id=run.principal_id, run_id=run.id, tool_call_id=call_id, kind=ModifierKind.AGENT)
        files = FileCall(deps=deps, principal=principal, actor=actor, memory_id=mount.memory_id)
        return await call_file_tool(files, tool.key, given, writes=tool.writes)
    by = RecordActor(caller=principal, principal_id=run.principal_id, run_id=run.id, tool_call_id=call_id)
    return await call_record_tool(deps, principal, mount.memory_id, by, tool.key, given, writes=tool.writes)


async def _offered(deps: Deps, run: WorkspaceRun, mounts: list[Mount], name: str) -> Tool:
    """Return a tool that the run is offered; a memory that is gone still counts, its calls say so (FM-48)."""
    tool = BY_NAME.get(name)
    toolset = {**default_toolsets()[TOOLSET], **((run.toolsets or {}).get(TOOLSET) or {})}
    if tool is None or not toolset["enabled"] or tool.key in toolset["disabled_tools"]:
        raise missing("tool", name)
    served = await _served(deps, mounts)
    fits = [one for one in served if one.kind in (tool.kind, "") and (not tool.writes or one.access == Access.WRITE)]
    if not fits:
        raise missing("tool", name)
    return tool


async def _served(deps: Deps, mounts: list[Mount]) -> list[Served]:
    """Return the mounts with the kinds of their memories; "" of one that is gone."""
    async with deps.store.reading() as reader:
        found = await reader.get(MEMORIES, sorted({mount.memory_id for mount in mounts}))
    kinds = {id_: node.kind for id_, node in found.items() if isinstance(node, WorkspaceMemory)}
    return [Served(name=one.name, kind=kinds.get(one.memory_id, ""), access=one.access) for one in mounts]


def _mount_of(tool: Tool, mounts: list[Mount], name: str) -> Mount:
    mount = next((one for one in mounts if one.name == name), None)
    if mount is None:
        raise ToolFailed("unknown_memory")
    if tool.writes and mount.access != Access.WRITE:
        raise ToolFailed("forbidden")
    return mount


async def _check_kind(deps: Deps, tool: Tool, mount: Mount) -> None:
    [served] = await _served(deps, [mount])
    if not served.kind:
        raise ToolFailed("memory_deleted")
    if served.kind != tool.kind:
        raise ToolFailed("unknown_memory")


async def _begin(cmd: Command, run: WorkspaceRun, tool: Tool, call_id: str) -> None:
    """Write down that a write begins, before it does; a call that was begun is never done again (MT-64)."""
    await cmd.writer.lock([run.id])
    now = await find_one(cmd, run.id, WorkspaceRun)
    check_unfinished(now)
    where = And((Eq("run_id", run.id), Eq("tool_call_id", call_id)))
    if (await cmd.writer.find(RUNS, Find(kind=RunToolCall, where=where))).nodes:
        raise conflicting("run", outside(run.id), "already_begun")
    call = RunToolCall(
        id=cmd.deps.new_id(RunToolCall.PREFIX),
        workspace=run.workspace,
        created_at=cmd.at,
        run_id=run.id,
        tool_call_id=call_id,
        tool=tool.name,
        attempt=now.attempts,
    )
    await cmd.writer.put([call])
