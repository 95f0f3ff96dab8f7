"""Vectors of blocks name the entry; when the name changes they go and are made again (RE-32)."""

from __future__ import annotations

from graph.model.access import SystemScope
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.knowledge import BlockVersion, FacetField
from graph.rules.changes import Changes
from graph.rules.embedding import NO_VECTOR, NOT_EMBEDDED
from graph.store.port import Writer
from graph.store.query import Find, In

_RENAMED = SystemScope(reason="vectors under another name")


async def drop_renamed(writer: Writer, changes: Changes) -> None:
    """Let the vectors of blocks be made again whose entry gets another name, or that move to another entry."""
    fresh = {node.id for node in changes.puts}
    renamed = {text.item for text in changes.texts if text.part == FacetField.NAME} - fresh
    moved = [id_ for id_, fields in changes.patches.items() if "entry_id" in fields and _is_block(id_)]
    versions = list((await writer.get(_RENAMED, moved)).values()) if moved else []
    if renamed:
        query = Find(kind=BlockVersion, where=In("entry_id", sorted(renamed)))
        versions += (await writer.find(_RENAMED, query)).nodes
    stale = {
        version.id: {"embedding": None, "embedding_model": NOT_EMBEDDED}
        for version in versions
        if isinstance(version, BlockVersion) and version.embedding_model not in (NOT_EMBEDDED, NO_VECTOR)
    }
    await writer.patch_many(stale)


def _is_block(node: NodeId) -> bool:
    return prefix_of(node) == BlockVersion.PREFIX
