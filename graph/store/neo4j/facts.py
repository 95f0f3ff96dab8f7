"""The law's own facts about a node as properties beside its fields, and the texts that lists are sorted by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graph.model.access import Guard, Need, Rule
from graph.model.ids import NodeId, WorkspaceId
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
_REQUIRED = ("id", *(name for name in GUARD_PROPERTIES if name not in _MAY_LACK))

GUARD = f"[n {{.id, {', '.join(f'.{name}' for name in GUARD_PROPERTIES)}}}, n:Node]"
"""What is read of a guard: the label last, which goes before the properties do, so rules are not taken for missing."""


def decode_guard(properties: Mapping[str, Any]) -> Guard:
    """Return the guard that `encode_guard` wrote."""
    rules, pool = properties["guardRules"], properties["guardPool"]
    return Guard(
        node=NodeId(properties["id"]),
        kind=properties["guardKind"],
        workspace=WorkspaceId(properties["guardWorkspace"]),
        pool=None if pool is None else NodeId(pool),
        need=Need(properties["guardNeed"]),
        rules=None if rules is None else decode_rules(rules),
        live=properties["guardLive"],
        held=properties["guardHeld"],
        excluded=frozenset(map(NodeId, properties["guardExcluded"])),
        tags=tuple(properties["guardTags"]),
        sort_at=decode_sort(properties["guardSort"]),
    )


def whole_guards(rows: Iterable[Sequence[Any]]) -> list[Guard]:
    """Return the guards of rows of `GUARD`, without those of nodes that another transaction removed meanwhile."""
    return [
        decode_guard(facts) for facts, there in rows if there and all(facts[name] is not None for name in _REQUIRED)
    ]


def encode_rules(rules: frozenset[Rule]) -> list[str]:
    """Return rules as texts, in order."""
    return [rule.encode() for rule in sorted(rules)]


def decode_rules(texts: list[str]) -> frozenset[Rule]:
    """Return the rules that `encode_rules` wrote."""
    return frozenset(map(Rule.decode, texts))
