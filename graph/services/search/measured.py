"""Figures of searches: how many, how they ended, how long they took, without anything of what was asked (AD-37)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from graph.model.errors import BadInput, NotFound
from graph.services.deps import Figures


@contextmanager
def measured(figures: Figures) -> Iterator[None]:
    """Count the search that the block does, and measure it."""
    begun, outcome = time.perf_counter(), "failed"
    try:
        yield
        outcome = "ok"
    except (BadInput, NotFound):
        outcome = "refused"
        raise
    finally:
        figures.count("searches", outcome=outcome)
        figures.observe("search_seconds", time.perf_counter() - begun)
