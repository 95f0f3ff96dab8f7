"""What systems bring material by themselves."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Cursors, check_first, connection_of
from api.graphql.context import context
from api.graphql.types.connectors import Connector, ConnectorMaterial, ConnectorMaterialConnection, SignalSource
from graph.services.knowledge.connector_list import connector_materials
from graph.services.knowledge.connectors_provisioning import connectors
from graph.services.knowledge.signals_provisioning import signal_sources


@strawberry.type
class ConnectorQueries:
    """Connectors and signal sources of an agent."""

    @strawberry.field(description="The connectors of an agent, by id; only admins see them.")
    async def connectors(self, info: Info[Any, Any], owner_id: strawberry.ID) -> list[Connector]:
        ctx = context(info)
        return [Connector.from_domain(one) for one in await connectors(ctx.session, ctx.id(owner_id))]

    @strawberry.field(description="The signal sources of an agent, by id; admins and hosts see them.")
    async def signal_sources(self, info: Info[Any, Any], owner_id: strawberry.ID) -> list[SignalSource]:
        ctx = context(info)
        return [SignalSource.from_domain(one) for one in await signal_sources(ctx.session, ctx.id(owner_id))]

    @strawberry.field(description="The documents that connectors bring to an agent, by name, as far as one reads them.")
    async def connector_materials(
        self, info: Info[Any, Any], owner_id: strawberry.ID, first: int | None = 20, after: str | None = None
    ) -> ConnectorMaterialConnection:
        ctx = context(info)
        cursors = Cursors.of("connectorMaterials", {"owner": owner_id, "caller": ctx.caller.principal})
        listing = await connector_materials(
            ctx.session, ctx.id(owner_id), first=check_first(first), after=cursors.decode(after)
        )
        return connection_of(ConnectorMaterialConnection, listing, ConnectorMaterial.from_domain, cursors, after)
