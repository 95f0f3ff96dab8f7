"""Finding a session for a caller: by what he may read and write of it, or as the host inside whose object it is.

Missing, hidden and foreign sessions answer alike. Source: SM-60, SM-61, AD-6, AD-15.
"""

from __future__ import annotations

from graph.model.access import Clause, SystemScope
from graph.model.edges import EdgeType
from graph.model.errors import BadInput, Forbidden, MissingObject, NotFound
from graph.model.ids import NodeId, WorkspaceId, hosted_id
from graph.model.nodes.people import Principal, PrincipalKind, Right
from graph.model.nodes.sessions import Session
from graph.rules.rights import ViewerFacts, may_host, surface_rights
from graph.rules.scopes import session_rule
from graph.rules.session_memory import NOT_FOUND
from graph.services.access.commands import Command
from graph.services.access.people import find_one, hold_one
from graph.services.access.session import Session as Reading
from graph.store.port import Reader, Writer
from graph.store.query import Direction

SESSIONS = SystemScope(reason="a session that a host reports or a command changes")


def session_id(workspace: WorkspaceId, local: str) -> NodeId:
    """Return the internal id of a session by its local id.

    Raises:
        MissingObject: no session can have such an id (SM-29).
    """
    try:
        return hosted_id(Session.PREFIX, workspace, local)
    except BadInput:
        raise MissingObject(NOT_FOUND) from None


def rules_of(session: Session) -> Clause:
    """Return who may read a session and all that is in it (AD-6)."""
    return frozenset({session_rule(session.id, session.person_id)})


async def open_session(reading: Reading, id_: NodeId) -> Session:
    """Return a session that the caller may read.

    Raises:
        MissingObject: missing or hidden (SM-60).
    """
    try:
        return await reading.open_one(id_, Session)
    except NotFound:
        raise MissingObject(NOT_FOUND) from None


async def find_session(reader: Reader, id_: NodeId | None) -> Session | None:
    """Return a session for work that is not a caller's; None if there is none of this id."""
    found = (await reader.get(SESSIONS, [id_])).get(id_) if id_ is not None else None
    return found if isinstance(found, Session) else None


def require_write(facts: ViewerFacts, session: Session) -> None:
    """Refuse who may read a session but not write it.

    Raises:
        Forbidden: he may not (SM-61).
    """
    if Right.WRITE not in surface_rights(facts, session.id, person=session.person_id):
        raise Forbidden("this needs the right write on the session")


async def hold_writable(cmd: Command, id_: NodeId) -> Session:
    """Lock a session that the caller may write and return its present state.

    Raises:
        MissingObject, Forbidden: he may not read it, or not write it.
    """
    require_write(cmd.facts, await open_session(cmd.session, id_))
    return await hold_session(cmd.writer, id_)


async def hold_hosted(cmd: Command, id_: NodeId) -> Session:
    """Lock a session inside the object that the caller is host of, and return its present state.

    Raises:
        Forbidden: he is no host at all.
        MissingObject: unknown, of another workspace, or outside his object, all alike (AD-15).
    """
    found = (await cmd.writer.get(SESSIONS, [id_])).get(id_)
    if not isinstance(found, Session) or found.workspace != cmd.caller.workspace:
        check_host(cmd, None, MissingObject(NOT_FOUND))
        raise MissingObject(NOT_FOUND)
    check_host(cmd, found.organization_id, MissingObject(NOT_FOUND))
    return await hold_session(cmd.writer, id_)


async def hold_session(writer: Writer, id_: NodeId) -> Session:
    """Lock a session that is there and return its present state, whoever asks.

    Raises:
        MissingObject: it was deleted meanwhile.
    """
    await writer.lock([id_])
    found = (await writer.get(SESSIONS, [id_])).get(id_)
    if not isinstance(found, Session):
        raise MissingObject(NOT_FOUND)
    return found


def check_host(cmd: Command, organization: NodeId | None, unknown: NotFound) -> None:
    """Refuse who may not report inside an organization, or in the workspace where none is named.

    Raises:
        Forbidden: he is no host at all.
        NotFound: `unknown`, as for what does not exist: he is the host of something else (AD-15).
    """
    if may_host(cmd.facts, organization):
        return
    if any(grant.right is Right.HOST and may_host(cmd.facts, grant.object_id) for grant in cmd.facts.grants):
        raise unknown
    cmd.require_host(organization)


async def check_person(cmd: Command, person: NodeId, organization: NodeId | None) -> None:
    """Refuse a person whom the caller may not name: he must be a person inside the caller's object (AD-15).

    Raises:
        NotFound: he is not, or there is nobody of this id.
    """
    found = await find_one(cmd, person, Principal)
    if found.kind != PrincipalKind.HUMAN:
        raise NotFound
    await _check_inside(cmd, person, organization, EdgeType.MEMBER_OF)


async def check_agent(cmd: Command, agent: NodeId, organization: NodeId | None) -> None:
    """Hold an agent against its deletion; refuse one that the caller may not name; raises like `check_person`."""
    found = await hold_one(cmd, agent, Principal)
    if found.kind != PrincipalKind.AGENT:
        raise NotFound
    await _check_inside(cmd, agent, organization, EdgeType.SERVES)


async def _check_inside(cmd: Command, who: NodeId, organization: NodeId | None, by: EdgeType) -> None:
    """Everyone of the workspace is inside for its host; for an organization's, its members and who serves it."""
    if may_host(cmd.facts):
        return
    edges = await cmd.writer.edges(SESSIONS, [who], [by], Direction.OUT)
    if organization not in {edge.target for edge in edges}:
        raise NotFound
