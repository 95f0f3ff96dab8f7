"""Lines of archives that earlier versions wrote, as this version has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph.model.nodes.learning import ModelCall
from graph.services.learning.model_calls import UNUSABLE

SEALED_CALLS = 6
"""The schema since which the answers of models are sealed."""


def of_today(line: Mapping[str, Any], schema_version: int) -> Mapping[str, Any]:
    """Return a line of an archive in the form of this version: a plain answer of a model is dropped and asked anew."""
    if schema_version < SEALED_CALLS and line.get("class") == ModelCall.__name__ and line.get("answer") is not None:
        return {**line, "answer": None, "state": UNUSABLE}
    return line
