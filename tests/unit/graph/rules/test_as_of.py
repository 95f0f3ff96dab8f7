"""Both times of a statement."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from graph.model.time import Millis
from graph.rules.as_of import NOW, AsOf, fits, holds, is_believed, is_current, is_there

pytestmark = pytest.mark.req("KN-73", "KN-76")


@dataclass(frozen=True)
class Version:
    recorded_at: Millis = Millis(10)
    invalidated_at: Millis | None = None
    valid_from: Millis | None = None
    valid_to: Millis | None = None


@pytest.mark.parametrize(("recorded", "shown"), [(9, False), (10, True), (19, True), (20, False), (None, False)])
def test_version_is_believed_from_its_record_until_its_end(recorded: int | None, shown: bool) -> None:
    version = Version(invalidated_at=Millis(20))
    as_of = AsOf(recorded=None if recorded is None else Millis(recorded))
    assert is_believed(version, as_of) is shown


def test_current_version_is_believed_now_and_in_the_future() -> None:
    assert is_believed(Version(), NOW)
    assert is_believed(Version(), AsOf(recorded=Millis(10**15)))


def test_version_replaced_at_once_was_never_believed() -> None:
    version = Version(invalidated_at=Millis(10))
    assert not any(is_believed(version, AsOf(recorded=Millis(at))) for at in (9, 10, 11))


@pytest.mark.parametrize(
    ("valid_from", "valid_to", "valid", "shown"),
    [
        (None, None, 5, True),
        (5, None, 4, False),
        (5, None, 5, True),
        (None, 5, 4, True),
        (None, 5, 5, False),
        (5, 7, 6, True),
        (5, 7, 7, False),
        (5, 7, None, True),
    ],
)
def test_validity_is_half_open_and_missing_bounds_are_open(
    valid_from: int | None, valid_to: int | None, valid: int | None, shown: bool
) -> None:
    bounds = [None if bound is None else Millis(bound) for bound in (valid_from, valid_to, valid)]
    assert holds(Version(valid_from=bounds[0], valid_to=bounds[1]), AsOf(valid=bounds[2])) is shown


@pytest.mark.req("KN-75")
def test_current_statement_may_describe_the_past() -> None:
    past = Version(valid_to=Millis(3))
    assert is_current(past)
    assert fits(past, NOW)
    assert not fits(past, AsOf(valid=Millis(4)))


@pytest.mark.req("KN-36")
def test_what_was_deleted_is_there_before_its_deletion_only() -> None:
    assert is_there(None, NOW)
    assert not is_there(Millis(20), NOW)
    assert is_there(Millis(20), AsOf(recorded=Millis(19)))
    assert not is_there(Millis(20), AsOf(recorded=Millis(20)))
    assert not is_there(Millis(20), AsOf(valid=Millis(1)))
