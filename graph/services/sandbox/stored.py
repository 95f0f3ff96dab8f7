"""Bytes of sandboxes: put before the transaction that names them, joined from their parts when they are read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from graph.model.access import SystemScope
from graph.model.errors import BadState, NotFound, StoreUnavailable
from graph.model.ids import NodeId
from graph.model.nodes.sandbox import SandboxFile, SandboxPart
from graph.rules.sandbox import Counts, counted
from graph.services.deps import Deps
from graph.services.sandbox.acting import forget
from graph.store.port import Reader
from graph.store.query import Find, In

FILES: Final = SystemScope(reason="files of a sandbox whose verbs are checked")
TRIES: Final = 5
"""So often bytes are put, or read, again if they went meanwhile."""
_AT_ONCE: Final = 32

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """Bytes that are in the blob store."""

    sha256: str
    counts: Counts


async def with_bytes(
    deps: Deps, contents: Mapping[str, bytes], work: Callable[[Mapping[str, Stored]], Awaitable[T]]
) -> T:
    """Put bytes and run `work`, whose transaction names them; again, if somebody removed them in between.

    What `work` raises goes through, and the bytes go with it.

    Raises:
        StoreUnavailable: they went each time.
    """
    for _ in range(TRIES):
        stored = {
            name: Stored(sha256=(await deps.blobs.put(data)).sha256, counts=counted(data))
            for name, data in contents.items()
        }
        try:
            return await work(stored)
        except BadState:  # the collector was faster than the transaction
            deps.figures.count("sandbox_bytes_put_again")
        except Exception:
            await forget(deps, [one.sha256 for one in stored.values()])
            raise
    raise StoreUnavailable("the bytes were removed before they were named: try again")


async def parts_of(reader: Reader, files: Collection[NodeId]) -> Mapping[NodeId, Sequence[SandboxPart]]:
    """Return the parts of files, in order."""
    found = (await reader.find(FILES, Find(kind=SandboxPart, where=In("file_id", sorted(files))))).nodes
    parts: dict[NodeId, list[SandboxPart]] = {file: [] for file in files}
    for part in sorted(found, key=lambda part: part.number):
        parts[part.file_id].append(part)
    return parts


async def bytes_of(deps: Deps, parts: Sequence[SandboxPart]) -> bytes:
    """Return the bytes of a file.

    Raises:
        NotFound: the file was changed or deleted since its parts were read; read them again.
    """
    pieces: list[bytes] = []
    for start in range(0, len(parts), _AT_ONCE):
        batch = parts[start : start + _AT_ONCE]
        pieces += await asyncio.gather(*(deps.blobs.read(part.blob_ref) for part in batch))
    return b"".join(pieces)


async def opened(
    deps: Deps, find: Callable[[], Awaitable[tuple[SandboxFile, Sequence[SandboxPart]]]]
) -> tuple[SandboxFile, bytes]:
    """Return a file with its bytes, as of one moment.

    Args:
        deps: the ports.
        find: reads the file and its parts; what it raises goes through.

    Raises:
        StoreUnavailable: the bytes are not there, however often one looks.
    """
    for _ in range(TRIES):
        file, parts = await find()
        try:
            return file, await bytes_of(deps, parts)
        except NotFound:
            deps.figures.count("sandbox_bytes_read_again")
    raise StoreUnavailable("the bytes of a sandbox are not there")
