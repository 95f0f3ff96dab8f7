"""What every benchmark shares: rounds of one question, and one table at the end.

A figure is the median of its rounds with the quarters around it. Beside the wall time stands the processor time of
this process, which says more on a machine that others use too (a database server's work is not in it). Each row
names its reference of the same run; the ratio is what to compare between machines.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

_COLUMNS = ("what", "measured", "quarters", "CPU", "reference", "of", "ratio", "goal", "met")
_FULL = 1.0


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Seconds of one question: the median of all rounds, the quarters around it, and the processor's share."""

    median: float
    low: float
    high: float
    cpu: float

    @classmethod
    def of(cls, wall: list[float], cpu: list[float]) -> Timing:
        """Return what the rounds say together."""
        low, median, high = statistics.quantiles(wall, n=4, method="inclusive") if len(wall) > 1 else wall * 3
        return cls(median=median, low=low, high=high, cpu=statistics.median(cpu))

    def per(self, count: int) -> Timing:
        """Return the time of one of `count` equal parts."""
        return Timing(median=self.median / count, low=self.low / count, high=self.high / count, cpu=self.cpu / count)


async def timed(question: Callable[[], Awaitable[object]], rounds: int, *, warm_up: int = 1) -> Timing:
    """Ask `rounds` times, after `warm_up` times that do not count."""
    for _ in range(warm_up):
        await question()
    wall, cpu = [], []
    gc.collect()
    for _ in range(rounds):
        began, began_cpu = time.perf_counter(), time.process_time()
        await question()
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - began_cpu)
    return Timing.of(wall, cpu)


def at_once(function: Callable[[], object]) -> Callable[[], Awaitable[object]]:
    """Return a plain function as a question."""

    async def question() -> object:
        return function()

    return question


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What is asked of a row: of its time in ms, of its rate a second, or of its ratio to the reference."""

    most_ms: float | None = None
    least_a_second: float | None = None
    most_ratio: float | None = None
    most_more_ms: float | None = None
    most_mib: float | None = None

    def __str__(self) -> str:
        told = []
        if self.most_ms is not None:
            told.append(f"<= {self.most_ms:g} ms")
        if self.most_more_ms is not None:
            told.append(f"<= {self.most_more_ms:g} ms more")
        if self.least_a_second is not None:
            told.append(f">= {self.least_a_second:,.0f}/s")
        if self.most_mib is not None:
            told.append(f"<= {self.most_mib:g} MiB")
        if self.most_ratio is not None:
            told.append(f"<= {_ratio(self.most_ratio)} x")
        return " and ".join(told)

    def is_met(self, seconds: float, ratio: float | None) -> bool:
        """True if time and ratio keep to it."""
        return (
            (self.most_ms is None or seconds * 1_000 <= self.most_ms)
            and (self.least_a_second is None or 1 / seconds >= self.least_a_second)
            and (self.most_more_ms is None or (ratio is not None and _more_ms(seconds, ratio) <= self.most_more_ms))
            and (self.most_ratio is None or (ratio is not None and ratio <= self.most_ratio))
        )


def _more_ms(seconds: float, ratio: float) -> float:
    return 1_000 * (seconds - seconds / ratio if ratio else seconds)


@dataclass
class Table:
    """The rows of one benchmark, printed at its end."""

    title: str
    scale: float
    rows: list[tuple[str, ...]] = field(default_factory=list)

    def add(
        self, what: str, time_: Timing, *, of: str = "", reference: Timing | None = None, goal: Goal | None = None
    ) -> None:
        """Add a time, or with a goal of a rate how many of them pass in a second.

        Args:
            what: what was asked.
            time_: how long one took.
            of: what the reference is.
            reference: the time of the reference in the same run.
            goal: what docs/how-to/run-the-benchmarks.md asks for.
        """
        rate = goal is not None and goal.least_a_second is not None
        show = _rate if rate else _ms
        low, high = sorted((time_.low, time_.high), reverse=rate)
        ratio = time_.median / reference.median if reference and reference.median else None
        self._row(
            what,
            show(time_.median),
            f"{show(low)} – {show(high)}",
            show(time_.cpu) if time_.cpu else "",
            f"{show(reference.median)} (CPU {show(reference.cpu)})" if reference and reference.cpu else "",
            of,
            f"{_ratio(ratio)} x" if ratio is not None else "",
            str(goal or ""),
            self._verdict(goal, goal is not None and goal.is_met(time_.median, ratio)),
        )

    def add_growth(self, what: str, small: Timing, large: Timing, *, of: str, goal: Goal) -> None:
        """Add how a time grew; the small case is the reference."""
        self.add(what, large, of=of, reference=small, goal=goal)

    def add_size(self, what: str, mib: float, *, of: str, reference_mib: float, goal: Goal) -> None:
        """Add a size in memory."""
        fits = goal.most_mib is None or mib <= goal.most_mib
        ratio = f"{_ratio(mib / reference_mib)} x"
        self._row(
            what, f"{mib:.1f} MiB", "", "", f"{reference_mib:.1f} MiB", of, ratio, str(goal), self._verdict(goal, fits)
        )

    def _row(self, *cells: str) -> None:
        self.rows.append(cells)

    def _verdict(self, goal: Goal | None, met: bool) -> str:
        if goal is None:
            return ""
        if self.scale < _FULL:
            return "(small)"
        return "yes" if met else "NO"

    def print(self) -> None:
        """Print all rows, in columns as wide as they need."""
        shown = [_COLUMNS, *self.rows]
        widths = [max(len(row[place]) for row in shown) for place in range(len(_COLUMNS))]
        print(f"\n{self.title} (scale {self.scale:g})\n")
        for number, row in enumerate(shown):
            print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |")
            if number == 0:
                print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
        print(flush=True)


def arguments(description: str | None) -> argparse.Namespace:
    """Return what the program was called with: `--scale` alone."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full size; 1 is what figures mean")
    return parser.parse_args()


def scaled(full: int, scale: float, least: int = 1) -> int:
    """Return a size at this scale, but never less than makes sense."""
    return max(least, round(full * scale))


def _ms(seconds: float) -> str:
    ms = seconds * 1_000
    return f"{ms:.3f} ms" if ms < 10 else f"{ms:,.1f} ms"


def _rate(seconds: float) -> str:
    return f"{1 / seconds:,.0f}/s"


def _ratio(ratio: float) -> str:
    if ratio < 0.1:
        return f"1/{1 / ratio:,.0f}"
    return f"{ratio:.2f}"
