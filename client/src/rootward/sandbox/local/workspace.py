"""A local directory as a workspace: the port, in threads, with a journal for changes of several files."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from rootward.errors import PathRefused
from rootward.sandbox.local.files import LocalFiles
from rootward.sandbox.workspace import Workspace


class LocalWorkspace(Workspace):
    """The workspace port over `LocalFiles`.

    Args:
        journal: a file outside the workspace that holds a set of changes while it is made; whoever opens the sandbox
            after a crash makes it whole (`recover`).
    """

    def __init__(self, files: LocalFiles, journal: Path) -> None:
        self._files = files
        self._journal = LocalFiles(journal.parent, "journal")
        self._journal_name = journal.name

    def recover(self) -> None:
        """Finish what a crash cut off, and remove what it left."""
        self._files.sweep()
        noted = self._journal.read(self._journal_name)
        if noted is not None:
            changes = json.loads(noted)
            self._make({path: None if data is None else base64.b64decode(data) for path, data in changes.items()})
            self._journal.delete(self._journal_name)

    async def read(self, path: str) -> bytes | None:
        return await asyncio.to_thread(self._files.read, path)

    async def apply(self, changes: Mapping[str, bytes | None]) -> None:
        await asyncio.to_thread(self._apply, dict(changes))

    async def create(self, path: str, data: bytes) -> bool:
        return await asyncio.to_thread(self._files.create, path, data)

    async def append_line(self, path: str, line: bytes) -> int:
        return await asyncio.to_thread(self._files.append_line, path, line)

    async def make_directories(self, paths: Iterable[str]) -> None:
        for path in paths:
            await asyncio.to_thread(self._files.make_directory, path)

    async def paths(self, directory: str = "") -> list[str]:
        return await asyncio.to_thread(self._files.paths, directory)

    async def canonical(self, path: str) -> str:
        return await asyncio.to_thread(self._files.canonical, path)

    def _apply(self, changes: Mapping[str, bytes | None]) -> None:
        if len(changes) < 2:
            self._make(changes)
            return
        before = {path: self._files.read(path) for path in changes}  # refuses what would be refused below
        noted = {path: None if data is None else base64.b64encode(data).decode() for path, data in changes.items()}
        self._journal.replace(self._journal_name, json.dumps(noted).encode())
        try:
            self._make(changes)
        except (OSError, PathRefused):
            self._make(before)
            self._journal.delete(self._journal_name)
            raise
        self._journal.delete(self._journal_name)

    def _make(self, changes: Mapping[str, bytes | None]) -> None:
        for path, data in changes.items():
            if data is None:
                self._files.delete(path)
            else:
                self._files.replace(path, data)
