import re

from hypothesis import given
from hypothesis import strategies as st

from graph.store.neo4j.store import Neo4jStore
from graph.store.neo4j.words import _TOKENS, decode_words, encode_word, encode_words, long_words, name_token
from tests.support.clock import FakeClock

WORDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)
HOSTILE = ["AND", "a*", '"', "field:value", "C++", "(", "[a TO b]", "~1", "^2", "\\", "外币", "é", "e\u0301", "x432b2b"]


@given(WORDS)
def test_a_token_has_nothing_that_a_query_language_could_read(word: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+", encode_word(word))


@given(st.lists(WORDS, unique=True))
def test_different_words_have_different_tokens(words: list[str]) -> None:
    assert len(set(map(encode_word, words))) == len(words)


def test_hostile_words_stay_apart_from_each_other_and_from_plain_ones() -> None:
    words = [*HOSTILE, *(encode_word(word) for word in HOSTILE)]
    assert len(set(map(encode_word, words))) == len(set(words))


@given(st.lists(WORDS))
def test_words_come_back_in_order_with_their_repeats(words: list[str]) -> None:
    text = [*words, *words, "x" * 300]
    tokens = encode_words(text)
    assert decode_words(tokens, long_words(text, tokens)) == tuple(text)


def test_a_very_long_word_makes_a_short_token() -> None:
    assert len(encode_word("語" * 10_000)) < 100
    assert encode_word("語" * 10_000) != encode_word("語" * 10_001)


def test_marks_keep_names_of_different_sorts_apart() -> None:
    assert name_token("p", "block") != name_token("k", "block")


async def test_an_erasure_leaves_no_word_in_the_memory_of_the_process() -> None:
    store = Neo4jStore("bolt://nobody.invalid", auth=None, clock=FakeClock())
    encode_words(["heliotrope", "once"])
    assert "heliotrope" in _TOKENS
    await store.scrub()
    assert not _TOKENS
