r"""The difference of two texts as hunks of a unified diff (FM-76, FM-77).

>>> [hunk.lines for hunk in hunks("en\n", "zh\n")]
[('-en', '+zh')]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

CONTEXT: Final = 3
MAX_PAIRS: Final = 200_000
"""So many pairs of equal lines are compared at most; texts with more differ as a whole between their common ends."""

_Code = tuple[str, int, int, int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Hunk:
    """Lines that changed, with those around them; a range without lines starts after the line it names.

    Attributes:
        lines: each with a blank, ``+`` or ``-`` before it, without its line feed.
    """

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[str, ...]


def hunks(old: str | None, new: str | None) -> tuple[Hunk, ...]:
    """Return what changed from one text to another; None counts as empty.

    Lines end at line feeds alone; lines that differ in their line feed only are different.
    """
    before, after = _lines(old or ""), _lines(new or "")
    return tuple(_hunk(group, before, after) for group in _groups(_codes(before, after)))


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    ended = [f"{line}\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def _codes(before: Sequence[str], after: Sequence[str]) -> Iterator[_Code]:
    """Yield how one becomes the other; what both begin and end with is not compared further."""
    shorter = min(len(before), len(after))
    head = next((n for n in range(shorter) if before[n] != after[n]), shorter)
    tail = next((n for n in range(shorter - head) if before[-1 - n] != after[-1 - n]), shorter - head)
    if head:
        yield "equal", 0, head, 0, head
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    for tag, i1, i2, j1, j2 in _between(old, new):
        yield tag, i1 + head, i2 + head, j1 + head, j2 + head
    if tail:
        yield "equal", len(before) - tail, len(before), len(after) - tail, len(after)


def _between(old: Sequence[str], new: Sequence[str]) -> Sequence[_Code]:
    if not old and not new:
        return ()
    counts = Counter(new)
    if sum(counts[line] for line in old) > MAX_PAIRS:
        return (("replace", 0, len(old), 0, len(new)),)
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _groups(codes: Iterator[_Code]) -> Iterator[list[_Code]]:
    """Yield the changes that stand near each other, with their context."""
    group: list[_Code] = []
    for tag, i1, i2, j1, j2 in codes:
        if tag != "equal":
            group.append((tag, i1, i2, j1, j2))
            continue
        if group and i2 - i1 > 2 * CONTEXT:
            yield [*group, (tag, i1, i1 + CONTEXT, j1, j1 + CONTEXT)]
            group = []
        elif group:
            group.append((tag, i1, i2, j1, j2))
            continue
        start = max(i1, i2 - CONTEXT)
        group = [(tag, start, i2, start + j1 - i1, j2)]
    if any(code[0] != "equal" for code in group):
        yield _trimmed(group)


def _trimmed(group: list[_Code]) -> list[_Code]:
    tag, i1, i2, j1, j2 = group[-1]
    if tag == "equal":
        group[-1] = (tag, i1, min(i2, i1 + CONTEXT), j1, min(j2, j1 + CONTEXT))
    return group


def _hunk(group: Sequence[_Code], before: Sequence[str], after: Sequence[str]) -> Hunk:
    old_from, old_to = group[0][1], group[-1][2]
    new_from, new_to = group[0][3], group[-1][4]
    return Hunk(
        old_start=old_from + (old_to > old_from),
        old_count=old_to - old_from,
        new_start=new_from + (new_to > new_from),
        new_count=new_to - new_from,
        lines=tuple(_marked(group, before, after)),
    )


def _marked(group: Sequence[_Code], before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            yield from (f" {line.removesuffix(_END)}" for line in before[i1:i2])
            continue
        yield from (f"-{line.removesuffix(_END)}" for line in before[i1:i2])
        yield from (f"+{line.removesuffix(_END)}" for line in after[j1:j2])


_END: Final = "\n"
