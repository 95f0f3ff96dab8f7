"""All REST routes of the product, by surface."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.routing import BaseRoute

from api.rest import bots, sessions
from api.rest.kit import Kit, routes


def surface_routes(kit: Kit) -> Sequence[BaseRoute]:
    """Return the routes of every surface."""
    return routes(kit, {**sessions.table(), **bots.table()})
