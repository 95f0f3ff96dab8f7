"""One server with the sample for all tests that leave it as they find it; a store of one's own for the others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.cli.support import Cli, Server, serving


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running server that told the sample story; shared, so withdraw nothing for good."""
    with serving(Cli(data_dir=tmp_path_factory.mktemp("sample") / "data")) as server:
        yield server


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command line on a data directory that is not there yet."""
    return Cli(data_dir=tmp_path / "data")


@pytest.fixture
def made(cli: Cli) -> Cli:
    """The command line on a store with a workspace and its admin; no server runs."""
    cli.ok("init")
    return cli
