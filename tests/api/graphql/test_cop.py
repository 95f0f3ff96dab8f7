"""The twelve checks of graphql-cop and twelve requests that a browser sends without asking, in production settings."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx2
import pytest

from graph.model.ids import NodeId
from tests.api.clients import GraphQLClient, answer_of
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]

VIEWER = "{ viewer { displayName } }"


async def refused(client: GraphQLClient, query: str) -> set[str]:
    answer = await client.run(query)
    assert answer.data is None
    return set(answer.codes)


async def test_alias_overloading(ana: GraphQLClient) -> None:
    query = "{" + " ".join(f"a{i}: __typename" for i in range(101)) + "}"
    assert await refused(ana, query) == {"QUERY_TOO_COMPLEX"}


async def test_a_list_of_operations(ana: GraphQLClient) -> None:
    response = await ana.http.post("/graphql", json=[{"query": VIEWER}] * 10, headers=ana._headers())
    assert (response.status_code, answer_of(response).codes) == (400, ["BAD_INPUT"])


async def test_directive_overloading(ana: GraphQLClient) -> None:
    assert await refused(ana, "{ __typename " + "@aa" * 100 + " }") <= {"QUERY_TOO_COMPLEX", "BAD_INPUT"}


async def test_circular_introspection(ana: GraphQLClient) -> None:
    query = "{ __schema { types { fields { type { fields { type { fields { type { name } } } } } } } } }"
    assert await refused(ana, query) <= {"QUERY_TOO_COMPLEX", "BAD_INPUT"}


async def test_field_duplication(ana: GraphQLClient) -> None:
    assert await refused(ana, "{" + "__typename\n" * 500 + "}") == {"QUERY_TOO_COMPLEX"}


@pytest.mark.parametrize("query", ["{ __schema { types { name } } }", '{ __type(name: "Entry") { name } }'])
async def test_introspection(ana: GraphQLClient, query: str) -> None:
    assert await refused(ana, query) == {"BAD_INPUT"}


@pytest.mark.parametrize("path", ["/graphql", "/graphiql", "/playground", "/console", "/"])
async def test_a_graphical_console(ana: GraphQLClient, path: str) -> None:
    response = await ana.http.get(path, headers={"Accept": "text/html", **ana._headers()})
    assert response.status_code in (307, 308, 404, 405)
    assert response.headers.get("location", "/console/") == "/console/"  # the web console, which asks as its user
    assert "graphiql" not in response.text.lower()


async def test_the_console_offers_to_write_queries_only_where_that_is_switched_on(ana: GraphQLClient) -> None:
    assert (await ana.http.get("/console/config.json")).json()["graphiql"] is False


async def test_queries_by_get(ana: GraphQLClient) -> None:
    response = await ana.http.get("/graphql", params={"query": VIEWER}, headers=ana._headers())
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"


async def test_queries_by_an_encoded_form(ana: GraphQLClient) -> None:
    response = await ana.http.post("/graphql", data={"query": VIEWER}, headers=ana._headers())
    assert response.status_code == 415


async def test_traces_in_answers(ana: GraphQLClient) -> None:
    response = await ana.http.post("/graphql", json={"query": VIEWER}, headers=ana._headers())
    assert response.json() == {"data": {"viewer": {"displayName": "Ana"}}}


async def test_unhandled_errors(ana: GraphQLClient) -> None:
    response = await ana.http.post("/graphql", json={"query": "qwerty cop { abc }"}, headers=ana._headers())
    assert set(response.json()["errors"][0]) == {"message", "locations", "extensions"}


@pytest.mark.parametrize("query", ["{ vieweer { id } }", "{ viewer { displayNam } }", "{ entry(idd: 1) { id } }"])
async def test_suggestions_of_names(ana: GraphQLClient, query: str) -> None:
    answer = await ana.run(query)
    assert answer.codes[0] == "BAD_INPUT"
    assert "did you mean" not in answer.errors[0]["message"].lower()
    assert "displayName" not in answer.errors[0]["message"]


Send = Callable[[httpx2.AsyncClient, str, dict[str, str]], httpx2.Request]


def request(method: str, *, headers: dict[str, str] | None = None, **how: object) -> Send:
    def build(http: httpx2.AsyncClient, body: str, auth: dict[str, str]) -> httpx2.Request:
        given = {key: value(body) if callable(value) else value for key, value in how.items()}
        return http.build_request(method, "/graphql", headers={**auth, **(headers or {})}, **given)  # type: ignore[arg-type]

    return build


def fields(body: str) -> dict[str, str]:
    parsed = json.loads(body)
    return {"query": parsed["query"], "variables": json.dumps(parsed["variables"])}


def multipart(body: str) -> dict[str, tuple[None, str]]:
    return {"operations": (None, body), "map": (None, "{}")}


SIMPLE: dict[str, Send] = {
    "an encoded form": request("POST", data=fields),
    "an encoded form that holds JSON": request(
        "POST", content=str.encode, headers={"Content-Type": "application/x-www-form-urlencoded"}
    ),
    "a multipart form": request("POST", files=multipart),
    "a multipart form with a file": request("POST", files=lambda b: {**multipart(b), "0": ("a.txt", b"text")}),
    "a multipart form with the header as a field": request(
        "POST", files=lambda b: {**multipart(b), "Rootward-Upload": (None, "1")}
    ),
    "a multipart form with the wrong header": request("POST", files=multipart, headers={"Rootward-Upload": "yes"}),
    "plain text": request("POST", content=str.encode, headers={"Content-Type": "text/plain"}),
    "plain text that says JSON behind it": request(
        "POST", content=str.encode, headers={"Content-Type": "text/plain; application/json"}
    ),
    "no type at all": request("POST", content=str.encode),
    "GET": request("GET", params=fields),
    "HEAD": request("HEAD", params=fields),
    "GET with a body": request("GET", content=str.encode, headers={"Content-Type": "text/plain"}),
}


@pytest.mark.parametrize("name", SIMPLE)
async def test_a_request_that_any_page_may_send_changes_nothing(
    name: str, dan: GraphQLClient, world: TeamWorld, gid: Gid
) -> None:
    assert len(SIMPLE) == 12
    rule = "mutation($id: ID!) { setRoutingRule(channelId: $id, memoryScope: SHARED) { id version } }"
    body = json.dumps({"query": rule, "variables": {"id": gid(world.ops)}})
    built = SIMPLE[name](dan.http, body, dan._headers())
    response = await dan.http.send(built)
    assert response.status_code in (405, 415)
    # Had the request had an effect, this would be the second version.
    assert (await dan.ok(rule, id=gid(world.ops)))["setRoutingRule"]["version"] == 1
