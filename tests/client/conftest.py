"""A service on a loopback port, and the library's two clients of it.

A test is written once and run with both clients: what waits in a thread is run in one, so that the server goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from graph.model.ids import NodeId
from rootward.service import AsyncClient, Client
from tests.api.conftest import clock, engine, gid, ports, server, service, settings, store, world

__all__ = ["clock", "engine", "gid", "ports", "server", "service", "settings", "store", "world"]


@dataclass(frozen=True)
class Caller:
    """Somebody with a token and one of the two clients; call operations as ``await ana(ana.sessions.read, "s1")``."""

    client: Any

    def __getattr__(self, surface: str) -> Any:
        return getattr(self.client, surface)

    async def __call__(self, operation: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if isinstance(self.client, AsyncClient):
            return await operation(*args, **kwargs)
        return await asyncio.to_thread(operation, *args, **kwargs)


As = Callable[[str], Caller]
Gid = Callable[[NodeId], str]


@pytest.fixture(params=["threads", "tasks"])
async def as_(request: pytest.FixtureRequest, server: str) -> AsyncIterator[As]:
    """Return who has a token."""
    async with AsyncExitStack() as open_clients:

        def made(token: str) -> Caller:
            if request.param == "threads":
                client = Client(server, token)
                open_clients.callback(client.close)
                return Caller(client)
            waiting = AsyncClient(server, token)
            open_clients.push_async_callback(waiting.close)
            return Caller(waiting)

        yield made
