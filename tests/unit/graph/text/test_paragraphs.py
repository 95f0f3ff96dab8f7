import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.text.paragraphs import cut_paragraphs, leading_quote
from graph.text.quotes import normalise_source

texts = st.text(alphabet=st.sampled_from("ab é。. \n\r\t#👩‍🚀中！"), max_size=200)


def test_blank_lines_part_paragraphs_and_single_line_ends_do_not() -> None:
    pieces = cut_paragraphs("one\ntwo\r\n \r\nthree")
    assert [p.text for p in pieces] == ["one\ntwo", "three"]


def test_a_heading_stays_with_the_paragraph_below_it() -> None:
    pieces = cut_paragraphs("# Title\n\n## Part\n\nBody.\n\nNext.\n\n# Last")
    assert [p.text for p in pieces] == ["# Title\n\n## Part\n\nBody.", "Next.", "# Last"]


def test_a_heading_is_left_alone_when_both_together_are_too_long() -> None:
    assert [p.text for p in cut_paragraphs("# Title\n\n" + "x" * 10, limit=12)] == ["# Title", "x" * 10]


def test_a_long_paragraph_is_cut_at_sentence_ends_in_both_languages() -> None:
    assert [p.text for p in cut_paragraphs("First one. Second one. Third.", limit=24)] == [
        "First one. Second one.",
        "Third.",
    ]
    assert [p.text for p in cut_paragraphs("我们周一开会。周二发布。周三休息。", limit=13)] == [
        "我们周一开会。周二发布。",
        "周三休息。",
    ]


def test_a_word_without_breaks_is_cut_between_characters() -> None:
    pieces = cut_paragraphs("👩‍🚀" * 5, limit=7)
    assert [p.text for p in pieces] == ["👩‍🚀" * 2, "👩‍🚀" * 2, "👩‍🚀"]


def test_white_space_has_no_paragraphs() -> None:
    assert cut_paragraphs(" \n\n\t\r\n") == []


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="limit"):
        cut_paragraphs("x", limit=0)


@pytest.mark.req("MA-12", "KN-21")
@given(texts, st.integers(1, 30))
def test_pieces_are_slices_within_the_limit_and_lose_only_white_space(text: str, limit: int) -> None:
    whole = normalise_source(text)
    pieces = cut_paragraphs(text, limit=limit)
    assert all(whole[p.start : p.end] == p.text and 1 <= len(p.text) <= limit for p in pieces)
    assert all(a.end <= b.start for a, b in itertools.pairwise(pieces))
    assert "".join("".join(p.text.split()) for p in pieces) == "".join(whole.split())


@pytest.mark.req("KN-70")
def test_the_leading_quote_is_verbatim_and_short_enough() -> None:
    text = "A sentence of words. " * 60
    quote = leading_quote(text)
    assert text.startswith(quote)
    assert 400 < len(quote) <= 500
