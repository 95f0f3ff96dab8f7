"""The routes of agents, as far as memory is concerned (MT-19, MT-28)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from api.rest.workspace.kit import WCall, WHandler, answer
from api.rest.workspace.run_shapes import AGENT, AGENTS, AgentPatch, NewAgentBody, agent_json, mounts_of_body
from api.rest.workspace.threads import may_run
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import AgentProfile
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.workspace.agents import agent_tag, change_agent, create_agent
from graph.services.workspace.run_finding import named, open_one


def table() -> Mapping[str, Mapping[str, WHandler]]:
    """Return the routes of agents."""
    return {AGENTS: {"POST": _create}, AGENT: {"GET": _get, "PATCH": _patch}}


async def _create(call: WCall) -> Response:
    await may_run(call)
    body = await call.body(NewAgentBody)
    mounts = mounts_of_body(body.memory_mounts, "memory_mounts")
    made = await command(call.deps, call.caller, lambda cmd: create_agent(cmd, body.name, mounts, body.toolsets))
    return _shown(made, 201)


async def _get(call: WCall) -> Response:
    return _shown(await _opened(call, Right.READ))


async def _patch(call: WCall) -> Response:
    id_ = (await _opened(call, Right.WRITE)).id
    tags = call.if_match()
    body = await call.body(AgentPatch)
    given: dict[str, Any] = {name: getattr(body, name) for name in body.model_fields_set}
    if "memory_mounts" in given:
        given["memory_mounts"] = mounts_of_body(body.memory_mounts, "memory_mounts")
    return _shown(await command(call.deps, call.caller, lambda cmd: change_agent(cmd, id_, tags, given)))


async def _opened(call: WCall, verb: Right) -> AgentProfile:
    id_ = named(AgentProfile, call.id("agent_id"))
    found, _ = await read(call.deps, call.caller, lambda reading: open_one(reading, id_, AgentProfile, verb))
    return found


def _shown(agent: AgentProfile, status: int = 200) -> Response:
    return answer(agent_json(agent), status, tag=agent_tag(agent))
