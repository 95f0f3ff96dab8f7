"""Words of keyword texts as tokens of the full-text index.

A token has only a-z and 0-9, so nothing a user types can become syntax of the index's query language, and the
`whitespace` analyzer gives back exactly what was put in.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

_PLAIN = re.compile(r"[a-z0-9]{1,64}")
_LONGEST_BYTES = 100
_SURELY_SHORT = _LONGEST_BYTES // 4
"""A word of so many characters has at most `_LONGEST_BYTES` bytes."""
_PLAIN_MARK, _HEX_MARK, _DIGEST_MARK = "w", "x", "z"


@lru_cache(maxsize=100_000)
def encode_word(word: str) -> str:
    """Return the token of a word; equal words have equal tokens, and only they.

    >>> encode_word("root"), encode_word("C++")
    ('wroot', 'x432b2b')
    """
    if _PLAIN.fullmatch(word):
        return _PLAIN_MARK + word
    data = word.encode()
    if len(data) <= _LONGEST_BYTES:
        return _HEX_MARK + data.hex()
    return _DIGEST_MARK + hashlib.blake2b(data, digest_size=20).hexdigest()


def encode_words(words: Sequence[str]) -> str:
    """Return the tokens of a text, in order, repeats included."""
    return " ".join(map(encode_word, words))


def long_words(words: Iterable[str]) -> list[str]:
    """Return the words that a token cannot give back, each once."""
    return sorted({word for word in words if len(word) > _SURELY_SHORT and encode_word(word).startswith(_DIGEST_MARK)})


def decode_words(tokens: str, long: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the words that `encode_words` wrote; `long` are the `long_words` of the text."""
    known = {encode_word(word): word for word in long}
    return tuple(_decode(token, known) for token in tokens.split())


@lru_cache(maxsize=10_000)
def name_token(mark: str, name: str) -> str:
    """Return a token for the name of a part, pool, workspace or principal; `mark` tells them apart."""
    return mark + hashlib.blake2b(name.encode(), digest_size=12).hexdigest()


def _decode(token: str, known: Mapping[str, str]) -> str:
    if token.startswith(_PLAIN_MARK):
        return token[1:]
    return known[token] if token in known else bytes.fromhex(token[1:]).decode()
