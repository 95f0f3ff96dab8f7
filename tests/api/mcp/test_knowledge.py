"""Tools and resources of knowledge: each answers what the service answers the same viewer, and shows nobody more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from api.mcp.knowledge_shapes import found_json, page_json, trace_json
from api.mcp.shelf import ENTRIES, SOURCES
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.rules.provenance import Direction
from graph.services.access.agents import create_agent
from graph.services.access.commands import command
from graph.services.access.session import Session
from graph.services.knowledge.provenance import provenance
from graph.services.search.browse import memory_browse
from graph.services.search.search import memory_search
from graph.services.search.values import SearchQuestion
from tests.api.mcp.conftest import Connect
from tests.api.mcp.library import PATH, WORDS, Library, call, code
from tests.support.mcp_client import message, post, told
from tests.support.world import TeamWorld

ASKED = ("kilns", "salary", "solar kilns of Helio", "nothing of the kind")


async def test_the_tools_are_search_browse_and_trace_and_change_nothing(connect: Connect, world: TeamWorld) -> None:
    async with connect(PATH, await world.token(world.eve)) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["search", "browse", "trace"]
        for tool in tools:
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            assert tool.input_schema["additionalProperties"] is False
        assert client.server_capabilities.resources is not None
        assert client.server_info is not None
        assert client.server_info.name == "rootward"
        assert "trace" in str(client.instructions)


@pytest.mark.req("KN-8", "KN-60", "KN-61", "RE-6", "RE-34", "KN-79")
@pytest.mark.parametrize("name", ["ana", "ben", "cleo", "dan", "eve"])
async def test_every_tool_answers_what_the_service_answers_the_same_viewer(
    connect: Connect, library: Library, name: str
) -> None:
    world, gid = library.world, library.gid
    who = world.person(name)
    async with connect(PATH, await world.token(who)) as client:
        for query in ASKED:
            question = SearchQuestion(query=query, owner_id=world.atlas)

            async def searched(session: Session, question: SearchQuestion = question) -> Any:
                return found_json(await memory_search(session, question), gid)

            found = await call(client, "search", query=query, **({"agent": "atlas"} if name != "eve" else {}))
            if name == "eve":
                assert code(found) == {"error": "NOT_FOUND"}
            else:
                assert found == await library.ask(who, searched)
        for ref in library.refs:

            async def browsed(session: Session, ref: NodeId = ref) -> Any:
                return page_json(await memory_browse(session, ref), gid)

            assert code(await call(client, "browse", ref=gid(ref))) == await library.ask(who, browsed)
            for way in Direction:

                async def traced(session: Session, ref: NodeId = ref, way: Direction = way) -> Any:
                    return trace_json(await provenance(session, ref, direction=way), gid)

                got = await call(client, "trace", ref=gid(ref), direction=str(way))
                assert code(got) == await library.ask(who, traced)


@pytest.mark.req("KN-60", "KN-61")
async def test_a_second_person_sees_nothing_of_the_firsts_chat(connect: Connect, library: Library) -> None:
    world, gid = library.world, library.gid
    hidden = [gid(library.secret), gid(library.hidden)]
    async with connect(PATH, await world.token(world.ben)) as client:
        listed = await client.list_resources()
        assert [one.uri for one in listed.resources] == [f"{ENTRIES}{gid(library.entry)}"]
        found = await call(client, "search", query="salary")
        around = await call(client, "trace", ref=gid(library.said), direction="downstream")
        for shown in (found, around):
            assert all(ref not in str(shown) and "90k" not in str(shown) for ref in hidden)
        unknown = {name: await call(client, tool, ref="x") for name, tool in (("b", "browse"), ("t", "trace"))}
        for ref in hidden:
            assert await call(client, "browse", ref=ref) == unknown["b"]
            assert await call(client, "trace", ref=ref) == unknown["t"]
        for uri in (f"{SOURCES}{hidden[0]}", f"{ENTRIES}{hidden[1]}", f"{SOURCES}x", "file:///etc/passwd", "x"):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert (refused.value.error.code, refused.value.error.data) == (-32_002, {"code": "NOT_FOUND"})


async def test_a_search_leads_to_who_said_it(connect: Connect, library: Library) -> None:
    world, gid = library.world, library.gid
    async with connect(PATH, await world.token(world.ana)) as client:
        [entry, *_] = (await call(client, "search", query="kilns", max_items=1))["items"]
        assert (entry["ref"], entry["kind"], entry["standing"]) == (gid(library.entry), "entry", "settled")
        [source] = entry["sources"]
        assert (source["ref"], source["quote"]) == (gid(library.said), "builds solar kilns")
        graph = await call(client, "trace", ref=entry["ref"])
        assert (graph["root"], graph["truncated"]) == (entry["ref"], False)
        [link] = [link for link in graph["links"] if link["to"] == gid(library.said) and link.get("quote")][:1]
        assert link["type"] == "CITES"
        [said] = [node for node in graph["nodes"] if node["ref"] == gid(library.said)]
        assert (said["type"], said["kind"], said["label"]) == ("Source", "message", WORDS[0])
        assert said["occurred_at"].endswith("Z")


@asynccontextmanager
async def speaking(connect: Connect, world: TeamWorld, conversation: str) -> AsyncIterator[Client]:
    headers = {"Rootward-Conversation": conversation}
    async with connect(PATH, await world.token(world.atlas), headers=headers) as client:
        yield client


@pytest.mark.req("KN-56")
async def test_an_agent_reads_in_a_conversation_and_in_no_other_way(connect: Connect, library: Library) -> None:
    world, gid = library.world, library.gid
    shared, private = [gid((await world.open(channel)).id) for channel in (world.ops, world.chat)]
    async with connect(PATH, await world.token(world.atlas)) as client:
        for tool, arguments in (("search", {"query": "salary"}), ("browse", {"ref": gid(library.said)})):
            refused = await call(client, tool, **arguments)
            assert refused["error"]["error"] == "BAD_INPUT"
            assert "Rootward-Conversation" in refused["error"]["message"]
    async with speaking(connect, world, private) as client:
        assert WORDS[1] in str(await call(client, "search", query="salary"))
        assert WORDS[1] in str(await call(client, "browse", ref=gid(library.secret)))
    async with speaking(connect, world, shared) as client:
        assert (await call(client, "search", query="salary"))["items"] == []
        assert code(await call(client, "browse", ref=gid(library.secret))) == {"error": "NOT_FOUND"}
        assert code(await call(client, "trace", ref=gid(library.hidden))) == {"error": "NOT_FOUND"}
        assert len((await call(client, "search", query="kilns"))["items"]) == 2
    async with speaking(connect, world, "x") as client:
        assert code(await call(client, "search", query="kilns")) == {"error": "NOT_FOUND"}


async def test_one_of_several_agents_is_named(connect: Connect, library: Library) -> None:
    world, gid = library.world, library.gid
    other = await command(
        world.deps,
        world.caller(world.dan),
        lambda cmd: create_agent(cmd, "Borea", local_id="borea"),
    )
    await world.grant(world.ana, Right.READER, other.id)
    async with connect(PATH, await world.token(world.ana)) as client:
        refused = (await call(client, "search", query="kilns"))["error"]
        assert refused["error"] == "BAD_INPUT"
        named = [(one["name"], one["id"]) for one in refused["details"]["agents"]]
        assert sorted(named) == [("Atlas", gid(world.atlas)), ("Borea", gid(other.id))]
        for agent, count in (("atlas", 2), (gid(world.atlas), 2), ("Borea", 0)):
            assert len((await call(client, "search", query="kilns", agent=agent))["items"]) == count
        assert code(await call(client, "search", query="kilns", agent="Nobody")) == {"error": "NOT_FOUND"}


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("search", {}, "query"),
        ("search", {"query": ""}, "query"),
        ("search", {"query": "x" * 1_001}, "query"),
        ("search", {"query": "x", "max_items": 0}, "max_items"),
        ("search", {"query": "x", "viewer": "Ben"}, "viewer"),
        ("browse", {"ref": 7}, "ref"),
        ("trace", {"ref": "x", "depth": 17}, "depth"),
        ("trace", {"ref": "x", "direction": "sideways"}, "direction"),
    ],
)
async def test_arguments_that_do_not_fit_are_named_to_the_model(
    connect: Connect, world: TeamWorld, tool: str, arguments: dict[str, Any], field: str
) -> None:
    async with connect(PATH, await world.token(world.ana)) as client:
        result = await client.call_tool(tool, arguments)
        assert result.is_error
        assert told(result)["error"]["details"] == {"path": field}
        with pytest.raises(MCPError) as refused:
            await client.call_tool("memory_file_view", {})
        assert refused.value.error.data == {"code": "not_found", "kind": "tool"}


async def test_rights_that_go_count_at_the_next_call(connect: Connect, library: Library) -> None:
    world = library.world
    grant = await world.grant(world.eve, Right.READER, world.atlas)
    async with connect(PATH, await world.token(world.eve)) as client:
        await call(client, "search", query="kilns")
        await world.revoke(grant, world.eve)
        assert code(await call(client, "search", query="kilns")) == {"error": "NOT_FOUND"}


async def test_a_client_that_begins_in_one_version_may_be_answered_in_it(
    library: Library, http: httpx2.AsyncClient
) -> None:
    """The oldest version knows neither structured answers nor hints, and is answered all the same."""
    token = await library.world.token(library.world.ana)
    asked = message("tools/call", name="search", arguments={"query": "kilns"})
    for version in ("2025-03-26", "2025-06-18", "2025-11-25"):
        given = message(
            "initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "x", "version": "1"}
        )
        begun = (await post(http, PATH, token, given)).json()["result"]
        assert begun["protocolVersion"] == version
        answer = await post(http, PATH, token, asked, **{"MCP-Protocol-Version": version})
        assert "Helio" in answer.json()["result"]["content"][0]["text"]
    assert (await post(http, PATH, token, asked, **{"MCP-Protocol-Version": "1999-01-01"})).status_code == 400
