"""The client of a service: one for threads, one for tasks, with the same operations."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

import httpx2

from rootward.service import graphql
from rootward.service.agents import Agents, AsyncAgents
from rootward.service.bots import AsyncBots, Bots
from rootward.service.chats import AsyncChats, Chats
from rootward.service.files import AsyncFiles, Files
from rootward.service.host import AsyncHost, Host
from rootward.service.memories import AsyncMemories, Memories
from rootward.service.operations import AsyncSurface, SyncSurface
from rootward.service.records import AsyncProviders, AsyncRecords, Providers, Records
from rootward.service.retries import Retries
from rootward.service.runs import AsyncRuns, Runs
from rootward.service.sandboxes import AsyncSandboxes, Sandboxes
from rootward.service.sessions import AsyncSessions, Sessions
from rootward.service.threads import AsyncThreads, Threads
from rootward.service.transport import AsyncSender, Sender

TIMEOUT_S = 60.0


class ClientOperations:
    """What a client does without a surface."""

    execute = graphql.execute


class Client(ClientOperations, SyncSurface):
    """A service at an address, waiting in the thread.

    Args:
        base_url: such as ``https://rootward.example``; without ``/v1``.
        token: ``rw_…``; who asks, and in which workspace.
        http: an HTTP client of yours, for certificates and proxies; you close it.
        retries: when to send again.
        sleep: waits between tries.

    Every operation raises `ServiceError` where the service does not do what was asked.

    Raises:
        ValueError: the address or the token cannot be one.
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        timeout_s: float = TIMEOUT_S,
        retries: Retries | None = None,
        http: httpx2.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._own = httpx2.Client(timeout=timeout_s) if http is None else None
        used = http or self._own
        assert used is not None, "one of the two"
        super().__init__(Sender(base_url, token, used, retries or Retries(), sleep))
        self.sessions = Sessions(self.sender)
        self.agents = Agents(self.sender)
        self.bots = Bots(self.sender)
        self.chats = Chats(self.sender)
        self.memories = Memories(self.sender)
        self.files = Files(self.sender)
        self.providers = Providers(self.sender)
        self.records = Records(self.sender)
        self.threads = Threads(self.sender)
        self.runs = Runs(self.sender)
        self.sandboxes = Sandboxes(self.sender)
        self.host = Host(self.sender)

    def close(self) -> None:
        """Close the connections."""
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(ClientOperations, AsyncSurface):
    """A service at an address, waiting in the task; arguments as `Client`."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        timeout_s: float = TIMEOUT_S,
        retries: Retries | None = None,
        http: httpx2.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._own = httpx2.AsyncClient(timeout=timeout_s) if http is None else None
        used = http or self._own
        assert used is not None, "one of the two"
        super().__init__(AsyncSender(base_url, token, used, retries or Retries(), sleep))
        self.sessions = AsyncSessions(self.sender)
        self.agents = AsyncAgents(self.sender)
        self.bots = AsyncBots(self.sender)
        self.chats = AsyncChats(self.sender)
        self.memories = AsyncMemories(self.sender)
        self.files = AsyncFiles(self.sender)
        self.providers = AsyncProviders(self.sender)
        self.records = AsyncRecords(self.sender)
        self.threads = AsyncThreads(self.sender)
        self.runs = AsyncRuns(self.sender)
        self.sandboxes = AsyncSandboxes(self.sender)
        self.host = AsyncHost(self.sender)

    async def close(self) -> None:
        """Close the connections."""
        if self._own is not None:
            await self._own.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
