"""Endpoints in this process, asked by the SDK's own client in both ages of the protocol, or message by message."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx2
import pytest
from mcp import Client

from api.bootstrap import Service
from graph.model.ids import NodeId
from tests.api.mcp.library import Library, make_library
from tests.support.mcp_client import HERE, LEGACY, mcp_client
from tests.support.world import TeamWorld

Connect = Callable[..., AbstractAsyncContextManager[Client]]


@pytest.fixture(params=[LEGACY, "auto"])
def mode(request: pytest.FixtureRequest) -> str:
    """With a handshake, as clients of today; or without one, as the newest version of the protocol has it."""
    return str(request.param)


@pytest.fixture
def connect(service: Service, mode: str) -> Connect:
    """Return what connects to an endpoint: ``connect(path, token)``."""

    def connected(path: str, token: str, **more: Any) -> AbstractAsyncContextManager[Client]:
        return mcp_client(service.app, path, token, mode=mode, **more)

    return connected


@pytest.fixture
async def http(service: Service) -> AsyncIterator[httpx2.AsyncClient]:
    """The service under a name of this machine, as the check of hosts wants it."""
    transport = httpx2.ASGITransport(app=service.app, client=("203.0.113.7", 50_000))
    async with httpx2.AsyncClient(transport=transport, base_url=HERE) as client:
        yield client


@pytest.fixture
async def library(world: TeamWorld, gid: Callable[[NodeId], str]) -> Library:
    return await make_library(world, gid)
