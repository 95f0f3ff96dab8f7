"""The port of a workspace: the files that memory is made of.

A local directory implements it here; a service can keep the files elsewhere. Paths are clean (`layout.clean_path`),
relative to the root, with ``/`` between segments. Every method raises `PathRefused` for a path that leaves the
workspace by a link or names something else than a plain file, and `OSError` if the storage fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol


class Workspace(Protocol):
    """Files of one sandbox."""

    async def read(self, path: str) -> bytes | None:
        """Return a file's bytes; None if there is none."""
        ...

    async def apply(self, changes: Mapping[str, bytes | None]) -> None:
        """Replace files, or delete them where the value is None: all of them or none, whenever the process ends.

        Missing directories are made; deleting a file that is not there is no error.
        """
        ...

    async def create(self, path: str, data: bytes) -> bool:
        """Write a file that does not exist yet; return False and change nothing if it does."""
        ...

    async def append_line(self, path: str, line: bytes) -> int:
        """Append one line, whole, and return how many lines the file has then.

        `line` ends with its newline. Earlier bytes stay; where the last one is no newline, one is put in first.
        Lines appended at the same time, also by other processes, do not mix.
        """
        ...

    async def make_directories(self, paths: Iterable[str]) -> None:
        """Make directories that are not there; a storage without directories does nothing."""
        ...

    async def paths(self, directory: str = "") -> list[str]:
        """Return the paths of all plain files below a directory, sorted; links are neither listed nor followed."""
        ...

    async def canonical(self, path: str) -> str:
        """Return the path with all links inside the workspace followed, whether or not it exists."""
        ...


async def read_text(workspace: Workspace, path: str) -> str | None:
    """Return a file as text, bytes that are no UTF-8 replaced by U+FFFD; None if there is none. Source: SB-26."""
    data = await workspace.read(path)
    return None if data is None else data.decode(errors="replace")
