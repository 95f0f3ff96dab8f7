"""Encoders of JSON text that are made once: the ordinary one makes a new one for each value, half the cost of most.

Source: ADR 0024.
"""

from __future__ import annotations

import json
import json.encoder
from collections.abc import Callable
from typing import Any

_MAKE = getattr(json.encoder, "c_make_encoder", None)
"""What `json` itself encodes with where Python has it in C."""


def encoder(*, ascii_only: bool, sort_keys: bool, allow_nan: bool = True) -> Callable[[Any], str]:
    """Return what writes a value as compact JSON text, just as `json.JSONEncoder` with these choices does.

    A value that contains itself ends in a `RecursionError` instead of a `ValueError`.
    """
    plain = json.JSONEncoder(
        ensure_ascii=ascii_only, sort_keys=sort_keys, allow_nan=allow_nan, separators=(",", ":"), check_circular=False
    )
    if _MAKE is None:
        return plain.encode
    text = json.encoder.encode_basestring_ascii if ascii_only else json.encoder.encode_basestring
    encode = _MAKE(None, plain.default, text, None, ":", ",", sort_keys, False, allow_nan)
    join = "".join
    return lambda value: join(encode(value, 0))
