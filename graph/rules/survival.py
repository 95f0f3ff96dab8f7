"""How much of what Dreaming wrote was left alone by people for long enough. Pure. Source: DR-84 to DR-86.

A signal for changes of curation quality; neither a rate of correctness nor a score of a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import ModifierKind
from graph.model.time import DAY_MS, Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """The observation period W and how far back the cohort reaches, L, in milliseconds."""

    period_ms: int
    lookback_ms: int

    @classmethod
    def of_days(cls, period: float, lookback: float) -> Window:
        """Return the window of `survival.window_days` and `survival.lookback_days`."""
        return cls(period_ms=round(period * DAY_MS), lookback_ms=round(lookback * DAY_MS))

    def begins(self, now: Millis) -> Millis:
        """Return the time at which the oldest version of a cohort may have been written."""
        return Millis(now - self.period_ms - self.lookback_ms)


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """One version of a block.

    Attributes:
        curated: Dreaming or a learning task wrote it.
    """

    block: NodeId
    number: int
    at: Millis
    by: str
    curated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Survival:
    """What became of a cohort; `rate` is None if it is empty."""

    survived: int
    cohort: int

    @property
    def rate(self) -> float | None:
        """Survivors ÷ cohort.

        >>> Survival(survived=7, cohort=8).rate, Survival(survived=0, cohort=0).rate
        (0.875, None)
        """
        return self.survived / self.cohort if self.cohort else None


def survival(
    versions: Iterable[Written],
    *,
    touched: Mapping[NodeId, Sequence[Millis]],
    removed: Mapping[NodeId, Sequence[Millis]],
    window: Window,
    now: Millis,
) -> Survival:
    """Return what became of the versions by Dreaming whose observation period is over.

    A version that Dreaming or a learning task itself replaced or removed within the period is in no cohort: nobody
    knows whether people would have left it alone. One that a person replaced first is no such version.

    Args:
        versions: every version recorded since the window begins, of any author.
        touched: when people edited, deleted or restored a block, its whole entry included.
        removed: when Dreaming or a learning task deleted a block.
        window: the observation period, and how far back the cohort reaches.
        now: the present time; a version that is just as old as the period is not observed to its end yet.
    """
    by_block: dict[NodeId, list[Written]] = {}
    for version in versions:
        by_block.setdefault(version.block, []).append(version)
    cohort = survived = 0
    for block, written in by_block.items():
        written.sort(key=lambda version: version.number)
        for place, version in enumerate(written):
            if not _is_observed(version, window, now):
                continue
            following = written[place + 1] if place + 1 < len(written) else None
            if _is_replaced(version, following, removed.get(block, ()), window):
                continue
            cohort += 1
            survived += not any(_within(version, at, window) for at in touched.get(block, ()))
    return Survival(survived=survived, cohort=cohort)


def _is_observed(version: Written, window: Window, now: Millis) -> bool:
    return version.by == ModifierKind.DREAMING and window.begins(now) <= version.at < now - window.period_ms


def _is_replaced(version: Written, following: Written | None, removed: Sequence[Millis], window: Window) -> bool:
    if following is not None:
        return following.curated and _within(version, following.at, window)
    return any(_within(version, at, window) for at in removed)


def _within(version: Written, at: Millis, window: Window) -> bool:
    return version.at < at <= version.at + window.period_ms
