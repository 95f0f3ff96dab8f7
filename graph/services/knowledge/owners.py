"""Whose knowledge the caller reads, and in which knowledge bases."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from graph.model.access import Viewer
from graph.model.errors import NotFound, OperationRejected
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KbKind, KnowledgeBase
from graph.model.nodes.people import Principal, PrincipalKind
from graph.rules.pools import conversation_bases
from graph.rules.scopes import KbScope, may_read
from graph.services.access.session import Session
from graph.services.knowledge.listing import Listing, Row, counted, cut_rows, find_listing
from graph.store.query import After, And, By, Eq, Find, In, Where

_KINDS = (KbKind.SHARED, KbKind.AGENT, KbKind.CHANNEL, KbKind.PRIVATE)
"""Kinds that hold knowledge; a guide base holds only a text."""


async def owners(session: Session, *, first: int, after: After | None = None) -> Listing[Principal]:
    """Return the agents of which the caller may read some knowledge, by id, also those that know nothing yet."""
    counts = await session.reader.aggregate(session.viewer, KnowledgeBase, _of_knowledge(), by="owner_id")
    page = await session.reader.find(session.viewer, Find(kind=Principal, where=Eq("kind", PrincipalKind.AGENT)))
    rows = [Row(key=0, id=agent.id) for agent in page.nodes if agent.id in counts or _reads_wider(session, agent.id)]
    cut, more = cut_rows(rows, first=first, after=after)
    shown = await session.open([row.id for row in cut])
    kept = [(agent, row) for row in cut if isinstance(agent := shown.get(row.id), Principal)]
    return Listing(
        items=tuple(agent for agent, _ in kept),
        places=tuple(row.place for _, row in kept),
        more=more,
        count=counted(len(rows)),
    )


async def knowledge_bases(
    session: Session, owner_id: NodeId, *, first: int, after: After | None = None
) -> Listing[KnowledgeBase]:
    """Return the knowledge bases of an owner that the caller reads and that exist, by id."""
    query = Find(kind=KnowledgeBase, where=_of_owner(owner_id), order=By("id"), first=first, after=after)
    return await find_listing(session, query)


async def readable_bases(session: Session, owner_id: NodeId) -> Sequence[KnowledgeBase]:
    """Return all knowledge bases of an owner that the caller reads, to narrow a question to; not to be shown."""
    return (await session.reader.find(session.viewer, Find(kind=KnowledgeBase, where=_of_owner(owner_id)))).nodes


def check_named(session: Session, kb_ids: Iterable[NodeId] | None) -> None:
    """Return if the caller may name these knowledge bases to narrow a question: an agent only those it reads (KN-56).

    To all others a base that they do not read is one without anything in it.

    Raises:
        OperationRejected: ``SCOPE_FORBIDDEN``.
    """
    if kb_ids is None or session.facts.kind is not PrincipalKind.AGENT:
        return
    if not set(kb_ids) <= conversation_bases(session.facts, session.conversation):
        raise OperationRejected("SCOPE_FORBIDDEN", "name knowledge bases that this conversation reads", field="kbIds")


async def narrowed_to(session: Session, owner_id: NodeId, kb_ids: Collection[NodeId] | None) -> Viewer:
    """Return the caller's eyes for the bases of an owner that he reads, of those named if any are; raises nothing."""
    pools = {base.id for base in await readable_bases(session, owner_id)}
    return session.narrowed(pools if kb_ids is None else pools & set(kb_ids))


async def watched_bases(session: Session, owner_id: NodeId) -> Sequence[KnowledgeBase]:
    """Return the knowledge bases of an agent that the caller reads, for what is told of the agent as a whole.

    Raises:
        NotFound: there is no such agent, or the caller reads nothing of it: both alike (KN-60).
    """
    agent = await session.open_one(owner_id, Principal)
    bases = await readable_bases(session, owner_id)
    if agent.kind != PrincipalKind.AGENT or not (bases or _reads_wider(session, owner_id)):
        raise NotFound
    return bases


def _of_knowledge() -> Where:
    return In("kind", _KINDS)


def _of_owner(owner_id: NodeId) -> Where:
    return And((Eq("owner_id", owner_id), _of_knowledge()))


def _reads_wider(session: Session, agent: NodeId) -> bool:
    wider = (KbScope(kind=kind, owner=agent) for kind in (KbKind.SHARED, KbKind.AGENT))
    return any(may_read(session.viewer, base) for base in wider)
