"""The write-ahead log beyond what SQLite does by itself.

A commit whose sync failed is refused, but its frames may lie whole in the log, and the next start would take them
for committed. So after a failure everything behind the last commit that was acknowledged is cut off.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

_LOG_HEADER = 32
_FRAME_HEADER = 24
_INDEX_HEADER = struct.Struct("=IIIBBHI")
"""Start of the shared index: version, padding, change counter, initialised, byte order, page size, last frame.
Source: SQLite's WAL-mode file format, section "The WAL-Index File Format".
"""


def cut_unacknowledged(store: Path) -> None:
    """Cut off what follows the last acknowledged frame.

    SQLite moves the last frame in the shared index only after the sync, so the index tells it, also if the failed
    transaction was the first of a log that starts anew.

    Raises:
        OSError: the disk does not even allow that.
    """
    log, index = store.with_name(store.name + "-wal"), store.with_name(store.name + "-shm")
    if not log.exists():
        return
    with index.open("rb") as file:
        *_, page_size, last_frame = _INDEX_HEADER.unpack(file.read(_INDEX_HEADER.size))
    page_size = 65_536 if page_size == 1 else page_size
    end = _LOG_HEADER + last_frame * (_FRAME_HEADER + page_size)
    descriptor = os.open(log, os.O_RDWR | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_size > end:
            os.ftruncate(descriptor, end)
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
