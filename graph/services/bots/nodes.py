"""What graphs of bot memory show: entries as nodes, and whether records may still tell what they rest on (KN-121).

Nothing here opens a content: who answers does, for each text that is asked for (BM-60).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from graph.model.ids import NodeId
from graph.model.nodes.bots import BotEntry, ChatItem, Confession, Enrichment
from graph.model.nodes.sessions import Turn
from graph.services.access.session import Session
from graph.services.bots.chat_access import find_chat, text_place
from graph.services.bots.pool import bot_of, find_pool
from graph.services.bots.reading import caller_reads, content_place, tagged
from graph.services.bots.records import chat_of, readers_of
from graph.services.bots.turns import opened_input
from graph.services.deps import Deps
from graph.store.query import By, Eq, Find

Record = Confession | Enrichment
R = TypeVar("R", Confession, Enrichment)


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryNodes:
    """The entries that belong to the caller, in memory order, and the version of the pool."""

    entries: tuple[BotEntry, ...]
    version: int


async def entry_nodes(session: Session, bot_id: NodeId, tags: Collection[str] = ()) -> EntryNodes:
    """Return all entries of a bot that the caller may see, those of the past too, with all of `tags` (BM-138, BM-139).

    Raises:
        MissingObject: ``BotNotFound``.
    """
    bot = await bot_of(session.reader, session.facts, bot_id)
    pool = await find_pool(session.reader, bot)
    if pool is None:
        return EntryNodes(entries=(), version=0)
    entries = await caller_reads(session, bot).entries(tagged(tags))
    return EntryNodes(entries=entries, version=pool.version)


def entry_content(deps: Deps, entry: BotEntry) -> str:
    """Open the content of an entry that the caller was found to see; the last step before an answer."""
    return deps.vault.open(content_place(entry), entry.content)


def chat_text(deps: Deps, item: ChatItem) -> str | None:
    """Open the text of an item that the caller was found to see; None once the chat's history was deleted."""
    return None if item.text is None else deps.vault.open(text_place(item.workspace, item.id), item.text)


def turn_input(deps: Deps, turn: Turn) -> str | None:
    """Open what the person said at the begin of a turn that the caller was found to see; None if nothing is kept."""
    given = opened_input(deps, turn)
    return None if given is None else given.said


def record_text(deps: Deps, record: Record, field: str) -> str | None:
    """Open a text of a record that the caller was found to see; None if it has none."""
    sealed = getattr(record, field)
    return None if sealed is None else deps.vault.open(text_place(record.workspace, record.id, field), sealed)


async def chat_records(session: Session, chat_id: NodeId, kind: type[R]) -> Sequence[R]:
    """Return what was confided in a chat, or how its inputs were rewritten, oldest first.

    Raises:
        MissingObject: ``ChatNotFound``: there is none, or the caller has no `read` on it (BM-171).
    """
    chat = await chat_of(session, chat_id)
    query = Find(kind=kind, where=Eq("chat_id", chat.id), order=By("created_at"))
    return (await session.page(query)).nodes


async def usable_records(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, bool]:
    """Tell of records that the caller was found to see whether what rests on entries may be told now (BM-173).

    Round trips grow with the chats, not with the records.
    """
    found = await session.reader.get(session.viewer, ids)
    by_chat: dict[NodeId, list[Record]] = {}
    for node in found.values():
        if isinstance(node, Confession | Enrichment):
            by_chat.setdefault(node.chat_id, []).append(node)
    usable: dict[NodeId, bool] = {}
    for chat_id, records in by_chat.items():
        supported = await _supported(session, chat_id, {entry for record in records for entry in record.entries})
        usable |= {record.id: supported is not None and supported.issuperset(record.entries) for record in records}
    return usable


async def _supported(session: Session, chat_id: NodeId, entries: Collection[str]) -> frozenset[NodeId] | None:
    """Return those of the entries that everyone may use whose view decides in a chat; None if the chat is gone."""
    chat = await find_chat(session.reader, chat_id)
    if chat is None:
        return None
    views = [await reads.support(entries) for reads in await readers_of(session, chat)]
    return frozenset.intersection(*views)
