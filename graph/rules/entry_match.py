"""How well an entry matches the words of a filter: by where they are found (KN-117)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from graph.model.ids import NodeId

TIERS: Mapping[str, int] = {"name": 0, "alias": 1, "summary": 2, "block": 3}
"""Parts of an entry from the best place for a word to the last."""


class Hit(Protocol):
    """A visible text of an entry that holds some of the words."""

    @property
    def item(self) -> NodeId:
        """The entry."""
        ...

    @property
    def part(self) -> str:
        """Which part of the entry the text is."""
        ...

    @property
    def counts(self) -> Mapping[str, int]:
        """How often each word occurs."""
        ...


def match_tiers(words: Iterable[str], hits: Iterable[Hit]) -> dict[NodeId, int]:
    """Return the tier of every entry in which all the words occur; smaller is better.

    The tier is the worst part that is needed to find all the words, each in its best place: 0 if the name holds
    them all, 1 if an alias is needed as well, then the summary, then the body.
    """
    best: dict[NodeId, dict[str, int]] = {}
    for hit in hits:
        tier = TIERS.get(hit.part)
        if tier is not None:
            places = best.setdefault(hit.item, {})
            for word in hit.counts:
                places[word] = min(tier, places.get(word, tier))
    wanted = frozenset(words)
    return {entry: max(places.values()) for entry, places in best.items() if wanted <= places.keys()}
