"""The files that the consolidating model may touch. Nothing it writes is real before phase 2 succeeds.

Only the names of the layout exist for it: so neither conversation files nor another layout's directories, also such as
lie inside, can be reached, whatever was in the workspace before. Source: SB-81, SB-84, SB-97.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from rootward.errors import ToolError
from rootward.loop import telling, text_argument, text_parameters
from rootward.models import Tool
from rootward.sandbox.layout import MemoryLayoutConfig, clean_path, is_inside
from rootward.sandbox.truncation import keep_ends
from rootward.sandbox.workspace import Workspace, read_text

_READ_LIMIT_TOKENS = 100_000
_READ_ONLY_FILES = frozenset({"raw_memories.md", "phase_two_selection.json"})
_READ_ONLY_FOLDERS = ("raw_memories", "rollout_summaries")
_WRITABLE_FILES = frozenset({"MEMORY.md", "memory_summary.md"})
_WRITABLE_FOLDERS = ("skills",)


class Access(IntEnum):
    """What may be done with a path."""

    NONE = 0
    READ = 1
    WRITE = 2


def access(path: str) -> Access:
    """Return what phase 2 may do with a clean path, relative to the memories directory.

    >>> [access(path).name for path in ("MEMORY.md", "raw_memories/a.md", "sales/MEMORY.md")]
    ['WRITE', 'READ', 'NONE']
    """
    if path in _WRITABLE_FILES or _lies_in(path, _WRITABLE_FOLDERS):
        return Access.WRITE
    return Access.READ if path in _READ_ONLY_FILES or _lies_in(path, _READ_ONLY_FOLDERS) else Access.NONE


@dataclass(kw_only=True)
class Desk:
    """The files of one layout, and what the model wrote over them.

    Attributes:
        foreign: directories of other layouts, and of this one's conversations.
        written: texts by path, relative to the memories directory.
    """

    workspace: Workspace
    layout: MemoryLayoutConfig
    foreign: Sequence[str]
    written: dict[str, str] = field(default_factory=dict)

    @property
    def changes(self) -> dict[str, bytes | None]:
        """What was written, by path in the workspace."""
        return {self._whole(path): text.encode("utf-8", "replace") for path, text in self.written.items()}

    @property
    def tools(self) -> list[Tool]:
        """List, read and write."""
        return [
            Tool(
                name="list_files",
                description="List all files of the memory directory, one path a line.",
                parameters=text_parameters(),
                invoke=self._list,
            ),
            Tool(
                name="read_file",
                description="Read a text file of the memory directory.",
                parameters=text_parameters("path"),
                invoke=self._read,
            ),
            Tool(
                name="write_file",
                description="Write a text file of the memory directory; what it held is replaced.",
                parameters=text_parameters("path", "content"),
                invoke=self._write,
            ),
        ]

    async def _list(self, _: Mapping[str, object]) -> str:
        inside = f"{self.layout.memories_dir}/"
        there = [path.removeprefix(inside) for path in await self.workspace.paths(self.layout.memories_dir)]
        return "\n".join(sorted({path for path in [*there, *self.written] if self._allowed(path)}))

    async def _read(self, arguments: Mapping[str, object]) -> str:
        path = await self._path(arguments, Access.READ)
        if path in self.written:
            return self.written[path]
        text = await self._refusing(path)
        if text is None:
            raise ToolError("there is no such file")
        return keep_ends(text, _READ_LIMIT_TOKENS)

    async def _write(self, arguments: Mapping[str, object]) -> str:
        path = await self._path(arguments, Access.WRITE)
        self.written[path] = text_argument(arguments, "content")
        return "written"

    async def _path(self, arguments: Mapping[str, object], least: Access) -> str:
        """Return the path that is meant, relative to the memories directory.

        Raises:
            ToolError: it is not there for this purpose, or a link stands in the way.
        """
        with telling():
            named = clean_path(text_argument(arguments, "path"))
        path = next(filter(self._allowed, (named, named.removeprefix(f"{self.layout.memories_dir}/"))), None)
        if path is None:
            raise ToolError("only files of the memory directory can be used; list_files names them")
        if access(path) < least:
            raise ToolError("this file is read-only")
        await self._without_links(path)
        return path

    async def _without_links(self, path: str) -> None:
        with telling():
            root = await self.workspace.canonical(self.layout.memories_dir)
            if await self.workspace.canonical(self._whole(path)) != f"{root}/{path}":
                raise ToolError("a link stands in the way")

    async def _refusing(self, path: str) -> str | None:
        with telling():
            return await read_text(self.workspace, self._whole(path))

    def _allowed(self, path: str) -> bool:
        return access(path) > Access.NONE and not is_inside(self._whole(path), self.foreign)

    def _whole(self, path: str) -> str:
        return f"{self.layout.memories_dir}/{path}"


def _lies_in(path: str, folders: Sequence[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)
