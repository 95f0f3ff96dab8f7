"""What every HTTP transport reads of a request: who sent it, and its body up to a limit."""

from __future__ import annotations

from starlette.requests import HTTPConnection, Request

CONVERSATION_HEADER = "rootward-conversation"
"""Names the conversation in which an agent reads (KN-56)."""


class TooLarge(Exception):
    """A body over the limit."""


def address_of(connection: HTTPConnection) -> str:
    """Return the address of the peer; a header never changes it."""
    return connection.client.host if connection.client else ""


def request_id_of(connection: HTTPConnection) -> str:
    """Return the id under which the log tells of a request; empty where nothing logs it."""
    return str(connection.scope.get("state", {}).get("request_id", ""))


async def body_of(request: Request, limit: int) -> bytes:
    """Return the body of a request.

    Raises:
        TooLarge: it is longer than `limit` bytes; the rest is not read.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > limit:
        raise TooLarge
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise TooLarge
        parts.append(part)
    return b"".join(parts)
