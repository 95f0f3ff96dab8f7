"""Record memories: the accounts that hold records, and records, which are nodes of nobody's graph (AD-25)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import strawberry

from api.graphql.connection import Connection, PageInfo
from api.graphql.ids import to_global
from api.graphql.scalars import JSON
from api.graphql.types.node import Node
from graph.model.nodes import workspace
from graph.model.time import Millis
from graph.rules.workspace_ids import outside
from graph.services.workspace.providers import Probe, provider_tag
from graph.services.workspace.records_port import Record, RecordPage


@strawberry.type
class MemoryProvider(Node):
    """An account of a record backend; its key is never shown."""

    local_id: str = strawberry.field(description="Its id in the REST routes.")
    type: str = strawberry.field(description="mem0_platform or mem0_oss.")
    name: str
    config: JSON
    credential_configured: bool
    enabled: bool
    version: int
    etag: str
    created_at: Millis
    updated_at: Millis

    @classmethod
    def from_domain(cls, node: workspace.MemoryProvider) -> MemoryProvider:
        return cls(
            id=to_global(node.id, node.workspace),
            local_id=outside(node.id),
            type=node.type,
            name=node.name,
            config=_config(node),
            credential_configured=node.credential is not None,
            enabled=node.enabled,
            version=node.version,
            etag=provider_tag(node),
            created_at=node.created_at,
            updated_at=node.updated_at,
        )


@strawberry.type
class MemoryProviderConnection(Connection[MemoryProvider]):
    """A page of providers, by id."""


@strawberry.type
class MemoryProviderTest:
    """What a test of an account found; it changed nothing."""

    provider: MemoryProvider
    provider_version: int
    status: str = strawberry.field(description="succeeded, failed or unsupported.")
    message: str = strawberry.field(description="A code, such as provider_endpoint_denied.")

    @classmethod
    def from_domain(cls, probe: Probe) -> MemoryProviderTest:
        return cls(
            provider=MemoryProvider.from_domain(probe.provider),
            provider_version=probe.provider.version,
            status=probe.status,
            message=probe.message,
        )


@strawberry.type(description="A text at a backend. It is no node: its id is the backend's, and node does not know it.")
class MemoryRecord:
    """A record, as the backend has it."""

    id: str = strawberry.field(description="Of the backend; good in the memory that it came from.")
    text: str
    score: float | None = strawberry.field(description="Of a search: nearness from 0 to 1.")
    updated_at: str | None = strawberry.field(description="As the backend writes it.")

    @classmethod
    def from_domain(cls, record: Record) -> MemoryRecord:
        return cls(id=record.id, text=record.text, score=record.score, updated_at=record.updated_at)


@strawberry.type
class MemoryRecordEdge:
    """A record with its place."""

    cursor: str
    node: MemoryRecord


@strawberry.type(description="Like a connection, but without totalCount: backends do not count.")
class MemoryRecordPage:
    """Records in the order of the backend."""

    edges: list[MemoryRecordEdge]
    page_info: PageInfo

    @classmethod
    def from_domain(cls, page: RecordPage, after: str | None) -> MemoryRecordPage:
        return cls(
            edges=[
                MemoryRecordEdge(cursor=place, node=MemoryRecord.from_domain(record))
                for record, place in zip(page.records, page.places, strict=True)
            ],
            page_info=PageInfo(
                has_next_page=page.next_cursor is not None,
                has_previous_page=after is not None,
                start_cursor=page.places[0] if page.places else None,
                end_cursor=page.next_cursor or _last(page.places),
            ),
        )


def _last(places: Sequence[str]) -> str | None:
    return places[-1] if places else None


def _config(node: workspace.MemoryProvider) -> Any:
    return node.config or {}
