"""The table of mutations fits the code as it is now; running it is `tools/mutation_check.py` itself."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path

import pytest

from tools.mutation_check import MUTATIONS, ROOT, Mutation, main, mutate


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda m: m.name)
def test_mutation_applies_to_the_present_code_and_can_be_parsed(mutation: Mutation) -> None:
    text = (ROOT / mutation.file).read_text()
    assert ast.dump(ast.parse(mutate(text, mutation))) != ast.dump(ast.parse(text))
    assert mutation.tests
    assert all((ROOT / test).is_file() for test in mutation.tests)


def test_names_are_unique() -> None:
    assert len({m.name for m in MUTATIONS}) == len(MUTATIONS)


def test_outdated_row_is_told() -> None:
    with pytest.raises(ValueError, match="update the table"):
        mutate("x = 1\nx = 1\n", Mutation(name="n", file="f", old="x = 1", new="x = 2", tests=()))


def test_check_is_red_when_nothing_was_checked(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no such mutation"]) == 1
    assert "0 mutations" in capsys.readouterr().out


@pytest.mark.parametrize(("asserted", "status"), [("rule() == 1", 0), ("rule() > 0", 1)])
def test_unnoticed_mutation_makes_the_check_red(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asserted: str, status: int
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "code_under_test.py").write_text("def rule():\n    return 1\n")
    (tmp_path / "tests" / "test_rule.py").write_text(
        f"from code_under_test import rule\n\n\ndef test_rule():\n    assert {asserted}\n"
    )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    row = Mutation(name="toy", file="code_under_test.py", old="return 1", new="return 2", tests=("tests/test_rule.py",))
    monkeypatch.setattr("tools.mutation_check.ROOT", tmp_path)
    monkeypatch.setattr("tools.mutation_check.COPIED", ("code_under_test.py", "tests", "pyproject.toml"))
    monkeypatch.setattr("tools.mutation_check.MUTATIONS", (row,))
    assert main([]) == status
