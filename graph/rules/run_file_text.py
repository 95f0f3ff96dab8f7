r"""What the file tools of a run do to a text, and what they find in it (MT-59, MT-60).

>>> appended("one", "two"), edited("a b a", "b", "c")
('one\ntwo', 'a c a')
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final

import regex

from graph.rules.run_tool_errors import ToolFailed
from graph.rules.run_tools import MAX_PATTERN

PATTERN_SECONDS: Final = 1.0
"""So long a regular expression may take in all; one that takes longer is refused."""
_LEAST_SECONDS: Final = 0.001
LINE_CHARS: Final = 500
"""So much of a line that matches is shown."""

Matcher = Callable[[str], bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class FileRow:
    """A file as a directory shows it."""

    path: str
    description: str | None
    size: int
    version: int


def edited(content: str, old: str, new: str) -> str:
    """Return a text with the one occurrence of another replaced.

    Raises:
        ToolFailed: ``no_match``, ``ambiguous_match``.
    """
    found = content.find(old) if old else -1
    if found < 0:
        raise ToolFailed("no_match")
    if content.find(old, found + 1) >= 0:
        raise ToolFailed("ambiguous_match")
    return content[:found] + new + content[found + len(old) :]


def appended(content: str, text: str) -> str:
    """Return a text with another on a new line at its end."""
    return f"{content}{text}" if not content or content.endswith("\n") else f"{content}\n{text}"


def directory(prefix: str, files: Iterable[FileRow]) -> dict[str, Any]:
    """Return one level of a directory: its files, and how many files are in each of its directories."""
    shown, counts = [], dict[str, int]()
    for file in files:
        head, slash, _ = file.path[len(prefix) :].partition("/")
        if slash:
            counts[f"{prefix}{head}/"] = counts.get(f"{prefix}{head}/", 0) + 1
        else:
            row = {"path": file.path, "description": file.description, "size": file.size, "version": file.version}
            shown.append(row)
    folders = [{"path": path, "file_count": count} for path, count in sorted(counts.items())]
    return {"path": prefix, "files": shown, "directories": folders}


def matcher(pattern: str, *, is_regex: bool, case_sensitive: bool) -> Matcher:
    """Return what tells whether a line matches.

    Raises:
        ToolFailed: ``invalid_pattern``: empty, too long, or no regular expression.
    """
    if not pattern or len(pattern) > MAX_PATTERN:
        raise ToolFailed("invalid_pattern")
    if is_regex:
        return _expression(pattern, case_sensitive=case_sensitive)
    wanted = pattern if case_sensitive else pattern.casefold()
    return lambda line: wanted in (line if case_sensitive else line.casefold())


def matches(files: Iterable[tuple[str, str]], fits: Matcher, limit: int) -> dict[str, Any]:
    """Return the first lines that match, in the order of paths and lines.

    Raises:
        ToolFailed: ``invalid_pattern``: the expression takes too long.
    """
    found: list[dict[str, Any]] = []
    for path, number, line in _lines(files):
        if fits(line):
            if len(found) == limit:
                return {"matches": found, "truncated": True}
            found.append({"path": path, "line": number, "text": line[:LINE_CHARS]})
    return {"matches": found, "truncated": False}


def _lines(files: Iterable[tuple[str, str]]) -> Iterator[tuple[str, int, str]]:
    for path, content in files:
        lines: Sequence[str] = content.split("\n")
        for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
            yield path, number, line.removesuffix("\r")


def _expression(pattern: str, *, case_sensitive: bool) -> Matcher:
    """Return a search with an expression; a model writes it, so all its searches together have their time."""
    try:
        compiled = regex.compile(pattern, 0 if case_sensitive else regex.IGNORECASE)
    except (regex.error, RecursionError, OverflowError):
        raise ToolFailed("invalid_pattern") from None
    spent = 0.0

    def fits(line: str) -> bool:
        nonlocal spent
        began = perf_counter()
        try:
            found = compiled.search(line, timeout=max(PATTERN_SECONDS - spent, _LEAST_SECONDS), concurrent=True)
        except TimeoutError:
            raise ToolFailed("invalid_pattern") from None
        spent += perf_counter() - began
        return found is not None

    return fits
