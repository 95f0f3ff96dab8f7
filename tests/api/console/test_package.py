"""The wheel of the server brings the built console along."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NoReturn
from zipfile import ZipFile

import pytest

from tools.console import ROOT, NotBuilt, Places, build


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    """The wheel of this checkout; what it is built with comes from the package index."""
    try:
        build(Places())
    except NotBuilt as reason:
        _leave_out(str(reason))
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(
        [*command, "--wheel-dir", str(folder), str(ROOT)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        _leave_out(f"the wheel cannot be built: {done.stderr[-500:]}")
    (file,) = folder.glob("rootward_server-*.whl")
    return ZipFile(file)


def _leave_out(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def test_the_wheel_has_the_page_and_all_that_the_page_names(wheel: ZipFile) -> None:
    names = set(wheel.namelist())
    page = wheel.read("api/console/dist/index.html").decode()
    named = re.findall(r'(?:src|href)="/console/([^"]+)"', page)
    assert any(name.endswith(".js") for name in named)
    assert {f"api/console/dist/{name}" for name in named} <= names
    assert any(name.endswith(".js.br") for name in names)


def test_the_wheel_has_no_source_and_no_library_of_the_console(wheel: ZipFile) -> None:
    outside = [
        name
        for name in wheel.namelist()
        if "node_modules" in name or name.startswith("console/") or Path(name).suffix in {".ts", ".tsx"}
    ]
    assert outside == []
