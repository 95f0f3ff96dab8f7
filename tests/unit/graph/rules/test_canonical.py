"""Canonical JSON, and its twin in the offline verifier."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.cli import verify_offline
from graph.model.errors import BadInput
from graph.rules.canonical import canonical_json, digest

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBERS = (
    st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(1e-9, 1e-3)
    | st.floats(1e14, 1e23).map(lambda value: float(round(value)))
)
IMAGE_VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
"""All that an image can hold."""


@pytest.mark.req("KN-85")
def test_keys_are_sorted_by_utf16_and_numbers_print_as_in_ecmascript() -> None:
    value = {"\ufb33": 1e21, "\U0001f600": 0.000001, "€": 1e-7, "\r": 333333333.33333329, "1": -0.0, "a": [1.0, 1e20]}
    expected = (
        '{"\\r":333333333.3333333,"1":0,"a":[1,100000000000000000000],"€":1e-7,"\U0001f600":0.000001,"\ufb33":1e+21}'
    )
    assert canonical_json(value).decode() == expected
    assert verify_offline.canonical(value) == expected


def test_true_and_one_differ_while_one_and_one_point_zero_do_not() -> None:
    assert digest(True) != digest(1)
    assert digest(1) == digest(1.0)


@pytest.mark.req("KN-85")
@given(IMAGE_VALUES)
def test_offline_verifier_writes_the_same_canonical_json(value: Any) -> None:
    assert verify_offline.canonical(value).encode() == canonical_json(value)


@given(IMAGE_VALUES)
def test_canonical_json_read_back_gives_the_same_bytes(value: Any) -> None:
    text = canonical_json(value)
    assert canonical_json(json.loads(text)) == text
    assert verify_offline.canonical(json.loads(text)).encode() == text


@given(st.integers(-(2**70), 2**70))
def test_large_integers_are_kept_exactly_or_refused_by_both(value: int) -> None:
    try:
        kept = canonical_json(value)
    except BadInput:
        with pytest.raises(ValueError, match="double"):
            verify_offline.canonical(value)
    else:
        assert kept == str(value).encode() == verify_offline.canonical(value).encode()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "\ud800", 2**53 + 1, 10**400, {"a": {1, 2}}])
def test_what_json_cannot_keep_is_refused(value: Any) -> None:
    with pytest.raises(BadInput):
        canonical_json({"field": [value]})
