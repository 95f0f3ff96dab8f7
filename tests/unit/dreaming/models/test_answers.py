"""Reading what models answer. Bug case 17."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

from dreaming.models.answers import Good, Problem, Unusable, read_answer, read_items
from dreaming.models.port import Finish, ModelAnswer


class Names(BaseModel):
    """The shape that these tests ask for."""

    names: list[str]


class Fact(BaseModel):
    """One item of a list."""

    text: str

    @field_validator("text")
    @classmethod
    def no_secrets(cls, text: str) -> str:
        if "canary" in text:
            raise ValueError(f"{text} is secret")
        return text


GOOD = '{"names": ["Ana", "a } in a text", "中文"]}'
VALUE = Names(names=["Ana", "a } in a text", "中文"])


def _read(text: str, finish: Finish = Finish.STOP) -> Good[Names] | Unusable:
    return read_answer(ModelAnswer(text=text, finish=finish), Names)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}```",
        f'<think>Is it {{"names": ["wrong"]}}? No.</think>\n{GOOD}',
        f'so I think {{"names": ["wrong"]}}</think>{GOOD}',
        f"<THINKING>\n{{</THINKING>{GOOD}",
        f"Here it is:\n\n{GOOD}\n\nI hope this helps!",
        f'An example is {{"other": 1}}, and the answer is {GOOD}',
        f"a set {{a, b}} first: {GOOD}",
        f"\ufeff  {GOOD}",
        f"{GOOD} and then {{ something open",
    ],
    ids=[
        "bare",
        "fenced",
        "fence",
        "thinking",
        "no opening tag",
        "upper case",
        "prose",
        "example",
        "set",
        "bom",
        "tail",
    ],
)
def test_object_is_found(text: str) -> None:
    assert _read(text) == Good(value=VALUE)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", Problem.EMPTY),
        (" \n", Problem.EMPTY),
        ("<think>nothing to say</think>", Problem.EMPTY),
        ("I am sorry, there are no names.", Problem.NO_JSON),
        ("[1, 2]", Problem.NO_JSON),
        (json.dumps(Names.model_json_schema()), Problem.SCHEMA_ECHO),
        ('{"$schema": "https://json-schema.org/draft"}', Problem.SCHEMA_ECHO),
        ('{"names": ["Ana", "Be', Problem.CUT),
        ('{"names": ["Ana",', Problem.CUT),
        ("{", Problem.CUT),
        ('```json\n{"names": [', Problem.CUT),
        ("<think>let me see, the first", Problem.CUT),
        ('{"names": "Ana"}', Problem.INVALID),
        ('{"names": [NaN]}', Problem.NO_JSON),
        ("{" * 5_000, Problem.NO_JSON),
        ('{"a":' * 100_000, Problem.NO_JSON),
        ("{}" * 5_000, Problem.INVALID),
        ("x" * 2_000_001, Problem.TOO_LONG),
    ],
    ids=range(18),
)
def test_what_cannot_be_used_says_why(text: str, problem: Problem) -> None:
    found = _read(text)
    assert isinstance(found, Unusable)
    assert found.problem is problem


def test_answer_that_ended_at_its_limit_is_cut_even_if_it_looks_like_prose() -> None:
    found = _read("The names are", Finish.LENGTH)
    assert isinstance(found, Unusable)
    assert found.problem is Problem.CUT


def test_complete_object_counts_even_if_the_limit_was_reached_after_it() -> None:
    assert _read(f"{GOOD} and furth", Finish.LENGTH) == Good(value=VALUE)


def test_refusal_is_told_apart() -> None:
    assert _read("", Finish.REFUSED) == Unusable(problem=Problem.REFUSED)


def test_errors_name_the_place_and_no_content() -> None:
    found = _read('{"names": [{"canary": "canary"}, 3]}')
    assert isinstance(found, Unusable)
    assert [error.split(":")[0] for error in found.errors] == ["names.0", "names.1"]
    assert "canary" not in "".join(found.errors)


def test_bad_item_is_dropped_and_the_good_ones_are_kept() -> None:
    """Bug case 17: valid JSON with one bad item of three."""
    items = read_items([{"text": "a"}, {"text": 3}, {"text": "b"}, "c"], Fact)
    assert [(index, fact.text) for index, fact in items.good] == [(0, "a"), (2, "b")]
    assert [index for index, _ in items.dropped] == [1, 3]


def test_errors_of_our_own_validators_hold_no_content() -> None:
    items = read_items([{"text": "canary 7"}], Fact)
    assert items.dropped[0][1].errors == ("text: is not allowed",)


@given(st.text(alphabet='{}[]":,\\ntruefalse0<>/think `json', max_size=80))
def test_no_answer_breaks_the_reader(text: str) -> None:
    found = _read(text)
    assert isinstance(found, Unusable) or found.value.names is not None


@pytest.mark.parametrize(
    ("said", "read"),
    [('"a \\ud83d."', "a \ufffd."), ('"\\udc00\\ud83d"', "\ufffd\ufffd"), ('"\\ud83d\\ude00"', "\U0001f600")],
)
def test_half_of_a_surrogate_pair_becomes_a_character_that_can_be_kept(said: str, read: str) -> None:
    assert _read(f'{{"names": [{said}]}}') == Good(value=Names(names=[read]))


def test_a_number_larger_than_any_float_is_no_json() -> None:
    class Sure(BaseModel):
        sure: float

    found = read_answer(ModelAnswer(text='{"sure": 1e999}'), Sure)
    assert isinstance(found, Unusable)


@pytest.mark.parametrize("depth", [300, 500, 900, 990, 5_000])
def test_an_object_of_any_depth_is_answered(depth: int) -> None:
    found = _read(f'{{"x": {"[" * depth}{"]" * depth}}}')
    assert isinstance(found, Unusable)
