"""Validity in words."""

from __future__ import annotations

import pytest

from graph.model.time import Millis, parse
from graph.rules.validity import shown_date, shown_validity

pytestmark = pytest.mark.req("KN-74", "KN-38")

APRIL = parse("2025-04-01T00:00:00Z")
NOON = parse("2025-04-01T12:00:00Z")


@pytest.mark.parametrize(
    ("at", "precision", "shown"),
    [
        (APRIL, "year", "2025"),
        (APRIL, "month", "2025-04"),
        (APRIL, "day", "2025-04-01"),
        (APRIL, "instant", "2025-04-01T00:00:00.000Z"),
        (NOON, "day", "2025-04-01"),
        (APRIL, None, "2025-04-01"),
        (NOON, None, "2025-04-01T12:00:00.000Z"),
        (Millis(-1), "day", "1969-12-31"),
    ],
)
def test_date_is_as_exact_as_it_is_known(at: Millis, precision: str | None, shown: str) -> None:
    assert shown_date(at, precision) == shown


def test_validity_names_the_bounds_that_are_known() -> None:
    assert shown_validity(APRIL, NOON, "month", "instant") == "2025-04 to 2025-04-01T12:00:00.000Z"
    assert shown_validity(APRIL, None, "month", None) == "since 2025-04"
    assert shown_validity(None, APRIL, None, "year") == "until 2025"
    assert shown_validity(None, None, None, None) == ""
