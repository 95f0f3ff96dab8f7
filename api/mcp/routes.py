"""The routes of the protocol: one endpoint for what a caller knows, one a run, one a chat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from starlette.routing import BaseRoute, Route

from api.mcp.chats import open_chat
from api.mcp.door import Door, Opener
from api.mcp.knowledge import open_knowledge
from api.mcp.place import Kit
from api.mcp.runs import open_run

SMALL: Final = 131_072
"""Bytes of a question, or of eight thousand characters that are all escaped."""
LARGE: Final = 8 * 1_048_576 + 65_536
"""Bytes of a call that writes the largest file: as over REST."""

ENDPOINTS: Final[Mapping[str, tuple[Opener, int]]] = {
    "/mcp/knowledge": (open_knowledge, SMALL),
    "/mcp/runs/{run}": (open_run, LARGE),
    "/mcp/chats/{chat}": (open_chat, SMALL),
}


def mcp_routes(kit: Kit) -> Sequence[BaseRoute]:
    """Return the routes; methods other than POST answer 405: there are no streams and no sessions."""
    return [
        Route(path, Door(kit=kit, opens=opens, limit=limit), methods=["POST"])
        for path, (opens, limit) in ENDPOINTS.items()
    ]
