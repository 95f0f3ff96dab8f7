"""The tools of a run on its record memories (MT-51, MT-56, MT-62)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from graph.model.errors import WorkspaceRefused
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryKind, WorkspaceMemory
from graph.rules.run_tool_errors import ToolFailed, code_of
from graph.services.access.caller import Caller
from graph.services.access.session import read
from graph.services.deps import Deps
from graph.services.workspace.finding import open_memory
from graph.services.workspace.records_port import Record, RecordActor, RecordBackend

Arguments = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordCall:
    """A call on one record memory that the principal may use so now."""

    backend: RecordBackend
    memory: WorkspaceMemory
    actor: RecordActor


async def search(call: RecordCall, given: Arguments) -> Any:
    """Return the records nearest to a query."""
    found = await call.backend.search(call.memory, given["query"], limit=given["limit"])
    return {"records": [_shown(record) for record in found]}


async def list_(call: RecordCall, given: Arguments) -> Any:
    """Return a page of records."""
    page = await call.backend.list(call.memory, limit=given["limit"], cursor=given["cursor"])
    return {"records": [_shown(record) for record in page.records], "next_cursor": page.next_cursor}


async def add(call: RecordCall, given: Arguments) -> Any:
    """Add a record."""
    return _shown(await call.backend.add(call.memory, given["text"], call.actor))


async def update(call: RecordCall, given: Arguments) -> Any:
    """Replace the text of a record."""
    return _shown(await call.backend.update(call.memory, given["record_id"], given["text"], call.actor))


async def delete(call: RecordCall, given: Arguments) -> Any:
    """Delete a record."""
    await call.backend.delete(call.memory, given["record_id"], call.actor)
    return {"id": given["record_id"], "deleted": True}


CALLS: Final[Mapping[str, Callable[[RecordCall, Arguments], Awaitable[Any]]]] = {
    "record_search": search,
    "record_list": list_,
    "record_add": add,
    "record_update": update,
    "record_delete": delete,
}


async def call_record_tool(
    deps: Deps, principal: Caller, memory_id: NodeId, actor: RecordActor, key: str, given: Arguments, *, writes: bool
) -> Any:
    """Run a record tool with the rights that the principal of the run has now.

    Raises:
        ToolFailed: the call failed; ``write_unconfirmed``: nobody knows.
        WorkspaceRefused: what is no failure of a tool.
    """
    verb = Right.RUN if writes else Right.READ
    try:
        memory, _ = await read(
            deps, principal, lambda reading: open_memory(reading, memory_id, verb, MemoryKind.RECORD)
        )
        if deps.records is None:
            raise ToolFailed("unavailable")
        return await CALLS[key](RecordCall(backend=deps.records, memory=memory, actor=actor), given)
    except WorkspaceRefused as refusal:
        code = code_of(refusal)
        if code is None:
            raise
        raise ToolFailed(code) from None


def _shown(record: Record) -> dict[str, Any]:
    return {"id": record.id, "text": record.text, "score": record.score, "updated_at": record.updated_at}
