from datetime import timedelta

import pytest

from graph.store.neo4j.driver import Patience, backoff_s
from tests.support.clock import FakeClock


def test_patience_ends_with_the_last_attempt() -> None:
    patience = Patience(FakeClock(), 3)
    assert [patience.lasts(attempt) for attempt in (1, 2, 3)] == [True, True, False]


def test_patience_ends_after_a_minute_even_if_attempts_are_left() -> None:
    clock = FakeClock()
    patience = Patience(clock, 100)
    clock.advance(timedelta(seconds=59))
    assert patience.lasts(1)
    clock.advance(timedelta(seconds=1))
    assert not patience.lasts(2)


@pytest.mark.parametrize(("attempt", "expected"), [(1, 0.01), (2, 0.02), (5, 0.16), (8, 1.0), (40, 1.0)])
def test_waits_double_up_to_a_second(attempt: int, expected: float) -> None:
    assert backoff_s(attempt) == expected
    assert backoff_s(attempt, spread=0.5) == expected / 2
