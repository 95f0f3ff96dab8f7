"""Reading a session and its memory as a viewer (SM-1 to SM-13, SM-20, SM-24)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from graph.model.errors import StoreUnavailable
from graph.model.ids import NodeId, local_part
from graph.model.nodes.sessions import Session, SessionFact, SessionItem
from graph.rules.session_memory import Switches, overrides
from graph.services.access.session import MAX_REPEATS
from graph.services.access.session import Session as Reading
from graph.services.sessions.finding import open_session
from graph.services.sessions.state import switches_of
from graph.store.port import Isolation
from graph.store.query import And, By, Eq, Find

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionMemoryView:
    """The memory of a session at its present version.

    Attributes:
        entries: all facts by key, retracted ones included, in the order of their keys.
        processed: local ids of the items that were read for memory, in history order.
        settings: the switches in force now.
        overrides: those that the session set itself.
    """

    session: Session
    entries: Mapping[str, SessionFact]
    processed: tuple[str, ...]
    settings: Switches
    overrides: Mapping[str, bool]


async def session_view(reading: Reading, session_id: NodeId) -> Session:
    """Return a session.

    Raises:
        MissingObject: ``SessionNotFound``: missing, or the caller may not read it.
    """
    return await open_session(reading, session_id)


async def session_memory(reading: Reading, session_id: NodeId) -> SessionMemoryView:
    """Return the memory of a session, all of it from one revision.

    Raises:
        MissingObject: as for `session_view`.
        StoreUnavailable: the session changed during every one of many tries.
    """
    return await _of_one_revision(reading, session_id, lambda session: _memory(reading, session))


async def _memory(reading: Reading, session: Session) -> SessionMemoryView:
    own = (Eq("session_id", session.id), Eq("current", True))
    facts = await reading.page(Find(kind=SessionFact, where=And(own), order=By("key")))
    read = And((*own, Eq("processed", True)))
    items = await reading.page(Find(kind=SessionItem, where=read, order=By("depth")))
    return SessionMemoryView(
        session=session,
        entries={fact.key: fact for fact in facts.nodes},
        processed=tuple(local_part(item.id) for item in items.nodes),
        settings=await switches_of(reading.reader, session),
        overrides=overrides(session),
    )


async def _of_one_revision(reading: Reading, session_id: NodeId, work: Callable[[Session], Awaitable[T]]) -> T:
    """Read a session, then what is in it; again if it changed meanwhile on a store that keeps no snapshot."""
    for _ in range(MAX_REPEATS):
        session = await open_session(reading, session_id)
        result = await work(session)
        if reading.deps.store.isolation is Isolation.SNAPSHOT:
            return result
        if (await open_session(reading, session_id)).revision == session.revision:
            return result
        reading.deps.figures.count("read_repeated")
    raise StoreUnavailable("the session is changing too fast to read it in one state: try again")
