"""Models behind an address that speaks OpenAI's Chat Completions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from rootward import Endpoint, InvalidAnswer, ModelRequest, ModelUnavailable, SandboxAgent, Tool, run
from rootward.endpoint import EndpointModel
from rootward.models import ModelBook, ModelResponse, call, find_model, message
from rootward.testing import ScriptedModel
from sandbox_world import World

_ENDPOINT = Endpoint(base_url="http://models.test/v1/", api_key="k1", model="small")


def model_that(answers: Callable[[httpx2.Request], httpx2.Response]) -> EndpointModel:
    return EndpointModel(_ENDPOINT, transport=httpx2.MockTransport(answers))


def chat(**said: object) -> httpx2.Response:
    return httpx2.Response(200, json={"choices": [{"message": {"role": "assistant", **said}}]})


async def nothing(_: object) -> str:
    return ""


async def test_a_request_is_put_as_messages_tools_and_a_schema() -> None:
    seen: list[httpx2.Request] = []

    def answers(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return chat(content="Tea.")

    tool = Tool(name="shell", description="Run.", parameters={"type": "object"}, invoke=nothing)
    items = [
        message("user", "Make tea"),
        message("assistant", "I look."),
        call("shell", "1", command="ls"),
        call("shell", "2", command="pwd"),
        {"type": "function_call_output", "call_id": "1", "output": "kettle"},
        {"type": "reasoning", "summary": []},
        message("user", "Now"),
        call("shell", "3"),
    ]
    request = ModelRequest(instructions="Be brief.", input=items, output_schema={"type": "object"}, tools=[tool])
    answer = await model_that(answers).generate(request)
    assert answer.text == "Tea."
    assert str(seen[0].url) == "http://models.test/v1/chat/completions"
    assert seen[0].headers["authorization"] == "Bearer k1"
    body = json.loads(seen[0].content)
    assert body["model"] == "small"
    assert [said["role"] for said in body["messages"]] == ["system", "user", "assistant", "tool", "user", "assistant"]
    assert [one["id"] for one in body["messages"][2]["tool_calls"]] == ["1", "2"]
    assert body["messages"][2]["content"] == "I look."
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "1", "content": "kettle"}
    assert body["tools"][0]["function"]["name"] == "shell"
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}


async def test_calls_of_tools_come_as_items() -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "shell", "arguments": '{"command": "ls"}'}}]
    model = model_that(lambda _: chat(content=None, tool_calls=calls))
    answer = await model.generate(ModelRequest(instructions="", input=[]))
    assert answer == ModelResponse(output=[call("shell", "1", command="ls")])


def refuses(_: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("k1 a secret")


@pytest.mark.parametrize("answers", [lambda _: httpx2.Response(503, text="a secret"), refuses])
async def test_no_answer_is_told_without_what_the_server_said(
    answers: Callable[[httpx2.Request], httpx2.Response],
) -> None:
    with pytest.raises(ModelUnavailable) as failed:
        await model_that(answers).generate(ModelRequest(instructions="", input=[]))
    assert "secret" not in str(failed.value)


@pytest.mark.parametrize(
    "body",
    [
        "no JSON",
        "[]",
        "{}",
        '{"choices": []}',
        '{"choices": [{"message": 7}]}',
        '{"choices": [{"message": {"tool_calls": [{"id": "1"}]}}]}',
        "[" * 10_000,
    ],
)
async def test_an_answer_of_another_form_is_refused(body: str) -> None:
    with pytest.raises(InvalidAnswer):
        await model_that(lambda _: httpx2.Response(200, text=body)).generate(ModelRequest(instructions="", input=[]))


async def test_half_of_a_surrogate_pair_can_be_said_again() -> None:
    made = {"id": "1\udfff", "function": {"name": "shell\ud800", "arguments": "{}"}}
    said = json.dumps({"choices": [{"message": {"content": "half \ud83d of \U0001f600", "tool_calls": [made]}}]})
    asked = model_that(lambda _: httpx2.Response(200, text=said))
    answer = await asked.generate(ModelRequest(instructions="", input=[]))
    assert answer.text == "half \ufffd of \U0001f600"
    assert await asked.generate(ModelRequest(instructions="", input=answer.output)) == answer


def test_a_name_is_looked_up_as_a_model_an_endpoint_or_its_mapping() -> None:
    own = ScriptedModel("x")
    mapping = {"base_url": "http://models.test/v1", "api_key": "k1", "model": "small"}
    book: ModelBook = {"own": own, "there": _ENDPOINT, "mapped": mapping}
    assert find_model("own", book) is own
    assert find_model(own, {}) is own
    assert isinstance(find_model("there", book), EndpointModel)
    assert isinstance(find_model("mapped", book), EndpointModel)
    with pytest.raises(ModelUnavailable, match="nobody"):
        find_model("nobody", book)


async def test_an_agent_whose_model_is_not_known_fails_and_is_recorded(world: World) -> None:
    sandbox = await world.client.create()
    agent = SandboxAgent(name="a", model="nobody", capabilities=world.agent().capabilities)
    with pytest.raises(ModelUnavailable):
        await run(agent, "Hello", sandbox=sandbox, conversation_id="c1")
    assert '"terminal_state":"failed"' in (sandbox.root / "sessions/c1.jsonl").read_text()


async def test_an_agent_without_a_model_takes_the_default_name(world: World) -> None:
    world.two = ScriptedModel("By default.")
    sandbox = await world.client.create()
    result = await run(SandboxAgent(name="a"), "Hello", sandbox=sandbox)
    assert result.final_output == "By default."


async def test_an_answer_may_be_an_object_but_nothing_else(world: World) -> None:
    sandbox = await world.client.create()
    world.speaker = ScriptedModel({"tea": True})
    result = await run(world.agent(), "Hello", sandbox=sandbox)
    assert result.final_output == '{"tea": true}'

    class Wrong:
        async def generate(self, request: ModelRequest) -> Any:
            return 7

    with pytest.raises(InvalidAnswer):
        await run(SandboxAgent(name="a", model=Wrong()), "Hello", sandbox=sandbox)
