"""Connectors: installing, pausing, removing, and the notice that something changed (AD-18, MA-19, MA-20)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.scalars import JSON
from api.graphql.types import enums
from api.graphql.types.connectors import Connector
from graph.model.errors import BadInput
from graph.rules.connectors import ConnectorState
from graph.services.knowledge.connectors_provisioning import create_connector, set_connector_state, sync_now


@strawberry.type
class ConnectorMutations:
    """Connectors; admins install them, hosts give notice."""

    @strawberry.mutation(
        description="Installs a connector: `folder` takes `{path}`, `feed` takes `{url, pages}`; "
        "`base` is SHARED, AGENT or CHANNEL with its channel."
    )
    async def create_connector(
        self,
        info: Info[Any, Any],
        agent_id: strawberry.ID,
        display_name: str,
        kind: str,
        options: JSON,
        base: enums.KbKind,
        channel_id: strawberry.ID | None = None,
        local_id: str | None = None,
    ) -> Connector:
        if not isinstance(options, Mapping):
            raise BadInput("options are an object", field="options")
        ctx = context(info)
        given: Mapping[str, Any] = options
        made = await ctx.run(
            info,
            lambda cmd: create_connector(
                cmd,
                ctx.id(agent_id),
                display_name,
                kind,
                given,
                base,
                channel_id=None if channel_id is None else ctx.id(channel_id),
                local_id=local_id,
            ),
        )
        return Connector.from_domain(made)

    @strawberry.mutation(description="REMOVED withdraws all its documents, for good.")
    async def set_connector_state(self, info: Info[Any, Any], id: strawberry.ID, state: ConnectorState) -> Connector:
        ctx = context(info)
        return Connector.from_domain(await ctx.run(info, lambda cmd: set_connector_state(cmd, ctx.id(id), state)))

    @strawberry.mutation(description="Notice of the place that something changed: it is looked at at once.")
    async def sync_connector(self, info: Info[Any, Any], id: strawberry.ID) -> Connector:
        ctx = context(info)
        return Connector.from_domain(await ctx.run(info, lambda cmd: sync_now(cmd, ctx.id(id))))
