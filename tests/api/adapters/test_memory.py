"""Memory is given back where the C library can, and nothing is amiss where it cannot."""

from __future__ import annotations

import ctypes
import gc
from types import SimpleNamespace
from typing import Any

import pytest

from api.adapters.memory import collect_seldom, give_back


def test_memory_is_given_back_where_the_library_can(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(ctypes, "CDLL", lambda name: SimpleNamespace(malloc_trim=asked.append))
    give_back()
    assert asked == [0]


@pytest.mark.parametrize("fault", [OSError, AttributeError])
def test_nothing_is_amiss_where_it_cannot(monkeypatch: pytest.MonkeyPatch, fault: type[Exception]) -> None:
    tried: list[Any] = []

    def missing(name: Any) -> Any:
        tried.append(name)
        raise fault

    monkeypatch.setattr(ctypes, "CDLL", missing)
    give_back()
    assert tried == [None]


def test_garbage_is_looked_for_seldom_and_not_among_what_is_there() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    try:
        collect_seldom()
        assert gc.get_threshold()[0] > before[0]
        assert gc.get_freeze_count() > frozen
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
