"""Token counts and cuts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.text.tokens import ApproximateTokenizer, CountingTokenizer, Tokenizer

APPROXIMATE = ApproximateTokenizer()
BY_CHARACTERS = CountingTokenizer("characters", len)


@pytest.mark.req("RE-28")
@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t\u3000", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("abcd1234x", 3),
        ("ab cd", 2),
        ("世界", 2),
        ("こんにちは", 5),
        ("안녕", 2),
        ("привет", 2),
        ("a_b", 3),
        ("Hello, world!", 6),
        ("。", 1),
        ("🕯", 1),
        ("cafe\u0301s", 2),
    ],
)
def test_default_count(text: str, tokens: int) -> None:
    assert APPROXIMATE.count(text) == tokens


@pytest.mark.req("RE-28")
def test_default_is_named() -> None:
    assert APPROXIMATE.name == "approximate"


@pytest.mark.parametrize("tokenizer", [APPROXIMATE, BY_CHARACTERS])
@given(text=st.text(), budget=st.integers(-1, 40))
def test_cut_is_the_longest_prefix_within_budget(tokenizer: Tokenizer, text: str, budget: int) -> None:
    cut = tokenizer.cut_to(text, budget)
    assert text.startswith(cut)
    assert tokenizer.count(cut) <= max(0, budget)
    if budget > 0 and len(cut) < len(text):
        assert tokenizer.count(text[: len(cut) + 1]) > budget


@given(st.text(), st.text())
def test_texts_joined_by_a_line_cost_their_sum(one: str, other: str) -> None:
    assert APPROXIMATE.count(f"{one}\n{other}") == APPROXIMATE.count(one) + APPROXIMATE.count(other)
