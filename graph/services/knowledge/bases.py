"""Knowledge bases come into being at their first use (KN-40)."""

from __future__ import annotations

from graph.model.edges import Edge, EdgeType
from graph.model.nodes.knowledge import KnowledgeBase
from graph.rules.pools import clause_of
from graph.services.access.guards import guard_alone
from graph.services.ledger import COMMIT_GUARD
from graph.store.port import Writer


async def ensure_base(writer: Writer, base: KnowledgeBase) -> KnowledgeBase:
    """Return the stored base of this id; make it if this is its first use."""
    await writer.lock(sorted({base.id, base.owner_id}))
    found = (await writer.get(COMMIT_GUARD, [base.id])).get(base.id)
    if isinstance(found, KnowledgeBase):
        return found
    await writer.put([base])
    await writer.link([Edge(type=EdgeType.OWNS, source=base.owner_id, target=base.id)])
    await guard_alone(writer, base, clause_of(base))
    return base
