"""What a large request leaves behind is looked for at once, and not only when garbage is looked for anyway."""

from __future__ import annotations

import gc
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.incoming import declared_length

LARGE: Final = 65_536
"""Bytes of a body after which it is worth a millisecond to look for what is left of it."""


class Tidy:
    """Looks for garbage after a large request, among what is young.

    What executes a GraphQL operation names itself, so that it stays with all that it was given until garbage is looked
    for. That comes after so many objects, whatever their size: after some 250 operations, which may hold a MiB each.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        try:
            await self._app(scope, receive, send)
        finally:
            if scope["type"] == "http" and (declared_length(Headers(scope=scope)) or 0) >= LARGE:
                gc.collect(0)
