"""How long a request may let its body wait: one that stops in its middle would hold its connection for ever.

What reads the body then sees what it sees when the client goes away (`ClientDisconnect`), so that every family of
addresses answers 400 in its own form; the connection is closed, since the rest of the body could still come.

An answer that comes before the body was read, such as 401 and 413, is sent and logged at once, but its end waits until
the rest came and was forgotten. Closed while something still comes, a connection is reset, and a client that sends all
before it reads never sees the answer. When the server ends, nothing of such a rest is waited for.

The body of a request that asks for another protocol, as `curl --http2` and Java's client do where there is no TLS, is
lost in the server's parser, which takes it for that protocol. Such a request must not be taken for one without a body.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BETWEEN_PARTS_S: Final = 30.0
"""Seconds without anything of a body that has not ended. How long all of it takes is for limits of its size."""

LINGER_BYTES: Final = 64 * 1_048_576
"""So much of a body that nobody wants is waited for: more than the largest file that is taken as it comes."""

LINGER_S: Final = 30.0
"""So long it is waited for."""

LINGER_GAP_S: Final = 5.0
"""So long while nothing of it comes."""


class Patience:
    """Hands a request on with a body that comes in time, or is broken off."""

    def __init__(self, app: ASGIApp, ending: asyncio.Event) -> None:
        self._app = app
        self._ending = ending

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(receive, dict(scope.get("headers", ())))

        async def answered(message: Message) -> None:
            if body.broken_off and message["type"] == "http.response.start":
                message.setdefault("headers", []).append((b"connection", b"close"))
            body.unwanted = body.unread and _is_end(message)
            await send({**message, "more_body": True} if body.unwanted else message)

        await self._app(scope, body.part, answered)
        if body.unwanted:
            await _unless(self._ending, body.forget())
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _unless(stopped: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Do the work, but break it off at the event."""
    tasks = (asyncio.ensure_future(work), asyncio.ensure_future(stopped.wait()))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _is_end(message: Message) -> bool:
    return message["type"] == "http.response.body" and not message.get("more_body", False)


class _Body:
    """The body of one request as it comes.

    Attributes:
        broken_off: it did not come in time, or was lost on its way.
        unwanted: the answer was given before all of it came.
    """

    def __init__(self, receive: Receive, headers: Mapping[bytes, bytes]) -> None:
        announced = b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"
        self._receive = receive
        self._comes = announced and b"expect" not in headers  # which waits to be asked for
        self._lost = announced and b"upgrade" in headers
        self._ended = False
        self.broken_off = False
        self.unwanted = False

    @property
    def unread(self) -> bool:
        """Whether more of it is to be expected."""
        return self._comes and not self._ended and not self.broken_off

    async def forget(self) -> None:
        """Read what is left, as far as it comes in good time, and keep nothing of it."""
        left = LINGER_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_S):
                while self.unread and left > 0:
                    async with asyncio.timeout(LINGER_GAP_S):
                        left -= len((await self._next()).get("body", b""))

    async def part(self) -> Message:
        """Return what comes next. After the body that is only that the client has gone, for which there is no hurry."""
        if self.broken_off or self.unwanted:
            return {"type": "http.disconnect"}
        self._comes = True  # also one with `Expect`: it is asked for now
        return await self._next()

    async def _next(self) -> Message:
        try:
            async with asyncio.timeout(None if self._ended else BETWEEN_PARTS_S):
                message = await self._receive()
        except TimeoutError:
            return self._broken()
        self._lost = self._lost and not message.get("body")
        self._ended = not message.get("more_body", False)
        return self._broken() if self._lost and self._ended else message

    def _broken(self) -> Message:
        self.broken_off = True
        return {"type": "http.disconnect"}
