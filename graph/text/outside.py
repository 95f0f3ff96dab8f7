"""Texts from outside: what others answer, send or name may hold what no answer of ours could repeat and no store keep.

JSON can write half of a surrogate pair alone, an operating system names files in bytes of any kind. Whoever reads what
he did not ask to be right (a model, a feed, an export) mends it here; a request with it is refused at its edge instead.
"""

from __future__ import annotations

import re
from typing import Any, Final

_HALVES: Final = re.compile("[\ud800-\udfff]")


def has_surrogate(text: str) -> bool:
    r"""Return whether a text has half of a surrogate pair, which no UTF-8 can hold.

    >>> has_surrogate("half \ud83d"), has_surrogate("whole 😀")
    (True, False)
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def is_storable(text: str) -> bool:
    r"""Return whether a text can be kept unchanged: without U+0000 and lone surrogates.

    >>> is_storable("a"), is_storable("\x00"), is_storable("\ud800")
    (True, False, False)
    """
    return "\x00" not in text and not has_surrogate(text)


def whole(text: str) -> str:
    r"""Return a text with U+FFFD for each half of a surrogate pair.

    >>> whole("half \ud83d, whole 😀") == "half \ufffd, whole 😀"
    True
    """
    return _HALVES.sub("\ufffd", text) if has_surrogate(text) else text


def whole_json(value: Any) -> Any:
    """Return a JSON value with every text and every key in it made `whole`; two keys that become one keep the last.

    It is as deep as Python reads JSON: nesting is bounded by who reads it, or ends in a `RecursionError`.

    >>> whole_json({"a": ["b", 1, None]})
    {'a': ['b', 1, None]}
    """
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {whole_json(key): whole_json(inner) for key, inner in value.items()}
    return [whole_json(inner) for inner in value] if isinstance(value, list) else value
