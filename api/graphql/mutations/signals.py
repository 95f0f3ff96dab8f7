"""Signals of external systems, and where they go (MA-15 to MA-18, AD-18)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.scalars import JSON
from api.graphql.types import enums
from api.graphql.types.connectors import SignalSource
from api.graphql.types.evidence import Source, source_of
from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules.signals import IncomingSignal
from graph.services.knowledge.signals import ingest_signal
from graph.services.knowledge.signals_provisioning import create_signal_source, set_signal_source


@strawberry.input
class SignalInput:
    """An event as its system reports it (MA-16)."""

    signal_source_id: strawberry.ID
    external_id: str
    type: str
    payload: JSON
    occurred_at: Millis


@strawberry.type
class SignalPayload:
    """What became of an event; of a volatile source nothing is stored (MA-18)."""

    stored: bool
    arrival: enums.Arrival | None
    source_id: strawberry.ID | None
    tx_id: strawberry.ID
    own_id: strawberry.Private[NodeId | None]

    @strawberry.field(description="The source; null if nothing is stored or the caller may not read it.")
    async def source(self, info: Info[Any, Any]) -> Source | None:
        return None if self.own_id is None else await source_of(info, self.own_id)


@strawberry.type
class SignalMutations:
    """Signals and their sources."""

    @strawberry.mutation
    async def ingest_signal(self, info: Info[Any, Any], input: SignalInput) -> SignalPayload:
        ctx = context(info)
        signal = IncomingSignal(
            external_id=input.external_id, type=input.type, payload=input.payload, occurred_at=input.occurred_at
        )
        receipt = await ctx.run(info, lambda cmd: ingest_signal(cmd, ctx.id(input.signal_source_id), signal))
        return SignalPayload(
            stored=receipt.stored,
            arrival=receipt.arrival,
            source_id=None if receipt.source_id is None else ctx.out(receipt.source_id),
            tx_id=strawberry.ID(receipt.tx_id),
            own_id=receipt.source_id,
        )

    @strawberry.mutation(description="Makes a signal source; `base` is SHARED, AGENT or CHANNEL with its channel.")
    async def create_signal_source(
        self,
        info: Info[Any, Any],
        agent_id: strawberry.ID,
        display_name: str,
        base: enums.KbKind,
        channel_id: strawberry.ID | None = None,
        volatile: bool | None = False,
        local_id: str | None = None,
    ) -> SignalSource:
        ctx = context(info)
        made = await ctx.run(
            info,
            lambda cmd: create_signal_source(
                cmd,
                ctx.id(agent_id),
                display_name,
                base,
                channel_id=None if channel_id is None else ctx.id(channel_id),
                volatile=bool(volatile),
                local_id=local_id,
            ),
        )
        return SignalSource.from_domain(made)

    @strawberry.mutation(description="Routes a signal source elsewhere; what it reported before stays where it is.")
    async def set_signal_source(
        self,
        info: Info[Any, Any],
        id: strawberry.ID,
        base: enums.KbKind | None = None,
        channel_id: strawberry.ID | None = None,
        volatile: bool | None = None,
    ) -> SignalSource:
        ctx = context(info)
        made = await ctx.run(
            info,
            lambda cmd: set_signal_source(
                cmd,
                ctx.id(id),
                base=base,
                channel_id=None if channel_id is None else ctx.id(channel_id),
                volatile=volatile,
            ),
        )
        return SignalSource.from_domain(made)
