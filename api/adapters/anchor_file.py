"""Keeps anchors in a file outside the store: one JSON object a line, as the offline verifier reads with
``--published``.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

from graph.model.errors import StoreUnavailable
from graph.rules.audit_anchors import SealedAnchor

_LOOKED_AT: Final = 1_048_576
"""Bytes at the end of the file in which a line is looked for."""


class AnchorFile:
    """Appends each anchor and syncs; an anchor whose line is among the file's last ones is not written again."""

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
            last = _tail(file)
            if line not in last:
                file.write(_completing(last[-1] if last else b"", line))
                file.flush()
                os.fsync(file.fileno())


def _tail(file: BinaryIO) -> Sequence[bytes]:
    """Return the last lines of a file."""
    file.seek(-min(_LOOKED_AT, file.seek(0, os.SEEK_END)), os.SEEK_END)
    return file.read().splitlines(keepends=True)


def _completing(last: bytes, line: bytes) -> bytes:
    """Return what to append: a process that was stopped may have left the last line without its end."""
    if not last or last.endswith(b"\n"):
        return line
    return line.removeprefix(last) if line.startswith(last) else b"\n" + line
