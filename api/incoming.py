"""What every HTTP transport reads of a request: who sent it, and its body up to a limit."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request

CONVERSATION_HEADER = "rootward-conversation"
"""Names the conversation in which an agent reads (KN-56)."""

BROKEN_OFF: Final = "the body did not come whole: send it without pauses, by HTTP/1.1 and without asking for an Upgrade"
"""What is said where `ClientDisconnect` was seen, see `api.patience`."""

_DIGITS: Final = 18
"""So many digits of a length are read; any that has more is over every limit."""


class TooLarge(Exception):
    """A body over the limit."""


def address_of(connection: HTTPConnection) -> str:
    """Return the address of the peer; a header never changes it."""
    return connection.client.host if connection.client else ""


def request_id_of(connection: HTTPConnection) -> str:
    """Return the id under which the log tells of a request; empty where nothing logs it."""
    return str(connection.scope.get("state", {}).get("request_id", ""))


def declared_length(headers: Headers) -> int | None:
    """Return how many bytes a body is said to have; None where nothing is said, or no number.

    >>> [declared_length(Headers(given)) for given in ({"content-length": "12"}, {"content-length": "\u00b2"}, {})]
    [12, None, None]
    """
    said = headers.get("content-length", "")[:_DIGITS]
    return int(said) if said.isascii() and said.isdigit() else None


async def body_of(request: Request, limit: int) -> bytes:
    """Return the body of a request.

    Raises:
        TooLarge: it is longer than `limit` bytes; the rest is not read.
    """
    if (declared_length(request.headers) or 0) > limit:
        raise TooLarge
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > limit:
            raise TooLarge
        parts.append(part)
    return b"".join(parts)
