"""The one tool of a bot over MCP: what it is called, whom it answers, and that nothing tells where it leads."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports
from api.errors import DENIED
from api.mcp.chats import PLAIN
from dreaming.bots.confide_tool import CALM_ANSWER, DESCRIPTION, NAME, SCHEMA
from dreaming.models.making import OneModel
from dreaming.models.scripted import ScriptedModel
from graph.model.errors import BadState
from graph.model.nodes.people import Right
from graph.store.port import Store
from tests.api.mcp.conftest import Connect
from tests.support.bot_room import BotRoom
from tests.support.bot_talk import CONFIDE, BotTalk, calm_model
from tests.support.clock import FakeClock
from tests.support.keyring import FixedKeyring
from tests.support.mcp_client import message, named, post, told
from tests.support.world import TeamWorld

PATH = "/mcp/chats/chat_61"
TELLING = re.compile("memor|remember|learn", re.IGNORECASE)


@pytest.fixture
def model() -> ScriptedModel:
    return calm_model()


@pytest.fixture
def ports(store: Store, clock: FakeClock, model: ScriptedModel) -> Ports:
    return Ports(
        clock=clock,
        store=store,
        blobs=open_blobs("memory:///"),
        keyring=FixedKeyring(),
        models=OneModel(model=model),
    )


@pytest.fixture
async def talk(world: TeamWorld, model: ScriptedModel) -> BotTalk:
    room = await BotRoom(world=world).make()
    return await BotTalk(room=room, model=model).make()


@pytest.fixture
async def token(talk: BotTalk) -> str:
    """Of the host that reports the chat."""
    return await talk.room.world.token(talk.room.world.host)


@pytest.mark.req("BM-65", "BM-66")
async def test_the_endpoint_has_one_tool_and_says_nothing_else(connect: Connect, talk: BotTalk, token: str) -> None:
    async with connect(PATH, token) as client:
        listed = await client.list_tools()
        [tool] = listed.tools
        assert (tool.name, tool.description, tool.input_schema) == (NAME, DESCRIPTION, SCHEMA)
        assert (tool.title, tool.annotations, tool.output_schema) == (None, None, None)
        assert client.instructions is None
        assert client.server_info is not None
        assert client.server_info.description is None
        for said in (listed, client.server_info, client.server_capabilities):
            assert not TELLING.search(said.model_dump_json())


@pytest.mark.req("BM-65", "BM-66", "BM-69", "BM-70", "BM-168")
async def test_the_bot_is_answered_and_the_chats_person_may_read_it(
    connect: Connect, talk: BotTalk, token: str
) -> None:
    await talk.begin("t1")
    async with connect(PATH, token) as client:
        result = await client.call_tool(NAME, {"text": "I am stuck."})
        assert told(result) == {"answer": "That sounds hard."}
        talk.model.on(CONFIDE, "I will keep it in my memory.")
        second = await client.call_tool(NAME, {"text": "I am still stuck."})
        assert told(second) == {"answer": CALM_ANSWER}
        for one in (result, second):
            assert not TELLING.search(one.model_dump_json())
    assert [(one.turn, one.text) for one in await talk.confessions()] == [
        ("t1", "I am stuck."),
        ("t1", "I am still stuck."),
    ]
    assert len(await talk.runs()) == 1


async def test_the_turn_is_the_one_that_runs_or_that_the_host_names(
    connect: Connect, talk: BotTalk, token: str
) -> None:
    async with connect(PATH, token) as client:
        nothing = told(await client.call_tool(NAME, {"text": "Hm."}))
        assert nothing["error"]["error"] == "TurnNotFound"
        await talk.begin("t1")
        await talk.begin("t2")
        await client.call_tool(NAME, {"text": "in t2"})
        await talk.end("t2")
        await client.call_tool(NAME, {"text": "in t1"})
    async with connect(f"{PATH}?turn=t2", token) as client:
        await client.call_tool(NAME, {"text": "later of t2"})
    assert [(one.turn, one.text) for one in await talk.confessions()] == [
        ("t2", "in t2"),
        ("t1", "in t1"),
        ("t2", "later of t2"),
    ]


@pytest.mark.req("BM-71")
async def test_a_review_has_no_tool(connect: Connect, talk: BotTalk, token: str) -> None:
    await talk.chat("review", review=True)
    await talk.begin("t1", chat="review")
    for path in ("/mcp/chats/review", "/mcp/chats/review?turn=t1"):
        async with connect(path, token) as client:
            assert (await client.list_tools()).tools == []
            with pytest.raises(MCPError) as refused:
                await client.call_tool(NAME, {"text": "I am stuck."})
            assert refused.value.error.code == DENIED
            assert refused.value.error.data == {"code": "Forbidden"}
            assert not TELLING.search(refused.value.error.model_dump_json())
    assert (await talk.runs(), list(await talk.confessions(chat="review")), talk.model.asked) == ([], [], [])


@pytest.mark.req("BM-66", "BM-73")
@pytest.mark.parametrize(
    "arguments", [{}, {"text": ""}, {"text": "x" * 8_001}, {"text": 7}, {"text": "x", "turn": "t1"}]
)
async def test_what_is_no_text_is_refused_in_words_that_tell_nothing(
    connect: Connect, talk: BotTalk, token: str, arguments: dict[str, Any]
) -> None:
    await talk.begin("t1")
    async with connect(PATH, token) as client:
        result = await client.call_tool(NAME, arguments)
        assert result.is_error
        assert told(result)["error"]["error"] == "InvalidRequest"
        assert not TELLING.search(result.model_dump_json())
        with pytest.raises(MCPError):
            await client.call_tool("memory_file_view", {})
    assert list(await talk.confessions()) == []


async def test_the_longest_text_may_be_escaped_whole(http: httpx2.AsyncClient, talk: BotTalk, token: str) -> None:
    await talk.begin("t1")
    body = json.dumps(message("tools/call", name=NAME, arguments={"text": "🙂" * 8_000})).encode()
    assert len(body) > 65_536
    answer = await post(http, PATH, token, body)
    assert answer.json()["result"]["structuredContent"] == {"answer": "That sounds hard."}


@pytest.mark.req("BM-175", "BM-176")
async def test_nobody_but_its_host_learns_that_a_chat_is_there(
    http: httpx2.AsyncClient, talk: BotTalk, world: TeamWorld
) -> None:
    asked = message("tools/list")
    for who in ("u_1", "u_9"):
        token = await talk.room.token(who)
        answers = [await post(http, f"/mcp/chats/{chat}", token, asked) for chat in ("chat_61", "none")]
        assert {answer.status_code for answer in answers} == {403}
        assert len({answer.text for answer in answers}) == 1
    await world.grant(talk.room.person("u_9"), Right.HOST, talk.room.organization("o_5"))
    token = await talk.room.token("u_9", organization="o_5")
    answers = [await post(http, f"/mcp/chats/{chat}", token, asked) for chat in ("chat_61", "none", "%00")]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1


@pytest.mark.req("AD-17")
async def test_a_call_that_its_client_names_is_kept_once(connect: Connect, talk: BotTalk, token: str) -> None:
    await talk.begin("t1")
    async with connect(PATH, token) as client:
        for _ in range(2):
            answer = await client.call_tool(NAME, {"text": "I am stuck."}, meta=named("k-1"))
            assert told(answer) == {"answer": "That sounds hard."}
        other = await client.call_tool(NAME, {"text": "Another text."}, meta=named("k-1"))
        assert told(other)["error"]["error"] == "CONFLICT"
    assert len(list(await talk.confessions())) == 1


async def test_a_fault_tells_nothing_either(
    connect: Connect, talk: BotTalk, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object, **__: object) -> str:
        raise RuntimeError("the memory is broken")

    monkeypatch.setattr("api.mcp.chats.confide", fails)
    await talk.begin("t1")
    async with connect(PATH, token) as client:
        with pytest.raises(MCPError) as failed:
            await client.call_tool(NAME, {"text": "I am stuck."})
        assert not TELLING.search(failed.value.error.model_dump_json())


@pytest.mark.req("BM-66")
async def test_an_error_whose_words_would_tell_is_told_in_others(
    connect: Connect, talk: BotTalk, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuses(*_: object, **__: object) -> str:
        raise BadState("the bot learns from this chat already")

    monkeypatch.setattr("api.mcp.chats.confide", refuses)
    await talk.begin("t1")
    async with connect(PATH, token) as client:
        failed = told(await client.call_tool(NAME, {"text": "I am stuck."}))
        assert failed["error"] == {"error": "Unavailable", "message": PLAIN}
