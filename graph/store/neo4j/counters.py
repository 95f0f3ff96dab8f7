"""Counters per (clause, kind, tag), kept in the transaction that changes what they count.

Changes are gathered and written once, in key order, right before they are read or committed: a counter is shared by
all writers of a pool, so it is locked as late and as briefly as can be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graph.store.neo4j.asking import Asking, table


def row_key(clause: str, kind: str, tag: str) -> str:
    """Return the counter of nodes that have this clause alone."""
    return f"{clause} {kind} {tag}"


def text_key(clause: str, index: str, part: str | None, pool: str | None) -> str:
    """Return the counter of keyword texts; None stands for all parts, or all pools."""
    return f"{clause} #{index} {'' if part is None else f'={part}'} {'' if pool is None else f'={pool}'}"


def text_keys(clause: str, index: str, part: str, pool: str) -> list[str]:
    """Return all counters that count one text of a clause."""
    return [text_key(clause, index, p, q) for p in (part, None) for q in (pool, None)]


class Counters:
    """The changes of one transaction."""

    def __init__(self) -> None:
        self._changes: Counter[str] = Counter()

    def add(self, keys: Iterable[str], by: int) -> None:
        """Count `by` more (or fewer) for each key."""
        for key in keys:
            self._changes[key] += by

    def take(self) -> list[list[Any]]:
        """Return what has gathered, in key order, and forget it."""
        rows = [[key, by] for key, by in sorted(self._changes.items()) if by]
        self._changes.clear()
        return rows


async def read(runner: Asking, keys: Sequence[str]) -> Mapping[str, int]:
    """Return the counters that exist."""
    if not keys:
        return {}
    rows = await table(runner, "UNWIND $keys AS key MATCH (c:Counter {key: key})", "c.key, c.n", keys=list(keys))
    return {str(key): int(count) for key, count in rows}
