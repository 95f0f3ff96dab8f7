"""What is kept of agents for their runs: default mounts and toolsets (MT-19, MT-28, MT-49)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import AgentProfile
from graph.rules.memory_fields import checked_name
from graph.rules.memory_refusals import missing, stale
from graph.rules.run_mounts import Mount, check_defaults
from graph.rules.run_tools import checked_toolsets
from graph.rules.workspace_ids import outside, tag_of
from graph.services.access.commands import Command
from graph.services.workspace.finding import require_verb
from graph.services.workspace.mounts import live_memories
from graph.services.workspace.run_finding import hold_one, open_one, put_shared


def agent_tag(agent: AgentProfile) -> str:
    """Return the ETag of an agent."""
    return tag_of(agent.id, agent.version)


async def create_agent(cmd: Command, name: str, mounts: Sequence[Mount], toolsets: Mapping[str, Any]) -> AgentProfile:
    """Make an agent that runs can be accepted for.

    Raises:
        WorkspaceRefused: ``forbidden``, ``invalid_argument`` at the field, ``not_found`` of a memory.
    """
    require_verb(cmd.facts, None, Right.RUN)
    agent = AgentProfile(
        id=cmd.deps.new_id(AgentProfile.PREFIX),
        workspace=cmd.caller.workspace,
        created_at=cmd.at,
        updated_at=cmd.at,
        created_by=cmd.facts.principal,
        name=checked_name(name),
        memory_mounts=await _checked_mounts(cmd, mounts),
        toolsets=checked_toolsets(toolsets),
    )
    await put_shared(cmd, [agent])
    return agent


async def change_agent(cmd: Command, id_: NodeId, tags: Collection[str], given: Mapping[str, Any]) -> AgentProfile:
    """Change `name`, `memory_mounts` or `toolsets`; threads that had their first run do not notice (MT-21).

    Raises:
        WorkspaceRefused: as for `create_agent`, and ``not_found``, ``precondition_failed``.
    """
    await open_one(cmd, id_, AgentProfile, Right.WRITE)
    agent = await hold_one(cmd, id_, AgentProfile)
    if agent_tag(agent) not in tags:
        raise stale(agent_tag(agent))
    fields: dict[str, Any] = {}
    if "name" in given:
        fields["name"] = checked_name(given["name"])
    if "memory_mounts" in given:
        fields["memory_mounts"] = await _checked_mounts(cmd, given["memory_mounts"])
    if "toolsets" in given:
        fields["toolsets"] = checked_toolsets(given["toolsets"])
    if all(getattr(agent, name) == value for name, value in fields.items()):
        return agent
    fields |= {"version": agent.version + 1, "updated_at": cmd.at}
    await cmd.writer.patch_many({agent.id: fields})
    return replace(agent, **fields)


async def _checked_mounts(cmd: Command, mounts: Sequence[Mount]) -> list[dict[str, Any]]:
    check_defaults(mounts)
    living = await live_memories(cmd, {mount.memory_id for mount in mounts})
    for mount in mounts:
        if mount.memory_id not in living:
            raise missing("memory", outside(mount.memory_id))
    return [mount.kept() for mount in mounts]
