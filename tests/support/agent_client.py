"""A client of the REST routes of an agent's memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx2

Json = dict[str, Any]


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
