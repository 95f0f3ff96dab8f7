"""The routes of the history of a memory (FM-74 to FM-81)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from api.rest.workspace.files import changed
from api.rest.workspace.kit import WCall, WHandler, answer, collection, invalid, missing, number
from api.rest.workspace.memories import opened, place_of
from api.rest.workspace.memory_shapes import (
    RESTORE,
    REVISION,
    REVISIONS,
    file_json,
    revision_json,
    revision_row,
)
from graph.model.ids import NodeId, node_id
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryKind, WorkspaceRun
from graph.rules.memory_paths import checked_path
from graph.rules.workspace_ids import inside
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.workspace.changing import actor_of
from graph.services.workspace.files import file_tag
from graph.services.workspace.finding import memory_id, open_memory
from graph.services.workspace.revisions import (
    KIND,
    RevisionView,
    list_revisions,
    purge_history,
    restore_revision,
    revision_view,
)

_DIGITS = 15


def table() -> Mapping[str, Mapping[str, WHandler]]:
    """Return the routes of revisions."""
    return {REVISIONS: {"GET": _list, "DELETE": _purge}, REVISION: {"GET": _get}, RESTORE: {"POST": _restore}}


async def _list(call: WCall) -> Response:
    id_, path, run = memory_id(call.id("memory_id")), call.query("path"), call.query("run_id")
    bound = ("revisions", id_, path, run)

    async def look(reading: Reading) -> Any:
        memory = await open_memory(reading, id_, Right.READ, MemoryKind.FILE)
        asked = call.page(*bound)
        return await list_revisions(reading, memory, path=path, run_id=_run(run), first=asked.limit, after=asked.after)

    page, _ = await read(call.deps, call.caller, look)
    items = [revision_row(revision) for revision in page.nodes]
    return collection(items, place_of(page.places[-1]) if page.more and page.places else None, *bound)


async def _get(call: WCall) -> Response:
    id_ = memory_id(call.id("memory_id"))

    async def look(reading: Reading) -> RevisionView:
        memory = await open_memory(reading, id_, Right.READ, MemoryKind.FILE)
        return await revision_view(reading, memory, _seq(call))

    view, _ = await read(call.deps, call.caller, look)
    return answer(revision_json(view))


async def _restore(call: WCall) -> Response:
    id_ = (await opened(call, Right.RUN, MemoryKind.FILE)).id
    tags, seq = call.optional_if_match(), _seq(call)
    done = await changed(
        call, id_, Right.RUN, lambda cmd, memory: restore_revision(cmd, memory, actor_of(cmd), seq, tags)
    )
    if done.file is None:
        return answer({"path": done.path, "file": None})
    return answer({"path": done.path, "file": file_json(done.file)}, tag=file_tag(done.file))


async def _purge(call: WCall) -> Response:
    id_ = (await opened(call, Right.WRITE, MemoryKind.FILE)).id
    given = call.query("path")
    if given is None:
        raise invalid("path", "names the path whose history is erased")
    path = checked_path(given, call.deps.memory_limits)
    purged = await changed(call, id_, Right.WRITE, lambda cmd, memory: purge_history(cmd, memory, actor_of(cmd), path))
    return answer({"purged": purged})


def _seq(call: WCall) -> int:
    found = number(call.id("seq"), _DIGITS)
    if not found:
        raise missing(KIND, call.id("seq"))
    return found


def _run(given: str | None) -> NodeId | None:
    """Return the run of a filter; what can be none is the id of no run."""
    if given is None:
        return None
    return inside(WorkspaceRun.PREFIX, given) or node_id(WorkspaceRun.PREFIX, "")
