"""What the reference says of the routes of bots and their chats. Source: SM-30, BM-14 to BM-23, BM-119 to BM-173."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.rest.bots import MOST, BudgetBody, EditBody, PurgeBody, SettingsBody
from api.rest.openapi import ALWAYS, WITH_BODY, Operation, Reference
from graph.model.nodes.bots import Layer
from graph.model.nodes.sessions import EntryStatus
from graph.services.bots.view import LOG_LIMIT, MAX_LOG_LIMIT

MEMORY: Final = "/v1/bots/{botId}/memory"
CHAT: Final = "/v1/chats/{chatId}"
_MAY_FAIL: Final = (*ALWAYS, *WITH_BODY)


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class BotItemSource(_Shape):
    """An item of a chat that an entry rests on."""

    chat: str
    item: str


class BotEntrySource(_Shape):
    """An entry that an observation was concluded from."""

    entry: str


class BotEntryFields(_Shape):
    """One entry; times are milliseconds since the Unix epoch."""

    id: str
    layer: Layer
    content: str
    tags: list[str]
    sources: list[BotItemSource | BotEntrySource]
    status: EntryStatus
    created_at: int = Field(alias="createdAt")
    updated_at: int = Field(alias="updatedAt")
    confidence: float = Field(default_factory=float, description="of observations alone")
    invalidated_at: int = Field(alias="invalidatedAt", default_factory=int, description="since when it does not hold")


class BotMemory(_Shape):
    """What belongs to the caller, newest first, and the version of the pool."""

    entries: list[BotEntryFields]
    version: int


class BotEdited(_Shape):
    """The entry after the edit; null if it is no longer the caller's."""

    entry: BotEntryFields | None
    version: int


class BotChangeFields(_Shape):
    """One version of the pool, as far as the caller sees its entries."""

    version: int
    at: int
    by: Literal["memory_bot", "person", "promotion"]
    entries: list[str]


class BotLog(_Shape):
    """Versions of the pool, newest first."""

    changes: list[BotChangeFields]


class BotPurged(_Shape):
    """How many entries went."""

    deleted: int


class BotSettingsFields(_Shape):
    """Settings of a Memory Bot."""

    version: int
    instructions: str
    concurrency: int | None
    budget: BudgetBody | None


class ConfessionFields(_Shape):
    """What a bot confided, and what it was answered; `withheld` if its entries allow the caller neither."""

    id: str
    turn: str
    text: str
    answer: str | None
    entries: list[str] = Field(default_factory=list)
    created_at: int = Field(alias="createdAt")
    withheld: bool = Field(default_factory=bool)


class Confessions(_Shape):
    """Of one chat."""

    confessions: list[ConfessionFields]


class EnrichmentFields(_Shape):
    """How the input of a turn was rewritten; older records have no `original`."""

    id: str
    turn: str
    text: str | None
    original: str = Field(default_factory=str)
    entries: list[str]
    created_at: int = Field(alias="createdAt")
    withheld: bool = Field(default_factory=bool)


class Enrichments(_Shape):
    """Of one chat."""

    enrichments: list[EnrichmentFields]


REFERENCE: Reference = {
    MEMORY: {
        "GET": Operation(
            summary="Read one's own view of a bot's memory",
            gives=BotMemory,
            query={"tags": {"type": "string", "description": "only entries with all of these, commas between them"}},
        ),
        "POST": Operation(
            summary="Change one's own part of a bot's memory", takes=EditBody, gives=BotEdited, errors=_MAY_FAIL
        ),
    },
    f"{MEMORY}/log": {
        "GET": Operation(
            summary="Read the log of one's own view",
            gives=BotLog,
            errors=(*ALWAYS, 400),
            query={
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LOG_LIMIT, "default": LOG_LIMIT},
                "before": {"type": "integer", "minimum": 0, "maximum": MOST, "description": "only versions below it"},
            },
        )
    },
    f"{MEMORY}/purge": {
        "POST": Operation(
            summary="Delete unseen what has one service tag", takes=PurgeBody, gives=BotPurged, errors=_MAY_FAIL
        )
    },
    f"{MEMORY}/bot": {
        "GET": Operation(summary="Read the settings of the Memory Bot", gives=BotSettingsFields, errors=(*ALWAYS, 403)),
        "PATCH": Operation(
            summary="Change settings of the Memory Bot", takes=SettingsBody, gives=BotSettingsFields, errors=_MAY_FAIL
        ),
    },
    f"{CHAT}/confessions": {
        "GET": Operation(
            summary="Read what a bot confided in a chat; before you show it to others, see docs/how-to/bot-learning.md",
            gives=Confessions,
        )
    },
    f"{CHAT}/enrichments": {"GET": Operation(summary="Read how inputs were rewritten", gives=Enrichments)},
}
