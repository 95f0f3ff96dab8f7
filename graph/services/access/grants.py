"""Granting and revoking rights; each takes effect at the next read of whom it concerns (AD-5 to AD-7, KN-55)."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from graph.model.edges import Edge, EdgeType
from graph.model.errors import BadInput, BadState, NotFound, OperationRejected
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.bots import Chat
from graph.model.nodes.evidence import Channel, Conversation
from graph.model.nodes.knowledge import KbKind, KnowledgeBase
from graph.model.nodes.people import Grant, Organization, Principal, PrincipalKind, Right, Workspace
from graph.model.nodes.sessions import Session
from graph.model.nodes.workspace import WorkspaceMemory
from graph.rules.admin_chain import AdminOperation
from graph.rules.explicit import explicit_id
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.people import ADMINISTRATION, find_one, hold_one, move_access
from graph.store.port import Reader
from graph.store.query import And, Direction, Eq, Find, Where


class ObjectKind(StrEnum):
    """What a right may be granted on."""

    WORKSPACE = "workspace"
    ORGANIZATION = "organization"
    AGENT = "agent"
    SESSION = "session"
    CHAT = "chat"
    MEMORY = "memory"


_PLACES = frozenset({ObjectKind.WORKSPACE, ObjectKind.AGENT, ObjectKind.SESSION, ObjectKind.CHAT, ObjectKind.MEMORY})

OBJECTS_OF: Mapping[Right, frozenset[ObjectKind]] = {
    Right.ADMIN: frozenset({ObjectKind.WORKSPACE}),
    Right.AUDITOR: frozenset({ObjectKind.WORKSPACE, ObjectKind.AGENT}),
    Right.CURATOR: frozenset({ObjectKind.AGENT}),
    Right.READER: frozenset({ObjectKind.AGENT}),
    Right.WRITE: _PLACES,
    Right.RUN: frozenset({ObjectKind.WORKSPACE, ObjectKind.MEMORY}),
    Right.READ: _PLACES,
    Right.HOST: frozenset({ObjectKind.WORKSPACE, ObjectKind.ORGANIZATION}),
}
"""On what each right may be granted, of the objects that exist so far. Source: AD-5."""

NOT_FOR_AGENTS = frozenset({Right.ADMIN, Right.AUDITOR, Right.CURATOR, Right.READER})
"""Roles are for people and services; an agent reads and writes through a conversation (KN-56, KN-58)."""


async def grant(cmd: Command, principal_id: NodeId, right: Right, object_id: NodeId) -> Grant:
    """Give a principal a right on one object and return the grant; giving it again changes nothing.

    Raises:
        Forbidden: only an admin grants.
        BadInput: the object is not named, or such a right is not given on it or to this principal.
        NotFound: no such principal or object in this workspace.
    """
    cmd.require_admin()
    principal = await hold_one(cmd, explicit_id(principal_id, "principalId"), Principal)
    await _check_object(cmd, principal, right, explicit_id(object_id, "objectId"))
    found = await _grant_of(cmd.writer, principal.id, right, object_id)
    return found or await add_grant(cmd, principal.id, right, object_id)


async def add_grant(cmd: Command, principal: NodeId, right: Right, object_id: NodeId) -> Grant:
    """Write a new grant with its record; what it is on was checked by the caller."""
    made = Grant(
        id=cmd.deps.new_id(Grant.PREFIX),
        workspace=cmd.caller.workspace,
        created_at=cmd.at,
        principal_id=principal,
        right=right,
        object_id=object_id,
        granted_by=cmd.caller.principal,
    )
    await cmd.writer.put([made])
    await move_access(cmd, [principal])
    await record_admin(cmd, AdminOperation.GRANT_ADD, principal, {"right": str(right), "object": object_id})
    return made


async def revoke(cmd: Command, principal_id: NodeId, right: Right, object_id: NodeId) -> bool:
    """Take a right away; false if there was no such grant.

    Raises:
        Forbidden: only an admin revokes.
        BadInput: principal or object are not named.
        NotFound: no such principal in this workspace.
        BadState: it is the last grant of `admin` on the workspace.
    """
    cmd.require_admin()
    wanted = explicit_id(object_id, "objectId")
    principal = await hold_one(cmd, explicit_id(principal_id, "principalId"), Principal)
    found = await _grant_of(cmd.writer, principal.id, right, wanted)
    if found is None:
        return False
    if right is Right.ADMIN:
        await keep_an_admin(cmd, principal.id)
    await _remove(cmd, found)
    await move_access(cmd, [principal.id])
    return True


async def revoke_all(cmd: Command, principal_id: NodeId) -> int:
    """Take every right of one principal away; return how many he had. Nobody else's grants are touched.

    Raises:
        Forbidden: only an admin revokes.
        BadInput: the principal is not named: an empty, blank or wildcard id never means everyone.
        NotFound: no such principal in this workspace.
        BadState: he is the last admin.
    """
    cmd.require_admin()
    principal = await hold_one(cmd, explicit_id(principal_id, "principalId"), Principal)
    page = await cmd.writer.find(ADMINISTRATION, Find(kind=Grant, where=Eq("principal_id", principal.id)))
    if any(found.right == Right.ADMIN for found in page.nodes):
        await keep_an_admin(cmd, principal.id)
    for found in page.nodes:
        await _remove(cmd, found)
    if page.nodes:
        await move_access(cmd, [principal.id])
    return len(page.nodes)


async def keep_an_admin(cmd: Command, leaving: NodeId) -> None:
    """Refuse what would leave the workspace without an admin who can sign in.

    Raises:
        BadState: `leaving` is the last one.
    """
    await cmd.writer.lock([cmd.caller.workspace_node])
    where = And((Eq("right", Right.ADMIN), Eq("object_id", cmd.caller.workspace_node)))
    page = await cmd.writer.find(ADMINISTRATION, Find(kind=Grant, where=where))
    others = [found.principal_id for found in page.nodes if found.principal_id != leaving]
    people = await cmd.writer.get(ADMINISTRATION, others)
    if not any(isinstance(p, Principal) and p.disabled_at is None for p in people.values()):
        raise BadState("make another admin first: a workspace keeps at least one")


async def grant_shared(cmd: Command, kb_id: NodeId, agent_id: NodeId, granted: bool) -> KnowledgeBase:
    """Let another agent read a shared knowledge base, or let it no more (KN-55); saying it again changes nothing.

    Raises:
        Forbidden: only an admin grants.
        NotFound: no such knowledge base for the caller, or no such agent.
        OperationRejected: ``SCOPE_FORBIDDEN``: only shared knowledge is granted, and to another agent.
    """
    cmd.require_admin()
    base = await cmd.session.open_one(explicit_id(kb_id, "kbId"), KnowledgeBase)
    agent = await hold_one(cmd, explicit_id(agent_id, "agentId"), Principal)
    if agent.kind != PrincipalKind.AGENT:
        raise NotFound
    if base.kind != KbKind.SHARED or base.owner_id == agent.id:
        raise OperationRejected("SCOPE_FORBIDDEN", "grant a shared knowledge base to another agent")
    if await _reads(cmd.writer, agent.id, base.id) is not granted:
        await _set_reads(cmd, agent.id, base.id, granted)
    return base


async def _reads(reader: Reader, agent: NodeId, base: NodeId) -> bool:
    edges = await reader.edges(ADMINISTRATION, [agent], [EdgeType.READS_SHARED], Direction.OUT)
    return any(edge.target == base for edge in edges)


async def _set_reads(cmd: Command, agent: NodeId, base: NodeId, granted: bool) -> None:
    props = {"granted_by": cmd.caller.principal, "recorded_at": cmd.at}
    edge = Edge(type=EdgeType.READS_SHARED, source=agent, target=base, props=props)
    await (cmd.writer.link if granted else cmd.writer.unlink)([edge])
    await move_access(cmd, [agent])
    operation = AdminOperation.SHARED_GRANT if granted else AdminOperation.SHARED_REVOKE
    await record_admin(cmd, operation, base, {"agent": agent})


async def _remove(cmd: Command, found: Grant) -> None:
    await cmd.writer.delete([found.id])
    codes = {"right": found.right, "object": found.object_id}
    await record_admin(cmd, AdminOperation.GRANT_REVOKE, found.principal_id, codes)


async def _grant_of(reader: Reader, principal: NodeId, right: Right, object_id: NodeId) -> Grant | None:
    where: Where = And((Eq("principal_id", principal), Eq("right", right), Eq("object_id", object_id)))
    page = await reader.find(ADMINISTRATION, Find(kind=Grant, where=where, first=1))
    return page.nodes[0] if page.nodes else None


async def _check_object(cmd: Command, principal: Principal, right: Right, object_id: NodeId) -> None:
    kind = _kind_of(await find_one(cmd, object_id, Node))
    if kind is None or kind not in OBJECTS_OF[right]:
        raise BadInput(f"grant {right} on: {', '.join(sorted(OBJECTS_OF[right]))}", field="objectId")
    if principal.kind == PrincipalKind.AGENT and right in NOT_FOR_AGENTS:
        raise BadInput("an agent reads and writes through its conversations: grant this to people or services")


def _kind_of(found: Node) -> ObjectKind | None:
    if isinstance(found, Principal):
        return ObjectKind.AGENT if found.kind == PrincipalKind.AGENT else None
    kinds: Mapping[type[Node], ObjectKind] = {
        Workspace: ObjectKind.WORKSPACE,
        Organization: ObjectKind.ORGANIZATION,
        Channel: ObjectKind.CHAT,
        Conversation: ObjectKind.CHAT,
        Session: ObjectKind.SESSION,
        Chat: ObjectKind.CHAT,
        WorkspaceMemory: ObjectKind.MEMORY,
    }
    return kinds.get(type(found))
