"""Bot memory: the pool of a bot, its chats and their items, its entries, and what its Memory Bot did.

Contents are sealed; tags, source links, rules, times and lengths are in clear, for the checks (BM-184, BM-187).
Source: BM-1 to BM-189.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from graph.model.fields import Json, Node, indexed
from graph.model.ids import NodeId
from graph.model.sealed import Sealed
from graph.model.time import Millis


class Layer(StrEnum):
    """Layers of bot entries (BM-9)."""

    FACT = "fact"
    OBSERVATION = "observation"
    PINNED = "pinned"


class BotRunState(StrEnum):
    """Life of a learning run of a bot (BM-97)."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class BotPool(Node):
    """What a bot learned, and how its Memory Bot works; its id is made from the bot's, and is its `pool`.

    Attributes:
        version: moves by one with each committed change set (BM-23).
        access_version: moves with tags, status, invalidation, purge and members, so that no reply mixes (BM-62).
        settings_version: of the four settings below (BM-127).
        instructions: what the Memory Bot is told about privacy and sharing; None is "".
        budget: ``{"period": "day" | "month", "limitMicros": n}`` or None (BM-123).
    """

    PREFIX: ClassVar[str] = "bpl"
    bot_id: NodeId = indexed()
    version: int = 0
    access_version: int = 1
    settings_version: int = 0
    instructions: Sealed | None = None
    concurrency: int | None = None
    budget: Json = None
    audit_seq: int = 0
    audit_head: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Chat(Node):
    """A history of a bot with one person, or the group chat of a channel (`group_id`).

    Attributes:
        item_seq: number of the last item; `read_seq`: learning read up to it (BM-88).
        turn_seq: number of the last turn.
        review: nothing is learned from it and it has no confide (BM-71).
    """

    PREFIX: ClassVar[str] = "cht"
    bot_id: NodeId = indexed()
    organization_id: NodeId
    person_id: NodeId | None = indexed(None)
    group_id: NodeId | None = None
    review: bool = False
    item_seq: int = 0
    turn_seq: int = 0
    read_seq: int = 0
    deleted_at: Millis | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ChatItem(Node):
    """Something that happened in a chat: a source. Its access rule for an entry stands on the link (BM-39).

    Attributes:
        tool: of a result: the tool or app that gave it.
        text: None once the chat's history was deleted; the item stays (BM-57).
        chars: length of the text in code points.
    """

    PREFIX: ClassVar[str] = "cit"
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("chat_id", "seq"),)
    chat_id: NodeId = indexed()
    seq: int
    turn_id: NodeId | None = indexed(None)
    type: str
    tool: str | None = None
    text: Sealed | None = None
    chars: int = 0
    occurred_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class BotEntry(Node):
    """One entry of a bot's memory; the id is the public one, ``mem_…`` (BM-19).

    Attributes:
        chars: length of the content in code points.
        tags: service tags and topics as the contract writes them and orders them (BM-33), with local ids.
        sources: ``[{"chat", "item"}]`` of a fact, ``[{"entry"}]`` of an observation, in the order given; edges
            (CITES with an access record, DERIVED_FROM) say the same.
        removed_tags: `from:` tags taken off by Forget; the purge still goes by them (BM-150).
    """

    PREFIX: ClassVar[str] = "mem"
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("pool", "created_at"),)
    bot_id: NodeId = indexed()
    layer: str = indexed()
    content: Sealed
    chars: int
    tags: tuple[str, ...] = ()
    removed_tags: tuple[str, ...] = ()
    sources: Json = None
    status: str
    confidence: float | None = None
    updated_at: Millis
    invalidated_at: Millis | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class BotLogRow(Node):
    """One entry in one version of the pool's log: who changed it (sealed), when. Gone with the entry (BM-159)."""

    PREFIX: ClassVar[str] = "blr"
    GUARDED: ClassVar[bool] = False
    entry_id: NodeId = indexed()
    version: int
    at: Millis
    by: Sealed


@dataclass(frozen=True, kw_only=True, slots=True)
class BotRun(Node):
    """A learning run of a bot for one chat, saved with the confide that asks for it (BM-70, BM-97)."""

    PREFIX: ClassVar[str] = "brn"
    GUARDED: ClassVar[bool] = False
    bot_id: NodeId = indexed()
    chat_id: NodeId = indexed()
    turn_id: NodeId = indexed()
    state: str = indexed()
    error: str | None = None
    began_at: Millis | None = None
    ended_at: Millis | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Confession(Node):
    """What a bot confided and what it was answered (BM-168); `entries` are those that the answer rests on."""

    PREFIX: ClassVar[str] = "cnf"
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("chat_id", "created_at"),)
    chat_id: NodeId = indexed()
    turn_id: NodeId
    text: Sealed
    answer: Sealed | None = None
    entries: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Enrichment(Node):
    """How the input of a turn was rewritten (BM-169); older records have no `original` (BM-170).

    Its `text` is None once an entry that it rests on was purged.
    """

    PREFIX: ClassVar[str] = "enr"
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("chat_id", "created_at"),)
    chat_id: NodeId = indexed()
    turn_id: NodeId
    text: Sealed | None = None
    original: Sealed | None = None
    entries: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class BotSpending(Node):
    """Confirmed model cost of a bot on one UTC day, and calls whose usage was not reported (BM-134, BM-135)."""

    PREFIX: ClassVar[str] = "bsp"
    GUARDED: ClassVar[bool] = False
    bot_id: NodeId = indexed()
    day: str = indexed()
    confirmed_micro_usd: int = 0
    unknown_calls: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class BotCall(Node):
    """One call of a Memory Bot's model: saved before it is made, its answer before it is used (BM-85, BM-186).

    It belongs to the bot's pool and goes with it. Unlike a `ModelCall`, one of a learning step is found again by the
    step alone, whatever the memory is by then, so that a restart never asks anew; it keeps what was asked as well.

    Attributes:
        step: of a learning step: ``<run>/<read position>/<attempt>``; its id is made of it.
        state: ``asked``, ``answered``, ``late`` (known too late to be used) or ``failed``.
        shown: ids of the entries whose text stood in the request, later of those made of the answer too: a purge of one
            of them takes the call away.
        attempts: one object a try: `at`, `by`, `outcome`, `seconds`.
        cost_micro_usd: confirmed by the provider; None: unknown (BM-135).
    """

    PREFIX: ClassVar[str] = "bcl"
    GUARDED: ClassVar[bool] = False
    bot_id: NodeId = indexed()
    chat_id: NodeId = indexed()
    turn_id: NodeId | None = None
    run_id: NodeId | None = indexed(None)
    step: str = ""
    purpose: str = indexed()
    prompt: str
    model: str
    state: str
    request: Sealed
    answer: Sealed | None = None
    finish: str | None = None
    attempts: Json = None
    shown: tuple[str, ...] = ()
    cost_micro_usd: int | None = None
    ended_at: Millis | None = None
