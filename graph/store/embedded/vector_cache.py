"""Vectors in memory, a byte for each number, by the clause that shows them: where the nearest may be.

It holds no decision: which clauses a viewer passes is asked in his snapshot, and each candidate is looked up there
again and compared exactly. A group only grows; a vector that changed or that another clause shows now comes anew with
a higher number (table `vec`), and what the old place leads to is dropped when it is looked up. Source: RE-10, ADR 0021.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graph.store.embedded.session import Session

MOST_BYTES = 256 * 1_048_576
"""Together; more than that is compared by SQL, which is slower and needs no memory."""
_FIRST_ROWS = 256
_CHUNK = 4_096
_LEVELS = 127
_SPREAD = 2.0
"""Nearly seven standard deviations of what rounding to levels does to a cosine, in units of one level."""

GroupKey = tuple[str, str, int, int]
"""kind, model, size of the vectors, clause"""


@dataclass(slots=True)
class Group:
    """The vectors that one clause shows.

    Attributes:
        nodes: the nodes in the order of `rows`.
        last: the highest number read so far.
        level: the widest level of a row, as a share of its length.
    """

    rows: NDArray[np.int8]
    nodes: list[str] = field(default_factory=list)
    last: int = 0
    level: float = 0.0

    @property
    def memory_bytes(self) -> int:
        """How much memory the rows take."""
        return int(self.rows.nbytes)

    def add(self, nodes: Sequence[str], blobs: Sequence[bytes], last: int) -> None:
        """Put vectors behind the others; a view of the rows taken before stays as it is."""
        import numpy as np

        fresh, level = levels(np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1))
        count = len(self.nodes)
        if count + len(fresh) > len(self.rows):
            wider = np.zeros((max(count + len(fresh), 2 * len(self.rows)), fresh.shape[1]), dtype=np.int8)
            wider[:count] = self.rows[:count]
            self.rows = wider
        self.rows[count : count + len(fresh)] = fresh
        self.nodes.extend(nodes)
        self.last, self.level = last, max(self.level, level)


@dataclass(frozen=True, slots=True)
class Seen:
    """A group as it was when it was asked for."""

    rows: NDArray[np.int8]
    nodes: Sequence[str]
    level: float


class VectorCache:
    """The groups of one store; its readers share it, from their threads."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._groups: OrderedDict[GroupKey, Group] = OrderedDict()
        self._lock = threading.Lock()

    def groups(self, session: Session, kind: str, model: str, size: int, clauses: Iterable[int]) -> list[Seen] | None:
        """Return the vectors that the clauses show, as of the snapshot or newer; None if they are too many.

        Args:
            session: a reader; what a writer has not committed must not get in here.
            kind: of the nodes, as their table says.
            model: of the vectors.
            size: how many numbers a vector has.
            clauses: those the viewer passes.
        """
        found = []
        with self._lock:
            for clause in clauses:
                group = self._current(session, (kind, model, size, clause))
                if group is not None:
                    found.append(Seen(group.rows[: len(group.nodes)], group.nodes, group.level))
            fits = sum(seen.rows.nbytes for seen in found) <= self._most_bytes
            self._evict()
        return found if fits else None

    def forget(self, kind: str, model: str, size: int, clauses: Iterable[int]) -> None:
        """Drop groups; the next question reads them anew."""
        with self._lock:
            for clause in clauses:
                self._groups.pop((kind, model, size, clause), None)

    def _current(self, session: Session, key: GroupKey) -> Group | None:
        """Return a group with what came since it was last asked for; None if it is empty."""
        group = self._groups.get(key)
        for nodes, blobs, last in _since(session, key, group.last if group else 0):
            if group is None:
                group = self._groups[key] = _empty(key[2])
            group.add(nodes, blobs, last)
        if group is not None:
            self._groups.move_to_end(key)
        return group

    def _evict(self) -> None:
        total = sum(group.memory_bytes for group in self._groups.values())
        while total > self._most_bytes and self._groups:
            _, group = self._groups.popitem(last=False)
            total -= group.memory_bytes


def _empty(size: int) -> Group:
    import numpy as np

    return Group(rows=np.zeros((_FIRST_ROWS, size), dtype=np.int8))


def _since(session: Session, key: GroupKey, last: int) -> Iterator[tuple[list[str], list[bytes], int]]:
    """Yield nodes and vectors with higher numbers, a few thousand at a time."""
    kind, model, size, clause = key
    rows = session.db.execute(
        f"SELECT v.n, v.node, n.embedding FROM vec v CROSS JOIN n_{kind} n ON n.id = v.node"
        " WHERE v.kind = ? AND v.model = ? AND v.clause = ? AND v.n > ? AND length(n.embedding) = ? ORDER BY v.n",
        (kind, model, clause, last, 4 * size),
    )
    nodes: list[str] = []
    blobs: list[bytes] = []
    for number, node, blob in rows:
        nodes.append(node)
        blobs.append(blob)
        if len(nodes) == _CHUNK:
            yield nodes, blobs, number
            nodes, blobs = [], []
    if nodes:
        yield nodes, blobs, number


def levels(vectors: NDArray[np.float32]) -> tuple[NDArray[np.int8], float]:
    """Return vectors with each number rounded to one of 255 levels, and the widest level as a share of a length.

    A cosine does not ask for length, so each vector has levels of its own. What is no number becomes 0.
    """
    import numpy as np

    finite = np.nan_to_num(vectors, nan=0.0, posinf=0.0, neginf=0.0)
    most = np.abs(finite).max(axis=1, keepdims=True)
    most[most == 0] = 1.0
    rounded = np.rint(finite * (_LEVELS / most)).astype(np.int8)
    lengths = np.linalg.norm(finite / most, axis=1)
    shortest = float(lengths[lengths > 0].min(initial=np.inf))
    return rounded, (1.0 / (_LEVELS * shortest) if shortest < np.inf else 0.0)


def similarities(asked: Sequence[float], groups: Sequence[Seen]) -> tuple[NDArray[np.float64], float]:
    """Return the cosine to every vector of the groups, one after the other, and how far off it may be.

    Raises:
        ImportError: a library is missing.
    """
    import numpy as np
    import simsimd

    question, own = levels(np.asarray([asked], dtype=np.float32))
    parts: list[Any] = [np.empty(0)]
    for group in groups:
        if len(group.rows):
            parts.append(1.0 - np.asarray(simsimd.cdist(question, group.rows, metric="cosine"))[0])
    level = max((group.level for group in groups), default=0.0)
    return np.nan_to_num(np.concatenate(parts), nan=-2.0), _SPREAD * float(np.hypot(level, own))
