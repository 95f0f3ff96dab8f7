"""Which rows name which blobs, and the lock that keeps naming and removing bytes apart (AD-32)."""

from __future__ import annotations

from collections.abc import Iterable

from graph.model.access import SystemScope
from graph.model.errors import BadState
from graph.model.ids import NodeId, node_id
from graph.model.nodes.evidence import Source
from graph.model.nodes.sandbox import SandboxPart
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
    await hold_blobs(writer, deps, [sha256])


async def hold_blobs(writer: Writer, deps: Deps, sha256s: Iterable[str]) -> None:
    """Do the same for several; call it once a transaction, after other locks were taken."""
    wanted = sorted(set(sha256s))
    await writer.lock([blob_lock(sha256) for sha256 in wanted])
    for sha256 in wanted:
        if not await deps.blobs.exists(sha256):
            raise BadState("the bytes are gone: send the file again")


async def named_blobs(reader: Reader, sha256s: Iterable[str]) -> frozenset[str]:
    """Return those of the blobs that a row names, in any workspace; an erased source names none any more."""
    wanted = In("blob_ref", sorted(set(sha256s)))
    sources = (await reader.find(BLOBS, Find(kind=Source, where=wanted))).nodes
    parts = (await reader.find(BLOBS, Find(kind=SandboxPart, where=wanted))).nodes
    named = {source.blob_ref for source in sources if source.blob_ref is not None}
    return frozenset(named | {part.blob_ref for part in parts})
