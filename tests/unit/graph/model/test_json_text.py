"""The encoders that are made once write what the ordinary one writes, and refuse what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pytest

from graph.model import json_text
from graph.model.json_text import encoder


class Colour(StrEnum):
    RED = "red"


VALUES: list[Any] = [
    None,
    True,
    12,
    -(2**70),
    1.5,
    1e300,
    "text",
    'quotes " and \\ and \n and \x00',
    "é ü 漢字 💥",
    Colour.RED,
    [],
    {},
    [1, [2, (3, "four")], {"b": 1, "a": None}],
    {"z": {"y": [True, False]}, "é": 1, "a": "é"},
    {1: "number", 2: "another"},
]
CHOICES = [
    {"ascii_only": a, "sort_keys": s, "allow_nan": n} for a in (True, False) for s in (True, False) for n in (True,)
]


def ordinary(ascii_only: bool, sort_keys: bool, allow_nan: bool) -> Callable[[Any], str]:
    return json.JSONEncoder(
        ensure_ascii=ascii_only, sort_keys=sort_keys, allow_nan=allow_nan, separators=(",", ":")
    ).encode


@pytest.mark.parametrize("in_c", [True, False])
@pytest.mark.parametrize("choice", CHOICES, ids=str)
def test_text_is_that_of_the_ordinary_encoder(
    choice: dict[str, bool], in_c: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not in_c:
        monkeypatch.setattr(json_text, "_MAKE", None)
    quick = encoder(**choice)
    assert [quick(value) for value in VALUES] == [ordinary(**choice)(value) for value in VALUES]


@pytest.mark.parametrize("in_c", [True, False])
def test_what_is_no_json_is_refused(in_c: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not in_c:
        monkeypatch.setattr(json_text, "_MAKE", None)
    strict = encoder(ascii_only=False, sort_keys=True, allow_nan=False)
    with pytest.raises(ValueError, match="Out of range"):
        strict(float("nan"))
    for value in (b"bytes", {"a": {1, 2}}, {"a": 1, 2: 3}, {(1, 2): 3}):
        with pytest.raises(TypeError):
            strict(value)
