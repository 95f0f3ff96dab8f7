"""Who belongs to a channel, group or organization; a change takes effect at the next read of whom it concerns.

Source: AD-6, AD-7, AD-15, AD-16.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from graph.model.edges import Edge, EdgeType
from graph.model.errors import Forbidden, NotFound
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Channel
from graph.model.nodes.people import Group, Organization
from graph.rules.admin_chain import AdminOperation
from graph.rules.explicit import explicit_id
from graph.rules.rights import may_host
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.people import ADMINISTRATION, find_one, hold_people, move_access
from graph.services.access.session import Session
from graph.store.port import Reader
from graph.store.query import Direction


@dataclass(frozen=True, kw_only=True, slots=True)
class MembersChange:
    """Who came and who went, in id order."""

    added: tuple[NodeId, ...]
    removed: tuple[NodeId, ...]


async def set_members(cmd: Command, place_id: NodeId, members: Collection[NodeId]) -> MembersChange:
    """Make `members` all the members of a channel, group or organization; equal ones change nothing.

    Raises:
        Forbidden: only hosts say who belongs where: of the workspace, or of the organization itself.
        BadInput: the place is not named.
        NotFound: no such place or person in this workspace.
    """
    place = explicit_id(place_id, "id")
    _check_host(cmd, place)
    await _check_place(cmd, place)
    wanted = frozenset(explicit_id(member, "members") for member in members)
    await cmd.writer.lock([place])
    before = await members_of(cmd.writer, place)
    await hold_people(cmd, before ^ wanted)
    return await _change(cmd, place, wanted - before, before - wanted)


async def list_members(session: Session, place_id: NodeId) -> tuple[NodeId, ...]:
    """Return the present direct members of a channel, group or organization, by id.

    Raises:
        Forbidden: only hosts of the workspace, or of the organization itself, look at them.
        NotFound: no such place in this workspace.
    """
    if not may_host(session.facts, organization=place_id):
        raise Forbidden("this needs the right host on the workspace or organization")
    found = (await session.reader.get(ADMINISTRATION, [place_id])).get(place_id)
    if not isinstance(found, Channel | Group | Organization) or found.workspace != session.caller.workspace:
        raise NotFound
    return tuple(sorted(await members_of(session.reader, place_id)))


async def members_of(reader: Reader, place: NodeId) -> frozenset[NodeId]:
    """Return the present direct members of a place."""
    edges = await reader.edges(ADMINISTRATION, [place], [EdgeType.MEMBER_OF], Direction.IN)
    return frozenset(edge.source for edge in edges)


async def _change(cmd: Command, place: NodeId, added: Collection[NodeId], removed: Collection[NodeId]) -> MembersChange:
    change = MembersChange(added=tuple(sorted(added)), removed=tuple(sorted(removed)))
    if not added and not removed:
        return change
    await cmd.writer.link([_member(person, place) for person in change.added])
    await cmd.writer.unlink([_member(person, place) for person in change.removed])
    await move_access(cmd, [*change.added, *change.removed])
    codes = {"added": list(change.added), "removed": list(change.removed)}
    await record_admin(cmd, AdminOperation.MEMBERS_SET, place, codes)
    return change


def _member(person: NodeId, place: NodeId) -> Edge:
    return Edge(type=EdgeType.MEMBER_OF, source=person, target=place)


def _check_host(cmd: Command, place: NodeId) -> None:
    if not may_host(cmd.facts, organization=place):
        raise Forbidden("this needs the right host on the workspace or organization")


async def _check_place(cmd: Command, place: NodeId) -> None:
    found = await find_one(cmd, place, Node)
    if not isinstance(found, Channel | Group | Organization):
        raise NotFound
