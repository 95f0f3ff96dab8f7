"""Making an index of files short enough: directories are folded, deepest first, then it is cut (MT-42).

>>> fitted([("a/b/c.md", "a/b/c.md: long and longer"), ("d.md", "d.md")], 24, len)
['a/b/ (1 files)', 'd.md']
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

MORE: Final = "... more files: list them with memory_file_view"


@dataclass(frozen=True, slots=True)
class _Line:
    path: str
    text: str
    files: int = 1


def fitted(lines: Sequence[tuple[str, str]], room: int, size: Callable[[str], int]) -> list[str]:
    """Return lines that together take no more than `room`.

    Args:
        lines: of files: path and line, by path.
        room: in the unit of `size`.
        size: what one line takes.
    """
    if sum(size(line) for _, line in lines) <= room:
        return [line for _, line in lines]
    return _cut(_folded([_Line(path, line) for path, line in lines], room, size), room, size)


def _folded(lines: Sequence[_Line], room: int, size: Callable[[str], int]) -> list[_Line]:
    """Return lines with as many directories folded as it takes, those that lie deepest first."""
    held: dict[str, list[_Line]] = {}
    for line in lines:
        held.setdefault(_parent(line.path), []).append(line)
    used = sum(size(line.text) for line in lines)
    for directory in _directories(held):
        if used <= room:
            break
        gone = held.pop(directory, [])
        if gone:
            files = sum(line.files for line in gone)
            made = _Line(f"{directory}/", f"{directory}/ ({files} files)", files)
            held.setdefault(_parent(directory), []).append(made)
            used += size(made.text) - sum(size(line.text) for line in gone)
    return sorted((line for group in held.values() for line in group), key=lambda line: line.path)


def _directories(held: dict[str, list[_Line]]) -> list[str]:
    """Return every directory but the root, deepest first, equally deep ones by path."""
    found: set[str] = set()
    for directory in held:
        while directory:
            found.add(directory)
            directory = _parent(directory)
    return sorted(found, key=lambda directory: (-directory.count("/"), directory))


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _cut(lines: Sequence[_Line], room: int, size: Callable[[str], int]) -> list[str]:
    """Return the first lines and, if some are left out, where to find them; nothing if not even that fits."""
    if sum(size(line.text) for line in lines) <= room:
        return [line.text for line in lines]
    left, kept = room - size(MORE), []
    for line in lines:
        left -= size(line.text)
        if left < 0:
            break
        kept.append(line.text)
    return [*kept, MORE] if room >= size(MORE) else []
