"""Everything that is logged, as in production but at the lowest level, to look for what must not be there."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from api.observability import start_logging


@contextmanager
def everything_logged() -> Iterator[None]:
    """Log all to standard error while the block runs, and put logging back as it was."""
    root = logging.getLogger()
    before = (root.handlers[:], root.level)
    start_logging("debug", "json")
    root.setLevel(logging.DEBUG)
    try:
        yield
    finally:
        root.handlers, root.level = before
        structlog.reset_defaults()
