"""Models of providers against a real server on loopback: the wire, the schema and every way to fail."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from dreaming.models.port import ChatMessage, Finish, ModelAnswer, ModelPort, ModelRequest, Role
from dreaming.models.provider import provider_model
from dreaming.models.wrappers import TimedModel
from graph.model.errors import ModelUnavailable, ProfileUnavailable
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.learning import ModelProfile
from graph.model.time import Millis
from tests.support.model_server import ModelServer, Reply

PROVIDERS = ("openai", "anthropic", "google")
SCHEMA = {
    "type": "object",
    "properties": {"names": {"type": "array", "items": {"type": "string"}}},
    "required": ["names"],
    "additionalProperties": False,
}
NAMES = {"openai": "small", "anthropic": "claude-haiku-4-5", "google": "gemini-2.5-flash"}


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture(params=PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(provider: str, server: ModelServer) -> ModelPort:
    return provider_model(_profile(provider, server.url), {"env:TEST_API_KEY": "key-canary"}.get)


def _profile(provider: str, url: str | None, credential: str | None = "env:TEST_API_KEY") -> ModelProfile:
    return ModelProfile(
        id=NodeId("mpr_light"),
        workspace=WorkspaceId("w"),
        created_at=Millis(0),
        name="light",
        provider=provider,
        model=NAMES.get(provider, "small"),
        base_url=f"{url}/v1" if url and provider == "openai" else url,
        credential=credential,
    )


def _no_secrets(credential: str) -> str | None:
    return None


def _request(**values: Any) -> ModelRequest:
    messages = (ChatMessage(role=Role.SYSTEM, text="be short"), ChatMessage(role=Role.USER, text="who is there?"))
    return ModelRequest(**{"purpose": "test", "prompt": "test@1", "messages": messages, **values})


async def test_answer_comes_with_usage_and_model(model: ModelPort) -> None:
    answer = await model.complete(_request())
    assert answer == ModelAnswer(text="hello", input_tokens=11, output_tokens=3, finish=Finish.STOP, model="small-1")


@pytest.mark.req("BM-135")
@pytest.mark.parametrize("provider", ["openai"], indirect=True)
async def test_an_answer_without_usage_says_so(model: ModelPort, server: ModelServer) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}
    body = {"id": "c1", "object": "chat.completion", "created": 1, "model": "small-1", "choices": [choice]}
    server.replies = [Reply(body=json.dumps(body).encode())]
    answer = await model.complete(_request())
    assert (answer.text, answer.usage_reported) == ("hello", False)


async def test_prompt_goes_over_the_wire_once(model: ModelPort, server: ModelServer) -> None:
    await model.complete(_request())
    ((_, headers, body),) = server.asked
    assert "be short" in str(body)
    assert "who is there?" in str(body)
    assert "key-canary" in str(headers)


async def test_answer_of_a_conversation_is_asked_for_with_what_was_said(model: ModelPort, server: ModelServer) -> None:
    said = ChatMessage(role=Role.ASSISTANT, text="nobody"), ChatMessage(role=Role.USER, text="look again")
    await model.complete(_request(messages=(*_request().messages, *said)))
    assert all(text in str(server.asked[0][2]) for text in ("nobody", "look again"))


async def test_schema_is_sent_where_the_provider_takes_one(model: ModelPort, server: ModelServer) -> None:
    await model.complete(_request(schema=SCHEMA))
    assert "'names'" in str(server.asked[0][2])


@pytest.mark.parametrize(("model", "sent"), [("small", True), ("gpt-5-mini", False)])
async def test_a_model_that_reasons_is_sent_no_temperature(server: ModelServer, model: str, sent: bool) -> None:
    profile = replace(_profile("openai", server.url, credential=None), model=model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        await provider_model(profile, _no_secrets).complete(_request())
    assert ("temperature" in server.asked[0][2]) is sent


@pytest.mark.parametrize(("finish", "wanted"), [("length", Finish.LENGTH), ("refused", Finish.REFUSED)])
async def test_why_it_stopped_is_told(model: ModelPort, server: ModelServer, finish: str, wanted: Finish) -> None:
    server.replies = [Reply(text="" if finish == "refused" else "half", finish=finish)]
    assert (await model.complete(_request())).finish is wanted


@pytest.mark.parametrize(
    ("status", "reason"),
    [(400, "http_4xx"), (401, "http_401"), (403, "http_403"), (404, "http_404"), (429, "http_429"), (500, "http_5xx")],
)
async def test_refusal_has_a_reason_and_is_not_tried_again(
    model: ModelPort, server: ModelServer, status: int, reason: str
) -> None:
    server.replies = [Reply(status=status)]
    with pytest.raises(ModelUnavailable) as caught:
        await model.complete(_request())
    assert caught.value.reason == reason
    assert len(server.asked) == 1
    assert "canary" not in str(caught.value), "what a provider says may repeat the prompt or the key"


async def test_retry_after_is_passed_on(model: ModelPort, server: ModelServer) -> None:
    server.replies = [Reply(status=429, headers={"retry-after": "77"})]
    with pytest.raises(ModelUnavailable) as caught:
        await model.complete(_request())
    assert caught.value.retry_after_s == 77


async def test_provider_that_never_answers_is_given_up(model: ModelPort, server: ModelServer) -> None:
    server.replies = [Reply(hangs=True)]
    with pytest.raises(ModelUnavailable) as caught:
        await TimedModel(inner=model, seconds=0.2).complete(_request())
    assert caught.value.reason == "timeout"


async def test_answer_cut_off_on_the_wire_is_no_answer(model: ModelPort, server: ModelServer) -> None:
    server.replies = [Reply(text="x" * 2_000, cut=True)]
    with pytest.raises(ModelUnavailable) as caught:
        await model.complete(_request())
    assert caught.value.reason in ("network", "bad_response")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "body", [b"<html>canary</html>", b"[]", b"{}", b'"canary"', b"null", b"", b'{"choices": 3, "content": 3}'], ids=repr
)
async def test_what_is_no_answer_is_never_taken_for_one(model: ModelPort, server: ModelServer, body: bytes) -> None:
    server.replies = [Reply(body=body)]
    assert await _outcome(model) in ("bad_response", "network", "empty answer"), "no reader can use an empty one"


async def _outcome(model: ModelPort) -> str:
    try:
        return (await model.complete(_request())).text or "empty answer"
    except ModelUnavailable as error:
        return f"{error.reason}{' canary' if 'canary' in str(error) else ''}"


async def test_unreachable_provider_is_told(provider: str) -> None:
    async with ModelServer() as gone:
        url = gone.url
    model = provider_model(_profile(provider, url), {"env:TEST_API_KEY": "key"}.get)
    with pytest.raises(ModelUnavailable) as caught:
        await model.complete(_request())
    assert caught.value.reason == "network"


@pytest.mark.req("DR-6")
def test_profile_whose_credential_is_not_there_is_unusable(provider: str) -> None:
    with pytest.raises(ProfileUnavailable) as caught:
        provider_model(_profile(provider, None), _no_secrets)
    assert caught.value.details["reason"] == "credential_missing"


def test_unknown_provider_is_unusable() -> None:
    with pytest.raises(ProfileUnavailable) as caught:
        provider_model(_profile("nobody", None), _no_secrets)
    assert caught.value.details["reason"] == "provider_unknown"


async def test_local_server_needs_no_credential(server: ModelServer) -> None:
    model = provider_model(_profile("openai", server.url, credential=None), _no_secrets)
    assert (await model.complete(_request())).text == "hello"


async def test_calls_side_by_side_do_not_mix(model: ModelPort, server: ModelServer) -> None:
    answers = await asyncio.gather(*(model.complete(_request()) for _ in range(5)))
    assert {answer.text for answer in answers} == {"hello"}


async def test_what_no_store_can_keep_is_mended_where_it_comes_in(model: ModelPort, server: ModelServer) -> None:
    server.replies = [Reply(text="half \ud83d of \U0001f600")]
    answer = await model.complete(_request())
    assert answer.text == "half \ufffd of \U0001f600"


@pytest.mark.req("BM-135")
async def test_usage_that_nobody_can_have_used_counts_as_not_told(model: ModelPort, server: ModelServer) -> None:
    probe = await model.complete(_request())
    assert probe.usage_reported
    server.replies = [Reply(tokens=10**26)]
    answer = await model.complete(_request())
    assert (answer.input_tokens, answer.output_tokens, answer.usage_reported) == (0, 0, False)
