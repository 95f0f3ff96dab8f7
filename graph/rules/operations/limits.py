"""Sizes, types and patterns of what may be written. Source: KN-19, KN-21, KN-27, DR-50."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

import regex

from graph.rules.knowledge_settings import CURRENT_VALUE_PATTERNS, TRANSIENT_PATTERNS
from graph.rules.operations.schema_parts import BlockIn
from graph.rules.operations.verdicts import refuse
from graph.rules.operations.work import Work

ENTRY_TYPES: Final = frozenset(
    {
        "person",
        "organization",
        "project",
        "policy",
        "product",
        "system",
        "place",
        "event",
        "concept",
        "practice",
        "other",
    }
)
"""Built-in entry types (KN-19)."""

PRACTICE: Final = "practice"
PERSON: Final = "person"

MAX_NAME: Final = 200
MAX_ALIASES: Final = 20
MAX_ALIAS: Final = 100
MAX_SUMMARY: Final = 600
MAX_BLOCK_TEXT: Final = 2_000
MAX_ATTRIBUTES: Final = 50
MAX_ATTRIBUTE_VALUE: Final = 1_000
MAX_REASON: Final = 1_000
_PATTERN_S: Final = 0.25
"""So long a pattern may look at one text: it is an admin's, and may be a bad one."""
_OWN_PATTERNS: Final = frozenset((*TRANSIENT_PATTERNS, *CURRENT_VALUE_PATTERNS))
"""None of them searches for long; watching the clock takes twenty times as long as such a search."""
_ATTRIBUTE_KEY: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_RELATION_TYPE: Final = re.compile(r"[a-z][a-z0-9_]{1,63}")


def characters(text: str) -> int:
    """Return the length of a text in code points after NFC."""
    return len(unicodedata.normalize("NFC", text))


def check_length(text: str, field: str, low: int, high: int) -> None:
    """Refuse a text that is too short or too long.

    Raises:
        OperationRejected: ``LIMIT_EXCEEDED``.
    """
    if not low <= characters(text.strip() if low else text) or characters(text) > high:
        raise refuse("LIMIT_EXCEEDED", f"{field} has {low} to {high} characters", field=field, limit=high)


def check_count(count: int, field: str, high: int) -> None:
    """Refuse a list that is too long.

    Raises:
        OperationRejected: ``LIMIT_EXCEEDED``.
    """
    if count > high:
        raise refuse("LIMIT_EXCEEDED", f"{field} holds at most {high}", field=field, limit=high)


def checked_aliases(given: Sequence[str]) -> list[str]:
    """Return the aliases, trimmed and each once.

    Raises:
        OperationRejected: ``LIMIT_EXCEEDED``: more than 20, or one that is empty or over 100 characters.
    """
    aliases = list(dict.fromkeys(unicodedata.normalize("NFC", alias).strip() for alias in given))
    check_count(len(aliases), "aliases", MAX_ALIASES)
    for alias in aliases:
        check_length(alias, "alias", 1, MAX_ALIAS)
    return aliases


def check_type(work: Work, type_: str) -> None:
    """Refuse an entry type that is neither built in nor in the Curation Guide.

    Raises:
        OperationRejected: ``UNKNOWN_TYPE`` (KN-19).
    """
    if type_ not in ENTRY_TYPES and type_ not in work.state.guide.types:
        raise refuse("UNKNOWN_TYPE", "use a built-in type or one that the Curation Guide names", field="type")


def check_attribute(key: str, value: Any) -> None:
    """Refuse an attribute whose key or value is outside the limits.

    Raises:
        OperationRejected: ``LIMIT_EXCEEDED`` (KN-21).
    """
    if not _ATTRIBUTE_KEY.fullmatch(key):
        raise refuse("LIMIT_EXCEEDED", "a key is 1 to 64 of a-z, 0-9 and _, a letter first", field="key")
    if _size(value) > MAX_ATTRIBUTE_VALUE:
        raise refuse(
            "LIMIT_EXCEEDED",
            f"a value has at most {MAX_ATTRIBUTE_VALUE} characters",
            field="value",
            limit=MAX_ATTRIBUTE_VALUE,
        )


def check_relation_type(type_: str) -> None:
    """Refuse a relation type that is no plain word.

    Raises:
        OperationRejected: ``SCHEMA_INVALID`` (KN-27).
    """
    if not _RELATION_TYPE.fullmatch(type_):
        raise refuse("SCHEMA_INVALID", "a relation type is 2 to 64 of a-z, 0-9 and _, a letter first", field="type")


def check_lasting(work: Work, given: BlockIn, texts: Iterable[str]) -> None:
    """Refuse what will not hold tomorrow, unless a person writes it.

    A current price, stock level or balance may be kept with its validity and the system that knows it.

    Raises:
        OperationRejected: ``TRANSIENT_STATE`` (DR-50).
    """
    if work.actor.is_human:
        return
    said = list(texts)
    if (given.durability or "").casefold() == "transient" or _matches(work.settings["dream.transient_patterns"], said):
        raise refuse("TRANSIENT_STATE", "keep what lasts, not how far something has come")
    sourced = given.authority and (given.validFrom or given.validTo)
    if not sourced and _matches(CURRENT_VALUE_PATTERNS, said):
        raise refuse("TRANSIENT_STATE", "give a current value its validity and the system of record in authority")


def matches_transient(patterns: Iterable[str], text: str) -> bool:
    """Return whether a text looks like a passing state; the console warns people by it (CO-18)."""
    return _matches(patterns, [text]) or _matches(CURRENT_VALUE_PATTERNS, [text])


def _matches(patterns: Iterable[str], texts: Sequence[str]) -> bool:
    return any(_found(pattern, text) for pattern in patterns for text in texts)


def _found(pattern: str, text: str) -> bool:
    """Return whether a pattern of the settings occurs; one that would search for ever does not."""
    if pattern in _OWN_PATTERNS:
        return _compiled(pattern).search(text) is not None
    try:
        return _compiled(pattern).search(text, timeout=_PATTERN_S) is not None
    except TimeoutError:
        return False


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.IGNORECASE | regex.MULTILINE)


def _size(value: Any) -> int:
    if isinstance(value, list | tuple):
        return sum(characters(item) for item in value)
    return characters(value) if isinstance(value, str) else len(str(value))
