"""The items of an RSS or Atom feed as plain values. Takes processor time; runs in a process with limits."""

from __future__ import annotations

import calendar
import io
import re
from typing import Any

import feedparser

from graph.text.outside import whole

MAX_ITEMS = 1_000

_REFERENCE = re.compile(rb"&#(?:[xX]([0-9A-Fa-f]+)|([0-9]+));")
_MOST_DIGITS = 7
_WHITE = frozenset({0x9, 0xA, 0xD})


def read_items(data: bytes, *, media_type: str, address: str) -> list[dict[str, Any]] | None:
    """Return the items in the order of the feed, None if it is none.

    Each has `id`, `link`, `title`, `body` (HTML, the longest form the feed gives), `stamp` (what it says of its time)
    and `time` (milliseconds). Relative links are read from the address of the feed.
    """
    headers = {"content-type": media_type, "content-location": address}
    try:
        parsed = feedparser.parse(io.BytesIO(_REFERENCE.sub(_sayable, data)), response_headers=headers)
    except (ValueError, OverflowError):  # a reference to no character, in an encoding that is no wider ASCII
        return None
    if not parsed.get("version"):
        return None
    return [_item(entry) for entry in parsed.entries[:MAX_ITEMS]]


def _sayable(reference: re.Match[bytes]) -> bytes:
    """Return a reference to a character, U+FFFD's for one to none that XML knows: one item must not end the feed."""
    hexadecimal, decimal = reference.groups()
    digits = (hexadecimal or decimal).lstrip(b"0")
    number = int(digits, 16 if hexadecimal else 10) if 0 < len(digits) <= _MOST_DIGITS else 0
    known = number in _WHITE or 0x20 <= number <= 0xD7FF or 0xE000 <= number <= 0x10FFFF
    return reference[0] if known else b"&#xFFFD;"


def _item(entry: Any) -> dict[str, Any]:
    forms = [str(part.get("value") or "") for part in entry.get("content", ())]
    forms.append(str(entry.get("summary") or ""))
    return {
        "id": whole(str(entry.get("id") or "")),
        "link": whole(str(entry.get("link") or "")),
        "title": whole(str(entry.get("title") or "")),
        "body": whole(max(forms, key=len)),
        "stamp": [entry.get("updated"), entry.get("published")],
        "time": _milliseconds(entry.get("updated_parsed") or entry.get("published_parsed")),
    }


def _milliseconds(parsed: Any) -> int | None:
    """Return a time of the feed, None without one or in a year that no calendar has: it must not end the whole feed."""
    try:
        return calendar.timegm(parsed) * 1_000 if parsed else None
    except (ValueError, OverflowError):
        return None
