"""Verbatim quotes and equal content."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.text.quotes import Quote, QuoteRefusal, QuoteRefusalReason, content_key, find_quote, normalise_source


def refusal(quote: str, source: str) -> QuoteRefusalReason:
    result = find_quote(quote, source)
    assert isinstance(result, QuoteRefusal)
    return result.reason


@pytest.mark.req("KN-70")
def test_quote_has_offsets_in_the_normalised_source() -> None:
    source = "Cafe\u0301:\r\nAna joined Helio"
    quote = find_quote("Ana joined", source)
    assert quote == Quote(text="Ana joined", start=6, end=16)
    assert normalise_source(source)[quote.start : quote.end] == quote.text


@pytest.mark.req("KN-70")
def test_invented_letter_is_refused() -> None:
    assert refusal("Ana joined Helios", "Ana joined Helio") is QuoteRefusalReason.NOT_IN_SOURCE


@pytest.mark.req("KN-70")
def test_case_counts() -> None:
    assert refusal("ana joined", "Ana joined Helio") is QuoteRefusalReason.NOT_IN_SOURCE


@pytest.mark.req("KN-70")
def test_line_ends_and_composition_do_not_count() -> None:
    assert isinstance(find_quote("caf\u00e9\nbar", "the cafe\u0301\r\nbar"), Quote)


@pytest.mark.req("KN-70")
def test_quote_is_4_to_500_characters_long() -> None:
    source = "x" * 600
    assert refusal("xxx", source) is QuoteRefusalReason.TOO_SHORT
    assert isinstance(find_quote("x" * 4, source), Quote)
    assert isinstance(find_quote("x" * 500, source), Quote)
    assert refusal("x" * 501, source) is QuoteRefusalReason.TOO_LONG


@pytest.mark.req("KN-70")
def test_shorter_source_is_quoted_whole() -> None:
    assert find_quote("lol", "lol") == Quote(text="lol", start=0, end=3)
    assert refusal("lo", "lol") is QuoteRefusalReason.TOO_SHORT
    assert refusal("", "") is QuoteRefusalReason.TOO_SHORT


@pytest.mark.req("DR-48")
def test_quote_can_be_bound_to_a_part_of_the_source() -> None:
    source = "step one done. answer: step one"
    assert find_quote("step one", source, start=15) == Quote(text="step one", start=23, end=31)
    assert isinstance(find_quote("answer", source, end=15), QuoteRefusal)


@given(st.text(), st.integers(0, 50), st.integers(4, 60))
def test_every_substring_of_fitting_length_is_accepted(source: str, start: int, length: int) -> None:
    text = normalise_source(source)
    quote = text[start : start + length]
    result = find_quote(quote, source)
    if len(quote) >= 4 and unicodedata.is_normalized("NFC", quote) and "\r\n" not in quote:
        assert isinstance(result, Quote)
        assert text[result.start : result.end] == quote


@pytest.mark.req("DR-63")
def test_equal_content_is_told_apart_from_other_content() -> None:
    assert content_key("The invoice\r\n was  LATE") == content_key("the invoice was late")
    assert content_key("The invoice was late") != content_key("The invoices were late")
