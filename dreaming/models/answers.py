"""Reads what a model answered: finds the JSON object, checks it, and says in one word what is wrong if it is not there.

Models fence their JSON, think aloud before it, talk around it, repeat the schema they were given, stop in the middle or
say nothing (bug case 17). An object is there and fits, or the answer is unusable with a reason that can be told to the
model and to an operator; no error holds content of the answer. Nothing is repaired but half of a surrogate pair, which
no store could keep: it becomes U+FFFD.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isinf
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from dreaming.models.port import MAX_CHARS, Finish, ModelAnswer
from graph.model.fields import Json
from graph.text.outside import whole_json

M = TypeVar("M", bound=BaseModel)

MAX_OBJECTS = 64
"""So many places where an object could begin are looked at."""
MAX_ERRORS = 20


class Problem(StrEnum):
    """Why an answer cannot be used."""

    EMPTY = "empty"
    CUT = "cut"
    """It ended before it was complete: ask for less."""
    NO_JSON = "no_json"
    SCHEMA_ECHO = "schema_echo"
    """It repeats the schema instead of filling it."""
    INVALID = "invalid"
    REFUSED = "refused"
    TOO_LONG = "too_long"


@dataclass(frozen=True, kw_only=True, slots=True)
class Good(Generic[M]):
    """An answer in the form that was asked for."""

    value: M


@dataclass(frozen=True, kw_only=True, slots=True)
class Unusable:
    """An answer that cannot be used; `errors` say where and why, for the next try."""

    problem: Problem
    errors: tuple[str, ...] = ()


_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THINKING_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_THINKING_BEGIN = re.compile(r"<(?:think|thinking|reasoning)>", re.IGNORECASE)
_SCHEMA_WORDS = ({"properties", "type"}, {"$schema"}, {"$defs"})


def read_answer(answer: ModelAnswer, shape: type[M]) -> Good[M] | Unusable:
    """Return the first object of an answer that has the shape, or why there is none."""
    if answer.finish is Finish.REFUSED:
        return Unusable(problem=Problem.REFUSED)
    if len(answer.text) > MAX_CHARS:
        return Unusable(problem=Problem.TOO_LONG)
    text, still_thinking = _spoken(answer.text)
    found: list[dict[str, Json]] = []
    open_end = still_thinking
    for value in _objects(text):
        if value is None:
            open_end = True
            continue
        try:
            twice, value = _names_a_key_twice(value), whole_json(value)
        except RecursionError:  # the decoder goes deeper than Python; nothing that is asked for is nested so deeply
            return Unusable(problem=Problem.INVALID, errors=("answer: is nested too deeply",))
        if twice:  # which of the two is meant, nobody knows
            return Unusable(problem=Problem.INVALID, errors=("answer: an object names a key twice",))
        found.append(value)
        good = _checked(value, shape)
        if isinstance(good, Good):
            return good
    return _unusable(answer, text, found, shape, open_end=open_end)


def _spoken(text: str) -> tuple[str, bool]:
    """Return the text without what the model thought aloud, and whether it was still thinking at the end."""
    text = _THINKING.sub("", text.lstrip("\ufeff"))
    closed = _THINKING_END.split(text)[-1]  # some servers leave out the opening tag
    begun = _THINKING_BEGIN.search(closed)
    return (closed[: begun.start()], True) if begun else (closed, False)


def _objects(text: str) -> Iterator[dict[str, Json] | None]:
    """Yield the JSON objects of a text from left to right; None for one that begins and never ends."""
    decoder = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_object)
    at = text.find("{")
    for _ in range(MAX_OBJECTS):
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except RecursionError:
            return
        except ValueError as error:
            if _ran_out(text, error):
                yield None
                return
            end = at + 1
        else:
            yield value
        at = text.find("{", end)


class _Ambiguous(dict[str, Json]):
    """An object in which a key stands twice."""


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made = dict(pairs)
    return made if len(made) == len(pairs) else _Ambiguous(made)


def _names_a_key_twice(value: Json) -> bool:
    """Tell whether any object within has a key twice."""
    if isinstance(value, dict):
        return isinstance(value, _Ambiguous) or any(_names_a_key_twice(item) for item in value.values())
    return isinstance(value, list) and any(_names_a_key_twice(item) for item in value)


def _refuse(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise ValueError("no float is so large")
    return number


def _ran_out(text: str, error: ValueError) -> bool:
    """Tell whether an object was not wrong but incomplete."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    return error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")


def _checked(value: dict[str, Json], shape: type[M]) -> Good[M] | Unusable:
    try:
        return Good(value=shape.model_validate(value))
    except ValidationError as error:
        return Unusable(problem=Problem.INVALID, errors=_errors(error))


def _errors(error: ValidationError) -> tuple[str, ...]:
    rows = error.errors(include_url=False, include_input=False, include_context=False)[:MAX_ERRORS]
    return tuple(f"{'.'.join(str(part)[:40] for part in row['loc']) or 'answer'}: {_said(row)}" for row in rows)


def _said(row: Json) -> str:
    # A validator of ours may name what it refused; the library's own messages name only what is wanted.
    return "is not allowed" if row["type"] in ("value_error", "assertion_error") else str(row["msg"])


def _unusable(
    answer: ModelAnswer, text: str, found: Sequence[dict[str, Json]], shape: type[M], *, open_end: bool
) -> Unusable:
    if not answer.text.strip():
        return Unusable(problem=Problem.CUT if answer.finish is Finish.LENGTH else Problem.EMPTY)
    if answer.finish is Finish.LENGTH or open_end:
        return Unusable(problem=Problem.CUT, errors=("the answer ended before it was complete",))
    if not text.strip():
        return Unusable(problem=Problem.EMPTY)
    if not found:
        return Unusable(problem=Problem.NO_JSON, errors=("the answer holds no JSON object",))
    largest = max(found, key=lambda value: len(json.dumps(value)))
    if any(words <= largest.keys() for words in _SCHEMA_WORDS):
        return Unusable(problem=Problem.SCHEMA_ECHO, errors=("fill the schema instead of repeating it",))
    checked = _checked(largest, shape)
    assert isinstance(checked, Unusable)
    return checked


@dataclass(frozen=True, kw_only=True, slots=True)
class Items(Generic[M]):
    """The items of a list that fit, with their places in it, and what was wrong with the others."""

    good: tuple[tuple[int, M], ...]
    dropped: tuple[tuple[int, Unusable], ...]


def read_items(items: Sequence[Json], shape: type[M]) -> Items[M]:
    """Return the items that have the shape; a bad one is dropped and told, and does not spoil the others."""
    good: list[tuple[int, M]] = []
    dropped: list[tuple[int, Unusable]] = []
    for index, item in enumerate(items):
        read = _checked(item, shape) if isinstance(item, dict) else _NO_OBJECT
        if isinstance(read, Good):
            good.append((index, read.value))
        else:
            dropped.append((index, read))
    return Items(good=tuple(good), dropped=tuple(dropped))


_NO_OBJECT = Unusable(problem=Problem.INVALID, errors=("answer: is no object",))
