"""The list of materials of an owner: files, never pasted texts or pages (MA-11)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from graph.model.ids import NodeId
from graph.model.nodes.evidence import LearningState, Source, SourceKind
from graph.services.access.session import Session
from graph.services.knowledge.listing import Listing, find_listing, nothing
from graph.services.knowledge.owners import check_named, narrowed_to
from graph.store.query import After, And, By, Eq, Find, In, Where


async def materials(
    session: Session,
    owner_id: NodeId,
    *,
    kb_ids: Collection[NodeId] | None = None,
    states: Sequence[LearningState] | None = None,
    first: int,
    after: After | None = None,
) -> Listing[Source]:
    """Return the files in the knowledge bases of an owner in their latest versions, the last handed in first.

    Lists are narrowed by AND, values within one by OR; an owner who is hidden or unknown has none.

    Raises:
        OperationRejected: ``SCOPE_FORBIDDEN``: an agent names a base that its conversation does not read (KN-56).
    """
    check_named(session, kb_ids)
    viewer = await narrowed_to(session, owner_id, kb_ids)
    if not viewer.pools:
        return nothing()
    parts: list[Where] = [Eq("kind", SourceKind.FILE), Eq("latest", True)]
    if states is not None:
        parts.append(In("learning_state", states))
    order = By("recorded_at", descending=True)
    query = Find(kind=Source, where=And(parts), order=order, first=first, after=after)
    return await find_listing(session, query, viewer)
