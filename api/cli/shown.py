"""What people see: two consoles and progress bars. Results go to standard output, all else to standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


def out() -> Console:
    """Return the console of results; lines are never cut or folded, so that they can be copied."""
    return Console(highlight=False, soft_wrap=True, markup=False, emoji=False)


def aside() -> Console:
    """Return the console of what is said beside results."""
    return Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


class Bar:
    """Shows how far a work has come; on anything but a terminal it shows nothing."""

    def __init__(self, progress: Progress, what: str) -> None:
        self._progress = progress
        self._task = progress.add_task(what, total=None)

    def __call__(self, done: int, of: int) -> None:
        """Show `done` of `of` steps; 0 for a number that is not known yet."""
        self._progress.update(self._task, completed=done, total=of or None)


@contextmanager
def bar(what: str) -> Iterator[Bar]:
    """Show a progress bar while the block runs."""
    console = aside()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal)
    with progress:
        yield Bar(progress, what)
