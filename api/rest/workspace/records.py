"""The routes of the records of record memories (RM-28 to RM-43)."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from api.rest.workspace.kit import WCall, WHandler, answer
from api.rest.workspace.memories import opened
from api.rest.workspace.record_shapes import RECORD, RECORDS, SEARCH, RecordBody, RecordQuery, record_json
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryKind, WorkspaceMemory
from graph.services.workspace.providers import backend_of
from graph.services.workspace.records_port import RecordActor

_NAMED_SEARCH = "search"


def table() -> Mapping[str, Mapping[str, WHandler]]:
    """Return the routes of records; one whose id is ``search`` is reached by all but `POST`."""
    one: dict[str, WHandler] = {"PUT": _update, "DELETE": _delete}
    return {RECORDS: {"GET": _list, "POST": _add}, SEARCH: {"POST": _search, **one}, RECORD: one}


async def _list(call: WCall) -> Response:
    memory = await _opened(call, Right.READ)
    limit, cursor = call.limit(), call.query("cursor")
    page = await backend_of(call.deps, memory).list(memory, limit=limit, cursor=cursor)
    return answer({"items": [record_json(record) for record in page.records], "next_cursor": page.next_cursor})


async def _search(call: WCall) -> Response:
    memory = await _opened(call, Right.READ)
    body = await call.body(RecordQuery)
    found = await backend_of(call.deps, memory).search(memory, body.query, limit=body.limit)
    return answer({"items": [record_json(record) for record in found], "next_cursor": None})


async def _add(call: WCall) -> Response:
    memory = await _opened(call, Right.RUN)
    body = await call.body(RecordBody)
    return answer(record_json(await backend_of(call.deps, memory).add(memory, body.text, _actor(call))), 201)


async def _update(call: WCall) -> Response:
    memory = await _opened(call, Right.RUN)
    body = await call.body(RecordBody)
    changed = await backend_of(call.deps, memory).update(memory, _record_id(call), body.text, _actor(call))
    return answer(record_json(changed))


async def _delete(call: WCall) -> Response:
    memory = await _opened(call, Right.RUN)
    await backend_of(call.deps, memory).delete(memory, _record_id(call), _actor(call))
    return answer(None)


async def _opened(call: WCall, verb: Right) -> WorkspaceMemory:
    return await opened(call, verb, MemoryKind.RECORD)


def _actor(call: WCall) -> RecordActor:
    return RecordActor(caller=call.caller, principal_id=call.caller.principal)


def _record_id(call: WCall) -> str:
    return str(call.request.path_params.get("record_id", _NAMED_SEARCH))
