"""What a newer version of a material would do to what rests on it, told before it is uploaded (CO-41, MA-10)."""

from __future__ import annotations

from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Relation
from graph.rules.staleness import CitedVersion, would_go_stale
from graph.services.access.session import Session
from graph.services.knowledge.sources import citing_statements
from graph.services.knowledge.support import supports_of


async def stale_if_replaced(session: Session, material_id: NodeId) -> int:
    """Return how many current statements that the caller sees become stale if a material gets a newer version.

    What is stale already is not counted.

    Raises:
        NotFound: no such source for the caller.
    """
    source = await session.open_one(material_id, Source)
    statements = await citing_statements(session, source.id)
    supports = await supports_of(session, statements)
    count = 0
    for statement in statements:
        support = supports[statement.id]
        cited = [CitedVersion(series=one.source.series, latest=one.source.latest) for one in support.citations]
        one_is_enough = isinstance(statement, Relation)
        count += not support.stale and would_go_stale(cited, source.series, one_is_enough=one_is_enough)
    return count
