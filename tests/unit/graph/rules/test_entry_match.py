"""Where the words of a filter are found."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from graph.model.ids import NodeId
from graph.rules.entry_match import match_tiers

pytestmark = pytest.mark.req("KN-117")


@dataclass(frozen=True)
class Hit:
    item: NodeId
    part: str
    counts: dict[str, int]


def hit(item: str, part: str, *words: str) -> Hit:
    return Hit(item=NodeId(item), part=part, counts=dict.fromkeys(words, 1))


def test_tier_is_the_worst_part_needed_for_all_words() -> None:
    hits = [
        hit("name", "name", "a", "b"),
        hit("alias", "alias", "a", "b"),
        hit("both", "name", "a"),
        hit("both", "summary", "b"),
        hit("both", "block", "a", "b"),
        hit("body", "block", "a", "b"),
    ]
    assert match_tiers(["a", "b"], hits) == {"name": 0, "alias": 1, "both": 2, "body": 3}


def test_entry_without_one_of_the_words_does_not_match() -> None:
    assert match_tiers(["a", "b"], [hit("one", "name", "a"), hit("two", "block", "b")]) == {}
