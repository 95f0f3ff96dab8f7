"""The REST routes of agent memory, exactly as the contract writes them (AM-9 to AM-19)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.rest.agent_shapes import LOG, MEMORY, AgentEdit, RememberForAgent, log_json, memory_json
from api.rest.kit import Call, Handler
from graph.model.errors import InvalidRequest
from graph.model.ids import NodeId
from graph.services.access.commands import Command, command
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.agents.commands import forget, remember
from graph.services.agents.memory import DEFAULT_LOG, AgentMemoryView, agent_memory, agent_memory_log
from graph.services.agents.state import agent_id, check_readable, require_write


def table() -> Mapping[str, Mapping[str, Handler]]:
    """Return the routes of this surface."""
    return {MEMORY: {"GET": _get_memory, "POST": _post_memory}, LOG: {"GET": _get_log}}


async def _get_memory(call: Call) -> Any:
    view, _ = await read(call.deps, call.caller, lambda reading: agent_memory(reading, _id(call)))
    return memory_json(view)


async def _get_log(call: Call) -> Any:
    agent = _id(call)
    limit, before = call.request.query_params.get("limit"), call.request.query_params.get("before")

    async def look(reading: Reading) -> Any:
        await check_readable(reading.reader, reading.facts, agent)
        most = DEFAULT_LOG if limit is None else _number(limit, "limit")
        below = None if before is None else _number(before, "before")
        return await agent_memory_log(reading, agent, most, below)

    changes, _ = await read(call.deps, call.caller, look)
    return log_json(changes)


async def _post_memory(call: Call) -> Any:
    await _check_write(call)
    body = await call.body(AgentEdit)
    return memory_json(await command(call.deps, call.caller, lambda cmd: _edit(cmd, _id(call), body)))


async def _check_write(call: Call) -> None:
    """Refuse who may not write, before the body is looked at (SM-67)."""

    async def look(reading: Reading) -> None:
        await check_readable(reading.reader, reading.facts, _id(call))
        require_write(reading.facts, _id(call))

    await read(call.deps, call.caller, look)


async def _edit(cmd: Command, agent: NodeId, body: AgentEdit) -> AgentMemoryView:
    """Change the memory and return it as it is then, in the state of the same transaction (AM-11)."""
    given = body.command
    if isinstance(given, RememberForAgent):
        await remember(
            cmd, agent, expected_version=body.expected, key=given.key, content=given.content, kind=given.kind
        )
    else:
        await forget(cmd, agent, expected_version=body.expected, key=given.key)
    return await agent_memory(cmd.session, agent)


def _id(call: Call) -> NodeId:
    return agent_id(call.caller.workspace, call.id("agentId"))


def _number(text: str, path: str) -> int:
    """Return a whole number of the query string.

    Raises:
        InvalidRequest: it is none.
    """
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise InvalidRequest("give a whole number", path=path)
    return int(text)
