"""All REST routes of the product, by surface."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute

from api.rest import agent_shapes, agents, bot_reference, bots, chats, service_reference, session_shapes, sessions
from api.rest.kit import Kit, routes
from api.rest.openapi import Reference, openapi_route
from api.rest.workspace import surface as workspace
from api.rest.workspace.kit import routes as workspace_routes


def references() -> Sequence[Reference]:
    """Return what the OpenAPI document says, by surface."""
    return (
        service_reference.REFERENCE,
        agent_shapes.REFERENCE,
        bot_reference.REFERENCE,
        session_shapes.REFERENCE,
        *workspace.references(),
    )


def surface_routes(kit: Kit) -> Sequence[BaseRoute]:
    """Return the routes of every surface."""
    return [
        openapi_route(references()),
        *routes(kit, {**sessions.table(), **agents.table(), **bots.table(), **chats.table()}),
        *workspace_routes(kit, workspace.table()),
    ]
