"""Answers in the form that a client accepts, with the status that goes with it (GraphQL over HTTP)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import httpx2
import pytest
from starlette.types import Message

from api.bootstrap import Ports, Service, build
from api.graphql.media import GRAPHQL, JSON, media_of
from api.settings import Settings
from graph.model.errors import StoreUnavailable
from graph.store.port import Store
from tests.api.clients import GraphQLClient
from tests.support.clock import FakeClock
from tests.support.faults import Fault, FaultyStore, PlannedFault
from tests.support.world import TeamWorld

VIEWER = "{ viewer { id } }"


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        ("application/json", JSON),
        (GRAPHQL, GRAPHQL),
        (f"{GRAPHQL}; charset=utf-8", GRAPHQL),
        (f"{GRAPHQL}, application/json", GRAPHQL),
        (f"{GRAPHQL}, application/graphql+json, application/json, text/event-stream, multipart/mixed", GRAPHQL),
        (f"application/json, {GRAPHQL};q=0.9", JSON),
        (f"application/json;q=0.5, {GRAPHQL};q=0.9", GRAPHQL),
        (f"{GRAPHQL};q=0, */*", JSON),
        (f"{GRAPHQL};q=x", None),
        ("text/html", None),
        ("application/json;q=0", None),
        ("text/html, */*;q=0.1", JSON),
    ],
)
def test_the_form_that_a_client_likes_most_is_taken(accept: str | None, media: str | None) -> None:
    assert media_of(accept) == media


async def post(http: httpx2.AsyncClient, token: str | None, accept: str, query: str) -> httpx2.Response:
    headers = {"Accept": accept, **({"Authorization": f"Bearer {token}"} if token else {})}
    return await http.post("/graphql", json={"query": query}, headers=headers)


@pytest.mark.req("AD-24", "KN-110")
@pytest.mark.parametrize(
    ("query", "code"),
    [("{", "BAD_INPUT"), ("{ nothing }", "BAD_INPUT"), ("query($n: Int!) { viewer { id } }", "BAD_INPUT")],
)
async def test_an_operation_that_could_not_run_has_no_data_and_a_status_of_its_own(
    ana: GraphQLClient, query: str, code: str
) -> None:
    plain = await post(ana.http, ana.token, "application/json", query)
    named = await post(ana.http, ana.token, GRAPHQL, query)
    assert (plain.status_code, plain.headers["content-type"]) == (200, "application/json")
    assert (named.status_code, named.headers["content-type"]) == (400, f"{GRAPHQL}; charset=utf-8")
    assert plain.json() == named.json()
    assert "data" not in named.json()
    assert [error["extensions"]["code"] for error in named.json()["errors"]][:1] == [code]


@pytest.mark.req("SM-27", "BM-188")
async def test_no_answer_is_kept_by_a_cache(ana: GraphQLClient) -> None:
    answers = [
        await post(ana.http, ana.token, "application/json", VIEWER),
        await post(ana.http, ana.token, GRAPHQL, '{ memory(memoryId: "x") { id } }'),
        await post(ana.http, None, GRAPHQL, VIEWER),
        await post(ana.http, ana.token, "text/html", VIEWER),
        await ana.http.get("/graphql"),
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 401, 406, 405]
    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}


async def test_an_operation_that_ran_answers_200_whatever_its_fields_said(ana: GraphQLClient) -> None:
    failed = await post(ana.http, ana.token, GRAPHQL, '{ memory(memoryId: "x") { id } }')
    assert (failed.status_code, failed.json()["data"]) == (200, None)
    assert failed.json()["errors"][0]["extensions"]["status"] == 404
    partly = await post(ana.http, ana.token, GRAPHQL, '{ viewer { displayName } node(id: "x") { id } }')
    assert (partly.status_code, partly.json()) == (200, {"data": {"viewer": {"displayName": "Ana"}, "node": None}})


async def test_refusals_before_graphql_keep_their_status_in_both_forms(ana: GraphQLClient) -> None:
    for accept, media in (("*/*", JSON), (GRAPHQL, f"{GRAPHQL}; charset=utf-8")):
        nobody = await post(ana.http, None, accept, VIEWER)
        assert (nobody.status_code, nobody.headers["content-type"]) == (401, media)
    assert (await ana.http.get("/graphql", headers={"Accept": "text/html"})).status_code == 405
    neither = await post(ana.http, ana.token, "text/html", VIEWER)
    assert (neither.status_code, neither.json()["errors"][0]["extensions"]["code"]) == (406, "BAD_INPUT")


@pytest.mark.req("KN-110")
async def test_a_store_that_is_away_answers_503_to_who_accepts_the_form_of_graphql(
    settings: Settings, store: Store, clock: FakeClock, ana: GraphQLClient, world: TeamWorld
) -> None:
    def away() -> BaseException:
        return StoreUnavailable("the store cannot answer now: try again")

    for accept, status in (("application/json", 200), (GRAPHQL, 503)):
        # The credential is looked up first; the operation itself finds nobody there.
        answer = await _asked_of_a_faulty(settings, store, clock, ana, accept, "edges", away)
        [error] = answer.json()["errors"]
        assert (answer.status_code, error["extensions"]) == (status, {"code": "STORE_UNAVAILABLE", "status": 503})
        assert "data" not in answer.json()
        assert answer.headers.get("retry-after") == (None if status == 200 else "5")


async def test_a_store_that_is_away_at_the_sign_in_says_when_to_try_again(
    settings: Settings, store: Store, clock: FakeClock, ana: GraphQLClient, world: TeamWorld
) -> None:
    def away() -> BaseException:
        return StoreUnavailable("the store cannot answer now: try again")

    answer = await _asked_of_a_faulty(settings, store, clock, ana, "application/json", "get", away)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["errors"][0]["extensions"] == {"code": "STORE_UNAVAILABLE", "status": 503}


async def test_what_may_have_been_written_is_not_offered_to_be_sent_again(
    settings: Settings, store: Store, clock: FakeClock, ana: GraphQLClient, world: TeamWorld
) -> None:
    def broke() -> BaseException:
        return StoreUnavailable("the connection broke during the commit: look whether it arrived", outcome="unknown")

    answer = await _asked_of_a_faulty(settings, store, clock, ana, GRAPHQL, "edges", broke)
    assert (answer.status_code, answer.json()["errors"][0]["extensions"]["outcome"]) == (503, "unknown")
    assert "retry-after" not in answer.headers


async def _asked_of_a_faulty(
    settings: Settings,
    store: Store,
    clock: FakeClock,
    ana: GraphQLClient,
    accept: str,
    operation: str,
    error: Callable[[], BaseException],
) -> httpx2.Response:
    """Return the answer of a service whose store fails at the first call of an operation."""
    faulty = FaultyStore(store, [PlannedFault(fault=Fault.FAIL, at=1, operation=operation, error=error)])
    service = build(settings, ports=Ports(clock=clock, store=faulty))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=service.app), base_url="http://t") as http:
        return await post(http, ana.token, accept, VIEWER)


async def test_a_request_that_its_browser_breaks_off_is_no_fault_of_the_server(
    world: TeamWorld, service: Service
) -> None:
    token = await world.token(world.ana)
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/graphql",
        "raw_path": b"/graphql",
        "headers": [(b"authorization", f"Bearer {token}".encode()), (b"content-type", b"application/json")],
        "query_string": b"",
    }
    sent: list[Message] = []

    async def broken_off() -> Message:
        await asyncio.sleep(0)
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await service.app(scope, broken_off, send)
    assert sent[0]["status"] == 400
    assert b"unexpected_faults_total{" not in service.figures.render()
