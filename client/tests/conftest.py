"""Fixtures of all tests of the library."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox_world import World


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What survives a power cut is not what these tests can show."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(base=tmp_path / "sandboxes")
