"""How long to wait before the next try, and how much less it takes up. Pure. Source: DR-27, DR-79, RE-32."""

from __future__ import annotations

from collections.abc import Sequence

MODEL_BACKOFF_S = (60, 300, 1_800, 7_200)
"""After the first, second, third and every further failure of work that asks a model (DR-27)."""

HALVE_AFTER = 3
"""After so many failures of the same batch its size is halved (DR-79)."""


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


def batch_size(most: int, *, halvings: int = 0, failures: int = 0, failed_size: int = 0) -> int:
    """Return how many items the next batch holds at most; never less than one.

    It holds no more than the one that failed before it, and half of that after every third failure in a row.

    Args:
        most: what the settings allow.
        halvings: that is halved so often, after answers that were cut.
        failures: failed batches in a row.
        failed_size: items of the last of them.

    Source: DR-79.

    >>> [batch_size(60, failures=n, failed_size=8) for n in (0, 2, 3, 4)]
    [60, 8, 4, 8]
    """
    size = most >> halvings
    if failures and failed_size:
        size = min(size, failed_size if failures % HALVE_AFTER else failed_size // 2)
    return max(size, 1)
