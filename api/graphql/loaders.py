"""Dataloaders: whatever a list asks of its members is asked of the store once (E4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

from strawberry.dataloader import DataLoader

from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import RoutingRule, Source
from graph.model.nodes.learning import DreamRun
from graph.model.nodes.work import AuditRecord
from graph.rules.as_of import AsOf
from graph.services.access.session import Session
from graph.services.knowledge.audit_log import restored_by
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.conversations import routing_rules
from graph.services.knowledge.entries import attributes_of, entry_views, wider_entries
from graph.services.knowledge.first_pages import (
    first_audit,
    first_block_versions,
    first_relations,
    first_sources,
    none_found,
)
from graph.services.knowledge.listing import Listing
from graph.services.knowledge.mirrored import MirroredView, mirrored
from graph.services.knowledge.nodes import NodeView, node_views
from graph.services.knowledge.projection import projections
from graph.services.knowledge.relations import RelationDirection
from graph.services.knowledge.views import AttributeView, BlockVersionView, BlockView, EntryView, RelationView
from graph.services.learning.dream_runs import run_views

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Loaders:
    """The loaders of one session; one that a feature needs is made at its first use."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._made: dict[Hashable, DataLoader[Any, Any]] = {}
        self.nodes: DataLoader[NodeId, Node | None] = DataLoader(self._nodes)

    def get(
        self,
        name: Hashable,
        many: Callable[[Session, Sequence[K]], Awaitable[Mapping[K, V]]],
        default: Callable[[], V],
    ) -> DataLoader[K, V]:
        """Return the loader of a name, which asks `many` for all keys of a tick and fills gaps with `default()`.

        A name must say all that `many` depends on beside the keys.
        """
        if name not in self._made:

            async def load(keys: list[K]) -> list[V]:
                found = await many(self.session, list(dict.fromkeys(keys)))
                return [found[key] if key in found else default() for key in keys]

            self._made[name] = DataLoader(load)
        return self._made[name]

    def entries(self, as_of: AsOf) -> DataLoader[NodeId, EntryView | None]:
        """Return the loader of entries as they were at a moment."""
        return self.get(("entries", as_of), lambda s, ids: entry_views(s, ids, as_of), _none)

    def wider_entries(self, as_of: AsOf) -> DataLoader[NodeId, tuple[EntryView, ...]]:
        """Return the loader of the entries of wider bases on the same topic."""
        return self.get(("wider_entries", as_of), lambda s, ids: wider_entries(s, ids, as_of), tuple)

    def blocks(self, as_of: AsOf) -> DataLoader[NodeId, tuple[BlockView, ...]]:
        """Return the loader of the blocks of entries."""
        return self.get(("blocks", as_of), lambda s, ids: blocks_of(s, ids, as_of), tuple)

    def attributes(self, as_of: AsOf) -> DataLoader[NodeId, tuple[AttributeView, ...]]:
        """Return the loader of the attributes of entries."""
        return self.get(("attributes", as_of), lambda s, ids: attributes_of(s, ids, as_of), tuple)

    def relations(
        self, direction: RelationDirection, types: tuple[str, ...] | None, first: int
    ) -> DataLoader[NodeId, Listing[RelationView]]:
        """Return the loader of first pages of the current relations of entries."""

        async def many(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, Listing[RelationView]]:
            return await first_relations(session, ids, direction=direction, types=types, first=first)

        return self.get(("relations", direction, types, first), many, none_found)

    def sources(self, as_of: AsOf, first: int) -> DataLoader[NodeId, Listing[Source]]:
        """Return the loader of first pages of the sources of entries."""
        return self.get(
            ("sources", as_of, first), lambda s, ids: first_sources(s, ids, as_of=as_of, first=first), none_found
        )

    def audit(self, first: int) -> DataLoader[NodeId, Listing[AuditRecord]]:
        """Return the loader of first pages of the audit of entries."""
        return self.get(("audit", first), lambda s, ids: first_audit(s, ids, first=first), none_found)

    def block_versions(self, first: int) -> DataLoader[NodeId, Listing[BlockVersionView]]:
        """Return the loader of first pages of the versions of blocks."""
        return self.get(("versions", first), lambda s, ids: first_block_versions(s, ids, first=first), none_found)

    def projections(self, as_of: AsOf) -> DataLoader[NodeId, str]:
        """Return the loader of the Markdown of entries."""
        return self.get(("projections", as_of), lambda s, ids: projections(s, ids, as_of), str)

    @property
    def views(self) -> DataLoader[NodeId, NodeView | None]:
        """The loader of nodes of any kind, with what they rest on."""
        return self.get("views", node_views, _none)

    @property
    def routing(self) -> DataLoader[NodeId, RoutingRule | None]:
        """The loader of the rules by which channels that the caller sees are routed."""
        return self.get("routing", routing_rules, _none)

    @property
    def mirrored(self) -> DataLoader[NodeId, MirroredView | None]:
        """The loader of the documents that entries mirror."""
        return self.get("mirrored", mirrored, _none)

    @property
    def restored_by(self) -> DataLoader[NodeId, tuple[AuditRecord, ...]]:
        """The loader of the records that restored a record."""
        return self.get("restored_by", restored_by, tuple)

    @property
    def dream_runs(self) -> DataLoader[NodeId, DreamRun | None]:
        """The loader of runs of Dreaming, each as the caller sees it."""
        return self.get("dream_runs", run_views, _none)

    async def _nodes(self, ids: list[NodeId]) -> list[Node | None]:
        found = await self.session.open(ids)
        return [found.get(id_) for id_ in ids]


def _none() -> None:
    return None
