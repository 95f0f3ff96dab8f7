"""Turns what SQLite raises into our errors. No message of SQLite is passed on that could hold content."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import apsw

from graph.model.errors import BadInput, RootwardError, StoreError, StoreReadOnly, StoreUnavailable

READ_ONLY = "a write to disk failed: the store is read-only until it is opened again; check the disk and restart"

FAULTS: Final = (apsw.Error, OverflowError, UnicodeEncodeError)
"""What is raised by SQLite, and by its library for values that it cannot hold."""


@contextmanager
def translated(*, writing: bool) -> Iterator[None]:
    """Raise errors of our tree instead of SQLite's.

    Raises:
        StoreReadOnly: the disk failed while writing.
        StoreUnavailable: disk full, no memory, busy, or the disk failed while reading.
        StoreError: the file is damaged.
        BadInput: a value that SQLite cannot hold.
    """
    try:
        yield
    except FAULTS as error:
        raise own_error(error, writing=writing) from error


def own_error(error: Exception, *, writing: bool) -> Exception:
    """Return the error of our tree for one of `FAULTS`, and any other error as it is."""
    if isinstance(error, apsw.Error):
        return _ours(error, writing=writing)
    if isinstance(error, FAULTS):
        return BadInput("a value cannot be kept: integers have 64 bits, texts are valid Unicode")
    return error


def _ours(error: apsw.Error, *, writing: bool) -> RootwardError:
    match error:
        case apsw.FullError():
            return StoreUnavailable("the disk is full: free space and try again; nothing was written")
        case apsw.IOError() if writing:
            return StoreReadOnly(READ_ONLY)
        case apsw.IOError():
            return StoreUnavailable("the disk failed while the store was read: check it and try again")
        case apsw.CorruptError() | apsw.NotADBError():
            return StoreError("the store file is damaged or no Rootward store: restore it from a backup")
        case apsw.CantOpenError() | apsw.PermissionsError() | apsw.ReadOnlyError():
            return StoreUnavailable("the store file cannot be opened for writing: check folder and permissions")
        case apsw.TooBigError():
            return BadInput("a value is too large to be kept")
        case _:
            return StoreUnavailable(f"the store cannot answer now ({type(error).__name__}): try again")
