"""What a test run says and does where no Neo4j can be started."""

import os
import subprocess
import sys
from pathlib import Path

from tools.requirements import ROOT

A_TEST = "def test_it(neo4j_uri): ...\n\ndef test_other(): ...\n"


def run_pytest(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_it.py").write_text(A_TEST)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    neo4j: x\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.support.neo4j_plugin", "-p", "no:cacheprovider",
         *arguments, str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "JAVA_HOME": "", **variables},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_left_out_tests_are_announced_in_the_summary(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, ROOTWARD_NEO4J="off")
    assert done.returncode == 0
    assert "LEFT OUT: all tests on a real Neo4j" in done.stdout
    assert "1 passed, 1 skipped" in done.stdout


def test_a_required_server_that_cannot_start_fails_the_tests(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, ROOTWARD_NEO4J="required", ROOTWARD_TEST_NEO4J_VERSION="5.0.0-unknown")
    assert done.returncode == 1
    assert "a real Neo4j is required" in done.stdout


def test_tests_on_the_server_are_marked_without_being_told(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, "-m", "not neo4j", ROOTWARD_NEO4J="required")
    assert done.returncode == 0
    assert "1 passed, 1 deselected" in done.stdout
