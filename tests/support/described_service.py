"""A small workspace behind every REST route, on the embedded store in this process: one of all that paths can name."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import requests

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports, Service, build
from api.settings import Settings
from graph.model.ids import GlobalId, NodeId
from graph.model.nodes.people import Right
from graph.store.embedded import EmbeddedStore
from tests.api.clients import GraphQLClient
from tests.support.bot_room import BotRoom, Rest
from tests.support.clock import FakeClock
from tests.support.keyring import FixedKeyring
from tests.support.mem0_server import Mem0Server
from tests.support.memory_client import MemoryClient, allow
from tests.support.record_room import RecordRoom, wire_to
from tests.support.run_client import Runtime
from tests.support.session_room import SessionRoom
from tests.support.world import TeamWorld

BASE = "http://rootward.test"
_FILE = "/api/v1/memories/{memory_id}/files/{path}"
_SUBMIT = """mutation($owner: ID!, $kb: ID!, $file: Upload!) {
  submitFile(ownerId: $owner, kbId: $kb, file: $file) { source { downloadPath } }
}"""
_REMEMBER = {"_tag": "Remember", "content": "Write it."}


class DescribedService:
    """One service for all requests, which run on one loop.

    Attributes:
        document: the reference as the service serves it.
    """

    def __init__(self, folder: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self._stack = AsyncExitStack()
        self._numbers = count()
        self.loop.run_until_complete(self._start(folder))

    def close(self) -> None:
        """Stop the service."""
        self.loop.run_until_complete(self._stack.aclose())
        self.loop.close()

    def ids(self, path: str) -> dict[str, str]:
        """Return ids of what is there for the holes of a path, percent-encoded."""
        part = next((name for name in self._other_ids if name in path), "")
        found = {**self._ids, **self._other_ids.get(part, {})}
        return {name: quote(id_, safe="") for name, id_ in found.items() if f"{{{name}}}" in path}

    def token(self, path: str) -> str:
        """Return the token of somebody who may do everything at a path."""
        return next((token for start, token in self._tokens.items() if path.startswith(start)), self._tokens["/"])

    def fitting(self, path: str, names: Collection[str]) -> dict[str, Any]:
        """Return values that can succeed for fields of a body, as far as such names are known."""
        return {name: value for name, value in self._fields(path).items() if name in names}

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self._clock.advance(timedelta(seconds=seconds))

    def tag(self, path: str) -> str | None:
        """Return the tag of what a path means at present: of itself, else of the nearest thing above it."""
        path = _FILE if path.endswith(("/files/move", "/restore")) else path
        found = self._get(path).headers.get("etag")
        above = path.rpartition("/")[0]
        return found if found is not None or above.count("/") < 4 else self.tag(above)

    def send(self, prepared: requests.PreparedRequest) -> httpx2.Response:
        """Send a request."""
        body: Any = prepared.body.encode() if isinstance(prepared.body, str) else prepared.body
        headers: Any = dict(prepared.headers)
        sent = self._http.request(str(prepared.method), str(prepared.url), headers=headers, content=body)
        return self.loop.run_until_complete(sent)

    def url(self, path: str) -> str:
        """Return where the thing that a path means is."""
        return f"{BASE}{path.format_map(self.ids(path))}"

    def _get(self, path: str) -> httpx2.Response:
        headers = {"Authorization": f"Bearer {self.token(path)}"}
        return self.send(requests.Request("GET", self.url(path), headers=headers).prepare())

    def _fields(self, path: str) -> Mapping[str, Any]:
        """Return what can succeed, by the name of the field."""
        number = next(self._numbers)
        if path.startswith("/v1/"):
            return self._edit(path, number)
        if path.endswith("/files/move"):
            here, self._ids["path"] = self._ids["path"], f"moved/{number}.md"
            return {"source": here, "destination": self._ids["path"]}
        kind = {"type": "mem0_oss", "config": self._config} if "providers" in path else {"type": "postgres"}
        call = {"memory": "team", "path": f"called/{number}.md", "content": "x"}
        return {
            "name": f"desk-{number}",
            "path": f"notes/{number}.md",
            "content": f"{number}\n",
            "tool_call_id": f"call-{number}",
            "arguments": call,
            "memory_id": self._spare,
            "agent_id": self._ids["agent_id"],
            "credential": {"api_key": "own-key"},
            "access": "read",
            "status": "completed",
            "enabled": True,
            "limit": 5,
            "manifest": {"entries": {"README.md": {"type": "file", "content": "# Desk"}}},
            "snapshot_id": self._ids["snapshot_id"],
            "memory": {"layout": {"memories_dir": "memories"}},
            "segment": {"input": "Tabs, please.", "terminal_metadata": {"terminal_state": "completed"}},
            "conversation_id": "desk",
            **dict.fromkeys(("guide", "description", "provider_id", "namespace", "parent_run_id")),
            **{name: [] for name in ("memories", "memory_mounts", "always_load")},
            **{name: {} for name in ("labels", "toolsets")},
            **dict.fromkeys(("input", "text", "query"), "Prefers tabs."),
            **kind,
        }

    def _edit(self, path: str, number: int) -> Mapping[str, Any]:
        """Return a command on what is there at present."""
        if "sessions" in path:
            seen = self._get(path.removesuffix("/memory")).json()["session"]
            command = {**_REMEMBER, "key": f"k{number}", "kind": "procedure"}
            return {"expected": seen["head"], "revision": seen["revision"], "command": command}
        named = {"key": f"k{number}", "kind": "procedure"} if "agents" in path else {}
        seen = self._get(path).json() if not path.endswith("/purge") else {}
        settings = {"instructions": "Be brief.", "concurrency": 2, "budget": None}
        return {"expected": seen.get("version"), "command": {**_REMEMBER, **named}, "tag": "from:u_1", **settings}

    async def _start(self, folder: Path) -> None:
        self._clock = clock = FakeClock()
        mem0 = await self._stack.enter_async_context(Mem0Server(key="own-key"))
        ports = Ports(
            clock=clock,
            store=EmbeddedStore(folder / "graph.db", clock=clock),
            blobs=open_blobs("memory:///"),
            keyring=FixedKeyring(),
            record_wire=wire_to(mem0),
        )
        service = build(Settings.model_validate({"data_dir": folder, "store": {"url": "memory:"}}), ports=ports)
        await self._stack.enter_async_context(service.app.router.lifespan_context(service.app))
        transport = httpx2.ASGITransport(app=service.app)
        self._http = await self._stack.enter_async_context(httpx2.AsyncClient(transport=transport, base_url=BASE))
        self.document = dict((await self._http.get("/openapi.json")).json())
        world = await TeamWorld(deps=service.deps).make()
        await self._hosted(service, world)
        await self._workspace(world, mem0)
        await self._material(world)

    async def _hosted(self, service: Service, world: TeamWorld) -> None:
        """Write a session, an agent's memory, a bot and its chat."""
        for right in (Right.WRITE, Right.ADMIN):
            await allow(world, world.ana, right)
        await world.grant(world.ana, Right.WRITE, world.atlas)
        room = SessionRoom(world)
        await room.start()
        bots = await BotRoom(world=world).make()
        await bots.fact("Prefers tabs.")
        owner = await bots.token("u_9")
        self._tokens = {"/v1/bots": owner, "/v1/chats": await bots.token("u_1"), "/": await world.token(world.ana)}
        await Rest(http=self._http, token=owner).remember("Prefers tabs.")
        self._ids = {"agentId": "atlas", "botId": "bot_9", "chatId": "chat_61", "sessionId": "ses_41"}

    async def _workspace(self, world: TeamWorld, mem0: Mem0Server) -> None:
        """Write a file memory, a record memory, and a thread with an agent and a run."""
        ana = MemoryClient(http=self._http, token=self._tokens["/"])
        team = await ana.make()
        await team.put("notes/style.md", "zh\n", await team.write("notes/style.md", "en\n"))
        self._spare = (await ana.make()).memory
        records = RecordRoom(world=world, server=mem0, ana=ana)
        self._config = {"base_url": mem0.url}
        provider = await records.provider()
        facts = await records.memory(provider)
        record = await facts.ok("POST", "/records", {"text": "Prefers tabs."})
        thread = await Runtime(ana).start()
        await thread.mount("team", team.memory)
        self._ids |= {"memory_id": team.memory, "path": "notes/style.md", "seq": "2", "provider_id": provider}
        self._ids |= {"thread_id": thread.thread, "name": "team", "run_id": await thread.accept()}
        self._ids |= {"agent_id": thread.agent, "tool_name": "memory_file_create"}
        self._other_ids = {"/records": {"memory_id": facts.memory, "record_id": str(record["id"])}}
        await self._sandbox(ana)

    async def _sandbox(self, ana: MemoryClient) -> None:
        """Make a sandbox session with a file, and a snapshot of it."""
        entry = {"type": "file", "content": "en\n"}
        made = await ana.ok("POST", "//sandbox-sessions", {"manifest": {"entries": {"notes/style.md": entry}}})
        snapshot = await ana.ok("POST", f"//sandbox-sessions/{made['id']}/snapshots")
        closing = await ana.ok("POST", "//sandbox-sessions", {})
        self._ids |= {"session_id": made["id"], "snapshot_id": snapshot["id"]}
        self._other_ids["/close"] = {"session_id": closing["id"]}
        self._other_ids["/sandbox-sessions"] = {"path": "notes/style.md"}

    async def _material(self, world: TeamWorld) -> None:
        """Upload a file."""
        conversation = await world.open(world.chat)
        owner, base = (
            GlobalId(kind=kind, workspace=world.workspace, node=NodeId(str(node))).encode()
            for kind, node in (("Principal", world.atlas), ("KnowledgeBase", conversation.pool))
        )
        ana = GraphQLClient(http=self._http).as_(self._tokens["/"])
        answer = await ana.upload(_SUBMIT, "notes.txt", b"Lin likes tea.\n", owner=owner, kb=base)
        self._ids["id"] = answer.data["submitFile"]["source"]["downloadPath"].rpartition("/")[2]
