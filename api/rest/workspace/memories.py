"""The routes of memories: making, listing, changing and deleting them (FM-38 to FM-48)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from api.rest.workspace.kit import WCall, WHandler, answer, collection
from api.rest.workspace.memory_shapes import MEMORIES, MEMORY, MemoryPatch, NewMemoryBody, memory_json
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryKind, WorkspaceMemory
from graph.rules.memory_fields import label_filters
from graph.services.access.commands import command
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.workspace.finding import memory_id, open_memory, require_verb
from graph.services.workspace.kinds import NewMemory
from graph.services.workspace.memories import (
    change_memory,
    create_memory,
    delete_memory,
    list_memories,
    memory_tag,
    require_some,
)
from graph.store.query import After


def table() -> Mapping[str, Mapping[str, WHandler]]:
    """Return the routes of memories."""
    return {
        MEMORIES: {"GET": _list, "POST": _create},
        MEMORY: {"GET": _get, "PATCH": _patch, "DELETE": _delete},
    }


async def opened(call: WCall, verb: Right, kind: MemoryKind | None = None) -> WorkspaceMemory:
    """Return the memory that the path names, before anything else of the request is looked at (FM-17).

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``, ``conflict`` with reason ``memory_kind``.
    """
    id_ = memory_id(call.id("memory_id"))
    found, _ = await read(call.deps, call.caller, lambda reading: open_memory(reading, id_, verb, kind))
    return found


def place_of(after: After) -> list[Any]:
    """Return what a cursor of the kit keeps of a place."""
    return [after.value, after.id]


async def _create(call: WCall) -> Response:
    async def may(reading: Reading) -> None:
        require_verb(reading.facts, None, Right.WRITE)

    await read(call.deps, call.caller, may)
    body = await call.body(NewMemoryBody)
    new = NewMemory(
        name=body.name,
        description=body.description,
        labels=body.labels,
        type=body.type,
        guide=body.guide,
        always_load=tuple(body.always_load),
        provider_id=body.provider_id,
        namespace=body.namespace,
    )
    return _shown(call, await command(call.deps, call.caller, lambda cmd: create_memory(cmd, new)), 201)


async def _get(call: WCall) -> Response:
    return _shown(call, await opened(call, Right.READ))


async def _list(call: WCall) -> Response:
    given, kind, type_ = call.request.query_params.getlist("label"), call.query("kind"), call.query("type")
    bound = ("memories", tuple(sorted(given)), kind, type_)

    async def look(reading: Reading) -> Any:
        require_some(reading)
        labels, asked = label_filters(given), call.page(*bound)
        return await list_memories(reading, labels=labels, kind=kind, type_=type_, first=asked.limit, after=asked.after)

    page, _ = await read(call.deps, call.caller, look)
    items = [memory_json(memory, call.deps.memory_limits) for memory in page.nodes]
    return collection(items, place_of(page.places[-1]) if page.more and page.places else None, *bound)


async def _patch(call: WCall) -> Response:
    id_ = (await opened(call, Right.WRITE)).id
    tags = call.if_match()
    body = await call.body(MemoryPatch)
    given = {name: getattr(body, name) for name in body.model_fields_set}
    changed = await command(call.deps, call.caller, lambda cmd: change_memory(cmd, id_, tags, given))
    return _shown(call, changed)


async def _delete(call: WCall) -> Response:
    id_ = (await opened(call, Right.WRITE)).id
    tags = call.if_match()
    await command(call.deps, call.caller, lambda cmd: delete_memory(cmd, id_, tags))
    return answer(None)


def _shown(call: WCall, memory: WorkspaceMemory, status: int = 200) -> Response:
    return answer(memory_json(memory, call.deps.memory_limits), status, tag=memory_tag(memory))
