"""The items of an RSS or Atom feed as plain values. Takes processor time; runs in a process with limits."""

from __future__ import annotations

import calendar
import io
from typing import Any

import feedparser

MAX_ITEMS = 1_000


def read_items(data: bytes, *, media_type: str, address: str) -> list[dict[str, Any]] | None:
    """Return the items in the order of the feed, None if it is none.

    Each has `id`, `link`, `title`, `body` (HTML, the longest form the feed gives), `stamp` (what it says of its time)
    and `time` (milliseconds). Relative links are read from the address of the feed.
    """
    headers = {"content-type": media_type, "content-location": address}
    parsed = feedparser.parse(io.BytesIO(data), response_headers=headers)
    if not parsed.get("version"):
        return None
    return [_item(entry) for entry in parsed.entries[:MAX_ITEMS]]


def _item(entry: Any) -> dict[str, Any]:
    forms = [str(part.get("value") or "") for part in entry.get("content", ())]
    forms.append(str(entry.get("summary") or ""))
    return {
        "id": str(entry.get("id") or ""),
        "link": str(entry.get("link") or ""),
        "title": str(entry.get("title") or ""),
        "body": max(forms, key=len),
        "stamp": [entry.get("updated"), entry.get("published")],
        "time": _milliseconds(entry.get("updated_parsed") or entry.get("published_parsed")),
    }


def _milliseconds(parsed: Any) -> int | None:
    """Return a time of the feed, None without one or in a year that no calendar has: it must not end the whole feed."""
    try:
        return calendar.timegm(parsed) * 1_000 if parsed else None
    except (ValueError, OverflowError):
        return None
