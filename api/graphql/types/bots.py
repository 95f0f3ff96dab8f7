"""What a bot remembers (bot memory): its pool, entries, log and settings.

A sealed text is opened by the field that shows it, when it is asked for, after the checks (BM-60).
"""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.ids import to_global
from api.graphql.scalars import JSON, Long
from api.graphql.types.node import Node
from api.graphql.types.people import Principal, principal_of
from graph.model.ids import NodeId
from graph.model.nodes import bots
from graph.model.time import Millis
from graph.services.bots.nodes import entry_content
from graph.services.bots.settings import BotSettings
from graph.services.bots.view import LogChange


@strawberry.type
class BotPool(Node):
    """The one pool of entries that a bot has."""

    version: int
    bot_id: strawberry.Private[NodeId]

    @classmethod
    def from_domain(cls, node: bots.BotPool) -> BotPool:
        return cls(id=to_global(node.id, node.workspace), version=node.version, bot_id=node.bot_id)

    @strawberry.field
    async def bot(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.bot_id)


@strawberry.type
class BotEntry(Node):
    """One entry of a bot's memory: a fact, an observation or a pinned one."""

    entry_id: str = strawberry.field(description="mem_…, as sources name it.")
    layer: str
    tags: list[str]
    sources: JSON = strawberry.field(description='Of a fact [{"chat", "item"}], of an observation [{"entry"}].')
    status: str
    confidence: float | None
    created_at: Millis
    updated_at: Millis
    invalidated_at: Millis | None
    node: strawberry.Private[bots.BotEntry]

    @classmethod
    def from_domain(cls, node: bots.BotEntry) -> BotEntry:
        return cls(
            id=to_global(node.id, node.workspace),
            entry_id=node.id,
            layer=node.layer,
            tags=list(node.tags),
            sources=JSON(node.sources or []),
            status=node.status,
            confidence=node.confidence,
            created_at=node.created_at,
            updated_at=node.updated_at,
            invalidated_at=node.invalidated_at,
            node=node,
        )

    @strawberry.field
    async def content(self, info: Info[Any, Any]) -> str:
        return entry_content(context(info).deps, self.node)

    @strawberry.field
    async def bot(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.node.bot_id)


@strawberry.type
class BotMemory:
    """What belongs to the caller, newest first, and the version of the pool."""

    entries: list[BotEntry]
    version: int


@strawberry.type
class BotMemoryEdit:
    """What a command left: the entry as the caller sees it, null if he does not any more."""

    entry: BotEntry | None
    version: int


@strawberry.type
class BotMemoryChange:
    """One version of the pool, as far as the caller sees its entries; `by` is memory_bot, person or promotion."""

    version: int
    at: Millis
    by: str
    entries: list[strawberry.ID]

    @classmethod
    def from_domain(cls, info: Info[Any, Any], change: LogChange) -> BotMemoryChange:
        out = context(info).out
        return cls(version=change.version, at=change.at, by=change.by, entries=[out(id_) for id_ in change.entries])


@strawberry.type
class BotBudget:
    """A cap on confirmed model cost in one day or month, in micro-USD."""

    period: str
    limit_micros: Long


@strawberry.type
class BotMemorySettings:
    """How the Memory Bot of a bot works; null is no limit."""

    version: int
    instructions: str
    concurrency: int | None
    budget: BotBudget | None

    @classmethod
    def from_domain(cls, found: BotSettings) -> BotMemorySettings:
        budget = found.budget
        return cls(
            version=found.version,
            instructions=found.instructions,
            concurrency=found.concurrency,
            budget=None
            if budget is None
            else BotBudget(period=budget["period"], limit_micros=Long(budget["limitMicros"])),
        )
