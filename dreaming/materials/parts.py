"""Cutting a long text into parts that fit into one prompt each. Pure."""

from __future__ import annotations

import re
from typing import Final

from graph.text.tokens import Tokenizer

PART_TOKENS: Final = 12_000
_CHARACTERS_A_TOKEN: Final = 8
"""No part is longer than so many characters a token: white space counts nothing."""
_BREAKS: Final = (re.compile(r"\n\s*\n"), re.compile(r"(?<=[.!?。！？])\s+|\n"), re.compile(r"\s+"))
"""Where a part may end, the best kind of place first."""


def part_end(text: str, start: int, tokenizer: Tokenizer, budget: int = PART_TOKENS) -> int:
    r"""Return where the part that begins at `start` ends: at the end of a paragraph, a sentence or a word.

    A part is never empty, and of at most `budget` tokens.

    >>> from graph.text.tokens import DEFAULT_TOKENIZER
    >>> text = "One two three.\n\nFour five six."
    >>> text[: part_end(text, 0, DEFAULT_TOKENIZER, 8)]
    'One two three.\n\n'
    """
    window = text[start : start + budget * _CHARACTERS_A_TOKEN]
    fits = tokenizer.cut_to(window, budget)
    if start + len(fits) >= len(text):
        return len(text)
    for pattern in _BREAKS:
        last = max((found.end() for found in pattern.finditer(fits)), default=0)
        if last > len(fits) // 2:
            return start + last
    return start + max(len(fits), 1)


def part_count(text: str, start: int, tokenizer: Tokenizer, budget: int = PART_TOKENS) -> int:
    """Return how many parts there are from `start` on."""
    count = 0
    while start < len(text):
        start, count = part_end(text, start, tokenizer, budget), count + 1
    return count
