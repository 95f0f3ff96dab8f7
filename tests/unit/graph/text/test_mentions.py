"""Names and pronouns in a quote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.text.mentions import mentions
from graph.text.words import fold


@pytest.mark.req("DR-49")
@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Ana joined Helio", "helio"),
        ("Helio's office", "Helio"),
        ("(Helio GmbH)", "Helio GmbH"),
        ("Helio\n  GmbH", "helio gmbh"),
        ("we use C++ here", "C++"),
        ("A\u030angstro\u0308m moved", "Ångström"),
        ("王明在赫利奥工作", "赫利奥"),
        ("我是负责人", "我"),
        ("민수가 스코프랩스에 합류", "스코프랩스"),
        ("Ana用gen-itgc部署", "gen-itgc"),
    ],
)
def test_phrase_is_mentioned(text: str, phrase: str) -> None:
    assert mentions(text, [phrase])


@pytest.mark.req("DR-49")
@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Ana joined Helios", "Helio"),
        ("Tigran met the user", "Iran"),
        ("item", "me"),
        ("Room 1012", "Room 101"),
        ("anything", ""),
        ("anything", "  "),
        ("Helio and GmbH", "Helio GmbH"),
    ],
)
def test_phrase_is_not_mentioned(text: str, phrase: str) -> None:
    assert not mentions(text, [phrase])


def test_one_of_several_phrases_is_enough() -> None:
    assert mentions("I joined", ["we", "I"])
    assert not mentions("I joined", [])


@given(st.text())
def test_every_text_but_an_empty_one_mentions_itself(text: str) -> None:
    assert mentions(text, [text]) is bool(fold(text).split())
