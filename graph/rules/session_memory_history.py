"""The tree of versions of a session: the path to a version, and what was believed at it.

A change belongs to the version that was the head when it was made. At a version it counts if it was made before the
next version on the path was: what was learned at an older version after a return to it is none of what followed
earlier. Source: SM-70 to SM-74, ADR 0032.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graph.model.nodes.sessions import SessionChange, SessionFact, SessionItem


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """A version of a session.

    Attributes:
        head: its name.
        path: the items from the first to the one that made it; none for the root.
        kept: all changes of the versions on the path, so that each of them can be returned to.
        changes: those of the memory that count at it, in order.
    """

    head: str
    path: tuple[SessionItem, ...]
    kept: tuple[SessionChange, ...]
    changes: tuple[SessionChange, ...]

    @property
    def depth(self) -> int:
        """How many items lead to it."""
        return len(self.path)

    @property
    def processed(self) -> frozenset[str]:
        """Local ids of the items that were read for memory."""
        return frozenset(item for change in self.changes for item in change.processed)

    @property
    def made(self) -> frozenset[str]:
        """Ids of all states of facts that were made on the way."""
        return frozenset(fact for change in self.changes for fact in change.facts)


def version_at(head: str, root: str, items: Iterable[SessionItem], changes: Iterable[SessionChange]) -> Version | None:
    """Return a version of a session out of all its items and changes; None if it has no such version."""
    path = path_to(head, root, {item.head: item for item in items})
    if path is None:
        return None
    until = _counted_until(root, path)
    kept = sorted((change for change in changes if change.head in until), key=lambda change: change.seq)
    counted = [change for change in kept if _is_before(change.seq, until[change.head])]
    return Version(head=head, path=tuple(path), kept=tuple(kept), changes=tuple(counted))


def path_to(head: str, root: str, by_head: Mapping[str, SessionItem]) -> list[SessionItem] | None:
    """Return the items that lead from the root to a version; None if there is no such version."""
    path: list[SessionItem] = []
    while head != root:
        item = by_head.get(head)
        if item is None:
            return None
        path.append(item)
        head = item.parent
    return path[::-1]


def latest(version: Version, facts: Iterable[SessionFact]) -> dict[str, SessionFact]:
    """Return the state of each key at a version."""
    made = version.made
    counted = sorted((fact for fact in facts if fact.id in made), key=lambda fact: fact.change)
    return {fact.key: fact for fact in counted}


def in_order(ids: Iterable[str], history: Sequence[str]) -> tuple[str, ...]:
    """Return ids of items, each once, in the order of the history; those that are not in it are left out.

    >>> in_order(["c", "a", "c", "x"], ["a", "b", "c"])
    ('a', 'c')
    """
    wanted = set(ids)
    return tuple(id_ for id_ in history if id_ in wanted)


def _counted_until(root: str, path: Sequence[SessionItem]) -> dict[str, int | None]:
    """Return up to which change each version on the path counts; the last one counts whole (None)."""
    until: dict[str, int | None] = {item.parent: item.change_seq for item in path}
    until[path[-1].head if path else root] = None
    return until


def _is_before(seq: int, until: int | None) -> bool:
    return until is None or seq <= until
