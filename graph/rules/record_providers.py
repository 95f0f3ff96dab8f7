"""What a memory provider may be: its type, address and credential (RM-3 to RM-6, RM-10). Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from graph.rules.memory_refusals import invalid

PLATFORM: Final = "mem0_platform"
SELF_HOSTED: Final = "mem0_oss"
TYPES: Final = (PLATFORM, SELF_HOSTED)
PLATFORM_URL: Final = "https://api.mem0.ai"
MAX_URL: Final = 512
"""With the longest namespace in a query, an address still fits the 4,096 characters of any."""
MAX_KEY: Final = 1_000
_KEY: Final = re.compile(rf"[!-~]{{1,{MAX_KEY}}}")
_URL: Final = re.compile(r"[!-~]+")


def checked_type(type_: str) -> str:
    """Return the type of a provider.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `type`.
    """
    if type_ not in TYPES:
        raise invalid("type", f"is one of {', '.join(TYPES)}")
    return type_


def checked_config(type_: str, config: Mapping[str, Any]) -> dict[str, str]:
    """Return the configuration of a provider of a type, whole: `base_url` and nothing else.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at ``config.<field>``.
    """
    for name in config:
        if name != "base_url":
            raise invalid(f"config.{name}"[:200], "is not known")
    given = config.get("base_url")
    if given is None and type_ == PLATFORM:
        return {"base_url": PLATFORM_URL}
    return {"base_url": checked_base_url(given)}


def checked_base_url(given: Any) -> str:
    """Return an absolute address without user info, query, fragment and trailing ``/`` (RM-6).

    Whether it may be reached is asked at every connection, not here.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `config.base_url`.

    >>> checked_base_url("https://mem0.example/base/")
    'https://mem0.example/base'
    """
    if not isinstance(given, str) or len(given) > MAX_URL or not _URL.fullmatch(given) or not _is_address(given):
        raise invalid("config.base_url", "is an absolute http or https URL without user info, query or fragment")
    return given.rstrip("/")


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    plain = not any(mark in text for mark in "?#\\") and "@" not in parts.netloc
    return plain and parts.scheme in ("http", "https") and bool(parts.hostname)


def checked_key(type_: str, key: str | None) -> str | None:
    """Return the key of a provider; one of the Platform must have one (RM-4, RM-5).

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `credential` or `credential.api_key`.
    """
    if key is None and type_ == PLATFORM:
        raise invalid("credential", "is required: its api_key is issued by the console of mem0")
    if key is not None and not _KEY.fullmatch(key):
        raise invalid("credential.api_key", f"has 1 to {MAX_KEY} visible ASCII characters")
    return key
