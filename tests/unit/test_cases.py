"""`docs/cases.md` names a test for every case and goal, and every named test exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "cases.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:tests|bench)/[\w/]+\.py(?:::\w+)?)`", TEXT)))

BUGS = {f"B{n}" for n in range(1, 21)}
ATTACKS = {f"T{n}" for n in range(1, 16)}
LAST = {"B": 6, "C": 5, "D": 6, "E": 8, "F": 5}
GOALS = {
    *(f"A{n}" for n in (1, 2, 3, 4, 5, 8)),
    *(f"{letter}{n}" for letter, last in LAST.items() for n in range(1, last + 1)),
}


def rows(heading: str) -> set[str]:
    """Return the first cells of the table under a heading; each row names a test."""
    part = TEXT.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in part.splitlines() if line.startswith("| ")][1:]
    assert all("`" in line for line in lines)
    return {name.strip() for line in lines for name in line.split("|")[1].split(",")}


def test_every_case_and_goal_has_a_row() -> None:
    assert rows("Bug reports") == BUGS
    assert rows("Attacks and faults") == ATTACKS
    assert rows("Goals") == GOALS


@pytest.mark.parametrize("named", NAMED)
def test_a_named_test_exists(named: str) -> None:
    file, _, name = named.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    functions = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert not name or name in functions
