"""Where a request may come from: no web page of another origin, and no name that was made to point here.

A browser that was lured into asking this server sends the origin of the page, and the name by which it found the server
as `Host` (DNS rebinding). Neither brings a token along; the check is there all the same, as the protocol demands.
Source: Model Context Protocol, streamable HTTP, security warning; case E5.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def may_come(*, listens: str, host: str, origin: str, allowed_origins: Collection[str]) -> bool:
    """Return whether a request may come in.

    Args:
        listens: the address that the server listens on; one that only this machine reaches is asked for by a name of
            this machine, or of an allowed origin.
        host: the header `Host`.
        origin: the header `Origin`; empty if no browser sent the request.
        allowed_origins: of pages that may ask.

    >>> may_come(listens="127.0.0.1", host="localhost:8000", origin="", allowed_origins=())
    True
    >>> may_come(listens="127.0.0.1", host="evil.test:8000", origin="http://evil.test:8000", allowed_origins=())
    False
    """
    if origin in allowed_origins:
        return True
    known = LOOPBACK | {_name(allowed) for allowed in allowed_origins}
    if listens in LOOPBACK and _name(f"//{host}") not in known:
        return False
    return not origin or urlsplit(origin).netloc == host


def _name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
