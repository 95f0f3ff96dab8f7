"""The terms of the keyword indexes: ``<clause>p<part>_<word>``.

A text is indexed once for each clause of its audience, so that a look-up of the clauses a viewer passes never meets
the texts of others. Words may hold any character; what the tokenizer does not take as it is gets written as ``_`` and
hexadecimal digits. Nothing a user wrote is ever read as query syntax.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Sequence

_ODD = re.compile(r"[\x00-\x2f\x3a-\x60\x7b-\x7f]")
_LONGEST = 256
_KEPT = bytes(byte for byte in range(256) if byte == ord(" ") or not _ODD.match(chr(byte)))
"""The bytes of words that are kept as they are, and the blank between two words."""


def prefix(clause: int, part: int) -> str:
    """Return what stands before a word."""
    return f"{clause}p{part}_"


def encoded(word: str) -> str:
    """Return a word in letters that the tokenizer keeps; different words stay different.

    >>> encoded("c++")
    'c_2b_2b'
    """
    if len(word) > _LONGEST:
        return "__" + hashlib.sha256(word.encode("utf-8", "surrogatepass")).hexdigest()
    return _ODD.sub(lambda odd: f"_{ord(odd[0]):02x}", word)


def packed(words: Sequence[str]) -> str:
    """Return words as one text, each with a blank on both sides, so that `needle` finds and counts them."""
    return f" {'  '.join(words)} " if words else ""


def unpacked(text: str) -> tuple[str, ...]:
    """Return the words that were packed."""
    return tuple(text[1:-1].split("  ")) if text else ()


def needle(word: str) -> str:
    """Return what to look for in packed words."""
    return f" {word} "


def document(prefixes: Sequence[str], words: Iterable[str]) -> str:
    """Return what is given to the index for the words of a text: each once behind every prefix."""
    distinct: Collection[str] = dict.fromkeys(words)
    kept = distinct if _are_kept(distinct) else list(map(encoded, distinct))
    return " ".join([before + f" {before}".join(kept) for before in prefixes]) if kept else ""


def _are_kept(words: Collection[str]) -> bool:
    """True if no word needs to be encoded; looks at all of them at once."""
    joined = " ".join(words).encode("utf-8", "surrogatepass")
    if joined.translate(None, _KEPT):
        return False
    return len(joined) <= _LONGEST or max(map(len, words)) <= _LONGEST


def any_of(prefixes: Sequence[str], words: Iterable[str]) -> str:
    """Return the query for texts that hold at least one of the words behind one of the prefixes."""
    return "(" + " OR ".join([f'"{before}{word}"' for word in map(encoded, words) for before in prefixes]) + ")"
