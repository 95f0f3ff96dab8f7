"""Canonical JSON: one byte string for one JSON value, so that hashes and comparisons mean what they say.

The offline verifier has its own small twin of `canonical_json` (`api/cli/verify_offline.py`); a property test keeps
the two equal. Source: RFC 8785, KN-85.
"""

from __future__ import annotations

import hashlib

import rfc8785

from graph.model.errors import BadInput
from graph.model.fields import Json

_SAFE_INTEGER = 2**53 - 1


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
        return rfc8785.dumps(value)
    except rfc8785.IntegerDomainError:
        return _dumps(_with_doubles(value))
    except rfc8785.CanonicalizationError as error:
        raise _unkeepable() from error


def digest(value: Json) -> str:
    """Return the SHA-256 of the canonical JSON of `value` in hexadecimal."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


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
