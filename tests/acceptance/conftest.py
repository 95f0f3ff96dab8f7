"""The acceptance examples of the knowledge contract, asked of a real server over a loopback port, on both stores."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports
from dreaming.stage_a import dream_channel
from dreaming.stage_b import dream_agent
from graph.store.port import Store
from tests.acceptance.stage import ScriptedReranker, Stage
from tests.api.clients import GraphQLClient
from tests.api.conftest import clock, engine, server, service, settings, store, world
from tests.support import channel_room
from tests.support.bot_room import BotRoom, Rest
from tests.support.clock import FakeClock
from tests.support.held_clock import HeldClock
from tests.support.keyring import FixedKeyring
from tests.support.neo4j_store import wipe
from tests.support.night import Night
from tests.support.world import TeamWorld

__all__ = ["clock", "engine", "server", "service", "settings", "store", "world"]


@pytest.fixture
def reranker() -> ScriptedReranker:
    """An outside reranker that is asked only if `rerank.provider` names it."""
    return ScriptedReranker()


@pytest.fixture
def ports(store: Store, clock: FakeClock, reranker: ScriptedReranker) -> Ports:
    return Ports(clock=clock, store=store, blobs=open_blobs("memory:///"), reranker=reranker, keyring=FixedKeyring())


@pytest.fixture
async def stage(world: TeamWorld, clock: FakeClock, server: str) -> AsyncIterator[Stage]:
    """A team, a channel and a private chat, and a client for each of them."""
    async with httpx2.AsyncClient(base_url=server, timeout=600) as http:
        yield await Stage(world=world, clock=clock, client=GraphQLClient(http=http)).make()


@pytest.fixture
def alone(engine: str, request: pytest.FixtureRequest) -> None:
    """Wipe the shared server: a worker takes the jobs of every workspace, and none of other tests may be left."""
    if engine == "neo4j":
        asyncio.run(wipe(request.getfixturevalue("neo4j_uri")))


@pytest.fixture
async def night(stage: Stage, clock: HeldClock) -> Night:
    """Both stages of Atlas; Stage A makes one episode of everything. The test's `clock` is a held one."""
    night = await Night(stage.world, clock, handlers={"stage_a": dream_channel, "stage_b": dream_agent}).make()
    night.model.on(channel_room.PURPOSE, channel_room.everything)
    return night


@pytest.fixture
async def http(server: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=server, timeout=600) as client:
        yield client


@pytest.fixture
async def u_1(room: BotRoom, http: httpx2.AsyncClient) -> Rest:
    return Rest(http=http, token=await room.token("u_1"))


@pytest.fixture
async def u_2(room: BotRoom, http: httpx2.AsyncClient) -> Rest:
    return Rest(http=http, token=await room.token("u_2"))


@pytest.fixture
async def u_9(room: BotRoom, http: httpx2.AsyncClient) -> Rest:
    return Rest(http=http, token=await room.token("u_9"))
