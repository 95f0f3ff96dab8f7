"""The limits of workspace memory, as the settings `memory.*` give them (FM-87, FM-89)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from graph.model.errors import SettingsInvalid

BOUNDS: Final[dict[str, tuple[float, float]]] = {
    "max_file_bytes": (1_024, 1_048_576),
    "revisions_per_file": (1, 1_000),
    "max_total_bytes": (65_536, 1_073_741_824),
    "mounts_per_thread": (1, 32),
    "guide_bytes": (256, 65_536),
    "context_bytes": (1_024, 1_048_576),
    "always_load_bytes": (0, 1_048_576),
    "description_chars": (1, 1_000),
    "frontmatter_bytes": (128, 16_384),
    "path_bytes": (16, 1_024),
    "write_retries": (0, 10),
    "recall_limit": (1, 50),
    "recall_bytes": (512, 65_536),
    "recall_seconds": (0, 30),
    "record_chars": (1, 8_000),
}
"""Lowest and highest value of each; `recall_seconds` is above 0."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryLimits:
    """The limits in force; names, defaults and bounds are those of the table of FM-87. Sizes are UTF-8 bytes."""

    max_file_bytes: int = 65_536
    revisions_per_file: int = 10
    max_total_bytes: int = 33_554_432
    mounts_per_thread: int = 8
    guide_bytes: int = 4_096
    context_bytes: int = 32_768
    always_load_bytes: int = 8_192
    description_chars: int = 200
    frontmatter_bytes: int = 2_048
    path_bytes: int = 256
    write_retries: int = 3
    recall_limit: int = 5
    recall_bytes: int = 8_192
    recall_seconds: float = 2
    record_chars: int = 8_000
    default_guide_file: str | None = None
    default_guide_record: str | None = None

    def checked(self) -> MemoryLimits:
        """Return the limits if they fit together.

        Raises:
            SettingsInvalid: a value is out of bounds, or two do not fit; names the setting (FM-89).
        """
        for name, (low, high) in BOUNDS.items():
            if not low <= getattr(self, name) <= high:
                raise _invalid(name, f"{low:,} to {high:,}")
        if self.recall_seconds <= 0:
            raise _invalid("recall_seconds", "more than 0")
        if self.always_load_bytes > self.context_bytes:
            raise _invalid("always_load_bytes", "at most memory.context_bytes")
        if self.frontmatter_bytes >= self.max_file_bytes:
            raise _invalid("frontmatter_bytes", "less than memory.max_file_bytes")
        if self.max_file_bytes > self.max_total_bytes:
            raise _invalid("max_file_bytes", "at most memory.max_total_bytes")
        for name, guide in (("file", self.default_guide_file), ("record", self.default_guide_record)):
            if guide is not None and len(guide.encode()) > self.guide_bytes:
                raise _invalid(f"default_guide.{name}", "at most memory.guide_bytes bytes")
        return self


def _invalid(name: str, allowed: str) -> SettingsInvalid:
    full = f"memory.{name}"
    return SettingsInvalid(f"{full} takes {allowed}", name=full, origin="settings", allowed=allowed)
