"""Random messages and arguments give no fault at any endpoint, in either age of the protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as running
from hypothesis import strategies as st
from starlette.routing import Route

from api.bootstrap import Ports, Service, build
from api.errors import INTERNAL_ERROR
from api.mcp.door import Door
from api.rights import TOOLS
from api.settings import Settings
from dreaming.models.making import OneModel
from graph.model.nodes.people import Right
from graph.rules.workspace_ids import outside
from graph.store.memory import MemoryStore
from tests.support.bot_room import BotRoom
from tests.support.bot_talk import BotTalk, calm_model
from tests.support.clock import FakeClock
from tests.support.keyring import FixedKeyring
from tests.support.mcp_client import HERE, MODERN, message, post
from tests.support.profile import sized
from tests.support.run_room import RunRoom
from tests.support.scripted_records import ScriptedRecords
from tests.support.world import TeamWorld

MESSAGES = sized(small=150, full=20_000)
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
NAMES = ["query", "ref", "memory", "path", "content", "text", "agent", "depth", "limit", "cursor", "version", "uri"]
WORDS = ["files", "facts", "a.md", "Atlas", "upstream", "", " ", "\0", "\ud800", "../x", "x" * 1_001, "🚀" * 4_001]
TEXTS = st.one_of(st.text(max_size=12), st.sampled_from(WORDS))
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-1, 3), st.integers(), st.floats(), TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)
METHODS = ["tools/list", "resources/list", "resources/templates/list", "resources/read", "initialize", "ping", "x"]


@st.composite
def asked(draw: st.DrawFn) -> Any:
    """Most are calls of tools that there are, with arguments that may fit."""
    if draw(st.integers(0, 5)) == 0:
        return {"jsonrpc": "2.0", "id": draw(SCALARS), "method": draw(st.sampled_from(METHODS)), "params": draw(VALUES)}
    arguments = draw(st.dictionaries(st.sampled_from(NAMES), st.one_of(SCALARS, TEXTS, TEXTS), max_size=4))
    memory = {"memory": draw(st.sampled_from(["files", "facts"]))}
    return message("tools/call", name=draw(st.sampled_from(sorted(TOOLS))), arguments={**memory, **arguments})


class Fuzzed:
    """One service for all messages; requests run on one loop."""

    def __init__(self, given: Settings) -> None:
        self.loop = asyncio.new_event_loop()
        clock = FakeClock()
        models = OneModel(model=calm_model())
        self.service: Service = build(
            given, ports=Ports(clock=clock, store=MemoryStore(clock=clock), keyring=FixedKeyring(), models=models)
        )
        self.http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=self.service.app), base_url=HERE)
        self.paths, self.token = self.loop.run_until_complete(self._start())

    async def _start(self) -> tuple[list[str], str]:
        await self.service.deps.store.open()
        records = ScriptedRecords()
        for door in [route.endpoint for route in self.service.app.routes if isinstance(route, Route)]:
            if isinstance(door, Door):
                door.kit = replace(door.kit, deps=replace(door.kit.deps, records=records))
        world = await TeamWorld(deps=replace(self.service.deps, records=records)).make()
        room = await RunRoom(world, records).make()
        thread = await room.thread(files=await room.files(), facts=await room.facts())
        run = await room.accept(thread)
        await (await BotTalk(room=await BotRoom(world=world).make(), model=calm_model()).make()).begin("t1")
        await world.grant(world.ana, Right.HOST, world.node)
        await world.say(world.ops, "Helio builds solar kilns.")
        return ["/mcp/knowledge", f"/mcp/runs/{outside(run)}", "/mcp/chats/chat_61"], await world.token(world.ana)

    def send(self, path: str, body: Any, *, modern: bool) -> httpx2.Response:
        headers = {}
        if modern and isinstance(body.get("params"), dict):
            body["params"]["_meta"] = META
            named = str(body["params"].get("name", body["params"].get("uri", "")))
            headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": body["method"], "Mcp-Name": named}
            headers = {name: value.encode("ascii", "ignore").decode() for name, value in headers.items()}
        sent = json.dumps(body).encode()
        return self.loop.run_until_complete(post(self.http, path, self.token, sent, **headers))


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    made = Fuzzed(Settings.model_validate({"data_dir": tmp_path_factory.mktemp("fuzz"), "store": {"url": "memory:"}}))
    yield made
    made.loop.run_until_complete(made.http.aclose())
    made.loop.close()


@pytest.mark.soak
@running(
    max_examples=MESSAGES,
    deadline=None,
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture),
)
@given(place=st.integers(0, 2), body=asked(), modern=st.booleans())
def test_no_message_is_a_fault(fuzzed: Fuzzed, place: int, body: Any, modern: bool) -> None:
    answer = fuzzed.send(fuzzed.paths[place], body, modern=modern)
    assert answer.status_code in (200, 202, 400, 404, 413), answer.text
    if answer.content:
        assert answer.json().get("error", {}).get("code") != INTERNAL_ERROR, answer.text
    assert "unexpected_faults_total{" not in fuzzed.service.figures.render().decode()
