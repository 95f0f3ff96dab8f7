"""The REST routes of sessions and their memory, exactly as the contract writes them (SM-20 to SM-67)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.rest.kit import Call, Handler, Refused
from api.rest.session_shapes import (
    MEMORY,
    SESSION,
    Configure,
    Forget,
    Refresh,
    Remember,
    SessionEdit,
    memory_json,
    session_json,
)
from dreaming.sessions.refresh import refresh_session
from graph.model.errors import ModelError
from graph.model.ids import NodeId
from graph.model.nodes.sessions import Session
from graph.services.access.commands import Command, command
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.sessions.commands import configure, forget, remember
from graph.services.sessions.finding import open_session, require_write, session_id
from graph.services.sessions.memory import session_memory, session_view


def table() -> Mapping[str, Mapping[str, Handler]]:
    """Return the routes of this surface."""
    return {SESSION: {"GET": _get_session}, MEMORY: {"GET": _get_memory, "POST": _post_memory}}


async def _get_session(call: Call) -> Any:
    return session_json(await _view(call))


async def _get_memory(call: Call) -> Any:
    view, _ = await read(call.deps, call.caller, lambda reading: session_memory(reading, _id(call)))
    return memory_json(view)


async def _post_memory(call: Call) -> Any:
    await _check_write(call)
    body = await call.body(SessionEdit)
    if isinstance(body.command, Refresh):
        return session_json(await _refresh(call))
    return session_json(await command(call.deps, call.caller, lambda cmd: _edit(cmd, _id(call), body)))


async def _view(call: Call) -> Session:
    found, _ = await read(call.deps, call.caller, lambda reading: session_view(reading, _id(call)))
    return found


async def _check_write(call: Call) -> None:
    """Refuse who may not write, before the body is looked at (SM-67)."""

    async def look(reading: Reading) -> None:
        require_write(reading.facts, await open_session(reading, _id(call)))

    await read(call.deps, call.caller, look)


async def _edit(cmd: Command, id_: NodeId, body: SessionEdit) -> Session:
    given = body.command
    if isinstance(given, Remember):
        return await remember(cmd, id_, body.seen, key=given.key, content=given.content, kind=given.kind)
    if isinstance(given, Forget):
        return await forget(cmd, id_, body.seen, key=given.key)
    assert isinstance(given, Configure), "Refresh is no edit"
    return await configure(cmd, id_, body.seen, given.switches)


async def _refresh(call: Call) -> Session:
    try:
        await refresh_session(call.deps, call.kit.models, call.caller, _id(call))
    except ModelError:
        raise Refused(502, "ModelFailed", "the model failed: nothing was learned, try again") from None
    return await _view(call)


def _id(call: Call) -> NodeId:
    return session_id(call.caller.workspace, call.id("sessionId"))
