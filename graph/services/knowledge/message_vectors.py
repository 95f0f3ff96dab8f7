"""Vectors of messages go at once when the message, or a neighbour of it, comes, changes or goes (RE-9).

They are made again by a job (`graph.services.learning.embedding`); until then the words still find the message.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.rules.embedding import NOT_EMBEDDED, message_vector_id, window_vector_id
from graph.services.ledger import COMMIT_GUARD
from graph.store.port import Writer


async def drop_vectors(writer: Writer, near: Iterable[Source], gone: Collection[NodeId]) -> int:
    """Drop the vectors that no longer tell what is said, let them be made again, and return how many there were.

    Args:
        writer: of the transaction that changed the messages.
        near: messages whose neighbours may have changed, and those of `gone`.
        gone: messages that are no longer live and latest: of these the vector of the message alone goes too, which one
            that waits to be embedded with new neighbours still has.
    """
    embedded = [source.id for source in near if source.embedding_model != NOT_EMBEDDED]
    dropped = sorted({*map(window_vector_id, (*embedded, *gone)), *map(message_vector_id, gone)})
    if not dropped:
        return 0
    there = await writer.get(COMMIT_GUARD, dropped)
    await writer.delete(list(there))
    await writer.patch_many({id_: {"embedding_model": NOT_EMBEDDED} for id_ in embedded})
    return len(there)
