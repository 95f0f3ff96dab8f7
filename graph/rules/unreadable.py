"""Why a file, a page or a document is not read, in words for people. Pure. Source: MA-5."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

UNREADABLE: Final = "unreadable"
"""Key of the reason in the `meta` of a source that could not be read."""

OTHER_TYPE: Final = "unknown"
"""The reason of a file of another type than those from which text is read."""

WHY: Final[Mapping[str, str]] = MappingProxyType(
    {
        OTHER_TYPE: "text is read from plain text, Markdown, HTML, CSV, JSON, PDF and DOCX; convert the file",
        "damaged": "the file is damaged; save it anew and submit it again",
        "encrypted": "the file is protected by a password; submit it without",
        "too_large": "the file holds too much text; submit it in parts",
        "too_slow": "the file takes too long to read; submit it in parts or as plain text",
        "no_text": "the file holds no text (a scan?); submit one with text",
        "erased": "it was erased here and stays so; its place still has it",
        "not_installed": "reading PDF and DOCX needs the extra rootward-server[documents] on the server",
    }
)


def why(reason: str | None) -> str | None:
    """Return what a person reads for a reason; None for none.

    >>> why("encrypted")
    'the file is protected by a password; submit it without'
    """
    return None if reason is None else WHY.get(reason, WHY[OTHER_TYPE])


def unreadable(meta: Any) -> str | None:
    """Return why a source could not be read, of its `meta`; None if it could."""
    found = meta.get(UNREADABLE) if isinstance(meta, Mapping) else None
    return found if isinstance(found, str) else None


def with_reason(meta: Any, reason: str | None) -> dict[str, Any]:
    """Return the `meta` of a source with another reason, or with None without any."""
    kept = {key: value for key, value in (meta or {}).items() if key != UNREADABLE}
    return kept if reason is None else {**kept, UNREADABLE: reason}
