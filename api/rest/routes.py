"""All REST routes of the product, by surface."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute

from api.rest import agent_shapes, agents, bot_reference, bots, chats, session_shapes, sessions
from api.rest.kit import Kit, routes
from api.rest.openapi import openapi_route


def surface_routes(kit: Kit) -> Sequence[BaseRoute]:
    """Return the routes of every surface."""
    references = (agent_shapes.REFERENCE, bot_reference.REFERENCE, session_shapes.REFERENCE)
    return [
        openapi_route(references),
        *routes(kit, {**sessions.table(), **agents.table(), **bots.table(), **chats.table()}),
    ]
