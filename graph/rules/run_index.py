"""Making an index of files short enough: directories are folded, deepest first, then it is cut (MT-42).

>>> fitted([("a/b/c.md", "a/b/c.md: long and longer"), ("d.md", "d.md")], 24, lambda texts: sum(map(len, texts)))
['a/b/ (1 files)', 'd.md']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Final

MORE: Final = "... more files: list them with memory_file_view"


_Line = tuple[str, str]
"""Path and text."""
Size = Callable[[Sequence[str]], int]
"""Returns what lines take together; one question for many lines is much cheaper than many for one."""


def fitted(lines: Sequence[_Line], room: int, size: Size) -> list[str]:
    """Return lines that together take no more than `room`.

    Args:
        lines: of files: path and line, by path.
        room: in the unit of `size`.
        size: of lines, in that unit.
    """
    texts = [text for _, text in lines]
    used = size(texts)
    if used <= room:
        return texts
    return _cut(_folded(lines, used, room, size), room, size)


def _folded(lines: Sequence[_Line], used: int, room: int, size: Size) -> list[_Line]:
    """Return lines with as many directories folded as it takes, those that lie deepest first; they take `used` now."""
    held: dict[str, list[_Line]] = {}
    for line in lines:
        held.setdefault(_parent(line[0]), []).append(line)
    more: Counter[str] = Counter()  # by how many a directory has more files than lines
    for directory in _directories(held):
        if used <= room:
            break
        gone = held.pop(directory, [])
        if gone:
            files, above = len(gone) + more[directory], _parent(directory)
            text = f"{directory}/ ({files} files)"
            held.setdefault(above, []).append((f"{directory}/", text))
            more[above] += files - 1
            used += size([text]) - size([text for _, text in gone])
    return sorted((line for group in held.values() for line in group), key=itemgetter(0))


def _directories(held: Iterable[str]) -> list[str]:
    """Return every directory but the root, deepest first, equally deep ones by path."""
    found: set[str] = set()
    for directory in held:
        while directory:
            found.add(directory)
            directory = _parent(directory)
    return sorted(found, key=lambda directory: (-directory.count("/"), directory))


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _cut(lines: Sequence[_Line], room: int, size: Size) -> list[str]:
    """Return the first lines and, if some are left out, where to find them; nothing if not even that fits."""
    texts = [text for _, text in lines]
    if size(texts) <= room:
        return texts
    left, kept = room - size([MORE]), []
    for text in texts:
        left -= size([text])
        if left < 0:
            break
        kept.append(text)
    return [*kept, MORE] if room >= size([MORE]) else []
