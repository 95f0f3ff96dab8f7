"""Blocks as a reader sees them: in the order of the body, each in its version of a time, with what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Block, BlockVersion
from graph.rules.as_of import NOW, AsOf, holds
from graph.services.access.session import Session
from graph.services.knowledge.listing import Listing, believed_where, find_listing
from graph.services.knowledge.support import supports_of
from graph.services.knowledge.views import BlockVersionView, BlockView
from graph.store.query import After, By, Eq, Find, In, both


async def blocks_of(
    session: Session, entry_ids: Sequence[NodeId], as_of: AsOf = NOW
) -> Mapping[NodeId, tuple[BlockView, ...]]:
    """Return the blocks of entries that say something at a time, by position, then by id.

    Positions are those of now: they are places in a list, not statements, and have no history of their own.
    """
    versions = await _versions(session, "entry_id", entry_ids, as_of)
    blocks = await session.open([version.node.block_id for version in versions])
    found: dict[NodeId, list[BlockView]] = {id_: [] for id_ in entry_ids}
    for version in versions:
        block = blocks.get(version.node.block_id)
        if isinstance(block, Block):
            found[version.node.entry_id].append(BlockView(node=block, current=version))
    return {id_: tuple(sorted(views, key=_place)) for id_, views in found.items()}


async def block_views(session: Session, ids: Sequence[NodeId], as_of: AsOf = NOW) -> Mapping[NodeId, BlockView]:
    """Return those of the blocks that the caller sees; `current` is None where nothing is said at the time."""
    opened = {id_: node for id_, node in (await session.open(ids)).items() if isinstance(node, Block)}
    versions = await _versions(session, "block_id", list(opened), as_of)
    current = {version.node.block_id: version for version in versions}
    return {id_: BlockView(node=block, current=current.get(id_)) for id_, block in opened.items()}


async def block_versions(
    session: Session, block_id: NodeId, *, first: int, after: After | None = None
) -> Listing[BlockVersionView]:
    """Return the versions of a block that the caller sees, newest first; every older one stays readable (KN-22)."""
    query = Find(
        kind=BlockVersion,
        where=Eq("block_id", block_id),
        order=By("version", descending=True),
        first=first,
        after=after,
    )
    listing = await find_listing(session, query)
    views = await with_support(session, listing.items)
    return listing.mapped(lambda version: views[version.id])


async def with_support(session: Session, versions: Sequence[BlockVersion]) -> Mapping[NodeId, BlockVersionView]:
    """Return versions that the caller was found to see, with what they rest on."""
    supports = await supports_of(session, versions)
    return {version.id: BlockVersionView(node=version, support=supports[version.id]) for version in versions}


async def _versions(session: Session, field: str, owners: Sequence[NodeId], as_of: AsOf) -> Sequence[BlockVersionView]:
    if not owners:
        return ()
    where = both(In(field, list(owners)), believed_where(as_of))
    page = await session.page(Find(kind=BlockVersion, where=where))
    views = await with_support(session, [version for version in page.nodes if holds(version, as_of)])
    return tuple(views.values())


def _place(view: BlockView) -> tuple[int, NodeId]:
    return view.node.position, view.node.id
