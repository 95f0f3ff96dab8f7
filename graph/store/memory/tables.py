"""What the reference holds: plain dicts, and overlays that keep a transaction's writes apart until it commits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field, fields
from typing import Any, Generic, TypeVar

from graph.model import schema
from graph.model.access import Audience, Guard
from graph.model.edges import Edge
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.store.query import TextRow

K = TypeVar("K")
V = TypeVar("V")

EdgeKey = tuple[str, NodeId, NodeId, str]
UniqueKey = tuple[str, tuple[str, ...], tuple[Any, ...]]

_GONE: Any = object()


class Overlay(MutableMapping[K, V], Generic[K, V]):
    """A dict seen through changes that are not in it yet."""

    def __init__(self, base: Mapping[K, V]) -> None:
        self._base = base
        self._changes: dict[K, V] = {}

    def __getitem__(self, key: K) -> V:
        value = self._changes[key] if key in self._changes else self._base[key]
        if value is _GONE:
            raise KeyError(key)
        return value

    def __setitem__(self, key: K, value: V) -> None:
        self._changes[key] = value

    def __delitem__(self, key: K) -> None:
        self._changes[key] = _GONE

    def __contains__(self, key: object) -> bool:
        if key in self._changes:
            return self._changes[key] is not _GONE
        return key in self._base

    def __iter__(self) -> Iterator[K]:
        changes = self._changes
        yield from (key for key in self._base if key not in changes)
        yield from (key for key, value in changes.items() if value is not _GONE)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @property
    def changed(self) -> bool:
        """True if anything was written."""
        return bool(self._changes)

    def apply(self, target: dict[K, V]) -> None:
        """Write the changes into `target`."""
        for key, value in self._changes.items():
            if value is _GONE:
                target.pop(key, None)
            else:
                target[key] = value


@dataclass(kw_only=True)
class Tables:
    """Everything that is stored, or a transaction's view of it.

    Attributes:
        nodes: by kind name, then id.
        edges: by identity.
        outgoing, incoming: identities of the edges at a node; a node that is only named here is a placeholder.
        texts_at: ids of the texts that hang on a guard.
        unique: which node holds a unique key.
    """

    nodes: Mapping[str, MutableMapping[NodeId, Node]] = field(default_factory=lambda: {k: {} for k in schema.kinds()})
    edges: MutableMapping[EdgeKey, Edge] = field(default_factory=dict)
    outgoing: MutableMapping[NodeId, frozenset[EdgeKey]] = field(default_factory=dict)
    incoming: MutableMapping[NodeId, frozenset[EdgeKey]] = field(default_factory=dict)
    guards: MutableMapping[NodeId, Guard] = field(default_factory=dict)
    audiences: MutableMapping[NodeId, Audience] = field(default_factory=dict)
    texts: MutableMapping[str, TextRow] = field(default_factory=dict)
    texts_at: MutableMapping[NodeId, frozenset[str]] = field(default_factory=dict)
    unique: MutableMapping[UniqueKey, NodeId] = field(default_factory=dict)

    def node(self, id: NodeId) -> Node | None:
        """Return the node of this id, whatever its kind."""
        kind = schema.kind_of(id)
        return self.nodes[kind.name].get(id) if kind else None

    def of_kind(self, kind: type[Node]) -> MutableMapping[NodeId, Node]:
        """Return the nodes of one kind by id."""
        return self.nodes[kind.__name__]


_FLAT = tuple(f.name for f in fields(Tables) if f.name != "nodes")


def overlay(base: Tables) -> Tables:
    """Return a view of `base` that takes writes without changing it."""
    flat: dict[str, Any] = {name: Overlay(getattr(base, name)) for name in _FLAT}
    return Tables(nodes={kind: Overlay(nodes) for kind, nodes in base.nodes.items()}, **flat)


def merge(base: Tables, written: Tables, *, in_place: bool) -> Tables:
    """Return `base` with what was written to its overlay; untouched tables are shared.

    Args:
        base: the committed state.
        written: an overlay of it.
        in_place: true if nobody reads `base` or an older state, which shares tables with it.
    """
    flat: dict[str, Any] = {name: _merged(getattr(base, name), getattr(written, name), in_place) for name in _FLAT}
    nodes = {kind: _merged(table, written.nodes[kind], in_place) for kind, table in base.nodes.items()}
    return Tables(nodes=nodes, **flat)


def _merged(table: Any, written: Any, in_place: bool) -> Any:
    if not written.changed:
        return table
    target = table if in_place else dict(table)
    written.apply(target)
    return target
