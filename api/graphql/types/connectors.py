"""Systems that bring material by themselves: signal sources and connectors (MA-15 to MA-25)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Connection
from api.graphql.context import context
from api.graphql.ids import outward, to_global
from api.graphql.scalars import JSON
from api.graphql.types.evidence import Source
from api.graphql.types.node import Node
from api.graphql.types.people import KnowledgeBase, base_of
from graph.model.ids import NodeId
from graph.model.nodes import learning
from graph.model.time import Millis
from graph.rules.connectors import ConnectorState
from graph.rules.model_reasons import advice_on
from graph.rules.rights import may_administer
from graph.rules.unreadable import why
from graph.services.knowledge.connector_list import DocumentView
from graph.services.knowledge.connectors_provisioning import connector_documents

strawberry.enum(ConnectorState)


@strawberry.type
class SignalSource(Node):
    """A system whose events reach an agent."""

    agent_id: strawberry.ID
    display_name: str
    volatile: bool = strawberry.field(description="Its events are not kept: ask the system when a task needs them.")
    pool: strawberry.Private[NodeId | None]

    @classmethod
    def from_domain(cls, node: learning.SignalSource) -> SignalSource:
        return cls(
            id=to_global(node.id, node.workspace),
            agent_id=to_global(node.agent_id, node.workspace),
            display_name=node.display_name,
            volatile=node.volatile,
            pool=node.pool,
        )

    @strawberry.field(description="Where its events go from now on; null if the caller may not read it.")
    async def knowledge_base(self, info: Info[Any, Any]) -> KnowledgeBase | None:
        return await base_of(info, self.pool)


@strawberry.type
class ConnectorDocument:
    """What is known of one document of a connector."""

    external_id: str = strawberry.field(description="Its name at its place.")
    state: str = strawberry.field(description="live, withdrawn, or refused: it was never read.")
    misses: int = strawberry.field(description="Answers in a row that it is gone or may not be read.")
    problem: str | None = strawberry.field(description="Code of why its newest version could not be read.")
    reason: str | None = strawberry.field(description="The same in words, with what to do.")
    entry_id: strawberry.ID | None = strawberry.field(description="The mirror.")

    @classmethod
    def from_domain(cls, node: learning.Mirror) -> ConnectorDocument:
        return cls(
            external_id=node.external_id,
            state=node.state,
            misses=node.misses,
            problem=node.problem,
            reason=why(node.problem),
            entry_id=None if node.entry_id is None else to_global(node.entry_id, node.workspace),
        )


@strawberry.type
class Connector(Node):
    """A synchronised place of documents."""

    kind: str
    owner_id: strawberry.ID
    display_name: str
    state: ConnectorState
    last_sync_at: Millis | None
    last_error: str | None = strawberry.field(description="Code of why the last sync, or a document in it, failed.")
    advice: str | None = strawberry.field(description="What the error means and what helps, in words.")
    failures: int = strawberry.field(description="Failed syncs in a row.")
    domain: strawberry.Private[learning.Connector]

    @classmethod
    def from_domain(cls, node: learning.Connector) -> Connector:
        return cls(
            id=to_global(node.id, node.workspace),
            kind=node.kind,
            owner_id=to_global(node.owner_id, node.workspace),
            display_name=node.display_name,
            state=ConnectorState(node.state),
            last_sync_at=node.last_sync_at,
            last_error=node.last_error,
            advice=advice_on(node.last_error),
            failures=node.failures,
            domain=node,
        )

    @strawberry.field(description="Where the place is; null for all but admins.")
    async def options(self, info: Info[Any, Any]) -> JSON | None:
        ctx = context(info)
        shown = may_administer(ctx.session.facts)
        return JSON(outward(self.domain.options or {}, ctx.caller.workspace)) if shown else None

    @strawberry.field(description="Its documents by name, at most 1,000; null for all but admins.")
    async def documents(
        self, info: Info[Any, Any], problems_only: bool | None = False
    ) -> list[ConnectorDocument] | None:
        session = context(info).session
        if not may_administer(session.facts):
            return None
        found = await connector_documents(session, self.domain.id, problems_only=bool(problems_only))
        return [ConnectorDocument.from_domain(one) for one in found]

    @strawberry.field
    async def knowledge_base(self, info: Info[Any, Any]) -> KnowledgeBase | None:
        return await base_of(info, self.domain.pool)


@strawberry.type
class ConnectorMaterial:
    """A document that a connector manages, as who reads its knowledge base sees it; nobody edits it here (CO-40)."""

    name: str = strawberry.field(description="Its name at its place.")
    connector: Connector
    source: Source | None = strawberry.field(description="Its newest version; null if that cannot be read.")
    source_version: str = strawberry.field(description="The name that its place gives the version seen last.")
    synced_at: Millis = strawberry.field(description="When its place was last asked for it.")
    state: str = strawberry.field(description="live, withdrawn, or refused: it was never read.")
    problem: str | None = strawberry.field(description="Code of why its newest version could not be read.")
    reason: str | None = strawberry.field(description="The same in words, with what to do.")
    entry_id: strawberry.ID | None = strawberry.field(description="The mirror; null if it cannot be read.")

    @classmethod
    def from_domain(cls, view: DocumentView) -> ConnectorMaterial:
        node = view.document
        entry = node.entry_id if view.source is not None else None
        return cls(
            name=node.external_id,
            connector=Connector.from_domain(view.connector),
            source=None if view.source is None else Source.from_domain(view.source),
            source_version=node.source_version,
            synced_at=node.asked_at,
            state=node.state,
            problem=node.problem,
            reason=why(node.problem),
            entry_id=None if entry is None else to_global(entry, node.workspace),
        )


@strawberry.type
class ConnectorMaterialConnection(Connection[ConnectorMaterial]):
    """A page of documents of connectors."""
