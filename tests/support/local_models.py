"""The real embedding models for tests: fetched once into the cache of the checkout, left out, loudly, without Maven."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from dreaming.models.local_models import ModelState, fetch, state_of
from graph.model.errors import ProfileUnavailable

FOLDER = Path(__file__).parents[2] / ".cache" / "models"


@cache
def folder_with(name: str) -> Path:
    """Return a folder that holds a model; the test is skipped if it is not to be had.

    ``ROOTWARD_TEST_MODELS`` is read as ``ROOTWARD_NEO4J`` is: ``off`` leaves the models out, ``required`` makes it a
    failure if one cannot be had.
    """
    mode = os.environ.get("ROOTWARD_TEST_MODELS") or ("required" if os.environ.get("CI") else "auto")
    if mode == "off":
        pytest.skip("no embedding models: ROOTWARD_TEST_MODELS=off")
    if state_of(FOLDER, name) is ModelState.WHOLE:
        return FOLDER
    try:
        fetch(FOLDER, name)
    except ProfileUnavailable as missing:
        if mode == "required":
            raise
        pytest.skip(f"no embedding model: {missing}")
    return FOLDER
