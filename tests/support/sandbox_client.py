"""A client of the routes of sandbox memory, and scripted models by the names that runtimes leave out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2

from dreaming.sandbox.rules import SandboxRules
from graph.model.nodes.people import Right
from rootward.models import Model
from rootward.sandbox.memory import MemoryLimits
from rootward.testing import ScriptedModel
from sandbox_world import merges, notes
from tests.support.memory_client import MemoryClient, key
from tests.support.world import TeamWorld

Json = dict[str, Any]
COMPLETED = {"terminal_state": "completed"}


@dataclass
class Scripted:
    """The two models of a service: `one` extracts, `two` consolidates."""

    one: ScriptedModel = field(default_factory=lambda: ScriptedModel(notes()))
    two: ScriptedModel = field(default_factory=lambda: ScriptedModel(*merges()))
    limits: MemoryLimits = field(default_factory=MemoryLimits)

    @property
    def rules(self) -> SandboxRules:
        """What the service is built with; models that a test sets later count too."""
        return SandboxRules(
            limits=self.limits, models={"gpt-5.4-mini": Told(self, "one"), "gpt-5.4": Told(self, "two")}
        )

    @property
    def calls(self) -> tuple[int, int]:
        """How often each was asked."""
        return len(self.one.requests), len(self.two.requests)


@dataclass
class Told:
    """The model that a script has at present."""

    script: Scripted
    name: str

    async def generate(self, request: Any) -> Any:
        model: Model = getattr(self.script, self.name)
        return await model.generate(request)


def segment(said: str = "Tabs, please.", **members: Any) -> Json:
    """Return a finished run."""
    answer = {"role": "assistant", "content": "Done."}
    return {"input": said, "generated_items": [answer], "terminal_metadata": COMPLETED, **members}


@dataclass
class Sandbox:
    """One session, for one caller."""

    client: MemoryClient
    id: str

    @property
    def base(self) -> str:
        return f"//sandbox-sessions/{self.id}"

    async def send(self, method: str, path: str = "", body: Any = None, **more: Any) -> httpx2.Response:
        return await self.client.send(method, self.base + path, body, **more)

    async def ok(self, method: str, path: str = "", body: Any = None, **more: Any) -> Any:
        return await self.client.ok(method, self.base + path, body, **more)

    async def refused(self, method: str, path: str = "", body: Any = None, **more: Any) -> tuple[int, str, Json]:
        return await self.client.refused(method, self.base + path, body, **more)

    async def record(self, conversation: str = "desk", said: str = "Tabs, please.", **more: Any) -> Json:
        """Record a run, which must succeed."""
        body = {"conversation_id": conversation, "segment": segment(said), **more}
        return dict(await self.ok("POST", "/rollouts", body))

    async def prompt(self, **memory: Any) -> str | None:
        """Begin a run and return what it is told."""
        begun = await self.ok("POST", "/runs", {"memory": memory})
        return None if begun["developer_prompt"] is None else str(begun["developer_prompt"])

    async def close(self) -> Json:
        """Close it and return the report."""
        return dict(await self.ok("POST", "/close"))

    async def layout(self, number: int = 0) -> Json:
        """Close it and return the report of one layout."""
        return dict((await self.close())["layouts"][number])

    async def view(self) -> Json:
        return dict(await self.ok("GET"))

    async def paths(self, prefix: str = "") -> list[str]:
        """Return the paths of all files below a prefix."""
        items = (await self.ok("GET", "/files", prefix=prefix, limit=100))["items"]
        return [item["path"] for item in items]

    async def text(self, path: str) -> str:
        """Return a file."""
        return str((await self.ok("GET", f"/files/{path}"))["content"])

    async def put(self, path: str, content: str, tag: str | None = None) -> str:
        """Write a file and return its tag."""
        return await self.client.tag("PUT", f"{self.base}/files/{path}", {"content": content}, tag=tag)

    async def snapshot(self) -> str:
        """Copy the workspace."""
        return str((await self.ok("POST", "/snapshots"))["id"])

    async def later(self) -> Sandbox:
        """Return a new session that starts as this one is."""
        return await make(self.client, snapshot_id=await self.snapshot())


async def make(client: MemoryClient, entries: Mapping[str, str] | None = None, **body: Any) -> Sandbox:
    """Make a session."""
    files = {path: {"type": "file", "content": content} for path, content in (entries or {}).items()}
    manifest = {"manifest": {"entries": files}} if entries is not None else {}
    made = await client.ok("POST", "//sandbox-sessions", {**manifest, **body})
    return Sandbox(client=client, id=str(made["id"]))


async def sandbox_of(http: httpx2.AsyncClient, world: TeamWorld, verb: Right = Right.WRITE) -> Sandbox:
    """Return a session of somebody with a verb on the workspace."""
    return await make(await key(http, world, verb))
