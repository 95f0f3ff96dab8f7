"""Which organizations an agent or bot serves: their members may read its memory (AD-6), at once (AD-7)."""

from __future__ import annotations

from graph.model.edges import Edge, EdgeType
from graph.model.errors import NotFound
from graph.model.ids import NodeId
from graph.model.nodes.people import Organization, Principal, PrincipalKind
from graph.rules.admin_chain import AdminOperation
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.people import ADMINISTRATION, hold_one, move_access
from graph.store.query import Direction


async def set_serving(cmd: Command, agent_id: NodeId, organization_id: NodeId, *, serves: bool) -> None:
    """Let an agent serve an organization, or no more; saying it again changes nothing.

    Raises:
        Forbidden, NotFound: no admin; no such agent or organization.
    """
    cmd.require_admin()
    await hold_one(
        cmd, organization_id, Organization
    )  # so that nobody joins between the look at its members and the end
    agent = await hold_one(cmd, agent_id, Principal)
    if agent.kind != PrincipalKind.AGENT:
        raise NotFound
    if await _serves(cmd, agent.id, organization_id) is serves:
        return
    edge = Edge(type=EdgeType.SERVES, source=agent.id, target=organization_id)
    await (cmd.writer.link([edge]) if serves else cmd.writer.unlink([edge]))
    members = await cmd.writer.edges(ADMINISTRATION, [organization_id], [EdgeType.MEMBER_OF], Direction.IN)
    await move_access(cmd, [edge.source for edge in members])
    codes = {"organization": organization_id, "serves": serves}
    await record_admin(cmd, AdminOperation.PRINCIPAL_SET, agent.id, codes)


async def _serves(cmd: Command, agent: NodeId, organization: NodeId) -> bool:
    edges = await cmd.writer.edges(ADMINISTRATION, [agent], [EdgeType.SERVES], Direction.OUT)
    return any(edge.target == organization for edge in edges)
