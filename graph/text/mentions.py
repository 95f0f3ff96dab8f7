"""Whether a text mentions a name or another given phrase, as words and not inside longer ones."""

from collections.abc import Iterable
from typing import Final

import regex

from graph.text.words import fold

_UNSPACED: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\u30fc\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
_SPACED: Final = regex.compile(rf"[[\p{{L}}\p{{N}}]--[{_UNSPACED}]]", regex.VERSION1)
_INSIDE_WORD: Final = rf"[[\p{{L}}\p{{N}}\p{{M}}]--[{_UNSPACED}]]"


def mentions(text: str, phrases: Iterable[str]) -> bool:
    """Return whether one of the phrases stands in the text, by NFKC and casefold, with any white space between words.

    A phrase of letters and digits must not be part of a longer word; in scripts without spaces it may stand
    anywhere. Empty phrases are never mentioned. It serves names and aliases as well as first-person words.
    Source: DR-49.

    >>> mentions("Ana joined Helio's team", ["HELIO"]), mentions("Ana joined Helios", ["Helio"])
    (True, False)
    >>> mentions("张三加入了赫利奥公司", ["赫利奥"]), mentions("I said so", ["me", "I"])
    (True, True)
    """
    folded = _single_spaced(text)
    return any(_pattern(wanted).search(folded) is not None for phrase in phrases if (wanted := _single_spaced(phrase)))


def _single_spaced(text: str) -> str:
    return " ".join(fold(text).split())


def _pattern(phrase: str) -> "regex.Pattern[str]":
    before = rf"(?<!{_INSIDE_WORD})" if _SPACED.match(phrase) else ""
    after = rf"(?!{_INSIDE_WORD})" if _ends_spaced(phrase) else ""
    return regex.compile(before + regex.escape(phrase, literal_spaces=True) + after, regex.VERSION1)


def _ends_spaced(phrase: str) -> bool:
    return regex.fullmatch(_INSIDE_WORD, phrase[-1], regex.VERSION1) is not None
