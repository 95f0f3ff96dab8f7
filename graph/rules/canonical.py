"""Canonical JSON: one byte string for one JSON value, so that hashes and comparisons mean what they say.

The offline verifier has its own small twin of `canonical_json` (`api/cli/verify_offline.py`); a property test keeps
the two equal. Source: RFC 8785, KN-85.
"""

from __future__ import annotations

import hashlib
from json.encoder import encode_basestring
from typing import Any

import rfc8785

from graph.model.errors import BadInput
from graph.model.fields import Json
from graph.model.json_text import encoder

_SAFE_INTEGER = 2**53 - 1
_fast = encoder(ascii_only=False, sort_keys=True)


def canonical_json(value: Json) -> bytes:
    """Return `value` in the canonical form of RFC 8785.

    Equal JSON values give equal bytes (1 and 1.0 are the same JSON number); true and 1 differ. An integer beyond
    2^53 - 1 is taken only if it is the exact canonical text of its IEEE double, so that no two integers collide
    and a value read back from its own canonical form gives the same bytes.

    Raises:
        BadInput: a number that JSON cannot keep exactly, NaN, infinity, half of a surrogate pair, or no JSON value.

    >>> canonical_json({"b": 1.0, "a": [True, None, "é"]}).decode()
    '{"a":[true,null,"é"],"b":1}'
    """
    try:
        if type(value) is str:
            return encode_basestring(value).encode()
        return _fast(value).encode() if _is_easy(value) else rfc8785.dumps(value)
    except rfc8785.IntegerDomainError:
        return _dumps(_with_doubles(value))
    except (rfc8785.CanonicalizationError, UnicodeEncodeError) as error:
        raise _unkeepable() from error


def digest(value: Json) -> str:
    """Return the SHA-256 of the canonical JSON of `value` in hexadecimal."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def _is_easy(value: Json) -> bool:
    """Tell whether the ordinary encoder, several times as fast, writes `value` as RFC 8785 does.

    So it is without doubles and with keys of ASCII, whose order is the same in code points and in UTF-16.
    """
    waiting = [value]
    for item in waiting:  # it grows
        kind = type(item)
        if kind is str or item is None:
            continue
        if kind is dict:
            if not _are_ascii(item):
                return False
            waiting += item.values()
        elif kind is list or kind is tuple:
            waiting += item
        elif kind is int:
            if not -_SAFE_INTEGER <= item <= _SAFE_INTEGER:
                return False
        elif kind is not bool and not isinstance(item, str):  # texts of an enumeration too
            return False
    return True


def _are_ascii(keys: dict[Any, Any]) -> bool:
    try:
        return "".join(keys).isascii()
    except TypeError:  # one of them is no text
        return False


def _dumps(value: Json) -> bytes:
    try:
        return rfc8785.dumps(value)
    except rfc8785.CanonicalizationError as error:
        raise _unkeepable() from error


def _with_doubles(value: Json) -> Json:
    """Return `value` with large integers as the doubles that print as they do."""
    if isinstance(value, dict):
        return {key: _with_doubles(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_doubles(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _SAFE_INTEGER:
        return _as_double(value)
    return value


def _as_double(value: int) -> float:
    try:
        double = float(value)
    except OverflowError as error:
        raise _unkeepable() from error
    if _dumps(double) != str(value).encode():
        raise _unkeepable()
    return double


def _unkeepable() -> BadInput:
    return BadInput("this value cannot be kept exactly as JSON; send large numbers as text", field="value")
