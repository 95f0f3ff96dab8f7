"""Times: what is taken can always be shown again."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from graph.model.errors import BadInput
from graph.model.time import from_datetime, parse, parse_said, render, render_said

FIRST, LAST = "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"


@pytest.mark.parametrize("text", [FIRST, LAST])
def test_the_first_and_the_last_time_are_taken_and_shown(text: str) -> None:
    assert render(parse(text)) == text


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00.000-01:00", "9999-12-31T23:59:59.999+14:00"])
def test_a_time_at_the_edge_is_shown_in_its_own_zone(text: str) -> None:
    assert render_said(*parse_said(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "0001-01-01T00:00:00.000+00:01",
        "0001-01-01T13:59:59.999+14:00",
        "9999-12-31T23:59:59.999-00:01",
        "9999-12-31T10:00:00.000-14:00",
    ],
)
def test_a_time_that_utc_has_no_year_for_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse(text)
    with pytest.raises(BadInput):
        parse_said(text)


@pytest.mark.parametrize("offset", ["+00:00:30", "-23:59:59", "+01:00:00.5"])
def test_an_offset_with_seconds_is_no_rfc_3339(offset: str) -> None:
    with pytest.raises(BadInput):
        parse_said(f"2025-05-10T00:00:00{offset}")


def test_a_date_that_is_no_text_is_held_to_the_same_years() -> None:
    zone = timezone(timedelta(hours=1))
    with pytest.raises(BadInput):
        from_datetime(datetime(1, 1, 1, tzinfo=zone))
    assert render(from_datetime(datetime.max.replace(tzinfo=UTC))) == LAST
