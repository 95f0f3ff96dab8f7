"""Token counts: what a text costs in a model's budget, and cuts that fit one."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Protocol

import regex

_CJK: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Bopomofo}\u30fc\u3005"
# Each match is one token: a run of letters or digits is taken in pieces of up to four. A combining mark belongs to
# its letter's run; white space, control and format characters match nothing.
_TOKEN: Final = regex.compile(
    rf"[{_CJK}]|[[\p{{L}}\p{{N}}\p{{M}}]--[{_CJK}]]{{1,4}}|[^\s\p{{C}}\p{{Z}}\p{{L}}\p{{N}}\p{{M}}]", regex.VERSION1
)
_ASCII_TOKEN: Final = re.compile(r"[A-Za-z0-9]{1,4}|[!-/:-@\[-`{-~]")


class Tokenizer(Protocol):
    """A named way to count tokens; the name is part of every answer that was cut by it."""

    @property
    def name(self) -> str:
        """A short stable name, such as ``approximate``."""

    def count(self, text: str) -> int:
        """Return the number of tokens, 0 for the empty text; a prefix never costs more than the whole."""

    def cut_to(self, text: str, budget: int) -> str:
        """Return the longest prefix, ending at a code point, of at most ``budget`` tokens (empty for 0 or less)."""


@dataclass(frozen=True)
class ApproximateTokenizer:
    """The default, which needs no download.

    A CJK character is 1 token, a run of n other letters or digits ceil(n/4), any other visible character 1, white
    space 0. Source: RE-28.

    >>> ApproximateTokenizer().count("Hello, 世界 2024!")
    7
    """

    name: str = "approximate"

    def count(self, text: str) -> int:
        return len((_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text))

    def cut_to(self, text: str, budget: int) -> str:
        if budget <= 0:
            return ""
        if len(text) <= budget:
            return text
        tokens: Iterator[Any] = _ASCII_TOKEN.finditer(text) if text.isascii() else _TOKEN.finditer(text)
        following = next(islice(tokens, budget, None), None)
        return text if following is None else text[: following.start()]


@dataclass(frozen=True)
class CountingTokenizer:
    """A tokenizer made of any counting function; cuts are found by halving."""

    name: str
    counter: Callable[[str], int]

    def count(self, text: str) -> int:
        return self.counter(text)

    def cut_to(self, text: str, budget: int) -> str:
        if budget <= 0:
            return ""
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            if self.counter(text[:middle]) <= budget:
                low = middle
            else:
                high = middle - 1
        return text[:low]


DEFAULT_TOKENIZER: Final[Tokenizer] = ApproximateTokenizer()
