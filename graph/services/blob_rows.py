"""Which rows name which blobs, and the lock that keeps naming and removing bytes apart (AD-32)."""

from __future__ import annotations

from collections.abc import Iterable

from graph.model.access import SystemScope
from graph.model.errors import BadState
from graph.model.ids import NodeId, node_id
from graph.model.nodes.evidence import Source
from graph.model.nodes.work import Receipt
from graph.services.deps import Deps
from graph.store.port import Reader, Writer
from graph.store.query import Find, In

BLOBS = SystemScope(reason="which rows name a blob")


def blob_lock(sha256: str) -> NodeId:
    """Return the id that is locked while a row comes to name a blob, or its bytes go."""
    return node_id(Receipt.PREFIX, f"blob/{sha256}")


async def hold_blob(writer: Writer, deps: Deps, sha256: str) -> None:
    """Lock a blob for a row that is about to name it.

    Raises:
        BadState: the bytes were removed since they were put; put them again.
    """
    await writer.lock([blob_lock(sha256)])
    if not await deps.blobs.exists(sha256):
        raise BadState("the bytes are gone: send the file again")


async def named_blobs(reader: Reader, sha256s: Iterable[str]) -> frozenset[str]:
    """Return those of the blobs that a row names, in any workspace; an erased source names none any more."""
    wanted = sorted(set(sha256s))
    page = await reader.find(BLOBS, Find(kind=Source, where=In("blob_ref", wanted)))
    return frozenset(source.blob_ref for source in page.nodes if source.blob_ref is not None)
