"""A thread and its runs as the runtime of an agent drives them over the routes (MT-28)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.support.memory_client import Json, MemoryClient


@dataclass
class Runtime:
    """Drives runs of one thread; remembers the tag of the thread that it saw last."""

    client: MemoryClient
    thread: str = ""
    tag: str = ""
    agent: str = ""
    _calls: int = field(default=0)

    async def start(self, **fields: Any) -> Runtime:
        """Make a thread and return what drives it, with the same agent."""
        answer = await self.client.send("POST", "//threads", fields)
        assert answer.status_code == 201, answer.text
        return Runtime(self.client, answer.json()["id"], answer.headers["etag"], self.agent)

    async def mount(self, name: str, memory: str, access: str = "write", **fields: Any) -> Json:
        """Mount a memory, which must succeed."""
        body = {"name": name, "memory_id": memory, "access": access, **fields}
        answer = await self.client.send("POST", self.path("/memories"), body, tag=self.tag)
        assert answer.status_code == 201, answer.text
        self.tag = answer.headers["etag"]
        return dict(answer.json())

    async def mounts(self) -> list[str]:
        """Return the names of the mounts and remember the tag."""
        answer = await self.client.send("GET", self.path("/memories"))
        assert answer.status_code == 200, answer.text
        self.tag = answer.headers["etag"]
        assert answer.json()["next_cursor"] is None
        return [mount["name"] for mount in answer.json()["items"]]

    async def new_agent(self, **fields: Any) -> str:
        """Make an agent that runs are accepted for, and return its id."""
        self.agent = (await self.client.ok("POST", "//agents", {"name": "Scout", **fields}))["id"]
        return self.agent

    async def accept(self, text: str = "Go on.") -> str:
        """Accept a run and return its id."""
        if not self.agent:
            await self.new_agent()
        run = await self.client.ok("POST", self.path("/runs"), {"agent_id": self.agent, "input": text})
        return str(run["id"])

    async def attempt(self, run: str) -> Json:
        """Start an attempt."""
        return dict(await self.client.ok("POST", f"//runs/{run}/attempts", {}))

    async def complete(self, run: str, status: str = "completed") -> None:
        """End a run."""
        await self.client.ok("POST", f"//runs/{run}/complete", {"status": status})

    async def run(self, text: str = "Go on.") -> Json:
        """Accept a run, start it, complete it, and return what it was given."""
        run = await self.accept(text)
        given = await self.attempt(run)
        await self.complete(run)
        return given

    async def call(self, run: str, tool: str, /, **arguments: Any) -> Json:
        """Call a tool of a run under a new id and return its answer."""
        self._calls += 1
        body = {"tool_call_id": f"call-{self._calls}", "arguments": arguments}
        return dict(await self.client.ok("POST", f"//runs/{run}/tools/{tool}", body))

    def path(self, rest: str = "") -> str:
        """Return a path of the thread, as the client takes it."""
        return f"//threads/{self.thread}{rest}"
