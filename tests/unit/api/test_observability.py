"""Logs and figures hold no content."""

from __future__ import annotations

import ast
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.observability import FIGURES, PrometheusFigures, frames_of, log_fault, only_allowed, start_logging

CANARY = "canary-7f3a"
ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def logs(capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Log as in production, and put everything back."""
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    start_logging("info", "json")
    yield
    root.handlers, root.level = before[0], before[1]


@pytest.mark.req("AD-42")
def test_keys_that_are_not_listed_are_dropped() -> None:
    assert only_allowed(None, "", {"event": "request", "text": CANARY, "status": 200}) == {
        "event": "request",
        "status": 200,
    }


@pytest.mark.req("AD-42")
def test_a_fault_is_logged_by_its_class_and_places_alone(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        try:
            raise ValueError(CANARY)
        except ValueError as inner:
            raise KeyError(CANARY) from inner
    except KeyError as error:
        log_fault(error)
    line = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert line["error"] == "KeyError"
    assert "ValueError" in line["frames"]
    assert any("test_observability.py" in frame for frame in line["frames"])
    assert CANARY not in json.dumps(line)


@pytest.mark.req("AD-42")
def test_a_library_that_logs_content_is_heard_without_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    logging.getLogger("neo4j").error("query failed: %s", CANARY)
    out = capsys.readouterr().err
    assert "neo4j" in out
    assert CANARY not in out


@pytest.mark.req("AD-42", "SB-76")
def test_our_own_library_is_heard_with_its_code_and_no_words(capsys: pytest.CaptureFixture[str]) -> None:
    told = {"operation": "phase 1", "code": "model_failed"}
    logging.getLogger("rootward").warning("phase 1 failed: %s", CANARY, extra=told)
    logging.getLogger("neo4j").warning("failed", extra={"operation": CANARY, "code": CANARY})
    own, other = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert {name: own[name] for name in ("reason", "operation", "code")} == {"reason": "rootward", **told}
    assert (other["reason"], CANARY in json.dumps([own, other])) == ("neo4j", False)


def test_frames_of_a_cycle_of_causes_end() -> None:
    error = ValueError("a")
    error.__cause__ = error
    assert frames_of(error) == ["ValueError"]


@pytest.mark.req("AD-37")
def test_figures_are_counted_by_label_and_rendered() -> None:
    figures = PrometheusFigures()
    figures.count("audience_mismatch", 2)
    figures.count("store_calls", operation="find", engine="embedded", failed="false")
    figures.observe("store_seconds", 0.5, operation="find", engine="embedded")
    text = figures.render().decode()
    assert "rootward_audience_mismatch_total 2.0" in text
    assert 'operation="find"' in text
    assert "rootward_store_seconds_sum" in text


@pytest.mark.req("AD-37")
def test_every_figure_that_the_code_counts_is_declared_with_its_labels() -> None:
    used = {found for file in _sources() for found in _figures_in(file)}
    declared = {(name, frozenset(figure.labels), figure.measured) for name, figure in FIGURES.items()}
    assert used == declared


def _sources() -> Iterator[Path]:
    for package in ("graph", "dreaming", "api"):
        yield from (file for file in (ROOT / package).rglob("*.py") if b"figures" in file.read_bytes())


def _figures_in(file: Path) -> Iterator[tuple[str, frozenset[str], bool]]:
    """Yield name, labels and whether it is measured of each call of `count` or `observe` with the name of a figure."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Attribute(attr="count" | "observe" as what), args=[ast.Constant(str() as name), *_]):
                if name in FIGURES or "figures" in ast.unparse(node.func):
                    yield name, frozenset(one.arg or "" for one in node.keywords), what == "observe"
