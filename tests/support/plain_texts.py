"""Looks for texts that should be sealed, in any form in which the bytes of a file may hold them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from pathlib import Path

STEM = "CANARY7f3a9c"
"""What every canary begins with; no other text has it, and a JSON string escapes none of it."""


def canary(number: int) -> str:
    """Return the n-th canary: with marks outside of ASCII, which JSON may escape."""
    return f"{STEM} № {number:05d} été 猎户座"


def hits(files: Iterable[Path], stem: str = STEM) -> list[str]:
    """Return where the stem stands in files, in any form."""
    forms = list(_written_as(stem))
    return [f"{file.name}: {form!r}" for file in files for form in forms if form in file.read_bytes()]


def files_of(folder: Path) -> list[Path]:
    """Return all files of a folder and of those in it."""
    return [file for file in folder.rglob("*") if file.is_file()]


def _written_as(text: str) -> Iterator[bytes]:
    """Give the forms in which bytes may hold a text: UTF-8, UTF-16, each as hex and as base64 from any place."""
    for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
        data = text.encode(encoding)
        yield data
        yield data.hex().encode()
        for shift in range(3):
            yield base64.b64encode(b"\0" * shift + data)[4 if shift else 0 : -4]
