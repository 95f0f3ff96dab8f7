"""A service whose store fails at a chosen call: what a surface answers then, and what is left behind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2

from api.bootstrap import Ports, Service, build
from api.settings import Settings
from graph.store.memory import MemoryStore
from tests.support.clock import FakeClock
from tests.support.faults import FaultyStore, PlannedFault, fail_at
from tests.support.keyring import FixedKeyring


@dataclass(frozen=True, kw_only=True)
class FailingService:
    """A service in this process, over a store that fails as `faults` say."""

    service: Service
    http: httpx2.AsyncClient
    store: FaultyStore
    faults: list[PlannedFault]

    async def refusals(
        self, ask: Callable[[], Awaitable[httpx2.Response]], left: Callable[[], Awaitable[object]]
    ) -> tuple[int, httpx2.Response]:
        """Ask with a later call of the store failing each time until none does.

        Each refusal says 503 and when to come back, and leaves what `left` reads as it was.

        Returns:
            How often it was refused, and the answer at last.
        """
        before, refused = await left(), 0
        while True:
            self.faults[:] = [fail_at(len(self.store.calls) + refused + 1)]
            answer = await ask()
            self.faults.clear()
            if answer.status_code == 200:
                return refused, answer
            refused += 1
            assert (answer.status_code, answer.json()["_tag"]) == (503, "Unavailable")
            assert answer.headers["Retry-After"]
            assert await left() == before


@asynccontextmanager
async def failing_service(settings: Settings, clock: FakeClock) -> AsyncIterator[FailingService]:
    """Give such a service; no fault is planned yet."""
    faults: list[PlannedFault] = []
    store = FaultyStore(MemoryStore(clock=clock), faults)
    service = build(settings, ports=Ports(clock=clock, store=store, keyring=FixedKeyring()))
    transport = httpx2.ASGITransport(app=service.app)
    async with (
        service.app.router.lifespan_context(service.app),
        httpx2.AsyncClient(transport=transport, base_url="http://rootward.test") as http,
    ):
        yield FailingService(service=service, http=http, store=store, faults=faults)
