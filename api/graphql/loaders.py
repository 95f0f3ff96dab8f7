"""Dataloaders: whatever a list asks of its members is asked of the store once (E4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

from strawberry.dataloader import DataLoader

from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.services.access.session import Session

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

    async def _nodes(self, ids: list[NodeId]) -> list[Node | None]:
        found = await self.session.open(ids)
        return [found.get(id_) for id_ in ids]
