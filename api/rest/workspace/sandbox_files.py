"""The routes of the files of a sandbox session, open or closed (SB-117)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from api.rest.workspace.kit import WCall, WHandler, answer, collection
from api.rest.workspace.memories import place_of
from api.rest.workspace.memory_shapes import ContentBody
from api.rest.workspace.sandbox_shapes import FILE, FILES, sandbox_file_json, sandbox_file_row
from api.rest.workspace.sandboxes import opened
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.sandbox import SandboxFile, SandboxPart
from graph.rules.sandbox import sandbox_path
from graph.services.access.commands import Command
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.sandbox.acting import Act, change
from graph.services.sandbox.files import delete_file, file_tag, list_files, put_file, read_file
from graph.services.sandbox.finding import hold_sandbox, open_sandbox, sandbox_id
from graph.services.sandbox.stored import Stored, with_bytes
from graph.services.sandbox.stored import opened as opened_file


def table() -> Mapping[str, Mapping[str, WHandler]]:
    """Return the routes of files."""
    return {FILES: {"GET": _list}, FILE: {"GET": _get, "PUT": _put, "DELETE": _delete}}


async def _list(call: WCall) -> Response:
    prefix, id_ = call.query("prefix") or "", _id(call)
    bound = ("sandbox_files", id_, prefix)

    async def look(reading: Reading) -> Any:
        await open_sandbox(reading, id_, Right.READ)
        asked = call.page(*bound)
        return await list_files(reading, id_, prefix, first=asked.limit, after=asked.after)

    page, _ = await read(call.deps, call.caller, look)
    items = [sandbox_file_row(file) for file in page.nodes]
    return collection(items, place_of(page.places[-1]) if page.more and page.places else None, *bound)


async def _get(call: WCall) -> Response:
    file, data = await opened_file(call.deps, lambda: _found(call))
    if call.knows(file_tag(file)):
        return Response(b"", 304, {"ETag": file_tag(file), "Cache-Control": "no-store"})
    return _shown(file, data)


async def _found(call: WCall) -> tuple[SandboxFile, Sequence[SandboxPart]]:
    async def look(reading: Reading) -> tuple[SandboxFile, Sequence[SandboxPart]]:
        session = await open_sandbox(reading, _id(call), Right.READ)
        return await read_file(reading, session, call.tail("path"))

    return (await read(call.deps, call.caller, look))[0]


async def _put(call: WCall) -> Response:
    id_ = (await opened(call, Right.RUN)).id
    tags = call.optional_if_match()
    data = (await call.body(ContentBody)).content.encode()
    path = sandbox_path(call.tail("path"))

    async def work(cmd: Command, act: Act, stored: Stored) -> tuple[SandboxFile, bool]:
        return await put_file(act, await hold_sandbox(cmd, id_, Right.RUN), path, stored, tags)

    file, is_new = await with_bytes(
        call.deps,
        {path: data},
        lambda stored: change(call.deps, call.caller, lambda cmd, act: work(cmd, act, stored[path])),
    )
    return _shown(file, data, 201 if is_new else 200)


async def _delete(call: WCall) -> Response:
    id_ = (await opened(call, Right.RUN)).id
    tags = call.if_match()
    path = sandbox_path(call.tail("path"))

    async def work(cmd: Command, act: Act) -> None:
        await delete_file(act, await hold_sandbox(cmd, id_, Right.RUN), path, tags)

    await change(call.deps, call.caller, work)
    return answer(None)


def _id(call: WCall) -> NodeId:
    return sandbox_id(call.id("session_id"))


def _shown(file: SandboxFile, data: bytes, status: int = 200) -> Response:
    return answer(sandbox_file_json(file, data), status, tag=file_tag(file))
