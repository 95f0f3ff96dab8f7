"""What a learning run is shown: new items of a chat, and what its reader may see of the memory.

Source: BM-75, BM-88 to BM-90, BM-164.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graph.model.ids import NodeId
from graph.model.nodes.bots import BotEntry, Chat, ChatItem, Confession
from graph.model.nodes.sessions import Turn
from graph.rules.bot_learning import CONTEXT_ENTRIES, ReadItem, read_item
from graph.services.bots.chat_access import CHATS, items_after, text_place
from graph.services.bots.pool import Bot
from graph.services.bots.reading import ACTIVE, PoolReads
from graph.services.deps import Deps
from graph.store.port import Reader
from graph.store.query import And, By, Eq, Find


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownItem:
    """An item with its text, opened."""

    item: ChatItem
    text: str
    turn: Turn | None


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownEntry:
    """An entry with its content, opened."""

    entry: BotEntry
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LearningContext:
    """The memory that a run is shown.

    Attributes:
        entries: the newest active entries in memory order, at most 300 (BM-89).
        topics: how many active entries have each topic, those beyond the 300 included (BM-90).
    """

    entries: tuple[ShownEntry, ...]
    topics: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class NewItems:
    """What is new in a chat for a run.

    Attributes:
        start: the read position; `upto` where it will be.
        items: those with a text, in order.
    """

    start: int
    upto: int
    items: tuple[ShownItem, ...]

    @property
    def is_empty(self) -> bool:
        """True if nothing is new (BM-88)."""
        return self.upto <= self.start


async def learning_context(reads: PoolReads) -> LearningContext:
    """Return the memory for a run of this reader; of entries he may not see, nothing (BM-89, BM-90, BM-164)."""
    entries = await reads.entries(ACTIVE, first=CONTEXT_ENTRIES)
    return LearningContext(
        entries=tuple(ShownEntry(entry=entry, content=reads.open(entry)) for entry in entries),
        topics=await reads.topic_counts(),
    )


async def new_items(deps: Deps, reader: Reader, chat: Chat, turn: NodeId) -> NewItems:
    """Return the items behind the read position, up to and including those of a turn (BM-75)."""
    last = Find(kind=ChatItem, where=Eq("turn_id", turn), order=By("seq", descending=True), first=1)
    found = (await reader.find(CHATS, last)).nodes
    upto = max([item.seq for item in found], default=0)
    if upto <= chat.read_seq:
        return NewItems(start=chat.read_seq, upto=chat.read_seq, items=())
    items = await items_after(reader, chat, chat.read_seq, upto)
    turns = await turns_of(reader, items)
    shown = [
        ShownItem(
            item=item,
            text=deps.vault.open(text_place(item.workspace, item.id), item.text),
            turn=None if item.turn_id is None else turns.get(item.turn_id),
        )
        for item in items
        if item.text is not None
    ]
    return NewItems(start=chat.read_seq, upto=upto, items=tuple(shown))


async def turns_of(reader: Reader, items: tuple[ChatItem, ...]) -> Mapping[NodeId, Turn]:
    """Return the turns of items, by id."""
    ids = sorted({item.turn_id for item in items if item.turn_id is not None})
    found = await reader.get(CHATS, ids) if ids else {}
    return {id_: node for id_, node in found.items() if isinstance(node, Turn)}


async def read_items(reader: Reader, chat: Chat, bot: Bot, start: int, upto: int) -> Mapping[tuple[str, str], ReadItem]:
    """Return the items of a stretch that still have a text, as sources of facts, by local ids of chat and item."""
    items = await items_after(reader, chat, start, upto)
    turns = await turns_of(reader, items)
    with_text = [item for item in items if item.text is not None]
    read = [read_item(item, chat, turns.get(item.turn_id) if item.turn_id else None, bot.home) for item in with_text]
    return {(one.source.chat, one.source.item): one for one in read}


async def confided_in(deps: Deps, reader: Reader, chat: Chat, turn: NodeId) -> tuple[str, ...]:
    """Return what was confided in a turn: it shows where to look and is no evidence (BM-77)."""
    where = And((Eq("chat_id", chat.id), Eq("turn_id", turn)))
    found = (await reader.find(CHATS, Find(kind=Confession, where=where, order=By("created_at")))).nodes
    return tuple(deps.vault.open(text_place(one.workspace, one.id), one.text) for one in found)
