"""What people see: two consoles and progress bars. Results go to standard output, all else to standard error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.cells import cell_len
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


def out() -> Console:
    """Return the console of results; lines are never cut or folded, so that they can be copied."""
    return Console(highlight=False, soft_wrap=True, markup=False, emoji=False)


def aside() -> Console:
    """Return the console of what is said beside results."""
    return Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


def columns(rows: Sequence[Sequence[str]], head: Sequence[str]) -> str:
    """Return rows under their heads in columns as wide as they need; nothing is cut, so that ids can be copied.

    >>> print(columns([("a", "1"), ("bcd", "22")], ("Name", "N")))
    Name  N
    a     1
    bcd   22
    """
    every = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(cell_len(row[at]) for row in every) for at in range(len(head))]
    padded = ("  ".join(cell + " " * (widths[at] - cell_len(cell)) for at, cell in enumerate(row)) for row in every)
    return "\n".join(line.rstrip() for line in padded)


class Bar:
    """Shows how far a work has come; on anything but a terminal it shows nothing."""

    def __init__(self, progress: Progress, what: str) -> None:
        self._progress = progress
        self._task = progress.add_task(what, total=None)

    def __call__(self, done: int, of: int) -> None:
        """Show `done` of `of` steps; 0 for a number that is not known yet."""
        self._progress.update(self._task, completed=done, total=of or None)

    def begin(self, what: str, done: int) -> None:
        """Show another work instead, of which so many steps are done."""
        self._progress.update(self._task, description=what, completed=done, total=None)


@contextmanager
def bar(what: str) -> Iterator[Bar]:
    """Show a progress bar while the block runs."""
    console = aside()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal)
    with progress:
        yield Bar(progress, what)
