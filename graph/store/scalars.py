"""What a field of each type takes, the same in every store.

Each function returns the plain value of what it is given, without a subclass of the caller, or raises TypeError.
"""

from __future__ import annotations

from typing import Any

from graph.model.sealed import Sealed

_INT64 = 2**63


def text(value: Any) -> str:
    """Return a text."""
    if type(value) is str:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError


def integer(value: Any) -> int:
    """Return an integer of 64 bits, which is what every engine holds; a boolean is none."""
    if not isinstance(value, int) or isinstance(value, bool) or not -_INT64 <= value < _INT64:
        raise TypeError
    return int(value)


def real(value: Any) -> float:
    """Return a number; an integer becomes one."""
    return float(value if isinstance(value, float) else integer(value))


def boolean(value: Any) -> bool:
    """Return a truth value; 0 and 1 are none."""
    if not isinstance(value, bool):
        raise TypeError
    return value


def raw(value: Any) -> bytes:
    """Return bytes."""
    if not isinstance(value, bytes):
        raise TypeError
    return value


def sealed(value: Any) -> Sealed:
    """Return what the vault sealed and nothing else: a plain text never gets further."""
    if not isinstance(value, Sealed):
        raise TypeError
    return value


def texts(value: Any) -> tuple[str, ...]:
    """Return texts in their order; a single text is none."""
    if isinstance(value, str):
        raise TypeError
    return tuple(map(text, value))
