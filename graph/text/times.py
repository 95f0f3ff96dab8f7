"""Whether a text names a time, and whether a question asks for one, in English and Chinese."""

from typing import Final

import regex

_UNITS: Final = "day|night|week|weekend|month|year|spring|summer|autumn|fall|winter|morning|evening"
_WEEKDAYS: Final = "mon|tues?|wed|thu(?:rs)?|fri|sat|sun"
_MONTHS: Final = "January|February|March|April|May|June|July|August|September|October|November|December"
_NAMED: Final = regex.compile(
    r"\b(?:(?i:yesterday|today|tonight|tomorrow|ago|recently|lately|since"
    rf"|(?:{_UNITS})s?|(?:last|next|this|on)\s+(?:{_WEEKDAYS})|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)"
    rf"|{_MONTHS}|(?:19|20)[0-9]{{2}})\b"
    r"|[今昨前明后]天|[今昨明]晚|[今去前明后]年|[上下本这]个?(?:周|星期|月)|周末|周[一二三四五六日]|星期"
    r"|[0-9]+[年月日号]|[天周月年]前|最近|刚才|刚刚"
)
"""Months with a capital letter, for what one may do is no date."""
_ASKED: Final = regex.compile(
    r"^\W*(?i:when|(?:at |on |in )?(?:what|which) (?:time|day|date|week|month|year|season)|how long ago)\b|\bWhen\b"
    r"|什么时候|什么时间|何时|哪一?[天年月]|几[号月]"
)
"""In the middle of a question a small ``when`` tells under which condition, and asks nothing."""


def names_time(text: str) -> bool:
    """True if a text names a day, a month, a time of the year or how long ago something was.

    >>> names_time("We went there last Friday."), names_time("You may be right.")
    (True, False)
    """
    return _NAMED.search(text) is not None


def asks_for_time(question: str) -> bool:
    """True if a question wants to know when something was, is or will be.

    >>> asks_for_time("When did Ana move?"), asks_for_time("What did Ana do when she moved?")
    (True, False)
    """
    return _ASKED.search(question) is not None
