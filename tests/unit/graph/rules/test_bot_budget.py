"""Budgets of a Memory Bot by UTC days and months."""

from __future__ import annotations

import pytest

from graph.model.time import parse
from graph.rules.bot_budget import Budget, Period, budget_of, days_of, next_period


@pytest.mark.req("BM-124")
def test_no_budget_limits_nothing() -> None:
    assert budget_of(None) is None


@pytest.mark.req("BM-125")
@pytest.mark.parametrize(
    ("limit", "confirmed", "spent"), [(0, 0, True), (1, 0, False), (1_000, 999, False), (1_000, 1_000, True)]
)
def test_a_budget_is_used_up_at_its_limit(limit: int, confirmed: int, spent: bool) -> None:
    assert budget_of({"period": "day", "limitMicros": limit}) == Budget(period=Period.DAY, limit_micros=limit)
    assert Budget(period=Period.MONTH, limit_micros=limit).is_spent(confirmed) is spent


@pytest.mark.req("BM-125")
@pytest.mark.parametrize(
    ("period", "at", "days", "following"),
    [
        (Period.DAY, "2025-05-10T23:59:59.999Z", ("2025-05-10", "2025-05-11"), "2025-05-11T00:00:00Z"),
        (Period.DAY, "2025-05-11T00:00:00Z", ("2025-05-11", "2025-05-12"), "2025-05-12T00:00:00Z"),
        (Period.MONTH, "2025-01-31T12:00:00Z", ("2025-01-01", "2025-02-01"), "2025-02-01T00:00:00Z"),
        (Period.MONTH, "2024-02-29T23:00:00Z", ("2024-02-01", "2024-03-01"), "2024-03-01T00:00:00Z"),
        (Period.MONTH, "2025-12-31T23:59:59.999Z", ("2025-12-01", "2026-01-01"), "2026-01-01T00:00:00Z"),
    ],
)
def test_periods_follow_the_utc_calendar(period: Period, at: str, days: tuple[str, str], following: str) -> None:
    assert days_of(period, parse(at)) == days
    assert next_period(period, parse(at)) == parse(following)
