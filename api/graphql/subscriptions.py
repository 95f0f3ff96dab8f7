"""Subscriptions: sources of events, each of which is read anew, with the rights of that moment, when it is sent.

A source yields `Event`s; the executor runs the operation once for each inside a session of its own
(`Executor.event`), so that no reader is held while a client is slow. Source: KN-123, AD-35.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import RequestContext, context
from api.graphql.types.audit import AuditRecord
from api.graphql.types.dreaming import DreamRun
from api.graphql.types.inputs import AuditFilter, audit_filter_of
from api.graphql.types.materials import Material
from graph.model.errors import NotFound
from graph.model.ids import NodeId
from graph.model.nodes import evidence, work
from graph.services.access.session import Session, read
from graph.services.knowledge import audit_log
from graph.services.knowledge.audit_feed import POLL_SECONDS, FeedPlace, begin_feed, newer_records
from graph.services.learning.dream_runs import run_progress

ENDED = frozenset({evidence.LearningState.SUCCEEDED, evidence.LearningState.FAILED})


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something that happened; `load` gives what is sent, or None if the caller may not see it (any more)."""

    load: Callable[[RequestContext], Awaitable[Any]]


@strawberry.type
class Subscription:
    """Changes as they come."""

    @strawberry.subscription
    async def audit_feed(
        self, info: Info[Any, Any], filter: AuditFilter | None = None
    ) -> AsyncGenerator[AuditRecord, None]:
        ctx = context(info)
        wanted = audit_log.AuditFilter() if filter is None else audit_filter_of(ctx, filter)
        place, _ = await read(ctx.deps, ctx.caller, begin_feed)
        while True:
            ids, place = await _next_records(ctx, wanted, place)
            for id_ in ids:
                yield _record_event(id_)  # type: ignore[misc]  # the executor turns events into what is sent
            await ctx.pause(POLL_SECONDS)

    @strawberry.subscription
    async def learning_progress(
        self, info: Info[Any, Any], material_id: strawberry.ID
    ) -> AsyncGenerator[Material, None]:
        ctx = context(info)
        material, seen = ctx.id(material_id), None
        while True:
            source, _ = await read(ctx.deps, ctx.caller, lambda session: _material(session, material))
            now = (source.learning_state, source.learning_code, source.learning_at, source.latest)
            if now != seen:
                seen = now
                yield _material_event(material)  # type: ignore[misc]
            if source.learning_state in ENDED:
                return
            await ctx.pause(POLL_SECONDS)

    @strawberry.subscription(description="A run as it goes on, until it has ended.")
    async def dream_run_progress(self, info: Info[Any, Any], run_id: strawberry.ID) -> AsyncGenerator[DreamRun, None]:
        ctx = context(info)
        run, seen = ctx.id(run_id), None
        while True:
            now, _ = await read(ctx.deps, ctx.caller, lambda session: run_progress(session, run))
            if now != seen:
                seen = now
                yield _run_event(run)  # type: ignore[misc]
            if now.ended:
                return
            await ctx.pause(POLL_SECONDS)


async def _next_records(
    ctx: RequestContext, wanted: audit_log.AuditFilter, place: FeedPlace
) -> tuple[list[NodeId], FeedPlace]:
    (records, moved), _ = await read(ctx.deps, ctx.caller, lambda session: newer_records(session, wanted, place))
    return [record.id for record in records], moved


async def _material(session: Session, material: NodeId) -> evidence.Source:
    source = await session.open_one(material, evidence.Source)
    if source.learning_state is None:
        raise NotFound
    return source


def _record_event(id_: NodeId) -> Event:
    async def load(ctx: RequestContext) -> AuditRecord | None:
        node = await ctx.loaders.nodes.load(id_)
        return AuditRecord.from_domain(node) if isinstance(node, work.AuditRecord) else None

    return Event(load=load)


def _run_event(id_: NodeId) -> Event:
    async def load(ctx: RequestContext) -> DreamRun | None:
        found = await ctx.loaders.dream_runs.load(id_)
        return None if found is None else DreamRun.from_domain(found)

    return Event(load=load)


def _material_event(id_: NodeId) -> Event:
    async def load(ctx: RequestContext) -> Material | None:
        node = await ctx.loaders.nodes.load(id_)
        return Material.from_domain(node) if isinstance(node, evidence.Source) else None

    return Event(load=load)
