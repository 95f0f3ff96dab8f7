"""Keeps anchors in a file outside the store: one JSON object a line, as the offline verifier reads with
``--published``.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

from graph.model.errors import StoreUnavailable
from graph.rules.audit_anchors import SealedAnchor


class AnchorFile:
    """Appends each anchor and syncs; an anchor whose line is the file's last already is not written again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = asyncio.Lock()

    async def publish(self, anchor: SealedAnchor) -> None:
        """Append an anchor.

        Raises:
            StoreUnavailable: the file cannot be written.
        """
        line = json.dumps(anchor.to_export(), ensure_ascii=False, sort_keys=True) + "\n"
        async with self._turn:
            try:
                await asyncio.to_thread(self._append, line.encode())
            except OSError as error:
                raise StoreUnavailable(f"the file of anchors cannot be written: {error.strerror}") from error

    def _append(self, line: bytes) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a+b") as file:
            if not self._ends_with(line):
                file.write(line)
                file.flush()
                os.fsync(file.fileno())

    def _ends_with(self, line: bytes) -> bool:
        data = self._path.read_bytes() if self._path.stat().st_size < len(line) else _tail(self._path, len(line))
        return data == line


def _tail(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        file.seek(-size, os.SEEK_END)
        return file.read()
