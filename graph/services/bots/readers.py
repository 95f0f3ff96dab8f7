"""Who reads the memory of a bot for a chat: its person, or its channel group, in its organization (BM section 4).

Three ways in, so that no answer mixes old rights with new content (BM-62): `read_for_chat` for a question on its own,
`reads_in` inside a read or a command of a caller, and `reads_of_chat` for a transaction that commits nothing but what
the law checks again at every read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from graph.model.errors import StoreUnavailable
from graph.model.nodes.bots import Chat
from graph.services.access.facts import versions_of
from graph.services.access.session import MAX_REPEATS, Session
from graph.services.bots.pool import Bot
from graph.services.bots.reading import FactsOf, PoolReads, group_reads, person_reads
from graph.services.deps import Deps
from graph.store.port import Isolation, Reader

T = TypeVar("T")


async def reads_of_chat(deps: Deps, reader: Reader, bot: Bot, chat: Chat, facts_of: FactsOf | None = None) -> PoolReads:
    """Return the reads of the reader of a chat; see `person_reads` for `facts_of`.

    Raises:
        NotFound: its person is no more.
    """
    if chat.group_id is not None:
        return group_reads(deps, reader, bot, chat.group_id, chat.organization_id)
    assert chat.person_id is not None, "a chat has a person or a group"
    return await person_reads(deps, reader, bot, chat.person_id, chat.organization_id, facts_of)


async def reads_in(session: Session, bot: Bot, chat: Chat) -> PoolReads:
    """Return the reads of the reader of a chat inside a read of a caller, or a command (`cmd.session`).

    It begins anew if the rights of that reader move before its end, as it does for the caller's.

    Raises:
        NotFound: the person of the chat is no more.
    """
    await session.watch([bot.pool])
    return await reads_of_chat(session.deps, session.reader, bot, chat, session.facts_of)


async def read_for_chat(deps: Deps, bot: Bot, chat: Chat, work: Callable[[PoolReads], Awaitable[T]]) -> T:
    """Run `work` with the reads of the reader of a chat, on one state of his rights and of the pool's.

    On a store without snapshots it runs again if one of them moved; it must have no effect of its own.

    Raises:
        NotFound: the person of the chat is no more.
        StoreUnavailable: the rights moved during every one of many tries.
    """
    watched = [bot.pool, bot.id, *(() if chat.person_id is None else (chat.person_id,))]
    for _ in range(MAX_REPEATS):
        async with deps.store.reading() as reader:
            keeps = deps.store.isolation is Isolation.SNAPSHOT
            before = None if keeps else await versions_of(reader, watched)
            result = await work(await reads_of_chat(deps, reader, bot, chat))
            if keeps or before == await versions_of(reader, watched):
                return result
            deps.figures.count("read_repeated")
    raise StoreUnavailable("rights are changing too fast to answer from one state: try again")
