"""Files of sandboxes: their paths, and what is counted of their bytes. Pure. Source: SB-49, SB-117, FM-58 to FM-60."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from graph.rules.memory_limits import MemoryLimits
from graph.rules.memory_paths import checked_path, checked_prefix
from graph.rules.memory_refusals import invalid

_PATHS: Final = replace(MemoryLimits(), path_bytes=1_024)
"""Two directories, the id of a conversation and a slug are longer than what a file memory allows."""
NEWLINE: Final = b"\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """What is known of bytes without reading them again."""

    size: int
    lines: int
    ends_open: bool


def counted(data: bytes) -> Counts:
    r"""Return what is kept about bytes.

    >>> counted(b"a\nb")
    Counts(size=3, lines=1, ends_open=True)
    """
    return Counts(size=len(data), lines=data.count(NEWLINE), ends_open=bool(data) and not data.endswith(NEWLINE))


def appended(before: Counts, line: Counts) -> Counts:
    r"""Return what is kept about a file after a line was appended, with a newline in front where one is missing.

    >>> appended(counted(b"a"), counted(b"b\n"))
    Counts(size=4, lines=2, ends_open=False)
    """
    missing = int(before.ends_open)
    return Counts(
        size=before.size + missing + line.size, lines=before.lines + missing + line.lines, ends_open=line.ends_open
    )


def sandbox_path(given: str, field: str = "path") -> str:
    """Return the path under which a file is stored.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `field`: it is no path; nothing is normalised away (FM-60).
    """
    return checked_path(given, _PATHS, field)


def manifest_paths(given: Sequence[str], field: str = "manifest.entries") -> list[str]:
    """Return the paths under which the entries of a manifest are stored, in their order.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `field`: one is no path, or two are the same.
    """
    paths = [sandbox_path(path, field) for path in given]
    if len(set(paths)) < len(paths):
        raise invalid(field, "names each path once")
    return paths


def sandbox_prefix(given: str) -> str:
    """Return a directory prefix: empty, or a path that ends in ``/``.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `prefix`.
    """
    return checked_prefix(given, _PATHS)
