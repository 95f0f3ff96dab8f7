r"""Paths of files in a memory: relative, in NFC, never a way out (FM-58 to FM-62).

>>> checked_path("cafe\u0301.md") == "caf\u00e9.md"
True
"""

from __future__ import annotations

import unicodedata
from typing import Final

from graph.rules.memory_limits import MemoryLimits
from graph.rules.memory_refusals import invalid

_AFTER_SLASH: Final = chr(ord("/") + 1)
_DEFAULTS: Final = MemoryLimits()


def checked_path(given: str, limits: MemoryLimits = _DEFAULTS, field: str = "path") -> str:
    """Return the path under which a file is stored.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `field`: it is no path; nothing is normalised away (FM-60).
    """
    path = unicodedata.normalize("NFC", given)
    reason = _wrong_with(path) or _too_long(path, limits)
    if reason:
        raise invalid(field, reason)
    return path


def checked_prefix(given: str, limits: MemoryLimits = _DEFAULTS) -> str:
    """Return a directory prefix: empty, or a path that ends in ``/`` (FM-50).

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `prefix`.
    """
    if given and not given.endswith("/"):
        raise invalid("prefix", "ends in /")
    return f"{checked_path(given[:-1], limits, 'prefix')}/" if given else ""


def paths_under(prefix: str) -> tuple[str | None, str | None]:
    """Return the bounds of all paths under a directory, in code-point order; the upper one is no such path.

    >>> paths_under("notes/"), paths_under("")
    (('notes/', 'notes0'), (None, None))
    """
    return (prefix, prefix[:-1] + _AFTER_SLASH) if prefix else (None, None)


def _wrong_with(path: str) -> str:
    if not path:
        return "has at least one character"
    if "\\" in path or any(unicodedata.category(character) in ("Cc", "Cs") for character in path):
        return "has no backslash and no control character"
    if any(part in ("", ".", "..") for part in path.split("/")):
        return "has no empty, . or .. segment, and no / at its ends"
    return ""


def _too_long(path: str, limits: MemoryLimits) -> str:
    return f"has at most {limits.path_bytes} bytes" if len(path.encode()) > limits.path_bytes else ""
