"""Small files that only their owner may read, written whole or not at all, and changed by one process at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graph.model.errors import StoreUnavailable


def write_whole(file: Path, data: bytes) -> None:
    """Write a file of mode 0600; what was there stays until the new one is whole and on the disk. Take your `turn`.

    Raises:
        StoreUnavailable: it cannot be written.
    """
    partial = file.with_name(f".{file.name}.partial")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with suppress(FileNotFoundError):
            partial.unlink()
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        partial.rename(file)
        sync_folder(file.parent)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise StoreUnavailable(f"{file} cannot be written: {error.strerror}") from error


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def turn(file: Path) -> Iterator[None]:
    """Hold a file against other processes that change it; whoever comes meanwhile waits. The lock dies with us.

    Raises:
        StoreUnavailable: its folder cannot be written.
    """
    lock = file.with_name(f"{file.name}.lock")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreUnavailable(f"{lock} cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
