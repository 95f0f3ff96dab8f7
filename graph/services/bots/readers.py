"""Who reads the memory of a bot for a chat: its person, or its channel group, in its organization (BM section 4)."""

from __future__ import annotations

from graph.model.nodes.bots import Chat
from graph.services.bots.pool import Bot
from graph.services.bots.reading import PoolReads, group_reads, person_reads
from graph.services.deps import Deps
from graph.store.port import Reader


async def reads_of_chat(deps: Deps, reader: Reader, bot: Bot, chat: Chat) -> PoolReads:
    """Return the reads of the reader of a chat.

    Raises:
        NotFound: its person is no more.
    """
    if chat.group_id is not None:
        return group_reads(deps, reader, bot, chat.group_id, chat.organization_id)
    assert chat.person_id is not None, "a chat has a person or a group"
    return await person_reads(deps, reader, bot, chat.person_id, chat.organization_id)
