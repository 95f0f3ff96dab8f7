"""The README and the example, as a reader would run them."""

from __future__ import annotations

import doctest
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest

_CLIENT = Path(__file__).parents[1]
_EXAMPLE = _CLIENT / "examples" / "sandbox_local.py"
_NO_NETWORK = ("Failed to establish a new connection", "Could not find a version", "Read timed out")
_SAID = [
    "first run:  Every Friday.",
    "learned from: desk",
    "second run: On Friday; I remember that from last time.",
]


def said_by(python: str | Path, folder: Path, **variables: str) -> list[str]:
    done = subprocess.run(
        [python, _EXAMPLE], cwd=folder, capture_output=True, text=True, check=False, env=_bare(variables)
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[:3]


def _bare(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment of this process without what would lead Python to this process's libraries."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    return {**kept, **variables}


def test_the_readme_tells_the_truth() -> None:
    result = doctest.testfile(str(_CLIENT / "README.md"), module_relative=False)
    assert result.attempted > 10
    assert result.failed == 0


def _pythons() -> list[str]:
    """Every Python from 3.11 that this machine has: on the path, of the system, and of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders: list[str] = [*os.environ["PATH"].split(os.pathsep), "/usr/bin", "/usr/local/bin"]
    folders += map(str, pyenv.glob("versions/*/bin"))
    names = [f"python3.{minor}" for minor in range(11, 20)]
    found = {os.path.realpath(os.path.join(folder, name)) for name in names for folder in folders}
    return sorted(python for python in {*found, os.path.realpath(sys.executable)} if _is_python(python))


def _is_python(path: str) -> bool:
    """Tell whether a file is a Python, and not a stand-in for one that is not there."""
    return os.access(path, os.X_OK) and "shims" not in path


@pytest.mark.parametrize("python", _pythons())
def test_the_example_runs_without_any_other_library(python: str, tmp_path: Path) -> None:
    assert said_by(python, tmp_path, PYTHONPATH=str(_CLIENT / "src")) == _SAID


def test_the_client_alone_in_a_new_environment_runs_the_example(tmp_path: Path) -> None:
    venv.create(tmp_path / "new", with_pip=False)
    python = tmp_path / "new" / "bin" / "python"
    source = shutil.copytree(_CLIENT, tmp_path / "client", ignore=shutil.ignore_patterns(".*", "tests", "dist"))
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    done = subprocess.run([*pip, "install", "--quiet", str(source)], capture_output=True, text=True, check=False)
    if os.environ.get("CI") != "true" and any(sign in done.stderr for sign in _NO_NETWORK):
        pytest.skip("the libraries for a new environment cannot be fetched here")
    assert done.returncode == 0, done.stderr
    listed = subprocess.run([*pip, "freeze"], capture_output=True, text=True, check=True)
    names = {line.partition("==")[0].partition(" @ ")[0] for line in listed.stdout.splitlines()}
    assert "rootward" in names
    assert names.isdisjoint({"rootward-server", "pydantic", "openai", "neo4j"})
    assert said_by(python, tmp_path) == _SAID
