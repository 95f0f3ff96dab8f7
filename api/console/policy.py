"""What a browser may do with the console: the headers of every answer below /console.

Nothing is loaded from elsewhere, no script stands in a page, no page may frame the console. The console's library of
components writes style elements; they carry the nonce of the page. Source: Content Security Policy Level 3, ADR 0045.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

NONCE_MARK: Final = "__CSP_NONCE__"
"""Stands in the built page for the nonce of one answer."""
NONCE_BYTES: Final = 18
HEADERS: Final[Mapping[str, str]] = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}


def new_nonce() -> str:
    """Return a nonce that nobody can guess, for one answer."""
    return secrets.token_urlsafe(NONCE_BYTES)


def headers(nonce: str | None = None, connect: Sequence[str] = ()) -> dict[str, str]:
    """Return the headers of one answer.

    Args:
        nonce: of the style elements of a page; None for what is no page.
        connect: further origins that the page may ask: those of the OIDC issuer.
    """
    return {"Content-Security-Policy": content_policy(nonce, connect), **HEADERS}


def content_policy(nonce: str | None = None, connect: Sequence[str] = ()) -> str:
    """Return the content security policy of one answer.

    >>> content_policy().split("; ")[:3]
    ["default-src 'none'", "script-src 'self'", "style-src 'self'"]
    """
    nonces = [f"'nonce-{nonce}'"] if nonce else []
    allowed: Mapping[str, Sequence[str]] = {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'", *nonces],
        "img-src": ["'self'", "data:", "blob:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'", *connect],
        "worker-src": ["'self'"],
        "manifest-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
    return "; ".join(f"{directive} {' '.join(sources)}" for directive, sources in allowed.items())


def origin_of(address: str) -> str:
    """Return the origin of an address.

    >>> origin_of("https://id.example/realms/tea?x=1")
    'https://id.example'
    """
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
