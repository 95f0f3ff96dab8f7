"""How long a request may let its body wait: one that stops in its middle would hold its connection for ever.

What reads the body then sees what it sees when the client goes away (`ClientDisconnect`), so that every family of
addresses answers 400 in its own form; the connection is closed, since the rest of the body could still come.
"""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BETWEEN_PARTS_S: Final = 30.0
"""Seconds without anything of a body that has not ended. How long all of it takes is for limits of its size."""


class Patience:
    """Hands a request on with a body that comes in time, or is broken off."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(receive)

        async def answered(message: Message) -> None:
            if body.late and message["type"] == "http.response.start":
                message.setdefault("headers", []).append((b"connection", b"close"))
            await send(message)

        await self._app(scope, body.part, answered)


class _Body:
    """The body of one request as it comes."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ended = False
        self.late = False

    async def part(self) -> Message:
        """Return what comes next. After the body that is only that the client has gone, for which there is no hurry."""
        if self.late:
            return {"type": "http.disconnect"}
        try:
            async with asyncio.timeout(None if self._ended else BETWEEN_PARTS_S):
                message = await self._receive()
        except TimeoutError:
            self.late = True
            return {"type": "http.disconnect"}
        self._ended = not message.get("more_body", False)
        return message
