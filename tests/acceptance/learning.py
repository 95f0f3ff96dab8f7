"""What the acceptance tests of learning share: a model that the test puts in, and the room that it works in."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports
from dreaming.models.making import OneModel
from dreaming.models.scripted import ScriptedModel
from graph.store.port import Store
from tests.support.held_clock import HeldClock
from tests.support.keyring import FixedKeyring
from tests.support.learning_room import Json, LearningRoom, Stand
from tests.support.world import TeamWorld


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def stand() -> Stand:
    """The model of the server."""
    return Stand(ScriptedModel())


@pytest.fixture
def ports(store: Store, clock: HeldClock, stand: Stand) -> Ports:
    return Ports(
        clock=clock, store=store, blobs=open_blobs("memory:///"), keyring=FixedKeyring(), models=OneModel(model=stand)
    )


@pytest.fixture
async def room(world: TeamWorld, stand: Stand) -> LearningRoom:
    made = LearningRoom(world)
    stand.inner = made.model
    made.stand = stand
    return made


@pytest.fixture
async def http(server: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=server, timeout=600) as client:
        yield client


@dataclass
class AgentClient:
    """A client of the routes of Atlas' memory with a token; without one if it is empty."""

    http: httpx2.AsyncClient
    token: str
    agent: str = "atlas"

    async def get(self, path: str = "", **query: Any) -> httpx2.Response:
        return await self.http.get(f"{self._path}{path}", params=query, headers=self._headers)

    async def send(self, body: Any) -> httpx2.Response:
        return await self.http.post(self._path, json=body, headers=self._headers)

    async def memory(self) -> Json:
        """Return the memory."""
        answer = await self.get()
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def try_(self, expected: int, tag: str, **fields: Any) -> tuple[int, Json]:
        """Send a command and return the state and body of the answer."""
        answer = await self.send({"expected": expected, "command": {"_tag": tag, **fields}})
        return answer.status_code, dict(answer.json())

    async def log(self, **query: Any) -> list[Json]:
        """Return rows of the log."""
        answer = await self.get("/log", **query)
        assert answer.status_code == 200, answer.text
        return list(answer.json()["changes"])

    @property
    def _path(self) -> str:
        return f"/v1/agents/{self.agent}/memory"

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}
