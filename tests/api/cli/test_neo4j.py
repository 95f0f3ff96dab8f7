"""The command line on a real Neo4j: init once, serve in several processes, one import, a worker beside it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.api.cli.support import Cli, serving
from tests.support.neo4j_store import wipe

pytestmark = pytest.mark.neo4j
MESSAGES = Path(__file__).parents[2] / "fixtures" / "importers" / "messages.jsonl"


@pytest.fixture
def cli(tmp_path: Path, neo4j_uri: str) -> Iterator[Cli]:
    """The command line on an empty database, which is emptied again."""
    asyncio.run(wipe(neo4j_uri))
    more = {"ROOTWARD_STORE__URL": neo4j_uri, "ROOTWARD_STORE__PASSWORD": "password"}
    yield Cli(data_dir=tmp_path / "data", more=more)
    asyncio.run(wipe(neo4j_uri))  # nobody else has the keys of this store


@pytest.mark.req("AD-14", "AD-39", "AD-18", "AD-29")
def test_a_store_that_processes_share_is_made_once_and_served_by_two(cli: Cli, tmp_path: Path) -> None:
    with serving(cli) as first:
        token = cli.token("admin")
        assert cli.run("init").code == 6
        other = Cli(data_dir=tmp_path / "other", more={**cli.more, **cli.keys})
        other.data_dir.mkdir(mode=0o700)
        with serving(other) as second:
            assert not (other.data_dir / "admin.token").exists()
            answer = httpx2.post(
                f"{second.address}/graphql",
                json={"query": "{ viewer { displayName } }"},
                headers={"Authorization": f"Bearer {token}"},
            )
            assert answer.json()["data"] == {"viewer": {"displayName": "Administrator"}}
            imported = cli.ok("import", str(MESSAGES), "--agent", "atlas", "--timezone", "UTC")
            assert "known 0, edited 0" in imported
            assert "new 0" in cli.ok("import", str(MESSAGES), "--agent", "atlas", "--timezone", "UTC")
            assert "all is well" in cli.ok("doctor")
            assert "working:" in cli.ok("worker", "--once")
            assert second.end(signal.SIGTERM) == 0
        assert first.end(signal.SIGTERM) == 0


@pytest.mark.req("AD-41")
def test_an_archive_of_the_embedded_store_is_loaded_into_neo4j(cli: Cli, tmp_path: Path) -> None:
    embedded = Cli(data_dir=tmp_path / "embedded")
    embedded.ok("init", "--sample")
    embedded.ok("export", str(tmp_path / "all.tar"))
    refused = cli.run("import", str(tmp_path / "all.tar"), "--archive")
    assert "STORE_KEY_MISSING" in refused.err, "the archive names keys that only the old data directory has"
    cli.more |= embedded.keys
    cli.ok("import", str(tmp_path / "all.tar"), "--archive")
    question = ("ask", "Who buys the spring tea in 2027?")
    for key in ("mei", "jonas"):
        token = embedded.token(key)
        asked = cli.ok(*question, ROOTWARD_TOKEN=token)
        assert asked == embedded.ok(*question, ROOTWARD_TOKEN=token)
    assert "all chains hold" in cli.ok("verify", ROOTWARD_TOKEN=embedded.token("noor"))
