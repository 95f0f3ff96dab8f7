"""A client of the routes of workspace memory, and keys with the verbs of the contract.

`MemoryClient` remembers nothing but its token; tests hand tags on themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import httpx2

from graph.model.ids import NodeId, node_id
from graph.model.nodes.people import Grant, Right
from graph.model.nodes.workspace import WorkspaceMemory
from graph.rules.workspace_ids import inside
from graph.services.access.commands import Command, command
from graph.services.access.grants import grant
from tests.support.world import TeamWorld

Json = dict[str, Any]
BASE = "/api/v1"


@dataclass
class MemoryClient:
    """Speaks to the routes under /api/v1 with a token; without one if it is empty."""

    http: httpx2.AsyncClient
    token: str
    memory: str = ""
    """The memory that relative paths mean."""

    def within(self, memory: str) -> MemoryClient:
        """Return the same client for another memory."""
        return replace(self, memory=memory)

    async def send(
        self, method: str, path: str, body: Any = None, /, *, tag: str | None = None, **query: Any
    ) -> httpx2.Response:
        """Send a request; `path` is that of the memory if it has no ``/`` in front of ``memories`` or others."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if tag is not None:
            headers["If-Match"] = tag
        sent = {} if body is None else {"json": body}
        return await self.http.request(method, self._url(path), headers=headers, params=query or None, **sent)

    async def ok(self, method: str, path: str, body: Any = None, /, *, tag: str | None = None, **query: Any) -> Any:
        """Send a request that must succeed and return the body of the answer."""
        answer = await self.send(method, path, body, tag=tag, **query)
        assert answer.status_code < 300, (answer.status_code, answer.text)
        return answer.json() if answer.content else None

    async def tag(self, method: str, path: str, body: Any = None, /, *, tag: str | None = None) -> str:
        """Send a request that must succeed and return the ETag of the answer."""
        answer = await self.send(method, path, body, tag=tag)
        assert answer.status_code < 300, (answer.status_code, answer.text)
        return str(answer.headers["etag"])

    async def refused(
        self, method: str, path: str, body: Any = None, /, *, tag: str | None = None, **query: Any
    ) -> tuple[int, str, Json]:
        """Send a request that must be refused; return status, code and details."""
        answer = await self.send(method, path, body, tag=tag, **query)
        assert answer.status_code >= 400, (answer.status_code, answer.text)
        error = answer.json()["error"]
        assert set(error) == {"code", "message", "details", "request_id"}
        assert error["request_id"] == answer.headers["rootward-request-id"], "the log knows it by this id"
        return answer.status_code, error["code"], error["details"]

    async def make(self, **fields: Any) -> MemoryClient:
        """Make a file memory and return a client of it."""
        made = await self.ok("POST", "//memories", {"name": "Team", **fields})
        return self.within(made["id"])

    async def write(self, path: str, content: str) -> str:
        """Make a file and return its tag."""
        return await self.tag("POST", "/files", {"path": path, "content": content})

    async def put(self, path: str, content: str, tag: str) -> str:
        """Replace a file and return its new tag."""
        return await self.tag("PUT", f"/files/{path}", {"content": content}, tag=tag)

    async def view(self) -> Json:
        """Return the memory."""
        return dict(await self.ok("GET", ""))

    async def revisions(self, **query: Any) -> list[Json]:
        """Return the newest changes."""
        return list((await self.ok("GET", "/revisions", **query))["items"])

    def _url(self, path: str) -> str:
        """Return where a path is: ``//memories`` under the base, else in the memory of the client."""
        return f"{BASE}/{path[2:]}" if path.startswith("//") else f"{BASE}/memories/{self.memory}{path}"


async def allow(world: TeamWorld, who: NodeId, verb: Right, memory: str | None = None) -> Grant:
    """Let a principal do something in the whole workspace, or with one memory (by the id that clients see)."""
    object_id = world.node if memory is None else inside(WorkspaceMemory.PREFIX, memory)

    async def work(cmd: Command) -> Grant:
        return await grant(cmd, who, verb, object_id or node_id("nil", ""))

    return await command(world.deps, world.caller(world.dan), work)


async def key(http: httpx2.AsyncClient, world: TeamWorld, verb: Right) -> MemoryClient:
    """Return a client of a principal of his own for each verb."""
    who = {Right.WRITE: world.ana, Right.RUN: world.ben, Right.READ: world.cleo}[verb]
    await allow(world, who, verb)
    return MemoryClient(http=http, token=await world.token(who))
