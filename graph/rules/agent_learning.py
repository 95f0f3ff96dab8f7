"""Whether an agent learns from a session, and which items a step of it reads. Pure. Source: AM-20 to AM-29, AM-35."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.sessions import Session, SessionItem, Turn
from graph.rules.consolidation import OUTSIDE
from graph.rules.session_memory import defaults, in_force

MAX_READ: Final = 200
"""A step reads at most so many unread items, the oldest (SM-121)."""


def learning_model(settings: Mapping[str, Json]) -> str | None:
    """Return the name of the model that an organization lets its agents learn with; None: they learn nothing.

    >>> learning_model({"agentMemoryModel": "m-mem"}), learning_model({"agentMemoryModel": "m", "agentMemory": False})
    ('m-mem', None)
    """
    if settings.get("agentMemory") is False:
        return None
    return settings.get("agentMemoryModel") or None


def teaches(session: Session, settings: Mapping[str, Json]) -> bool:
    """True if a session teaches its agent: it is no review session and its `generate` is on (AM-26, AM-27)."""
    return not session.review and in_force(session, defaults(settings)).generate


def readable_now(items: Iterable[SessionItem], under_way: Collection[Turn]) -> Sequence[SessionItem]:
    """Return the items of turns that are over, oldest first; those of others wait for the end of their turn.

    Args:
        items: unread ones.
        under_way: turns of the agent that run or wait for approval.
    """
    turns = {turn.id for turn in under_way}
    begun: dict[NodeId, int] = {}
    for turn in under_way:
        at = turn.created_at if turn.began_at is None else turn.began_at
        begun[turn.place_id] = min(at, begun.get(turn.place_id, at))
    over = [item for item in items if not _belongs(item, turns, begun)]
    return sorted(over, key=lambda item: (item.created_at, item.session_id, item.depth))


def worth_asking(items: Sequence[SessionItem]) -> bool:
    """True if there is something to learn from: not outside data alone, on which no entry may rest (AM-29)."""
    return len(items) >= MAX_READ or any(item.type not in OUTSIDE for item in items)


def _belongs(item: SessionItem, turns: Collection[NodeId], begun: Mapping[NodeId, int]) -> bool:
    if item.turn_id is not None:
        return item.turn_id in turns
    return item.session_id in begun and item.created_at >= begun[item.session_id]
