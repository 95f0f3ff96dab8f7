"""One process owns a store: a lock file with its pid and address, held by a lock of the operating system. AD-39."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path

from graph.model.errors import StoreLocked, StoreUnavailable


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """Who owns a store; `address` is where its server listens, empty if it has none."""

    pid: int
    address: str = ""


class Ownership:
    """Holds the lock of one store until `release`; it ends with the process, however that dies."""

    def __init__(self, store: Path) -> None:
        self._file = _lock_path(store)
        self._descriptor: int | None = None

    def take(self) -> None:
        """Become the owner.

        Raises:
            StoreLocked: another process, or another store object of this one, is.
            StoreUnavailable: the lock file cannot be written.
        """
        try:
            descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreUnavailable(f"the lock file of the store cannot be opened: {error.strerror}") from error
        if not _locked(descriptor, fcntl.LOCK_EX):
            os.close(descriptor)
            raise _taken(self._file)
        self._descriptor = descriptor
        self.announce("")

    def announce(self, address: str) -> None:
        """Say where the owner can be reached."""
        if self._descriptor is None:
            return
        data = json.dumps({"pid": os.getpid(), "address": address}).encode()
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, data, 0)

    def release(self) -> None:
        """Give the store up; the lock file stays, since removing it would race with the next owner."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None


def owner_of(store: Path) -> Owner | None:
    """Return who owns the store now, or None if nobody does; takes nothing for longer than a look."""
    try:
        descriptor = os.open(_lock_path(store), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return None if _locked(descriptor, fcntl.LOCK_SH) else _read(_lock_path(store))
    finally:
        os.close(descriptor)


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_path(store: Path) -> Path:
    return store.with_name(store.name + ".lock")


def _taken(file: Path) -> StoreLocked:
    owner = _read(file)
    where = f" at {owner.address}" if owner.address else ""
    return StoreLocked(
        f"process {owner.pid}{where} owns this store: stop it or talk to it", pid=owner.pid, address=owner.address
    )


def _read(file: Path) -> Owner:
    try:
        data = json.loads(file.read_bytes())
        return Owner(pid=int(data["pid"]), address=str(data["address"]))
    except (OSError, ValueError, KeyError, TypeError):
        return Owner(pid=0)  # the owner is just writing it
