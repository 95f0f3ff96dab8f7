"""All REST routes of the product, by surface."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute

from api.rest import agent_shapes, agents, bot_reference, bots, chats, session_shapes, sessions
from api.rest.kit import Kit, routes
from api.rest.openapi import openapi_route
from api.rest.workspace import surface as workspace
from api.rest.workspace.kit import routes as workspace_routes


def surface_routes(kit: Kit) -> Sequence[BaseRoute]:
    """Return the routes of every surface."""
    references = (
        agent_shapes.REFERENCE,
        bot_reference.REFERENCE,
        session_shapes.REFERENCE,
        *workspace.references(),
    )
    return [
        openapi_route(references),
        *routes(kit, {**sessions.table(), **agents.table(), **bots.table(), **chats.table()}),
        *workspace_routes(kit, workspace.table()),
    ]
