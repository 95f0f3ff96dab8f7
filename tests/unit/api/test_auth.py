"""Ten failed sign-ins a minute from one address, then its further failures wait."""

from __future__ import annotations

from datetime import timedelta

import pytest

from api.auth import MAX_ADDRESSES, MAX_FAILURES, FailureThrottle
from graph.model.errors import TooManyAttempts
from tests.support.clock import FakeClock


def failed_often(clock: FakeClock, times: int) -> FailureThrottle:
    throttle = FailureThrottle()
    for _ in range(times):
        throttle.failed("192.0.2.1", clock.now())
    return throttle


@pytest.mark.req("AD-11")
def test_after_ten_failures_of_a_minute_an_address_waits() -> None:
    clock = FakeClock()
    throttle = failed_often(clock, MAX_FAILURES)
    for waited_s in (0, 20):  # what is refused makes nobody wait longer
        clock.advance(timedelta(seconds=waited_s))
        with pytest.raises(TooManyAttempts) as refused:
            throttle.failed("192.0.2.1", clock.now())
        assert refused.value.details["retry_after_s"] == 60 - waited_s


@pytest.mark.req("AD-11")
def test_after_a_minute_the_address_may_try_again() -> None:
    clock = FakeClock()
    throttle = failed_often(clock, MAX_FAILURES)
    clock.advance(timedelta(seconds=60))
    throttle.failed("192.0.2.1", clock.now())


def test_another_address_does_not_wait() -> None:
    clock = FakeClock()
    failed_often(clock, MAX_FAILURES).failed("192.0.2.2", clock.now())


def test_the_throttle_does_not_grow_without_end() -> None:
    clock = FakeClock()
    throttle = FailureThrottle()
    for number in range(MAX_ADDRESSES + 10):
        throttle.failed(f"address {number}", clock.now())
    assert len(throttle._failures) == MAX_ADDRESSES
