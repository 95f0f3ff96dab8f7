"""Dates named in questions."""

from datetime import date

import pytest

from graph.text.dates import dates_in

TODAY = date(2026, 11, 29)  # a Sunday


@pytest.mark.req("RE-17")
@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("on 2023-05-07", (2023, 5, 7), (2023, 5, 7)),
        ("on 7 May 2023", (2023, 5, 7), (2023, 5, 7)),
        ("on the 7th of May, 2023", (2023, 5, 7), (2023, 5, 7)),
        ("on May 7th, 2023", (2023, 5, 7), (2023, 5, 7)),
        ("in May 2023", (2023, 5, 1), (2023, 5, 31)),
        ("since Feb. 2024", (2024, 2, 1), (2024, 2, 29)),
        ("during 2022", (2022, 1, 1), (2022, 12, 31)),
        ("2023年4月27日", (2023, 4, 27), (2023, 4, 27)),
        ("2023 年 4 月", (2023, 4, 1), (2023, 4, 30)),
        ("yesterday", (2026, 11, 28), (2026, 11, 28)),
        ("last week", (2026, 11, 16), (2026, 11, 22)),
        ("上个月", (2026, 10, 1), (2026, 10, 31)),
        ("上个星期", (2026, 11, 16), (2026, 11, 22)),
        ("去年", (2025, 1, 1), (2025, 12, 31)),
    ],
)
def test_one_date_is_read(text: str, first: tuple[int, int, int], last: tuple[int, int, int]) -> None:
    [mention] = dates_in(text, today=TODAY)
    assert (mention.first, mention.last, mention.every_year) == (date(*first), date(*last), False)


@pytest.mark.parametrize("text", ["in June", "6月", "June 3", "6月3日"])
def test_date_without_year_means_every_year(text: str) -> None:
    [mention] = dates_in(text)
    assert mention.every_year
    assert mention.days_from(date(2021, 6, 3)) == 0


def test_distance_of_a_yearless_date_crosses_new_year() -> None:
    [mention] = dates_in("31 December")
    assert mention.days_from(date(2024, 1, 2)) == 2


@pytest.mark.parametrize("text", ["31 June 2023", "2023-13-01", "May I ask Mark?", "call 20230", "last week", ""])
def test_what_is_no_date_is_passed_over(text: str) -> None:
    assert dates_in(text) == ()


def test_several_dates_come_in_order() -> None:
    assert [mention.first.year for mention in dates_in("in 2024 or 3 May 2022?")] == [2024, 2022]


@pytest.mark.parametrize("day", [date.min, date.max])
def test_a_yearless_date_is_near_days_of_the_first_and_the_last_year(day: date) -> None:
    [mention] = dates_in("31 December" if day == date.max else "January 1")
    assert mention.days_from(day) == 0
