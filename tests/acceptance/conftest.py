"""The acceptance examples of the knowledge contract, asked of a real server over a loopback port, on both stores."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports
from graph.store.port import Store
from tests.acceptance.stage import ScriptedReranker, Stage
from tests.api.clients import GraphQLClient
from tests.api.conftest import clock, engine, server, service, settings, store, world
from tests.support.clock import FakeClock
from tests.support.world import TeamWorld

__all__ = ["clock", "engine", "server", "service", "settings", "store", "world"]


@pytest.fixture
def reranker() -> ScriptedReranker:
    """An outside reranker that is asked only if `rerank.provider` names it."""
    return ScriptedReranker()


@pytest.fixture
def ports(store: Store, clock: FakeClock, reranker: ScriptedReranker) -> Ports:
    return Ports(clock=clock, store=store, blobs=open_blobs("memory:///"), reranker=reranker)


@pytest.fixture
async def stage(world: TeamWorld, clock: FakeClock, server: str) -> AsyncIterator[Stage]:
    """A team, a channel and a private chat, and a client for each of them."""
    async with httpx2.AsyncClient(base_url=server, timeout=600) as http:
        yield await Stage(world=world, clock=clock, client=GraphQLClient(http=http)).make()
