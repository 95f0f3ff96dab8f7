"""The console in a real Chromium: one browser a run, a server and a workspace of its own for each test.

Everything of a test runs in the loop of the session, since the browser does: a test is an `async def` without a mark.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import socket
from collections.abc import AsyncIterator, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
import uvicorn
from playwright.async_api import Browser, async_playwright, expect

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports, Service, build
from api.graphql.handshake import Sockets
from api.settings import Settings
from dreaming.stage_a import dream_channel
from dreaming.stage_b import dream_agent
from graph.store.embedded import EmbeddedStore
from graph.store.port import Store
from tests.acceptance.stage import Stage
from tests.api.cli.support import Cli, Server, serving
from tests.api.clients import GraphQLClient
from tests.api.conftest import AnnouncedServer, clock
from tests.console.visiting import PATIENCE_MS, Console
from tests.support import browser as chromium
from tests.support import channel_room
from tests.support.clock import FakeClock
from tests.support.keyring import FixedKeyring
from tests.support.night import Night
from tests.support.world import TeamWorld
from tools.console import NotBuilt, Places
from tools.console import build as build_console

__all__ = ["clock"]

HERE = Path(__file__).parent
_outcome = pytest.StashKey[bool]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of this folder into the loop of the browser, and mark those that use it."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
            if "browser" in getattr(item, "fixturenames", ()):
                item.add_marker(pytest.mark.browser)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    reason = config.stash.get(chromium.left_out, None)
    if reason is not None:
        terminalreporter.section("LEFT OUT: all tests in a browser", sep="!", yellow=True, bold=True)
        terminalreporter.line(reason)
        terminalreporter.line("Set ROOTWARD_BROWSER=required to make this a failure.")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember whether the test itself failed, for what is kept of it."""
    report = yield
    if report.when == "call":
        item.stash[_outcome] = report.failed
    return report


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """A folder with the console as it is now; built if its sources have changed."""
    places = Places()
    try:
        build_console(places)
    except NotBuilt as reason:
        if chromium.mode() == "required" or not (places.built / "index.html").is_file():
            chromium.leave_out(request.config, str(reason))
        request.node.warn(pytest.PytestWarning(f"an OLDER console is tested, since it cannot be built: {reason}"))
    # A copy: a build beside this run must not take away what a page is about to load.
    return Path(shutil.copytree(places.built, tmp_path_factory.mktemp("console") / "dist"))


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser(request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    """The one Chromium of the run."""
    executable = chromium.program_or_skip(request.config)
    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as playwright:
        running = await chromium.launch(playwright, executable)
        yield running
        await running.close()


@pytest.fixture
def settings(tmp_path: Path, built: Path) -> Settings:
    return Settings.model_validate({"data_dir": tmp_path, "console": {"folder": str(built)}})


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    return str(getattr(request, "param", "embedded"))


@pytest.fixture
def store(engine: str, request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Store:
    """The store under the service: embedded, or Neo4j for a test that is parametrized so."""
    if engine == "neo4j":
        from graph.store.neo4j import Neo4jStore

        return Neo4jStore(request.getfixturevalue("neo4j_uri"), auth=("neo4j", "password"), clock=clock)
    return EmbeddedStore(tmp_path / "graph.db", clock=clock)


@pytest.fixture
def ports(store: Store, clock: FakeClock) -> Ports:
    return Ports(clock=clock, store=store, blobs=open_blobs("memory:///"), keyring=FixedKeyring())


@pytest_asyncio.fixture(loop_scope="session")
async def service(settings: Settings, ports: Ports) -> AsyncIterator[Service]:
    """The wired service of one test, its store open."""
    made = build(settings, ports=ports)
    async with made.app.router.lifespan_context(made.app):
        yield made


@pytest_asyncio.fixture(loop_scope="session")
async def server(service: Service) -> AsyncIterator[str]:
    """The address of the service, on a free loopback port."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(service.app, lifespan="off", log_config=None, ws=Sockets, timeout_graceful_shutdown=1)
    running = AnnouncedServer(config)
    task = asyncio.create_task(running.serve(sockets=[listener]))
    await running.ready.wait()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    running.should_exit = True
    await task


@pytest_asyncio.fixture(loop_scope="session")
async def world(service: Service) -> TeamWorld:
    return await TeamWorld(deps=service.deps).make()


@pytest_asyncio.fixture(loop_scope="session")
async def stage(world: TeamWorld, clock: FakeClock, server: str) -> AsyncIterator[Stage]:
    """A team, a channel and a private chat, and a GraphQL client for each of them."""
    async with httpx2.AsyncClient(base_url=server, timeout=600) as http:
        yield await Stage(world=world, clock=clock, client=GraphQLClient(http=http)).make()


@pytest_asyncio.fixture(loop_scope="session")
async def night(stage: Stage, clock: FakeClock) -> Night:
    """Both stages of Atlas with a scripted model. The test's `clock` must be a held one."""
    made = await Night(stage.world, clock, handlers={"stage_a": dream_channel, "stage_b": dream_agent}).make()
    made.model.on(channel_room.PURPOSE, channel_room.everything)
    return made


@pytest_asyncio.fixture(loop_scope="session")
async def console(
    browser: Browser, stage: Stage, server: str, request: pytest.FixtureRequest
) -> AsyncIterator[Console]:
    """The console of the test's own server; ``{owner}`` is Atlas."""
    made = Console(browser=browser, address=server, owner=stage.gid(stage.world.atlas))
    yield made
    await leave(made, request)


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A real `rootward serve` of this run, with the sample story; tests only read it."""

    server: Server
    owner: str

    def token(self, who: str) -> str:
        """Return the token of a person of the sample: ``admin``, ``mei``, ``jonas``."""
        return self.server.cli.token(who)


@pytest.fixture(scope="session")
def sample(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sample]:
    """The server that a newcomer starts."""
    cli = Cli(data_dir=tmp_path_factory.mktemp("sample") / "data")
    with serving(cli, ROOTWARD_CONSOLE__FOLDER=str(built)) as running:
        yield Sample(server=running, owner=first_owner(running))


@pytest_asyncio.fixture(loop_scope="session")
async def sample_console(browser: Browser, sample: Sample, request: pytest.FixtureRequest) -> AsyncIterator[Console]:
    """The console of the sample; ``{owner}`` is Kettle."""
    made = Console(browser=browser, address=sample.server.address, owner=sample.owner)
    yield made
    await leave(made, request)


async def leave(console: Console, request: pytest.FixtureRequest) -> None:
    """Close the browsers of a test; what they complained of fails it."""
    failed = request.node.stash.get(_outcome, False) or bool(console.unexpected)
    await console.leave(re.sub(r"[^\w.-]+", "-", request.node.name), failed=failed)
    assert not console.unexpected, "the browser complained:\n" + "\n".join(console.unexpected)


def first_owner(server: Server) -> str:
    """Return the first agent of a server: of the sample it is Kettle."""
    query = "{ owners { edges { node { id } } } }"
    headers = {"Authorization": f"Bearer {server.cli.token('admin')}"}
    answer: Any = httpx2.post(f"{server.address}/graphql", json={"query": query}, headers=headers, timeout=60).json()
    return str(answer["data"]["owners"]["edges"][0]["node"]["id"])
