"""Removing bytes that no row names any more: after an erasure at once, else after a grace time (AD-32, KN-81)."""

from __future__ import annotations

from collections.abc import Iterable

from graph.model.time import HOUR_MS
from graph.services.blob_rows import blob_lock, named_blobs
from graph.services.deps import Deps
from graph.store.port import Writer

GRACE_HOURS = 24
"""Bytes are put before the row that names them is written; so long they are left alone."""

_BATCH = 200


async def remove_unnamed(deps: Deps, sha256s: Iterable[str]) -> tuple[str, ...]:
    """Remove those of the blobs that no row names, and return them.

    Each is looked at and removed under its lock, which whoever makes a row that names it holds too.
    """
    removed = []
    for sha256 in sorted(set(sha256s)):

        async def work(writer: Writer, sha256: str = sha256) -> bool:
            await writer.lock([blob_lock(sha256)])
            if await named_blobs(writer, [sha256]):
                return False
            await deps.blobs.delete(sha256)  # again on a repeated try: removing what is gone does nothing
            return True

        if await deps.store.transact(work):
            removed.append(sha256)
    return tuple(removed)


async def collect_blobs(deps: Deps, *, grace_hours: float = GRACE_HOURS) -> tuple[str, ...]:
    """Remove every blob that is older than the grace time and that no row names; return them."""
    before = deps.now() - grace_hours * HOUR_MS
    old = [sha256 async for sha256, written_at in deps.blobs.list() if written_at <= before]
    unnamed: list[str] = []
    for start in range(0, len(old), _BATCH):
        batch = old[start : start + _BATCH]
        async with deps.store.reading() as reader:
            unnamed += set(batch) - await named_blobs(reader, batch)
    return await remove_unnamed(deps, unnamed)
