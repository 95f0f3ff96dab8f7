"""Making and changing agents and bots, linked ones too (AD-6, AD-18)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from graph.model.errors import BadState, NotFound
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.people import Principal, PrincipalKind, Right
from graph.rules.admin_chain import AdminOperation
from graph.rules.explicit import explicit_id
from graph.rules.pools import new_base
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.grants import add_grant
from graph.services.access.people import hold_one
from graph.services.access.provisioning import checked_name, new_principal, put_principal
from graph.services.access.serving import set_serving
from graph.services.knowledge.bases import ensure_base


async def create_agent(
    cmd: Command,
    display_name: str,
    *,
    local_id: str | None = None,
    profile: Mapping[str, Json] | None = None,
    shared: bool = False,
    organizations: Collection[NodeId] = (),
    home_id: NodeId | None = None,
) -> Principal:
    """Make an agent with its shared and own knowledge bases; who makes it may curate and write it (AD-6, KN-40).

    Args:
        cmd: of an admin.
        display_name: what people read.
        local_id: made if None.
        profile: anything the host wants to keep with it.
        shared: several members use it, so that each turn carries the privacy rules (AM-45).
        organizations: whose members may read its agent memory and its bot memory, at once (AD-6).
        home_id: of a linked bot: the bot whose memory it has.

    Raises:
        Forbidden, BadInput, AlreadyExists: no admin; a name or id that cannot be taken; the id is taken.
        NotFound: no such organization or home.
        BadState: the home is a linked bot itself.
    """
    cmd.require_admin()
    home = None if home_id is None else await _home(cmd, home_id)
    made = await new_principal(cmd, PrincipalKind.AGENT, display_name, local_id, profile)
    agent = await put_principal(cmd, replace(made, shared=shared, home_id=home))
    for kind in (KbKind.SHARED, KbKind.AGENT):
        await ensure_base(cmd.writer, new_base(agent.workspace, agent.id, kind, cmd.at))
    for right in (Right.CURATOR, Right.WRITE):
        await add_grant(cmd, cmd.caller.principal, right, agent.id)
    for organization in sorted(set(organizations)):
        await set_serving(cmd, agent.id, explicit_id(organization, "organizationIds"), serves=True)
    return agent


async def set_agent(
    cmd: Command, agent_id: NodeId, *, display_name: str | None = None, shared: bool | None = None
) -> Principal:
    """Change the name of an agent, or whether several members use it; None leaves what it is.

    Raises:
        Forbidden, BadInput, NotFound: no admin; a name that cannot be taken; no such agent.
    """
    cmd.require_admin()
    agent = await hold_one(cmd, explicit_id(agent_id, "id"), Principal)
    if agent.kind != PrincipalKind.AGENT:
        raise NotFound
    changed = replace(
        agent,
        display_name=agent.display_name if display_name is None else checked_name(display_name),
        shared=agent.shared if shared is None else shared,
    )
    await cmd.writer.patch(agent.id, {"display_name": changed.display_name, "shared": changed.shared})
    await record_admin(cmd, AdminOperation.PRINCIPAL_SET, agent.id, {"shared": changed.shared})
    return changed


async def _home(cmd: Command, home_id: NodeId) -> NodeId:
    """Return the bot that a linked bot has its memory from; held, so that it is not deleted meanwhile."""
    home = await hold_one(cmd, explicit_id(home_id, "homeBotId"), Principal)
    if home.kind != PrincipalKind.AGENT:
        raise NotFound
    if home.home_id is not None:
        raise BadState("link to the home itself: this bot is a linked one")
    return home.id
