"""A SQLite file layer that fails when a test says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import apsw

Fault = Callable[[str, str], None]
"""Gets the operation ("write", "sync", "read") and the kind of file ("wal", "db"); raises to make it fail."""


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: Any) -> None:
        super().__init__("", name, flags)
        self._disk = disk
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        self._kind = "wal" if path.endswith("-wal") else "db"

    def xRead(self, amount: int, offset: int) -> bytes:
        self._disk.happen("read", self._kind)
        return super().xRead(amount, offset)

    def xWrite(self, data: Any, offset: int) -> None:
        self._disk.happen("write", self._kind)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._disk.happen("sync", self._kind)
        super().xSync(flags)


class Disk(apsw.VFS):
    """Registers itself under `name`; `fault` is asked before every operation."""

    def __init__(self) -> None:
        self.name = f"disk-{uuid4().hex}"
        self.fault: Fault | None = None
        self.seen: list[tuple[str, str]] = []
        super().__init__(self.name, base="")

    def xOpen(self, name: Any, flags: Any) -> _File:
        return _File(self, name, flags)

    def happen(self, operation: str, file: str) -> None:
        self.seen.append((operation, file))
        if self.fault is not None:
            self.fault(operation, file)

    @contextmanager
    def failing(
        self, operation: str, file: str, error: Callable[[], BaseException], *, spare: int = 0
    ) -> Iterator[None]:
        """Fail every such operation inside the block but the first `spare` ones."""
        happened = count()

        def fault(happening: str, at: str) -> None:
            if (happening, at) == (operation, file) and next(happened) >= spare:
                raise error()

        self.fault = fault
        try:
            yield
        finally:
            self.fault = None


def disk_error() -> BaseException:
    """EIO."""
    return apsw.IOError("injected")


def disk_full() -> BaseException:
    """ENOSPC."""
    return apsw.FullError("injected")


def content(path: Path) -> bytes:
    """Return the bytes of a file."""
    return path.read_bytes()


def damage(path: Path) -> bytes:
    """Make a file no database; return its bytes."""
    path.write_bytes(b"no database at all " * 400)
    return content(path)
