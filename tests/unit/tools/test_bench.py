"""The benchmark runner: what it takes for a benchmark, and that a failing one is reported."""

from pathlib import Path

import pytest

from tools.bench import benchmarks, run_all

PROGRAM = 'import sys\n\nif __name__ == "__main__":\n    sys.exit({code})\n'


def make_folder(root: Path, **codes: int) -> Path:
    folder = root / "bench"
    folder.mkdir()
    (folder / "__init__.py").touch()
    for name, code in codes.items():
        (folder / f"{name}.py").write_text(PROGRAM.format(code=code))
    return folder


def test_programs_and_packages_are_benchmarks_and_shared_parts_are_not(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, closure=0, _helper=0)
    (folder / "tables.py").write_text("WIDTH = 80\n")
    (folder / "retrieval").mkdir()
    (folder / "retrieval" / "__main__.py").write_text("")
    assert benchmarks(folder) == ["bench.closure", "bench.retrieval"]


def test_a_missing_folder_has_no_benchmark(tmp_path: Path) -> None:
    assert benchmarks(tmp_path / "bench") == []


def test_failures_are_named_and_the_others_still_run(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = make_folder(tmp_path, bad=3, good=0)
    assert run_all(benchmarks(folder), 0.5, root=tmp_path) == ["bench.bad"]
    assert "bench.good: 0.0 min, exit 0" in capfd.readouterr().out
