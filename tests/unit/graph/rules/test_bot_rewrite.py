"""When a rewrite may stand for what a person said, and what becomes of the parts of an input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.model.errors import InvalidRequest
from graph.rules.bot_rewrite import MAX_PARTS, PartKind, TurnInput, TurnPart, may_replace


@pytest.mark.req("BM-101")
@pytest.mark.parametrize(
    ("original", "rewrite"),
    [
        ("Plan release 4.2", "Plan release 4.2; the changelog comes first."),
        ("Pay 1,000.50 EUR by 3 May", "By 3 May pay 1,000.50 EUR to Ana."),
        ("See https://example.org/a?b=1.", "Look at https://example.org/a?b=1 and the notes."),
        ('Answer "as soon as possible"', "Answer Ben “as soon as possible” by mail."),
        ("It's Bob's turn", "It is now the turn of Bob."),
        ("Run `make test` and ```\nx = 1\n```", "Please run `make test`, then\n```\nx = 1\n```"),
        ("把第 3 条「红线」改掉", "请把合同第 3 条的「红线」改掉"),
        ("Mail bob@example.org", "Write to bob@example.org, who leads sales."),
        ("It is −5 °C, 30%", "Outside it is −5 °C at 30% humidity."),
    ],
)
def test_a_rewrite_that_keeps_everything_may_stand_for_it(original: str, rewrite: str) -> None:
    assert may_replace(original, rewrite)


@pytest.mark.req("BM-101")
@pytest.mark.parametrize(
    ("original", "rewrite"),
    [
        ("Plan release 4.2", ""),
        ("Plan release 4.2", " \n"),
        ("Plan release 4.2", "Plan the release"),
        ("Plan release 4.2", "Plan release 14.2"),
        ("Plan release 4.2", "Plan release 4.20"),
        ("Plan release 4.2", "Plan release 4"),
        ("2 apples and 2 pears", "2 apples and pears"),
        ("It is -5", "It is 5"),
        ("At 30%", "At 30"),
        ("See https://example.org/a?b=1", "See https://example.org/a"),
        ("See www.example.org/x", "See the page"),
        ('Say "hello there"', "Say hello, there"),
        ("Sage „Guten Tag“", "Sage es"),
        ("Schreib «oui» dazu", "Schreib es dazu"),
        ("说「你好」", "说你好吗"),
        ("the word 'gist' here", "the word here"),
        ("Run `make test`", "Run make test"),
        ("Use\n```\nx = 1\n```", "Use x = 1"),
        ("fine", "not\0fine"),
        ("fine", "not \ud800 fine"),
    ],
)
def test_a_rewrite_that_loses_something_may_not(original: str, rewrite: str) -> None:
    assert not may_replace(original, rewrite)


@pytest.mark.req("BM-105")
def test_a_rewrite_shows_no_id_that_the_person_did_not_name() -> None:
    assert not may_replace("Plan it", "Plan it as mem_1234 says", ids=["mem_1234"])
    assert may_replace("Plan it as mem_1234 says", "Plan it as mem_1234 says, now", ids=["mem_1234"])


@pytest.mark.req("BM-101")
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_every_text_keeps_itself(text: str) -> None:
    assert may_replace(text, text) is bool(text.strip())
    assert may_replace(text, f"{text} and so on") or not text.strip()


@pytest.mark.req("BM-99")
@given(st.lists(st.tuples(st.sampled_from(PartKind), st.text(alphabet="ab\n", max_size=5)), min_size=1, max_size=5))
def test_an_input_is_kept_as_it_was_given(parts: list[tuple[PartKind, str]]) -> None:
    made = TurnInput.of(TurnInput(parts=tuple(TurnPart(kind=kind, text=text) for kind, text in parts)))
    assert TurnInput.load(made.dump()) == made
    assert made.for_model() == "\n\n".join(text for _, text in parts)
    told = [text for kind, text in parts if kind is PartKind.NOTIFICATION]
    rewritten = made.for_model("NEW")
    assert all(text in rewritten for text in told)
    assert ("NEW" in rewritten) is any(kind is PartKind.PERSON for kind, _ in parts)


def test_a_plain_text_is_one_part_of_a_person() -> None:
    assert TurnInput.of("Hi").said == "Hi"
    part = TurnPart(kind=PartKind.NOTIFICATION, text="n")
    for wrong in (TurnInput(parts=()), TurnInput(parts=(part,) * (MAX_PARTS + 1)), "a\0"):
        with pytest.raises(InvalidRequest):
            TurnInput.of(wrong)
