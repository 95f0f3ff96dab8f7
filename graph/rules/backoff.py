"""How long to wait before the next try. Pure. Source: DR-27, RE-32."""

from __future__ import annotations

from collections.abc import Sequence

MODEL_BACKOFF_S = (60, 300, 1_800, 7_200)
"""After the first, second, third and every further failure of work that asks a model (DR-27)."""


def delay_s(schedule: Sequence[int], failures: int, *, asked_for_s: float | None = None) -> float:
    """Return the wait after the n-th failure in a row, in seconds; the last value of the schedule repeats.

    Args:
        schedule: waits, at least one.
        failures: from 1.
        asked_for_s: what a provider asked for (Retry-After): waited for if it is longer, at most a day.

    >>> [delay_s(MODEL_BACKOFF_S, n) for n in (1, 2, 3, 4, 5, 1_000)]
    [60, 300, 1800, 7200, 7200, 7200]
    >>> delay_s(MODEL_BACKOFF_S, 1, asked_for_s=90)
    90
    """
    own = schedule[min(max(failures, 1), len(schedule)) - 1]
    return max(own, min(asked_for_s or 0, 86_400))
