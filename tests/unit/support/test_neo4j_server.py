"""The launcher of the real Neo4j: which JDK it takes, what it says when something is missing, and a run."""

from pathlib import Path

import neo4j
import pytest

from tests.support import neo4j_plugin, neo4j_server
from tests.support.neo4j_server import CURRENT, LTS, Jdk, Neo4jServer, Neo4jUnavailable


def with_jdks(monkeypatch: pytest.MonkeyPatch, *majors: int) -> None:
    found = [Jdk(home=Path(f"/jdk-{major}"), major=major) for major in majors]
    monkeypatch.setattr(neo4j_server, "installed_jdks", lambda: found)


@pytest.mark.parametrize(
    ("version", "installed", "taken"),
    [(LTS, (25, 21, 17), 17), (LTS, (25, 21), 21), (CURRENT, (17, 25), 25), (CURRENT, (25, 21), 21)],
)
def test_the_lowest_fitting_jdk_is_taken(
    monkeypatch: pytest.MonkeyPatch, version: str, installed: tuple[int, ...], taken: int
) -> None:
    with_jdks(monkeypatch, *installed)
    assert neo4j_server.find_jdk(version).major == taken


@pytest.mark.parametrize(("version", "installed"), [(LTS, (25,)), (CURRENT, (17,)), (CURRENT, ())])
def test_a_missing_jdk_is_named(monkeypatch: pytest.MonkeyPatch, version: str, installed: tuple[int, ...]) -> None:
    with_jdks(monkeypatch, *installed)
    with pytest.raises(Neo4jUnavailable, match=rf"Neo4j {version} needs a JDK \d+"):
        neo4j_server.find_jdk(version)


def test_a_jdk_is_read_from_its_release_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "javac").touch()
    (tmp_path / "release").write_text('IMPLEMENTOR="x"\nJAVA_VERSION="23.0.1"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert Jdk(home=tmp_path.resolve(), major=23) in neo4j_server.installed_jdks()


def test_without_maven_the_message_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(neo4j_server, "_CACHE", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Neo4jUnavailable, match="install mvn"):
        neo4j_server.class_path(CURRENT, Jdk(home=tmp_path, major=25))


def test_an_unknown_mode_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOTWARD_NEO4J", "perhaps")
    with pytest.raises(pytest.UsageError, match="use auto, required or off"):
        neo4j_plugin.mode()


def test_the_shared_server_is_community_edition_of_the_chosen_version(neo4j_server: Neo4jServer) -> None:
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        answer = driver.execute_query(
            "CALL dbms.components() YIELD name, versions, edition "
            "WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version, edition"
        ).records[0]
    assert (answer["version"], answer["edition"]) == (neo4j_plugin.chosen_version(), "community")
