"""The files a new workspace starts with. Source: SB-17."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rootward.sandbox.layout import clean_path
from rootward.sandbox.workspace import Workspace


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Files by path: ``{"README.md": {"type": "file", "content": "# Lead desk"}}``.

    A content is text or bytes.

    Raises:
        ValueError: a path leaves the workspace, or an entry is no file.
    """

    entries: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _ = self.files

    @property
    def files(self) -> dict[str, bytes]:
        """The bytes of each file by its clean path."""
        return {clean_path(path): _content(path, entry) for path, entry in self.entries.items()}


async def add_entries(workspace: Workspace, manifest: Manifest) -> None:
    """Write the entries whose path is not taken; what is there stays."""
    for path, data in manifest.files.items():
        await workspace.create(path, data)


def _content(path: str, entry: Mapping[str, object]) -> bytes:
    unknown = set(entry) - {"type", "content"}
    if unknown or entry.get("type") != "file":
        raise ValueError(f'entry {path!r} must be {{"type": "file", "content": …}}')
    content = entry.get("content", "")
    if isinstance(content, bytes):
        return content
    if not isinstance(content, str):
        raise ValueError(f"the content of {path!r} must be text or bytes")
    return content.encode()
