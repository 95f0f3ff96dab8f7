"""Credentials in a text that nobody should remember: private keys, passwords in addresses, bearer tokens. Pure.

It looks for forms that are never anything else, and lets words about credentials pass. Source: SM-108.
"""

from __future__ import annotations

import re
from typing import Final

_PRIVATE_KEY: Final = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----")
_PASSWORD_IN_URL: Final = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s/?#@:]*:[^\s/?#@]+@", re.IGNORECASE)
_BEARER: Final = re.compile(r"\bbearer[\s:=\"'`]+([A-Za-z0-9._~+/-]+=*)", re.IGNORECASE)
_KNOWN_TOKENS: Final = re.compile(
    r"\b(?:eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*"
    r"|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}|sk-[A-Za-z0-9_-]{20,}|AKIA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{30,}"
    r"|rw_[A-Za-z0-9]{6,}_[A-Za-z0-9_-]{20,})"
)
_LONG_WORD: Final = 20


def holds_credential(text: str) -> bool:
    """True if a text has a PEM private key, an address with user and password, or a bearer token.

    >>> holds_credential("see https://ana:s3cret@db.example/main"), holds_credential("send a bearer token")
    (True, False)
    """
    patterns = (_PRIVATE_KEY, _PASSWORD_IN_URL, _KNOWN_TOKENS)
    return any(pattern.search(text) for pattern in patterns) or any(
        _is_token(found[1]) for found in _BEARER.finditer(text)
    )


def _is_token(after_bearer: str) -> bool:
    """True for what is no ordinary word: it has a digit or a sign of tokens within, or is very long."""
    word = after_bearer.rstrip(".")
    return len(word) >= _LONG_WORD or any(character.isdigit() or character in "._~+=" for character in word)
