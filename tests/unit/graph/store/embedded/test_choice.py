"""The choice among many matches, compared with the rule itself. Source: RE-9."""

from __future__ import annotations

import random

import pytest

from graph.model.time import Millis
from graph.store.embedded import EmbeddedStore, terms
from graph.store.embedded.places import bucket_range, first_number
from graph.store.query import Match, TextIndex, TextRow
from tests.support.builders import NOW, World, clause, private, shared

WORDS = ("ant", "bee", "cat", "dog", "eel")


def chosen_by_the_rule(texts: list[TextRow], words: tuple[str, ...], limit: int) -> set[str]:
    df = {word: sum(word in text.words for text in texts) for word in words}
    order = sorted((word for word in words if df[word]), key=lambda word: (df[word], word))
    matching = [text for text in texts if set(words) & set(text.words)]
    matching.sort(key=lambda text: ([word not in text.words for word in order], -text.sort_at, text.id))
    return {text.id for text in matching[:limit]}


@pytest.mark.req("RE-9")
@pytest.mark.parametrize("spread", [1, 500, 100_000], ids=["one moment", "one stretch", "many stretches"])
@pytest.mark.parametrize("weighed", [0, 30, 2_000], ids=["asked", "asked and weighed", "weighed"])
@pytest.mark.parametrize("seed", range(3))
async def test_the_choice_is_that_of_the_rule(
    store: EmbeddedStore, world: World, seed: int, weighed: int, spread: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.store.embedded.search._WEIGHED", weighed)
    chance = random.Random(seed)
    entries = [world.make_entry() for _ in range(150)]
    visible = [chance.random() < 0.6 for _ in entries]
    texts = [
        world.text_for(
            entry, chance.choices(WORDS, (1, 2, 4, 8, 16), k=2), sort_at=Millis(NOW + chance.randrange(spread))
        )
        for entry in entries
    ]
    audiences = [
        world.audience_for(entry, clause(shared()) if seen else clause(private("hidden")))
        for entry, seen in zip(entries, visible, strict=True)
    ]
    await world.write(
        store, *entries, guards=[world.guard_for(entry) for entry in entries], audiences=audiences, texts=texts
    )
    seen_texts = [text for text, seen in zip(texts, visible, strict=True) if seen]
    for limit in (1, 2, 7, 20, 50, 89, 500):
        for words in (WORDS, ("eel",), ("ant", "eel", "owl"), ("owl",)):
            async with store.reading() as reader:
                found = await reader.match(
                    world.viewer(shared()), Match(index=TextIndex.ENTRY, words=words, limit=limit)
                )
            assert {hit.id for hit in found.hits} == chosen_by_the_rule(seen_texts, words, limit)


@pytest.mark.parametrize(
    ("one", "other"),
    [("c++", "c"), ("A", "a"), ("a_2b", "a+"), ("a\x00", "a"), ("é", "e\u0301"), ("x" * 300, "x" * 301), ("'", '"')],
)
def test_different_words_have_different_terms(one: str, other: str) -> None:
    assert terms.encoded(one) != terms.encoded(other)


def test_a_query_holds_nothing_but_quoted_terms() -> None:
    query = terms.any_of(["1p1_"], ['x" OR "y', "NEAR(", "*"])
    assert query == '("1p1_x_22_20_4f_52_20_22y" OR "1p1__4e_45_41_52_28" OR "1p1__2a")'


@pytest.mark.parametrize("sort_at", [NOW, 0, -1, 2**62, -(2**62)])
def test_a_time_is_in_its_own_stretch_and_numbers_fit_into_64_bits(sort_at: int) -> None:
    low, high = bucket_range(first_number(sort_at))
    assert low == first_number(sort_at)
    assert -(2**63) <= low < high < 2**63


def test_later_times_have_higher_numbers() -> None:
    numbers = [first_number(at) for at in (-(10**15), -5_000, 0, 5_000, NOW, 10**15)]
    assert numbers == sorted(numbers)
