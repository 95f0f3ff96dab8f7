"""All near pairs of many keys, as comparing each with each finds them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.rules.near_keys import near_keys
from graph.text.similarity import key_similarity

KEYS = st.lists(st.text(alphabet="abc", min_size=3, max_size=24), unique=True, max_size=24)


def by_comparing(keys: list[str], similarity: float) -> set[frozenset[str]]:
    return {
        frozenset((key, other))
        for place, key in enumerate(keys)
        for other in keys[:place]
        if key_similarity(key, other) >= similarity - 1e-6
    }


@pytest.mark.req("CO-73")
@given(keys=KEYS, similarity=st.sampled_from([0.85, 0.5, 0.7, 0.9, 0.95, 1.0, 0.2]))
def test_what_is_found_is_what_comparing_all_finds(keys: list[str], similarity: float) -> None:
    found = list(near_keys(keys, similarity))
    assert len(found) == len({frozenset(pair) for pair in found})
    assert {frozenset(pair) for pair in found} == by_comparing(keys, similarity)


@pytest.mark.req("CO-73")
def test_slips_of_the_pen_in_long_names_are_found() -> None:
    rnd = random.Random(7)
    names = ["".join(rnd.choice("abcdefgh") for _ in range(rnd.randint(8, 40))) for _ in range(60)]
    keys = list(names)
    for name in names:  # with up to one edit in seven characters
        changed = list(name)
        for _ in range(max(1, len(name) // 7)):
            at = rnd.randrange(len(changed))
            changed[at : at + 1] = rnd.choice(([], ["x"], ["x", changed[at]]))
        keys.append("".join(changed))
    keys = list(dict.fromkeys(keys))
    assert {frozenset(pair) for pair in near_keys(keys, 0.85)} == by_comparing(keys, 0.85)
