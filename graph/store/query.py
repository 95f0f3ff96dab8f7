"""Questions to a store, as values: conditions, order, pages, keyword matches.

A store turns these into its own language with parameters only; no engine syntax is ever built from user text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Generic, NamedTuple, TypeVar

from graph.model.access import Guard
from graph.model.edges import Edge
from graph.model.errors import CursorInvalid
from graph.model.fields import FieldType, Node
from graph.model.ids import NodeId
from graph.model.schema import kinds
from graph.model.time import Millis

N = TypeVar("N", bound=Node)


@dataclass(frozen=True, slots=True)
class Eq:
    """The field equals the value; None asks for fields that are not set."""

    field: str
    value: Any


@dataclass(frozen=True, slots=True)
class IsSet:
    """The field is not None."""

    field: str


@dataclass(frozen=True, slots=True)
class In:
    """The field is one of the values; of none at all for an empty sequence."""

    field: str
    values: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Range:
    """``low <= field < high``; None is open. A field that is not set is in no range."""

    field: str
    low: Any = None
    high: Any = None


@dataclass(frozen=True, slots=True)
class Contains:
    """The field (a tuple of texts) contains the value."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Tagged:
    """The guard of the node has at least one of these tags."""

    tags: Sequence[str]


@dataclass(frozen=True, slots=True)
class Linked:
    """An edge of one of `types` leads from the node to one of `targets`.

    The targets are not checked: ask for a viewer by the ends of relations alone, which he sees wherever he sees the
    relation (KN-62), or for nodes that he was found to see; else it tells of hidden ones.
    """

    types: Sequence[str]
    targets: Sequence[NodeId]


@dataclass(frozen=True, slots=True)
class And:
    """All of these hold; true if there are none."""

    parts: Sequence[Where]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of these holds; false if there are none."""

    parts: Sequence[Where]


Where = Eq | IsSet | In | Range | Contains | Tagged | Linked | And | Or


def both(*parts: Where | None) -> Where | None:
    """Return the conjunction of the parts that are given; None if there are none."""
    given = [part for part in parts if part is not None]
    if len(given) < 2:
        return given[0] if given else None
    return And(tuple(given))


@dataclass(frozen=True, slots=True)
class By:
    """Order by a field, nodes without it last; ties by id in byte order, ascending."""

    field: str
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Newest:
    """Order by the guard's `sort_at`, newest first; ties by id in byte order, ascending. For guarded kinds."""


Order = By | Newest


class After(NamedTuple):
    """A place in an order: the value of the order's field (or `sort_at`) and the id of the last node seen."""

    value: Any
    id: NodeId


@dataclass(frozen=True, kw_only=True, slots=True)
class Find(Generic[N]):
    """A page of nodes of one kind.

    Attributes:
        first: at most so many nodes; None for all of them.
        after: keyset place to go on from.
        backward: read the order from its end (for pages before a cursor); the answer is in that reversed order.
        without: fields of text that nobody looks at, of something that is read whole; a store may leave them empty,
            and the places of the page too, and so do less.
    """

    kind: type[N]
    where: Where | None = None
    order: Order = field(default_factory=lambda: By("id"))
    first: int | None = None
    after: After | None = None
    backward: bool = False
    without: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a place of another order: a client may have made it up.

        Raises:
            CursorInvalid: the value is none of the order's field.
        """
        if self.after is not None and not _has_place(self.kind, self.order, self.after.value):
            raise CursorInvalid("take the cursor of an earlier page of this very list", field="after")


_PLACES: Final[Mapping[FieldType, tuple[type, ...]]] = {
    FieldType.TEXT: (str,),
    FieldType.INTEGER: (int,),
    FieldType.REAL: (float, int),
    FieldType.BOOLEAN: (bool,),
}


def _has_place(kind: type[Node], order: Order, value: Any) -> bool:
    """Return whether a value can be one of the field that an order is made by."""
    fits = _PLACES.get(FieldType.INTEGER if isinstance(order, Newest) else _type_of(kind, order.field), ())
    return value is None or (isinstance(value, fits) and (bool in fits or not isinstance(value, bool)))


def _type_of(kind: type[Node], name: str) -> FieldType:
    return next(spec.type for spec in kinds()[kind.__name__].fields if spec.name == name)


@dataclass(frozen=True, kw_only=True, slots=True)
class Page(Generic[N]):
    """Nodes in order; `places` holds the keyset place of each; `more` tells whether others follow."""

    nodes: tuple[N, ...]
    places: tuple[After, ...]
    more: bool


class Direction(StrEnum):
    """Which way along edges: OUT from source to target, IN from target to source."""

    OUT = "out"
    IN = "in"


@dataclass(frozen=True, kw_only=True, slots=True)
class Reached:
    """What a closure found.

    Attributes:
        depths: every id reached with its distance from the nearest start, starts at 0; missing ids are included.
        edges: every edge of the asked types between reached nodes that was walked, each once.
        truncated: true if the limit or the depth cut something off.
        guards: the law's own facts of what was reached, if they were asked for.
    """

    depths: Mapping[NodeId, int]
    edges: tuple[Edge, ...]
    truncated: bool
    guards: Mapping[NodeId, Guard] = field(default_factory=dict)


class TextIndex(StrEnum):
    """The keyword indexes."""

    ENTRY = "entry"
    MESSAGE = "message"


@dataclass(frozen=True, kw_only=True, slots=True)
class TextRow:
    """One text of a keyword index.

    Attributes:
        id: unique per text; putting it again replaces it. By convention the guard's id plus ``#`` and a part.
        index: which index.
        guard: the node whose audience decides who may see the text.
        item: what a hit counts for, such as the entry of a block.
        part: which part of the item: name, alias, summary, block, message, window.
        pool: where it lives.
        words: the words in order, repeats included; no white space inside a word.
        sort_at: time of the item; ties in the choice of matches go to the newest.
    """

    id: str
    index: TextIndex
    guard: NodeId
    item: NodeId
    part: str
    pool: NodeId
    words: tuple[str, ...]
    sort_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class Match:
    """A keyword question: the visible texts of `index` that hold at least one of `words`.

    If more than `limit` match, they are chosen by sets alone (RE-9): words from rarest (by visible df) to commonest,
    ties in byte order; a text with the rarer word before one without it, then the next word; equal ones newest
    first, then by text id.

    Attributes:
        parts: only texts of these parts; None for all.
        df_limit: document frequencies are counted up to this number.
    """

    index: TextIndex
    words: tuple[str, ...]
    limit: int = 1_000
    parts: tuple[str, ...] | None = None
    pools: tuple[NodeId, ...] | None = None
    df_limit: int = 10_000


class TextHit(NamedTuple):
    """One text that matched: how often each asked word occurs in it, and its length in words.

    A tuple, for a question has a thousand of them.
    """

    id: str
    guard: NodeId
    item: NodeId
    part: str
    pool: NodeId
    counts: Mapping[str, int]
    length: int
    sort_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class Matches:
    """Hits in no particular order, with the figures that BM25 needs.

    Attributes:
        df: visible texts that hold each word, counted to `df_limit`; words that occur nowhere have 0.
        total: number of visible texts of the index (and parts): a counter per clause, summed, at least the highest df.
    """

    hits: tuple[TextHit, ...]
    df: Mapping[str, int]
    total: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbour:
    """A node near a vector: `similarity` is the cosine, −1 to 1."""

    id: NodeId
    similarity: float
