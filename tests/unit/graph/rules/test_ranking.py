"""BM25, fusion and the order of equals."""

from datetime import UTC, datetime, timedelta
from math import log

import pytest

from graph.model.time import Millis
from graph.rules.decay import DecaySettings, age_in_days, decay
from graph.rules.ranking import (
    Bm25,
    ItemKind,
    Match,
    TextKind,
    best_first,
    choose_matches,
    entry_score,
    fuse,
    message_score,
    order_key,
    owners_best_first,
    visible_frequency,
)

NOW = datetime(2026, 11, 29, tzinfo=UTC)


@pytest.mark.req("RE-9")
def test_bm25_equals_the_formula() -> None:
    scorer = Bm25(words=["dog"], visible_texts=100, document_frequency={"dog": 3}, average_words=25)
    idf = log(1 + (100 - 3 + 0.5) / (3 + 0.5))
    expected = idf * 2 * (1.2 + 1) / (2 + 1.2 * (1 - 0.75 + 0.75 * 50 / 25))
    assert scorer.score({"dog": 2, "other": 7}, length=50) == pytest.approx(expected)
    assert scorer.score_words(["dog", "dog", *["x"] * 48]) == pytest.approx(expected)


@pytest.mark.req("RE-9")
def test_number_of_texts_is_at_least_the_frequency() -> None:
    few = Bm25(words=["dog"], visible_texts=2, document_frequency={"dog": 9}, average_words=25)
    equal = Bm25(words=["dog"], visible_texts=9, document_frequency={"dog": 9}, average_words=25)
    assert few.score({"dog": 1}, length=25) == equal.score({"dog": 1}, length=25) > 0


@pytest.mark.req("RE-9")
def test_entry_score_weighs_name_4_alias_3_summary_2_block_1() -> None:
    weights = [entry_score([(kind, 1.0)]) for kind in list(TextKind)[:4]]
    assert weights == [4.0, 3.0, 2.0, 1.0]
    assert entry_score([(TextKind.NAME, 1.0), (TextKind.BLOCK, 1.0), (TextKind.BLOCK, 1.0)]) == 6.0


@pytest.mark.req("RE-9")
def test_message_that_holds_the_word_beats_its_neighbour() -> None:
    assert message_score(1.0, 1.0) > message_score(0.0, 1.0) > 0


@pytest.mark.req("RE-9")
def test_too_many_matches_are_chosen_by_rare_words_then_newest() -> None:
    def match(id_: str, words: str, days: int = 0) -> Match:
        return Match(id=id_, words=frozenset(words.split()), time=NOW - timedelta(days=days))

    matches = [
        match("common", "dog"),
        match("rare", "axolotl", days=900),
        match("both", "axolotl dog", days=999),
        match("old", "dog", days=5),
        match("b", "dog", days=7),
        match("a", "dog", days=7),
    ]
    chosen = choose_matches(matches, frequency={"dog": 5_000, "axolotl": 2}, limit=5)
    assert [found.id for found in chosen] == ["both", "rare", "common", "old", "a"]


@pytest.mark.req("RE-9")
def test_equally_rare_words_go_in_byte_order() -> None:
    matches = [Match(id=word, words=frozenset([word]), time=NOW) for word in ("zebra", "ape")]
    assert choose_matches(matches, frequency={"zebra": 1, "ape": 1}, limit=1)[0].id == "ape"


@pytest.mark.req("RE-8")
def test_blocks_count_for_their_entry_with_dense_ranks() -> None:
    owners = owners_best_first(["b2", "b1", "b3"], {"b1": "e1", "b2": "e1", "b3": "e2"})
    assert fuse({"block_vector": owners})["e2"].ranks == {"block_vector": 2}


@pytest.mark.req("RE-13")
def test_fusion_sums_reciprocal_ranks() -> None:
    fused = fuse({"entry_keyword": ["e", "f"], "block_vector": ["f"]}, k=10)
    assert fused["e"].score == pytest.approx(1 / 11)
    assert fused["f"].score == pytest.approx(1 / 12 + 1 / 11)
    assert fused["f"].ranks == {"entry_keyword": 2, "block_vector": 1}


@pytest.mark.req("RE-13", "RE-16")
def test_ranking_numbers_of_the_acceptance_example() -> None:
    settings = DecaySettings(message_half_life_days=30, entry_half_life_days=365)
    once = fuse({"message_keyword": ["m"]}, k=60)["m"].score
    twice = fuse({"entry_keyword": ["e"], "block_vector": ["e"]}, k=60)["e"].score
    aged = [round(once * decay(ItemKind.MESSAGE, days, settings), 6) for days in (0, 30, 300)]
    assert aged == [0.016393, 0.008197, 0.000016]
    assert round(decay(ItemKind.ENTRY, 3650, settings), 6) == 0.700293
    assert round(once * decay(ItemKind.ENTRY, 3650, settings), 6) == 0.011480
    assert round(twice * decay(ItemKind.ENTRY, 0, settings), 6) == 0.032787


@pytest.mark.req("RE-14")
def test_message_weight_tends_to_zero() -> None:
    assert decay(ItemKind.MESSAGE, 100_000, DecaySettings()) < 1e-12
    assert decay(ItemKind.EPISODE, 1825, DecaySettings()) == pytest.approx(0.5)


@pytest.mark.req("RE-15", "RE-16")
@pytest.mark.parametrize("settings", [DecaySettings(), DecaySettings(entry_half_life_days=1, entry_floor=0)])
def test_entry_keeps_at_least_the_weight_of_a_message(settings: DecaySettings) -> None:
    for days in (0, 1, 30, 365, 10_000):
        assert decay(ItemKind.ENTRY, days, settings) >= decay(ItemKind.MESSAGE, days, settings)
    assert decay(ItemKind.ENTRY, 1e6, DecaySettings()) == pytest.approx(0.7)


@pytest.mark.req("RE-16")
def test_age_is_never_negative() -> None:
    assert age_in_days(NOW + timedelta(days=1), NOW) == 0.0
    assert age_in_days(NOW - timedelta(hours=12), NOW) == 0.5


@pytest.mark.req("RE-19")
def test_equal_scores_go_by_kind_then_newer_then_id() -> None:
    rows = [
        (1.0, ItemKind.MESSAGE, NOW, "b"),
        (1.0, ItemKind.MESSAGE, NOW, "B"),
        (1.0, ItemKind.MESSAGE, NOW + timedelta(seconds=1), "z"),
        (1.0, ItemKind.EPISODE, NOW - timedelta(days=9), "y"),
        (1.0, ItemKind.ENTRY, NOW - timedelta(days=99), "x"),
        (2.0, ItemKind.MESSAGE, NOW - timedelta(days=999), "w"),
    ]
    assert [row[3] for row in sorted(rows, key=lambda row: order_key(*row))] == ["w", "x", "y", "z", "B", "b"]
    assert best_first({"b": 1.0, "a": 1.0}, {"b": Millis(5), "a": Millis(5)}) == ["a", "b"]


@pytest.mark.req("RE-9")
def test_frequency_counts_texts_up_to_a_cap() -> None:
    assert visible_frequency([["a", "a"], ["a", "b"], ["a"]], ["a", "c"], cap=2) == {"a": 2, "c": 0}
