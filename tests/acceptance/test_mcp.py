"""Two server processes on one Neo4j, and a client of the protocol that either answers (docs/design.md#interfaces)."""

from __future__ import annotations

import httpx2
import pytest

from api.bootstrap import Ports, build
from api.settings import Settings
from graph.model.nodes.people import Right
from graph.store.neo4j import Neo4jStore
from tests.support.clock import FakeClock
from tests.support.keyring import FixedKeyring
from tests.support.mcp_client import LEGACY, mcp_client, told
from tests.support.memory_client import key
from tests.support.neo4j_store import AUTH
from tests.support.run_client import Runtime
from tests.support.world import TeamWorld

pytestmark = pytest.mark.parametrize("engine", [pytest.param("neo4j", marks=pytest.mark.neo4j)], indirect=True)


async def test_what_one_process_began_another_goes_on_with(
    world: TeamWorld, server: str, settings: Settings, clock: FakeClock, neo4j_uri: str
) -> None:
    await world.say(world.ops, "Helio builds solar kilns.")
    second = build(
        settings,
        ports=Ports(clock=clock, store=Neo4jStore(neo4j_uri, auth=AUTH, clock=clock), keyring=FixedKeyring()),
    )
    async with second.app.router.lifespan_context(second.app), httpx2.AsyncClient(base_url=server) as http:
        writer = await key(http, world, Right.WRITE)
        thread = await Runtime(writer).start()
        await thread.mount("team", (await writer.make()).memory)
        run = await thread.accept()
        file = {"memory": "team", "path": "a.md"}
        async with (
            mcp_client(None, f"/mcp/runs/{run}", writer.token, mode=LEGACY, base=server) as here,
            mcp_client(second.app, f"/mcp/runs/{run}", writer.token) as there,
        ):
            assert "output" in told(await here.call_tool("memory_file_create", {**file, "content": "kind"}))
            edited = {**file, "old_string": "kind", "new_string": "brief"}
            assert told(await there.call_tool("memory_file_edit", edited))["output"]["version"] == 2
            assert told(await here.call_tool("memory_file_view", file))["output"]["content"] == "brief"
            await thread.complete(run)
            assert (await there.list_tools()).tools == []
        found = []
        for app in (None, second.app):
            base = server if app is None else "http://localhost"
            async with mcp_client(app, "/mcp/knowledge", writer.token, base=base) as client:
                found.append(told(await client.call_tool("search", {"query": "kilns", "agent": "Atlas"})))
        assert found[0] == found[1]
        assert "Helio" in found[0]["items"][0]["text"]
