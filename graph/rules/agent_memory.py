"""What an agent's memory takes, who may see where an entry comes from, and what a promotion carries over. Pure.

Keys, contents and limits are those of session memory (AM-8). Source: AM-1 to AM-17, AM-39, AM-44, AM-47 to AM-51.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph.model.errors import BadInput, InvalidRequest, SurfaceConflict
from graph.model.fields import Json
from graph.model.ids import NodeId, hosted_id, local_part
from graph.model.nodes.sessions import AgentEntry, EntryStatus, FactKind, ItemType, SessionFact, SessionItem
from graph.model.time import Millis
from graph.rules.session_memory import MAX_ACTIVE

CONFLICT: Final = "AgentMemoryConflict"
NOT_FOUND: Final = "AgentNotFound"
KINDS: Final = frozenset({FactKind.PROCEDURE, FactKind.PREFERENCE, FactKind.DECISION})
"""Kinds that last: what an agent keeps (AM-3), and what a promotion carries over (AM-48)."""
_OUTSIDE: Final = frozenset({ItemType.APP_RESULT, ItemType.NOTIFICATION})


@dataclass(frozen=True, order=True, slots=True)
class AgentSource:
    """An item that supports an entry, by local ids."""

    session: str
    item: str


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryState:
    """What an entry is to be.

    Attributes:
        sources: ids of the items that support it, in order.
        people: by local id of a session: whose it is, so that he still sees where an entry came from when the session
            is gone (AM-39).
        by_person: a person's command makes it.
    """

    key: str
    content: str
    kind: str
    status: str
    updated_at: Millis
    sources: tuple[NodeId, ...] = ()
    people: Mapping[str, NodeId | None]
    by_person: bool = False


def checked_agent_kind(given: str, path: str = "command.kind") -> FactKind:
    """Return a kind of entry.

    Raises:
        InvalidRequest: it is none, or one that a session keeps (AM-15).
    """
    if given not in KINDS:
        raise InvalidRequest(f"a kind is one of {', '.join(sorted(KINDS))}", path=path)
    return FactKind(given)


def check_version(version: int, expected: int) -> None:
    """Refuse a change of a version that is not the present one.

    Raises:
        SurfaceConflict: ``stale`` (AM-12).
    """
    if version != expected:
        raise SurfaceConflict(CONFLICT, "stale", "the memory changed: read it again and try again")


def check_room(entries: Iterable[AgentEntry]) -> None:
    """Refuse one active entry more than a memory holds.

    Raises:
        SurfaceConflict: ``memory_full`` (AM-8, SM-58).
    """
    if active_count(entries) >= MAX_ACTIVE:
        raise SurfaceConflict(CONFLICT, "memory_full", f"at most {MAX_ACTIVE} entries are active: forget some first")


def active_count(entries: Iterable[AgentEntry]) -> int:
    """Return how many entries are active."""
    return sum(entry.status == EntryStatus.ACTIVE for entry in entries)


def source_id(workspace: str, source: AgentSource) -> NodeId:
    """Return the id of the item that a source names."""
    return hosted_id(SessionItem.PREFIX, workspace, source.item, container=source.session)


def source_of(item: NodeId) -> AgentSource:
    """Return a source out of the id of its item.

    >>> source_of(NodeId("sit_w/s1/i-1"))
    AgentSource(session='s1', item='i-1')
    """
    return AgentSource(session=item.split("/")[-2], item=local_part(item))


def named_source(workspace: str, given: Json, sessions: Collection[str]) -> str:
    """Return the id of the item that a source of a model names; "" for what can name none (AM-28).

    Args:
        workspace: of the agent.
        given: ``{"session": …, "item": …}``, or an item alone where the step reads one session only.
        sessions: local ids of the sessions that the step reads.
    """
    if isinstance(given, str) and len(sessions) == 1:
        given = {"session": next(iter(sessions)), "item": given}
    if not isinstance(given, dict):
        return ""
    session, item = given.get("session"), given.get("item")
    if not isinstance(session, str) or not isinstance(item, str) or "/" in session:
        return ""
    try:
        return source_id(workspace, AgentSource(session=session, item=item))
    except BadInput:
        return ""


def stored_sources(state: EntryState) -> Json:
    """Return the sources as an entry keeps them; a session's person stands beside it where it has one."""
    found = [source_of(item) for item in state.sources]
    return [
        {
            "session": source.session,
            "item": source.item,
            **({"person": person} if (person := state.people.get(source.session)) else {}),
        }
        for source in found
    ]


def sources_of(entry: AgentEntry) -> tuple[AgentSource, ...]:
    """Return all sources of an entry, whoever may see them."""
    return tuple(AgentSource(session=row["session"], item=row["item"]) for row in entry.sources or ())


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceSight:
    """What a reader may be told of sources.

    Attributes:
        viewer: who reads.
        shown: ids of items that he may see.
        there: ids of items that exist, whoever may see them.
    """

    viewer: NodeId
    shown: frozenset[NodeId]
    there: frozenset[NodeId]


def sources_shown(entry: AgentEntry, sight: SourceSight) -> tuple[AgentSource, ...]:
    """Return the sources that a reader may see; of a session that is gone, its person still does (AM-39, AM-44)."""
    rows = [(row, AgentSource(session=row["session"], item=row["item"])) for row in entry.sources or ()]
    return tuple(source for row, source in rows if _is_shown(row, source_id(entry.workspace, source), sight))


def _is_shown(row: Mapping[str, Json], item: NodeId, sight: SourceSight) -> bool:
    if item in sight.there:
        return item in sight.shown
    return row.get("person") == sight.viewer


def carried_over(
    facts: Iterable[SessionFact], types: Mapping[NodeId, str], known: Mapping[str, AgentEntry], person: NodeId | None
) -> Sequence[EntryState]:
    """Return the entries that promoting a session adds to its agent's memory, newest first (AM-47 to AM-51).

    A key that the agent has already, active or retracted, stays as it is there, so that promoting again changes
    nothing and nobody's edit is undone. No more is carried over than the memory holds.

    Args:
        facts: the present facts of the session.
        types: of the items they rest on.
        known: the agent's entries by key.
        person: whose session it is.
    """
    room = MAX_ACTIVE - active_count(known.values())
    lasting = [fact for fact in facts if _lasts(fact) and fact.key not in known and _has_inside(fact, types)]
    newest = sorted(lasting, key=lambda fact: (-fact.updated_at, fact.key))
    return [_carried(fact, person) for fact in newest[: max(room, 0)]]


def _lasts(fact: SessionFact) -> bool:
    return fact.status == EntryStatus.ACTIVE and fact.kind in KINDS


def _has_inside(fact: SessionFact, types: Mapping[NodeId, str]) -> bool:
    """True if a fact rests on more than outside data; a person's edit counts (AM-51)."""
    return any(types.get(item) not in _OUTSIDE for item in fact_items(fact))


def fact_items(fact: SessionFact) -> tuple[NodeId, ...]:
    """Return the ids of the items that a fact of a session rests on."""
    session = local_part(fact.session_id)
    return tuple(source_id(fact.workspace, AgentSource(session=session, item=item)) for item in fact.sources)


def _carried(fact: SessionFact, person: NodeId | None) -> EntryState:
    return EntryState(
        key=fact.key,
        content=fact.content,
        kind=fact.kind,
        status=EntryStatus.ACTIVE,
        updated_at=fact.updated_at,
        sources=fact_items(fact),
        people={local_part(fact.session_id): person},
    )
