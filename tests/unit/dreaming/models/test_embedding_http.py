"""Embedders and rerankers behind an address, against a server on loopback that answers well and badly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dreaming.models.embedding_http import HttpEmbedder, JsonPoster
from dreaming.models.embedding_making import Embedders, http_reranker
from graph.model.errors import ModelUnavailable, ProfileUnavailable
from graph.ports import EmbeddingChoice
from tests.support.model_server import ModelServer, Reply

TEXTS = ["one", "two"]


def answered(*vectors: list[float], **fields: Any) -> Reply:
    """Answer in OpenAI's form, the last vector first: the index tells the order."""
    data = [{"index": place, "embedding": vector, "object": "embedding"} for place, vector in enumerate(vectors)]
    return Reply(body=json.dumps({"object": "list", "data": data[::-1], "usage": {}}).encode(), **fields)


def reranked(*scores: tuple[int, float]) -> Reply:
    results = [{"index": place, "relevance_score": score} for place, score in scores]
    return Reply(body=json.dumps({"results": results}).encode())


def embedder(server: ModelServer, *, dimensions: int | None = None, timeout_s: float = 5.0) -> HttpEmbedder:
    poster = JsonPoster(url=f"{server.url}/v1/embeddings", key="k", timeout_s=timeout_s)
    return HttpEmbedder(poster=poster, model="small", dimensions=dimensions)


async def refused(reply: Reply, *, dimensions: int | None = None, timeout_s: float = 5.0) -> ModelUnavailable:
    """Return how a call with one reply ends, which is always badly."""
    async with ModelServer(replies=[reply]) as server:
        asked = embedder(server, dimensions=dimensions, timeout_s=timeout_s)
        with pytest.raises(ModelUnavailable) as told:
            await asked.embed(TEXTS, query=False)
        await asked.poster.aclose()
    return told.value


@pytest.mark.req("RE-32")
async def test_vectors_come_in_the_order_of_the_texts() -> None:
    async with ModelServer(replies=[answered([1.0, 2.0], [3.0, 4.0])]) as server:
        asked = embedder(server, dimensions=2)
        assert await asked.embed(TEXTS, query=False) == [[1.0, 2.0], [3.0, 4.0]]
        assert await asked.embed([], query=False) == []
        await asked.poster.aclose()
    ((path, headers, body),) = server.asked
    assert (path, headers["authorization"]) == ("/v1/embeddings", "Bearer k")
    assert body == {"model": "small", "input": TEXTS, "encoding_format": "float", "dimensions": 2}


@pytest.mark.parametrize(
    ("status", "reason"),
    [(401, "http_401"), (403, "http_403"), (404, "http_404"), (429, "http_429"), (500, "http_5xx"), (503, "http_5xx")],
)
async def test_a_refusal_tells_its_number(status: int, reason: str) -> None:
    assert (await refused(Reply(status=status))).reason == reason


@pytest.mark.parametrize("status", [400, 413, 422])
async def test_what_is_sent_may_not_be_taken(status: int) -> None:
    assert (await refused(Reply(status=status))).reason == "bad_request"


@pytest.mark.parametrize(("header", "wait"), [("7", 7.0), ("soon", None), ("-1", None), ("inf", None)])
async def test_the_provider_says_how_long_to_wait(header: str, wait: float | None) -> None:
    told = await refused(Reply(status=429, headers={"retry-after": header}))
    assert told.retry_after_s == wait


async def test_a_slow_server_is_a_timeout() -> None:
    assert (await refused(Reply(hangs=True), timeout_s=0.05)).reason == "timeout"


@pytest.mark.parametrize("reply", [Reply(resets=True), answered([1.0], [2.0], cut=True)])
async def test_a_broken_connection_is_the_network(reply: Reply) -> None:
    assert (await refused(reply)).reason == "network"


@pytest.mark.parametrize(
    "reply",
    [
        answered([1.0, 2.0]),
        answered([1.0, 2.0], [1.0]),
        answered([], []),
        Reply(body=b"[]"),
        Reply(body=b"<html>"),
        Reply(body=b'{"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]}'),
        Reply(body=b'{"data": [{"index": 0, "embedding": "AAAA"}, {"index": 1, "embedding": "AAAA"}]}'),
    ],
    ids=["too few", "two sizes", "no numbers", "another shape", "no JSON", "one index twice", "base64"],
)
async def test_an_answer_that_is_none_is_not_believed(reply: Reply) -> None:
    assert (await refused(reply)).reason == "bad_response"


async def test_another_size_than_asked_for_is_not_believed() -> None:
    assert (await refused(answered([1.0, 2.0], [3.0, 4.0]), dimensions=3)).reason == "bad_response"


async def test_an_error_holds_neither_text_nor_key() -> None:
    told = await refused(Reply(status=401))
    assert not {"one", "two", "canary", "Bearer"} & set(str(told).split())


async def test_an_embedder_is_made_once_and_needs_what_it_names(tmp_path: Path) -> None:
    choice = EmbeddingChoice(provider="openai", model="small")
    async with ModelServer(replies=[answered([1.0])]) as server:
        made = Embedders(folder=tmp_path, credentials={"env:K": "secret"}.get, credential="env:K", url=server.url)
        assert made(choice) is made(choice)
        assert await made(choice).embed(["one"], query=True) == [[1.0]]
        await made.aclose()
    assert server.asked[0][1]["authorization"] == "Bearer secret"
    bare = Embedders(folder=tmp_path, credentials=lambda name: None, credential="env:K")
    for wrong, reason in (
        (choice, "credential_missing"),
        (EmbeddingChoice(provider="x", model="y"), "provider_unknown"),
    ):
        with pytest.raises(ProfileUnavailable) as told:
            bare(wrong)
        assert told.value.details["reason"] == reason


@pytest.mark.req("RE-17")
async def test_a_reranker_gives_a_score_a_text() -> None:
    async with ModelServer(replies=[reranked((1, 0.9), (0, 0.1))]) as server:
        asked = http_reranker(f"{server.url}/v1/rerank", "ranker", "k")
        assert await asked.score("which?", TEXTS) == [0.1, 0.9]
        assert await asked.score("which?", []) == []
        await asked.poster.aclose()
    body = server.asked[0][2]
    assert body == {"model": "ranker", "query": "which?", "documents": TEXTS, "top_n": 2}


@pytest.mark.req("RE-18")
@pytest.mark.parametrize("reply", [reranked((0, 0.5)), reranked((0, 0.5), (0, 0.5)), reranked((0, 0.5), (7, 0.5))])
async def test_scores_that_do_not_fit_are_not_taken_for_some(reply: Reply) -> None:
    async with ModelServer(replies=[reply]) as server:
        asked = http_reranker(f"{server.url}/rerank", "ranker", None)
        scores = await asked.score("which?", TEXTS)
        await asked.poster.aclose()
    assert len(scores) != 2 or not all(0 <= score <= 1 for score in scores)


@pytest.mark.req("RE-18")
async def test_as_many_scores_are_told_of_as_came() -> None:
    three = reranked((0, 0.5), (1, 0.5), (2, 0.5))
    async with ModelServer(replies=[reranked((1, 0.5)), three]) as server:
        asked = http_reranker(f"{server.url}/rerank", "ranker", None)
        assert [len(await asked.score("which?", TEXTS)) for _ in range(2)] == [1, 3]
        await asked.poster.aclose()


@pytest.mark.req("RE-18")
@pytest.mark.parametrize("score", [True, "0.5", None])
async def test_a_score_that_is_no_number_is_no_answer(score: Any) -> None:
    async with ModelServer(replies=[reranked((0, score), (1, 0.5))]) as server:
        asked = http_reranker(f"{server.url}/rerank", "ranker", None)
        with pytest.raises(ModelUnavailable):
            await asked.score("which?", TEXTS)
        await asked.poster.aclose()


@pytest.mark.req("RE-32")
@pytest.mark.parametrize("member", ["0.5", "NaN", True, None, [1.0]])
async def test_a_vector_of_what_is_no_number_is_no_answer(member: Any) -> None:
    assert (await refused(answered([1.0, 2.0], [1.0, member]))).reason == "bad_response"
