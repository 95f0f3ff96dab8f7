"""The law's own facts about a node as properties beside its fields, and the texts that lists are sorted by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from graph.model.access import Guard, Need, Rule
from graph.model.making import maker
from graph.model.time import Millis

_SORT_ZERO = 10**18
_SORT_DIGITS = 19


def encode_sort(sort_at: int, id: str) -> str:
    """Return a text that sorts newest first, then by id.

    >>> encode_sort(2, "a") < encode_sort(1, "a") < encode_sort(1, "b")
    True
    """
    return f"{_SORT_ZERO - sort_at:0{_SORT_DIGITS}d}{id}"


def decode_sort(text: str) -> Millis:
    """Return the time in a text of `encode_sort`."""
    return Millis(_SORT_ZERO - int(text[:_SORT_DIGITS]))


def encode_guard(guard: Guard) -> dict[str, Any]:
    """Return the law's own facts as properties of the node."""
    return {
        "guardKind": guard.kind,
        "guardWorkspace": guard.workspace,
        "guardPool": guard.pool,
        "guardNeed": guard.need.value,
        "guardRules": None if guard.rules is None else encode_rules(guard.rules),
        "guardLive": guard.live,
        "guardHeld": guard.held,
        "guardExcluded": sorted(guard.excluded),
        "guardTags": list(guard.tags),
        "guardSort": encode_sort(guard.sort_at, guard.node),
    }


GUARD_PROPERTIES = (
    "guardKind",
    "guardWorkspace",
    "guardPool",
    "guardNeed",
    "guardRules",
    "guardLive",
    "guardHeld",
    "guardExcluded",
    "guardTags",
    "guardSort",
)
_MAY_LACK = frozenset({"guardPool", "guardRules"})
_REQUIRED = (0, *(place for place, name in enumerate(GUARD_PROPERTIES, 1) if name not in _MAY_LACK))
_NEEDS = {need.value: need for need in Need}
_GUARD = maker(Guard)

GUARD = f"n.id, {', '.join(f'n.{name}' for name in GUARD_PROPERTIES)}, n:Node"
"""What is read of a guard: the label last, which goes before the properties do, so rules are not taken for missing."""


def decode_guard(values: Sequence[Any]) -> Guard:
    """Return the guard whose node and `GUARD_PROPERTIES` these are, as `encode_guard` wrote them."""
    node, kind, workspace, pool, need, rules, live, held, excluded, tags, sort = values
    return _GUARD(
        node,
        kind,
        workspace,
        pool,
        _NEEDS[need],
        None if rules is None else _known_rules(tuple(rules)),
        live,
        held,
        frozenset(excluded),
        tuple(tags),
        decode_sort(sort),
    )


def whole_guards(rows: Iterable[Sequence[Any]]) -> list[Guard]:
    """Return the guards of rows of `GUARD`, without those of nodes that another transaction removed meanwhile."""
    return [decode_guard(row[:-1]) for row in rows if row[-1] and all(row[place] is not None for place in _REQUIRED)]


def encode_rules(rules: frozenset[Rule]) -> list[str]:
    """Return rules as texts, in order."""
    return [rule.encode() for rule in sorted(rules)]


def decode_rules(texts: Iterable[str]) -> frozenset[Rule]:
    """Return the rules that `encode_rules` wrote."""
    return frozenset(map(Rule.decode, texts))


@lru_cache(maxsize=10_000)
def _known_rules(texts: tuple[str, ...]) -> frozenset[Rule]:
    """Return rules that many guards have in common."""
    return decode_rules(texts)
