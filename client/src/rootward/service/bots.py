"""What bots remember of people, as far as the caller may see it. Source: BM-119 to BM-161."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rootward.service.calls import KEEP, Ask, Unset, given, reads, reads_all
from rootward.service.operations import AsyncSurface, SyncSurface, operation

_MEMORY = "/v1/bots/{botId}/memory"


@dataclass(frozen=True, kw_only=True)
class BotItemSource:
    """An item of a chat that an entry rests on."""

    chat: str
    item: str


@dataclass(frozen=True, kw_only=True)
class BotEntrySource:
    """An entry that an observation was concluded from."""

    entry: str


@dataclass(frozen=True, kw_only=True)
class BotEntry:
    """One entry; times are milliseconds since the Unix epoch.

    Attributes:
        confidence: of observations alone.
        invalidated_at: since when it does not hold; None: it does.
    """

    id: str
    layer: str
    content: str
    tags: tuple[str, ...]
    sources: tuple[BotItemSource | BotEntrySource, ...]
    status: str
    created_at: int
    updated_at: int
    confidence: float | None = None
    invalidated_at: int | None = None


@dataclass(frozen=True, kw_only=True)
class BotMemory:
    """What belongs to the caller, newest first, and the version of the pool."""

    entries: tuple[BotEntry, ...]
    version: int


@dataclass(frozen=True, kw_only=True)
class BotEdit:
    """The entry after an edit; None if it is no longer the caller's."""

    entry: BotEntry | None
    version: int


@dataclass(frozen=True, kw_only=True)
class BotChange:
    """One version of the pool, as far as the caller sees its entries."""

    version: int
    at: int
    by: str
    entries: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class BotBudget:
    """A cap on cost in a ``day`` or a ``month``, in micro-USD."""

    period: str
    limit_micros: int


@dataclass(frozen=True, kw_only=True)
class BotSettings:
    """Settings of a Memory Bot; None is no limit."""

    version: int
    instructions: str
    concurrency: int | None
    budget: BotBudget | None


@operation("GET", _MEMORY)
def read_memory(bot_id: str, *, tags: Sequence[str] = ()) -> Ask[BotMemory]:
    """Read the caller's own view; only entries with all of `tags`."""
    return Ask(ids=[bot_id], query={"tags": list(tags)}, read=reads(BotMemory))


@operation("POST", _MEMORY)
def remember(bot_id: str, *, content: str, tags: Sequence[str] = ()) -> Ask[BotEdit]:
    """Add an entry that only the caller sees; each call makes a new one."""
    command = {"_tag": "Remember", "content": content, "tags": list(tags)}
    return Ask(ids=[bot_id], body={"command": command}, read=reads(BotEdit))


@operation("POST", _MEMORY)
def forget(bot_id: str, *, entry_id: str) -> Ask[BotEdit]:
    """Take back the caller's part of an entry."""
    return Ask(ids=[bot_id], body={"command": {"_tag": "Forget", "id": entry_id}}, read=reads(BotEdit))


@operation("GET", f"{_MEMORY}/log")
def read_log(bot_id: str, *, limit: int | None = None, before: int | None = None) -> Ask[tuple[BotChange, ...]]:
    """Read the versions that changed what the caller sees, newest first; only those below `before`."""
    return Ask(ids=[bot_id], query={"limit": limit, "before": before}, read=reads_all(BotChange, "changes"))


@operation("POST", f"{_MEMORY}/purge")
def purge(bot_id: str, *, tag: str) -> Ask[int]:
    """Delete for good, unread, what has a ``from:``, ``chat:``, ``org:`` or ``channel:`` tag; return how many went."""
    return Ask(ids=[bot_id], body={"tag": tag}, read=reads(int, "deleted"))


@operation("GET", f"{_MEMORY}/bot")
def read_settings(bot_id: str) -> Ask[BotSettings]:
    """Read the settings of the Memory Bot."""
    return Ask(ids=[bot_id], read=reads(BotSettings))


@operation("PATCH", f"{_MEMORY}/bot")
def set_settings(
    bot_id: str,
    *,
    expected_version: int,
    instructions: str | Unset | None = KEEP,
    concurrency: int | Unset | None = KEEP,
    budget: BotBudget | Unset | None = KEEP,
) -> Ask[BotSettings]:
    """Change what is named; None empties the instructions or lifts a limit."""
    changes = given(instructions=instructions, concurrency=concurrency, budget=_budget(budget))
    return Ask(ids=[bot_id], body={"expected": expected_version, **changes}, read=reads(BotSettings))


def _budget(budget: BotBudget | Unset | None) -> object:
    if not isinstance(budget, BotBudget):
        return budget
    return {"period": budget.period, "limitMicros": budget.limit_micros}


class BotOperations:
    """What can be done with the memory of bots."""

    memory = read_memory
    remember = remember
    forget = forget
    log = read_log
    purge = purge
    settings = read_settings
    set_settings = set_settings


class Bots(BotOperations, SyncSurface):
    """The memory of bots, waiting in the thread."""


class AsyncBots(BotOperations, AsyncSurface):
    """The memory of bots, waiting in the task."""
