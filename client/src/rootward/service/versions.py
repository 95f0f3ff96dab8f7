"""What everything in workspace memory that has versions has in common. Source: FM-12, FM-18."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Versioned:
    """A thing with versions; times are RFC 3339 in UTC."""

    id: str
    version: int
    created_at: str
    updated_at: str

    @property
    def etag(self) -> str:
        """The tag of this version; a change that is meant for it names it (FM-12)."""
        return f'"{self.id}:{self.version}"'
