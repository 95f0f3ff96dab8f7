"""A folder like a clone in which `make run` was typed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.cli.support import Cli, environment, serving
from tests.docs.pages import Clone


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    """The folder, with the environment of this run in place of `.venv`, and the server on a free port."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / ".venv").symlink_to(Path(sys.prefix))
    variables = environment(folder / "data")
    del variables["ROOTWARD_DATA_DIR"], variables["ROOTWARD_SERVER__PORT"]
    cli = Cli(data_dir=folder / "data")
    with serving(cli, cwd=folder, program=folder / ".venv" / "bin" / "rootward", unset="ROOTWARD_DATA_DIR") as server:
        known = {**variables, "TOKEN": server.cli.token("jonas")}  # what a page tells readers to have at hand
        yield Clone(folder=folder, environment=known, address=server.address, said=server.said)
