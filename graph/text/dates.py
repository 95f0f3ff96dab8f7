"""Dates that a question names, in English and Chinese, as ranges of days."""

import calendar
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, timedelta
from typing import Final

import regex


@dataclass(frozen=True, kw_only=True)
class DateMention:
    """The days from ``first`` to ``last``, both included; ``every_year`` if the text names no year."""

    first: date
    last: date
    every_year: bool = False

    def days_from(self, day: date) -> int:
        """Return how many days lie between a day and the nearest day meant; 0 inside."""
        if not self.every_year:
            return _gap(self.first, self.last, day)
        near = (year for year in (day.year - 1, day.year, day.year + 1) if MINYEAR <= year <= MAXYEAR)
        shifts = (_with_year(self.first, year) for year in near)
        length = self.last - self.first
        return min(_gap(first, first + length, day) for first in shifts)


def dates_in(text: str, *, today: date | None = None) -> tuple[DateMention, ...]:
    """Return the dates named in a text, in its order.

    Understood are ``2023-05-07``, ``7 May 2023``, ``May 7th, 2023``, ``May 2023``, ``May 7``, ``in May``, ``2023``,
    ``2023年5月7日``, ``2023年5月``, ``5月7日``, ``5月`` and, when ``today`` is given, ``yesterday``, ``last week``,
    ``last month``, ``last year`` and their Chinese forms. What is no date of the calendar is passed over.

    >>> [(str(m.first), str(m.last)) for m in dates_in("Where was Ana on 7 May 2023, and in June 2024?")]
    [('2023-05-07', '2023-05-07'), ('2024-06-01', '2024-06-30')]
    >>> dates_in("张三4月27日去了哪里？")[0].days_from(date(2023, 4, 29))
    2
    """
    return tuple(mention for mention in _mentions(text, today) if mention is not None)


_MONTHS: Final = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
)
_YEAR: Final = r"(?<year>(?:19|20)[0-9]{2})"
_DAY: Final = r"(?<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_MONTH: Final = rf"(?<month>{_MONTHS})\b\.?"
_PATTERN: Final = regex.compile(
    "|".join(
        (
            rf"(?<![0-9]){_YEAR}[-/.](?<number>[0-9]{{1,2}})(?:[-/.](?<day>[0-9]{{1,2}}))?(?![0-9])",
            rf"(?<![0-9])(?:{_YEAR}\s*年\s*)?(?<number>[0-9]{{1,2}})\s*月(?:\s*份|\s*(?<day>[0-9]{{1,2}})\s*[日号])?",
            rf"\b{_DAY}(?:\s+of)?\s+{_MONTH},?(?:\s+{_YEAR}\b)?",
            rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR}\b)?",
            rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
            rf"\b(?:in|during|since|until|by|before|after|of|last|this|early|mid|late)[\s-]+{_MONTH}(?:,?\s+{_YEAR}\b)?",
            rf"(?<![0-9]){_YEAR}(?:\s*年|(?![0-9]))",
            r"\b(?<relative>yesterday|today|last\s+week|this\s+week|last\s+month|this\s+month|last\s+year)\b",
            r"(?<relative>昨天|昨日|今天|今日|前天|上周|上个?星期|本周|这周|上个?月|这个月|本月|去年)",
        )
    ),
    regex.IGNORECASE | regex.VERSION1,
)


def _mentions(text: str, today: date | None) -> Iterator[DateMention | None]:
    for match in _PATTERN.finditer(text):
        if match["relative"]:
            yield _relative(match["relative"], today) if today else None
        else:
            month = _month_number(match["month"], match["number"])
            yield _mention(_number(match["year"]), month, _number(match["day"]))


def _number(digits: str | None) -> int | None:
    return int(digits) if digits else None


def _month_number(name: str | None, digits: str | None) -> int | None:
    if name:
        return [month.lower()[:3] for month in calendar.month_abbr].index(name.lower()[:3])
    return _number(digits)


def _mention(year: int | None, month: int | None, day: int | None) -> DateMention | None:
    every_year = year is None
    shown = 2024 if year is None else year  # a leap year, so that 29 February is a day
    try:
        if month is None:
            return DateMention(first=date(shown, 1, 1), last=date(shown, 12, 31))
        if day is None:
            last = calendar.monthrange(shown, month)[1]
            return DateMention(first=date(shown, month, 1), last=date(shown, month, last), every_year=every_year)
        exact = date(shown, month, day)
    except ValueError:  # month 13, 31 June
        return None
    return DateMention(first=exact, last=exact, every_year=every_year)


def _relative(words: str, today: date) -> DateMention:
    normal = " ".join(words.lower().split()).replace("个", "").replace("星期", "周")
    first, last = _RELATIVE[normal](today)
    return DateMention(first=first, last=last)


def _days_ago(count: int) -> Callable[[date], tuple[date, date]]:
    return lambda today: (today - timedelta(days=count), today - timedelta(days=count))


def _weeks_ago(count: int) -> Callable[[date], tuple[date, date]]:
    def week(today: date) -> tuple[date, date]:
        monday = today - timedelta(days=today.weekday() + 7 * count)
        return monday, monday + timedelta(days=6)

    return week


def _this_month(today: date) -> tuple[date, date]:
    return today.replace(day=1), today.replace(day=calendar.monthrange(today.year, today.month)[1])


def _last_month(today: date) -> tuple[date, date]:
    return _this_month(today.replace(day=1) - timedelta(days=1))


def _last_year(today: date) -> tuple[date, date]:
    return date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)


_RELATIVE: Final[dict[str, Callable[[date], tuple[date, date]]]] = {
    **dict.fromkeys(("today", "今天", "今日"), _days_ago(0)),
    **dict.fromkeys(("yesterday", "昨天", "昨日"), _days_ago(1)),
    "前天": _days_ago(2),
    **dict.fromkeys(("this week", "本周", "这周"), _weeks_ago(0)),
    **dict.fromkeys(("last week", "上周"), _weeks_ago(1)),
    **dict.fromkeys(("this month", "本月", "这月"), _this_month),
    **dict.fromkeys(("last month", "上月"), _last_month),
    **dict.fromkeys(("last year", "去年"), _last_year),
}


def _gap(first: date, last: date, day: date) -> int:
    return max((first - day).days, (day - last).days, 0)


def _with_year(day: date, year: int) -> date:
    return day.replace(year=year, day=min(day.day, calendar.monthrange(year, day.month)[1]))
