"""Evidence as a reader sees it: sources, their versions, who cites them, and the talk they stand in."""

from __future__ import annotations

from collections.abc import Sequence

from graph.model.edges import EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.evidence import Channel, Conversation, Source, SourceKind, Thread
from graph.model.nodes.knowledge import Attribute, BlockVersion, Facet, Relation
from graph.rules.as_of import NOW, AsOf
from graph.rules.projection import MAX_RELATIONS
from graph.services.access.session import Session
from graph.services.knowledge.entries import known_entry
from graph.services.knowledge.listing import Listing, believed_where, find_listing
from graph.services.knowledge.relations import RelationDirection, at_entries
from graph.store.query import After, By, Direction, Eq, Find, In, Newest, both

_PLACES = {Channel.PREFIX: "channel_id", Conversation.PREFIX: "conversation_id", Thread.PREFIX: "thread_id"}
"""The field of a message that names where it was said."""


async def entry_sources(
    session: Session, entry_id: NodeId, as_of: AsOf = NOW, *, first: int, after: After | None = None
) -> Listing[Source]:
    """Return the raw sources behind what an entry says at a time, the newest first.

    These are the sources that its names, summary, blocks, attributes and relations cite, directly or through what
    they are derived from.

    Raises:
        NotFound: the entry is missing or hidden.
    """
    await known_entry(session, entry_id, as_of)
    statements = await _statements_of(session, entry_id, as_of)
    types = (EdgeType.CITES, EdgeType.DERIVED_FROM)
    reached = await session.reader.closure(statements, types, Direction.OUT)
    ids = sorted(id_ for id_ in reached.depths if prefix_of(id_) == Source.PREFIX)
    query = Find(kind=Source, where=In("id", ids), order=By("occurred_at", descending=True), first=first, after=after)
    return await find_listing(session, query)


async def source_versions(
    session: Session, source_id: NodeId, *, first: int, after: After | None = None
) -> Listing[Source]:
    """Return all versions of a source, the newest first (KN-64).

    Raises:
        NotFound: the source is missing or hidden.
    """
    source = await session.open_one(source_id, Source)
    order = By("version", descending=True)
    query = Find(kind=Source, where=Eq("series", source.series), order=order, first=first, after=after)
    return await find_listing(session, query)


async def citing_statements(session: Session, source_id: NodeId) -> Sequence[Node]:
    """Return the current statements that cite a source in any of its versions, by id; none if it is hidden."""
    source = (await session.open([source_id])).get(source_id)
    if not isinstance(source, Source):
        return ()
    versions = (await session.page(Find(kind=Source, where=Eq("series", source.series)))).nodes
    ids = [version.id for version in versions]
    edges = await session.reader.edges(session.viewer, ids, [EdgeType.CITES], Direction.IN)
    opened = await session.open(sorted({edge.source for edge in edges}))
    return [node for node in opened.values() if _is_current(node)]


async def messages(
    session: Session, place_id: NodeId, *, first: int, after: After | None = None, backward: bool = False
) -> Listing[Source]:
    """Return the messages of a channel, thread or conversation in their latest versions, by the time they were said.

    Args:
        session: the caller's.
        place_id: the channel, thread or conversation.
        first: at most so many.
        after: where to go on from.
        backward: from the last message to the first.

    Raises:
        NotFound: the place is missing or hidden.
    """
    place = await session.open_one(place_id, _kind_of_place(place_id))
    said_there = both(Eq(_PLACES[prefix_of(place.id)], place_id), Eq("kind", SourceKind.MESSAGE), Eq("latest", True))
    query = Find(kind=Source, where=said_there, order=By("occurred_at"), first=first, after=after, backward=backward)
    return await find_listing(session, query)


async def conversations(
    session: Session, channel_id: NodeId, *, first: int, after: After | None = None
) -> Listing[Conversation]:
    """Return the conversations of a channel that the caller sees, the newest first.

    Raises:
        NotFound: the channel is missing or hidden.
    """
    await session.open_one(channel_id, Channel)
    order = By("opened_at", descending=True)
    query = Find(kind=Conversation, where=Eq("channel_id", channel_id), order=order, first=first, after=after)
    return await find_listing(session, query)


async def channels(session: Session, owner_id: NodeId, *, first: int, after: After | None = None) -> Listing[Channel]:
    """Return the channels of an agent that the caller sees, by id."""
    query = Find(kind=Channel, where=Eq("owner_id", owner_id), order=By("id"), first=first, after=after)
    return await find_listing(session, query)


async def _statements_of(session: Session, entry_id: NodeId, as_of: AsOf) -> Sequence[NodeId]:
    """Return the ids of what an entry says, as the index proposes it; not to be shown."""
    of_entry = both(Eq("entry_id", entry_id), believed_where(as_of))
    found: list[NodeId] = []
    for kind in (Facet, BlockVersion, Attribute):
        page = await session.reader.find(session.viewer, Find(kind=kind, where=of_entry))
        found += [node.id for node in page.nodes]
    where = both(at_entries([entry_id], RelationDirection.BOTH, None), Eq("current", True))
    page_of_relations = await session.reader.find(
        session.viewer, Find(kind=Relation, where=where, order=Newest(), first=MAX_RELATIONS)
    )
    return [*found, *(relation.id for relation in page_of_relations.nodes)]


def _is_current(statement: Node) -> bool:
    if isinstance(statement, Relation):
        return statement.current
    return getattr(statement, "invalidated_at", None) is None


def _kind_of_place(place_id: NodeId) -> type[Node]:
    kinds: dict[str, type[Node]] = {kind.PREFIX: kind for kind in (Channel, Conversation, Thread)}
    return kinds.get(prefix_of(place_id), Channel)
