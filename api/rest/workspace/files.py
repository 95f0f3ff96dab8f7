"""The routes of the files of a memory (FM-49 to FM-57)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.responses import Response

from api.rest.workspace.kit import WCall, WHandler, answer, collection
from api.rest.workspace.memories import opened, place_of
from api.rest.workspace.memory_shapes import (
    FILE,
    FILES,
    MOVE,
    ContentBody,
    MoveBody,
    NewFileBody,
    file_json,
    file_row,
)
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryFile, MemoryKind, WorkspaceMemory
from graph.rules.memory_paths import checked_path
from graph.services.access.commands import Command, command
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.workspace.changing import actor_of
from graph.services.workspace.files import (
    create_file,
    delete_file,
    file_tag,
    list_files,
    move_file,
    read_file,
    replace_file,
)
from graph.services.workspace.finding import hold_memory, memory_id, open_memory

_MOVE = "move"
"""A file may have this name; only POST is the command (FM-55)."""


def table() -> Mapping[str, Mapping[str, WHandler]]:
    """Return the routes of files; that of the command comes before that of all paths."""
    of_file: Mapping[str, WHandler] = {"GET": _get, "PUT": _put, "DELETE": _delete}
    return {FILES: {"GET": _list, "POST": _create}, MOVE: {**of_file, "POST": _move}, FILE: of_file}


async def changed(
    call: WCall, id_: NodeId, verb: Right, work: Callable[[Command, WorkspaceMemory], Awaitable[Any]]
) -> Any:
    """Run a change on a file memory that is held locked, with a verb that is looked at again under the lock."""

    async def run(cmd: Command) -> Any:
        return await work(cmd, await hold_memory(cmd, id_, verb, MemoryKind.FILE))

    return await command(call.deps, call.caller, run)


async def _list(call: WCall) -> Response:
    prefix = call.query("prefix") or ""
    id_ = memory_id(call.id("memory_id"))
    bound = ("files", id_, prefix)

    async def look(reading: Reading) -> Any:
        memory = await open_memory(reading, id_, Right.READ, MemoryKind.FILE)
        asked = call.page(*bound)
        return await list_files(reading, memory, prefix, first=asked.limit, after=asked.after)

    page, _ = await read(call.deps, call.caller, look)
    items = [file_row(file) for file in page.nodes]
    return collection(items, place_of(page.places[-1]) if page.more and page.places else None, *bound)


async def _get(call: WCall) -> Response:
    id_ = memory_id(call.id("memory_id"))

    async def look(reading: Reading) -> MemoryFile:
        memory = await open_memory(reading, id_, Right.READ, MemoryKind.FILE)
        return await read_file(reading, memory, _path(call))

    file, _ = await read(call.deps, call.caller, look)
    if call.knows(file_tag(file)):
        return Response(b"", 304, {"ETag": file_tag(file), "Cache-Control": "no-store"})
    return _shown(file)


async def _create(call: WCall) -> Response:
    id_ = (await opened(call, Right.RUN, MemoryKind.FILE)).id
    body = await call.body(NewFileBody, limit=call.deps.memory_limits.max_file_bytes)
    file = await changed(
        call, id_, Right.RUN, lambda cmd, memory: create_file(cmd, memory, actor_of(cmd), body.path, body.content)
    )
    return _shown(file, 201)


async def _put(call: WCall) -> Response:
    id_ = (await opened(call, Right.RUN, MemoryKind.FILE)).id
    tags = call.if_match()
    body = await call.body(ContentBody, limit=call.deps.memory_limits.max_file_bytes)
    path = _path(call)
    file = await changed(
        call,
        id_,
        Right.RUN,
        lambda cmd, memory: replace_file(cmd, memory, actor_of(cmd), path, body.content, tags),
    )
    return _shown(file)


async def _move(call: WCall) -> Response:
    id_ = (await opened(call, Right.RUN, MemoryKind.FILE)).id
    tags = call.if_match()
    body = await call.body(MoveBody)
    file = await changed(
        call,
        id_,
        Right.RUN,
        lambda cmd, memory: move_file(cmd, memory, actor_of(cmd), body.source, body.destination, tags),
    )
    return _shown(file)


async def _delete(call: WCall) -> Response:
    id_ = (await opened(call, Right.RUN, MemoryKind.FILE)).id
    tags = call.if_match()
    path = _path(call)
    await changed(call, id_, Right.RUN, lambda cmd, memory: delete_file(cmd, memory, actor_of(cmd), path, tags))
    return answer(None)


def _path(call: WCall) -> str:
    given = call.tail("path") if "path" in call.request.path_params else _MOVE
    return checked_path(given, call.deps.memory_limits)


def _shown(file: MemoryFile, status: int = 200) -> Response:
    return answer(file_json(file), status, tag=file_tag(file))
