"""The service behind its transports: in this process for the many, on a real port for a few.

`engine` is ``memory`` unless a test module asks for others with
``pytestmark = pytest.mark.parametrize("engine", ENGINES, indirect=True)``.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx2
import pytest
import uvicorn

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports, Service, build
from api.graphql.handshake import Sockets
from api.settings import Settings
from graph.model.ids import GlobalId, NodeId
from graph.model.schema import kind_of
from graph.store.embedded import EmbeddedStore
from graph.store.memory import MemoryStore
from graph.store.neo4j import Neo4jStore
from graph.store.port import Store
from tests.api.clients import GraphQLClient
from tests.support.clock import FakeClock
from tests.support.keyring import FixedKeyring
from tests.support.world import TeamWorld


class AnnouncedServer(uvicorn.Server):
    """A server that says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()


ENGINES = ("memory", "embedded", pytest.param("neo4j", marks=pytest.mark.neo4j))


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.model_validate({"data_dir": tmp_path, "store": {"url": "memory:"}})


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    return str(getattr(request, "param", "memory"))


@pytest.fixture
def store(engine: str, request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Store:
    """The store under the service, not opened yet."""
    if engine == "neo4j":
        return Neo4jStore(request.getfixturevalue("neo4j_uri"), auth=("neo4j", "password"), clock=clock)
    if engine == "embedded":
        return EmbeddedStore(tmp_path / "graph.db", clock=clock)
    return MemoryStore(clock=clock)


@pytest.fixture
def ports(store: Store, clock: FakeClock) -> Ports:
    return Ports(clock=clock, store=store, blobs=open_blobs("memory:///"), keyring=FixedKeyring())


@pytest.fixture
async def service(settings: Settings, ports: Ports) -> AsyncIterator[Service]:
    """The wired service, its store open."""
    made = build(settings, ports=ports)
    async with made.app.router.lifespan_context(made.app):
        yield made


@pytest.fixture
async def world(service: Service) -> TeamWorld:
    return await TeamWorld(deps=service.deps).make()


@pytest.fixture
async def http(service: Service) -> AsyncIterator[httpx2.AsyncClient]:
    transport = httpx2.ASGITransport(app=service.app, client=("203.0.113.7", 50_000))
    async with httpx2.AsyncClient(transport=transport, base_url="http://rootward.test") as client:
        yield client


@pytest.fixture
async def client(http: httpx2.AsyncClient) -> GraphQLClient:
    """Nobody yet; `client.as_(token)` is somebody."""
    return GraphQLClient(http=http)


@pytest.fixture
async def ana(client: GraphQLClient, world: TeamWorld) -> GraphQLClient:
    return client.as_(await world.token(world.ana))


@pytest.fixture
async def ben(client: GraphQLClient, world: TeamWorld) -> GraphQLClient:
    return client.as_(await world.token(world.ben))


@pytest.fixture
async def cleo(client: GraphQLClient, world: TeamWorld) -> GraphQLClient:
    return client.as_(await world.token(world.cleo))


@pytest.fixture
async def dan(client: GraphQLClient, world: TeamWorld) -> GraphQLClient:
    return client.as_(await world.token(world.dan))


@pytest.fixture
async def eve(client: GraphQLClient, world: TeamWorld) -> GraphQLClient:
    return client.as_(await world.token(world.eve))


@pytest.fixture
async def host(client: GraphQLClient, world: TeamWorld) -> GraphQLClient:
    return client.as_(await world.token(world.host))


@pytest.fixture
def gid(world: TeamWorld) -> Callable[[NodeId], str]:
    """Return what a client sees of an internal id."""

    def encode(node: NodeId) -> str:
        spec = kind_of(node)
        assert spec is not None
        return GlobalId(kind=spec.name, workspace=world.workspace, node=node).encode()

    return encode


@pytest.fixture
async def server(service: Service) -> AsyncIterator[str]:
    """The address of a real server on a free loopback port; the store is the one of `service`."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(service.app, lifespan="off", log_config=None, ws=Sockets)
    running = AnnouncedServer(config)
    task = asyncio.create_task(running.serve(sockets=[listener]))
    await running.ready.wait()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        running.should_exit = True
        await task


@pytest.fixture
async def real_client(server: str) -> AsyncIterator[GraphQLClient]:
    """The same client over a real socket."""
    async with httpx2.AsyncClient(base_url=server) as http:
        yield GraphQLClient(http=http)
