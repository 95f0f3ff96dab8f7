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
        near: messages whose neighbours may have changed, and those of `gone`; of those without vectors nothing is done.
        gone: messages that are no longer live and latest: of these the vector of the message alone goes too.
    """
    embedded = [source for source in near if source.embedding_model != NOT_EMBEDDED]
    if not embedded:
        return 0
    windows = [window_vector_id(source.id) for source in embedded]
    alone = [message_vector_id(source.id) for source in embedded if source.id in gone]
    there = await writer.get(COMMIT_GUARD, [*windows, *alone])
    await writer.delete(list(there))
    await writer.patch_many({source.id: {"embedding_model": NOT_EMBEDDED} for source in embedded})
    return len(there)
