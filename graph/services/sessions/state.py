"""The present state of a session's memory, read under its lock by commands, hosts and learning (SM-10, SM-98)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from graph.model.access import SystemScope
from graph.model.fields import Json
from graph.model.ids import NodeId, hosted_id, local_part
from graph.model.nodes.sessions import EntryStatus, Session, SessionFact, SessionItem
from graph.rules.session_memory import Switches, defaults, in_force
from graph.store.port import Reader
from graph.store.query import And, By, Eq, Find, In, Where

MEMORY = SystemScope(reason="the memory of a session under its lock")
MAX_READ: Final = 200
"""One consolidation reads at most so many unread items (SM-121)."""


def item_id(session: Session, local: str) -> NodeId:
    """Return the internal id of an item of a session.

    Raises:
        BadInput: the local id is not 1 to 128 characters of ``A-Za-z0-9._:-`` (AD-2).
    """
    return hosted_id(SessionItem.PREFIX, session.workspace, local, container=local_part(session.id))


async def current_facts(
    reader: Reader, session_id: NodeId, keys: Collection[str] | None = None
) -> dict[str, SessionFact]:
    """Return the present state of every key, or of some, retracted ones included."""
    where: list[Where] = [Eq("session_id", session_id), Eq("current", True)]
    if keys is not None:
        where.append(In("key", sorted(keys)))
    page = await reader.find(MEMORY, Find(kind=SessionFact, where=And(where)))
    return {fact.key: fact for fact in page.nodes}


async def count_active(reader: Reader, session_id: NodeId) -> int:
    """Return how many facts are active at the present version."""
    where = And((Eq("session_id", session_id), Eq("current", True), Eq("status", EntryStatus.ACTIVE)))
    return (await reader.aggregate(MEMORY, SessionFact, where)).get(None, 0)


async def unread_items(reader: Reader, session_id: NodeId, first: int = MAX_READ) -> Sequence[SessionItem]:
    """Return the oldest items of the present history that were not read for memory (SM-98, SM-121)."""
    where = And((Eq("session_id", session_id), Eq("current", True), Eq("processed", False)))
    return (await reader.find(MEMORY, Find(kind=SessionItem, where=where, order=By("depth"), first=first))).nodes


async def items_of(reader: Reader, session: Session, locals_: Iterable[str]) -> Sequence[SessionItem]:
    """Return those of these items, by local id, that are part of the present history, in its order (SM-100, SM-118)."""
    wanted = sorted({item_id(session, local) for local in locals_})
    found = (await reader.get(MEMORY, wanted)).values() if wanted else ()
    return sorted((i for i in found if isinstance(i, SessionItem) and i.current), key=lambda item: item.depth)


async def switches_of(reader: Reader, session: Session) -> Switches:
    """Return the switches in force for a session now (SM-81, SM-82)."""
    return in_force(session, defaults(await organization_settings(reader, session)))


async def organization_settings(reader: Reader, session: Session) -> Mapping[str, Json]:
    """Return the settings of the organization that a session belongs to; none without one."""
    if session.organization_id is None:
        return {}
    found = (await reader.get(MEMORY, [session.organization_id])).get(session.organization_id)
    return getattr(found, "settings", None) or {}
