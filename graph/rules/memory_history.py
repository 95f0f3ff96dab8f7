"""What a change of a file memory does to its history: numbers, what is kept, what goes (FM-69 to FM-85).

Everything here works on numbers; the shell in `graph.services.workspace.changing` reads and writes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graph.model.nodes.workspace import MemoryRevision, RevisionOp
from graph.rules.memory_limits import MemoryLimits

OPS_WITH_PREVIOUS = frozenset({RevisionOp.UPDATE, RevisionOp.DELETE, RevisionOp.MOVE_OUT})
"""Changes before which a file was at the path (FM-76)."""
OPS_WITH_CONTENT = frozenset({RevisionOp.CREATE, RevisionOp.UPDATE, RevisionOp.MOVE_IN})
"""Changes after which a file is at the path."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PathChange:
    """One change of one path, before it has its number.

    Attributes:
        previous: what the file held before; None: none was there.
        moved_path: the other path of a move.
    """

    path: str
    op: RevisionOp
    previous: str | None = None
    moved_path: str | None = None

    @property
    def previous_bytes(self) -> int:
        """How much of the history it takes."""
        return 0 if self.previous is None else len(self.previous.encode())


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """What a memory holds, in UTF-8 bytes; `content` is that of the files as they will be."""

    content: int
    history: int

    def over(self, limits: MemoryLimits) -> int:
        """Return how many bytes of history must go; 0 or less: none."""
        return self.content + self.history - limits.max_total_bytes


def is_full(content_bytes: int, limits: MemoryLimits) -> bool:
    """Return whether the files alone exceed what a memory may hold: only then is a change refused (FM-85)."""
    return content_bytes > limits.max_total_bytes


def too_many(kept: int, new: int, limits: MemoryLimits) -> int:
    """Return how many of the oldest changes of a path go when `new` ones join the `kept` (FM-82)."""
    return max(0, kept + new - limits.revisions_per_file)


def oldest_to_free(revisions: Iterable[MemoryRevision], wanted: int) -> list[MemoryRevision]:
    """Return as many of the revisions, lowest `seq` first, as free the wanted bytes; all if they free less (FM-84)."""
    found: list[MemoryRevision] = []
    for revision in revisions:
        if wanted <= 0:
            break
        found.append(revision)
        wanted -= revision.previous_bytes
    return found
