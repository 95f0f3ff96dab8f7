"""Pytest hooks and fixtures that give tests one shared Neo4j, started when the first test needs it.

``ROOTWARD_NEO4J`` is ``auto`` (the default: leave the tests out, loudly, where none can be started),
``required`` (a missing server fails the tests) or ``off``. ``ROOTWARD_TEST_NEO4J_VERSION`` picks the version.
"""

import os
from collections.abc import Iterator
from typing import NoReturn

import pytest

from tests.support import neo4j_server as launcher
from tests.support.neo4j_server import Neo4jServer, Neo4jUnavailable

FIXTURES = frozenset({"neo4j_server", "neo4j_uri"})
_left_out = pytest.StashKey[str]()


def chosen_version() -> str:
    """Return the Neo4j version of this run."""
    return os.environ.get("ROOTWARD_TEST_NEO4J_VERSION") or launcher.CURRENT


def mode() -> str:
    """Return what ``ROOTWARD_NEO4J`` asks for: ``auto``, ``required`` or ``off``."""
    chosen = os.environ.get("ROOTWARD_NEO4J") or "auto"
    if chosen not in {"auto", "required", "off"}:
        raise pytest.UsageError(f"ROOTWARD_NEO4J is {chosen!r}; use auto, required or off")
    return chosen


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that uses the server, so that ``-m "not neo4j"`` leaves all of them out."""
    for item in items:
        if FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.neo4j)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    reason = config.stash.get(_left_out, None)
    if reason is not None:
        terminalreporter.section("LEFT OUT: all tests on a real Neo4j", sep="!", yellow=True, bold=True)
        terminalreporter.line(reason)
        terminalreporter.line("Set ROOTWARD_NEO4J=required to make this a failure.")


@pytest.fixture(scope="session")
def neo4j_server(request: pytest.FixtureRequest) -> Iterator[Neo4jServer]:
    """Give the server that all tests of this run share; each test must keep to nodes of its own."""
    if mode() == "off":
        _leave_out(request.config, "ROOTWARD_NEO4J=off")
    try:
        server = launcher.start(chosen_version())
    except Neo4jUnavailable as missing:
        _leave_out(request.config, str(missing))
    with server:
        yield server


@pytest.fixture(scope="session")
def neo4j_uri(neo4j_server: Neo4jServer) -> str:
    """Give the Bolt address of the shared server; any user and password are accepted."""
    return neo4j_server.uri


def _leave_out(config: pytest.Config, reason: str) -> NoReturn:
    if mode() == "required":
        pytest.fail(f"a real Neo4j is required: {reason}", pytrace=False)
    config.stash[_left_out] = reason
    pytest.skip(f"no Neo4j: {reason}")
