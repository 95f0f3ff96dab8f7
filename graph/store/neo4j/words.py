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
_PLAIN_MARK, _HEX_MARK, _DIGEST_MARK = "w", "x", "z"
_CACHED_TOKENS = 100_000


class _Tokens(dict[str, str]):
    """Tokens by word, filled on demand and emptied when full: a look-up costs less than a call."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _CACHED_TOKENS:
            self.clear()
        self[word] = token = _token(word)
        return token


_TOKENS = _Tokens()


def encode_word(word: str) -> str:
    """Return the token of a word; equal words have equal tokens, and only they.

    >>> encode_word("root"), encode_word("C++")
    ('wroot', 'x432b2b')
    """
    return _TOKENS[word]


def encode_words(words: Sequence[str]) -> str:
    """Return the tokens of a text, in order, repeats included."""
    return " ".join(map(_TOKENS.__getitem__, words))


def forget_tokens() -> None:
    """Drop the remembered words; an erasure asks for it, since a rare word may be content of what was erased."""
    _TOKENS.clear()


def long_words(words: Iterable[str], tokens: str) -> list[str]:
    """Return the words that a token cannot give back, each once; `tokens` are the `encode_words` of them all."""
    if f" {_DIGEST_MARK}" not in f" {tokens}":
        return []
    return sorted({word for word in words if encode_word(word).startswith(_DIGEST_MARK)})


def decode_words(tokens: str, long: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the words that `encode_words` wrote; `long` are the `long_words` of the text."""
    known = {encode_word(word): word for word in long}
    return tuple(_decode(token, known) for token in tokens.split())


@lru_cache(maxsize=10_000)
def name_token(mark: str, name: str) -> str:
    """Return a token for the name of a part, pool, workspace or principal; `mark` tells them apart."""
    return mark + hashlib.blake2b(name.encode(), digest_size=12).hexdigest()


def _token(word: str) -> str:
    if _PLAIN.fullmatch(word):
        return _PLAIN_MARK + word
    data = word.encode()
    if len(data) <= _LONGEST_BYTES:
        return _HEX_MARK + data.hex()
    return _DIGEST_MARK + hashlib.blake2b(data, digest_size=20).hexdigest()


def _decode(token: str, known: Mapping[str, str]) -> str:
    if token.startswith(_PLAIN_MARK):
        return token[1:]
    return known[token] if token in known else bytes.fromhex(token[1:]).decode()
