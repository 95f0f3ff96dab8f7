"""Inputs that several operations share."""

from __future__ import annotations

import strawberry

from api.graphql.context import RequestContext
from api.graphql.types import enums
from graph.model.time import Millis
from graph.rules import as_of as times
from graph.services.knowledge import audit_log, entry_list


@strawberry.input
class AsOf:
    """The moment that a read asks about: what was believed then, what held in the world then (KN-76)."""

    recorded: Millis | None = None
    valid: Millis | None = None


@strawberry.input
class CitationInput:
    """Words of a source."""

    source: strawberry.ID
    quote: str
    role: enums.CitationRole | None = enums.CitationRole.SUPPORTS


@strawberry.input
class EntryFilter:
    """What a list of entries is narrowed by: AND between filters, OR within one."""

    text: str | None = None
    types: list[str] | None = None
    kb_ids: list[strawberry.ID] | None = None
    author_ids: list[strawberry.ID] | None = None
    updated_from: Millis | None = None
    updated_to: Millis | None = None
    ids: list[strawberry.ID] | None = None
    cites_source_id: strawberry.ID | None = None


@strawberry.input
class AuditFilter:
    """What the audit is narrowed by: AND between filters, OR within one; `to` is exclusive (KN-89).

    With `ownerId` only the knowledge bases of that agent are asked.
    """

    owner_id: strawberry.ID | None = None
    kb_ids: list[strawberry.ID] | None = None
    operations: list[str] | None = None
    actor_ids: list[strawberry.ID] | None = None
    actor_kinds: list[enums.ActorKind] | None = None
    dream_run_id: strawberry.ID | None = None
    target_id: strawberry.ID | None = None
    tx_id: strawberry.ID | None = None
    from_: Millis | None = strawberry.field(name="from", default=None)
    to: Millis | None = None


@strawberry.input
class MemorySearchInput:
    """A question to memory: an agent names its conversation, a person the owner and knowledge bases (RE-35)."""

    query: str
    conversation_id: strawberry.ID | None = None
    owner_id: strawberry.ID | None = None
    kb_ids: list[strawberry.ID] | None = None
    total_tokens: int | None = None
    max_items: int | None = None
    rerank: bool | None = True


def as_of_of(given: AsOf | None) -> times.AsOf:
    """Return the moment that an input names; now if there is none."""
    return times.NOW if given is None else times.AsOf(recorded=given.recorded, valid=given.valid)


def entry_filter_of(ctx: RequestContext, given: EntryFilter | None) -> entry_list.EntryFilter | None:
    """Return a filter with internal ids."""
    if given is None:
        return None
    return entry_list.EntryFilter(
        text=given.text,
        types=None if given.types is None else tuple(given.types),
        kb_ids=ctx.ids(given.kb_ids),
        author_ids=ctx.ids(given.author_ids),
        updated_from=given.updated_from,
        updated_to=given.updated_to,
        ids=ctx.ids(given.ids),
        cites_source_id=None if given.cites_source_id is None else ctx.id(given.cites_source_id),
    )


def audit_filter_of(ctx: RequestContext, given: AuditFilter) -> audit_log.AuditFilter:
    """Return a filter with internal ids."""
    return audit_log.AuditFilter(
        owner_id=None if given.owner_id is None else ctx.id(given.owner_id),
        kb_ids=ctx.ids(given.kb_ids),
        operations=None if given.operations is None else tuple(given.operations),
        actor_ids=ctx.ids(given.actor_ids),
        actor_kinds=None if given.actor_kinds is None else tuple(given.actor_kinds),
        dream_run_id=None if given.dream_run_id is None else ctx.id(given.dream_run_id),
        target_id=None if given.target_id is None else ctx.id(given.target_id),
        tx_id=given.tx_id,
        from_at=given.from_,
        to_at=given.to,
    )
