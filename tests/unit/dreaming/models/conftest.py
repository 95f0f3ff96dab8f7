"""Models need no store."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_work_of_other_tests() -> None:
    """There is none."""
