"""What all REST routes have in common: paths as they were sent, the order of checks, bodies, errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, Literal

import httpx2
import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.types import Message

from api.auth import Authenticator
from api.bodies import advice_of
from api.bootstrap import Service
from api.rest.kit import Call, Kit, Refused, routes
from api.rest.workspace.kit import failed as workspace_failed
from dreaming.jobs import no_models
from graph.model.errors import (
    AlreadyExists,
    BadInput,
    Forbidden,
    InvalidRequest,
    MissingObject,
    NotFound,
    RootwardError,
    StoreUnavailable,
    SurfaceConflict,
    WorkspaceRefused,
)
from tests.support.world import TeamWorld


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Red(_Shape):
    tag: Literal["Red"] = Field(alias="_tag")
    name: str
    parts: list[int] = Field(default_factory=list)


class Blue(_Shape):
    tag: Literal["Blue"] = Field(alias="_tag")
    on: bool


class Body(_Shape):
    count: int
    paint: Annotated[Red | Blue, Field(discriminator="tag")]


async def show_id(call: Call) -> Any:
    return {"id": call.id("id")}


async def show_body(call: Call) -> Any:
    body = await call.body(Body)
    return body.model_dump(by_alias=True)


async def fail(call: Call) -> Any:
    raise FAILURES[call.id("name")]


FAILURES: dict[str, Exception] = {
    "missing": MissingObject("ThingNotFound"),
    "gone": NotFound(),
    "forbidden": Forbidden("no"),
    "bad": BadInput("no"),
    "path": InvalidRequest("no", path="a.b"),
    "conflict": SurfaceConflict("ThingConflict", "stale", "again"),
    "taken": AlreadyExists("no"),
    "away": StoreUnavailable("away"),
    "open": StoreUnavailable("look whether it arrived", outcome="unknown"),
    "refused": Refused(418, "Teapot", "short and stout"),
    "own": RootwardError("secret"),
    "bug": KeyError("secret"),
}

TABLE = {
    "/v1/things/{id}": {"GET": show_id},
    "/v1/things/{id}/memory": {"GET": show_id, "POST": show_body},
    "/v1/failures/{name}": {"GET": fail},
}


@pytest.fixture
async def kit_client(service: Service, world: TeamWorld) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of an application that has only the routes of this test, with Ana's token."""
    kit = Kit(deps=service.deps, auth=Authenticator(deps=service.deps), models=no_models)
    transport = httpx2.ASGITransport(app=Starlette(routes=routes(kit, TABLE)))
    headers = {"Authorization": f"Bearer {await world.token(world.ana)}"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://kit.test", headers=headers) as client:
        yield client


@pytest.mark.req("SM-29")
@pytest.mark.parametrize(
    ("sent", "id_"),
    [
        ("a", "a"),
        ("a%2Fb", "a/b"),
        ("a%2fmemory", "a/memory"),
        ("%2Fmemory", "/memory"),
        ("a%252Fb", "a%2Fb"),
        ("%E5%9C%B0%F0%9F%9A%80", "地🚀"),
        ("%00", "\0"),
        ("%ff", "\ufffd"),
        ("..%2f..%2fetc", "../../etc"),
        ("", ""),
        ("a;b=c,d", "a;b=c,d"),
        ("%3Fq=1", "?q=1"),
        ("a+b", "a+b"),
    ],
)
async def test_an_id_is_what_was_sent_between_two_slashes_decoded_once(
    kit_client: httpx2.AsyncClient, sent: str, id_: str
) -> None:
    for path in (f"/v1/things/{sent}", f"/v1/things/{sent}/memory"):
        answer = await kit_client.get(httpx2.URL("http://kit.test").copy_with(raw_path=path.encode()))
        assert answer.status_code == 200
        assert answer.json() == {"id": id_}


@pytest.mark.req("SM-29")
@pytest.mark.parametrize("path", ["/v1/things/a/b", "/v1/things", "/v1/things/a/memory/", "/v1/things%2Fa"])
async def test_a_path_of_other_parts_is_no_route(kit_client: httpx2.AsyncClient, path: str) -> None:
    answer = await kit_client.get(httpx2.URL("http://kit.test").copy_with(raw_path=path.encode()))
    assert answer.status_code == 404


@pytest.mark.req("SM-28", "SM-59", "SM-67")
@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"])
async def test_a_method_that_a_path_does_not_have_answers_405_to_who_is_signed_in(
    kit_client: httpx2.AsyncClient, method: str
) -> None:
    answer = await kit_client.request(method, "/v1/things/a/memory")
    assert (answer.status_code, answer.json()["_tag"]) == (405, "MethodNotAllowed")
    assert answer.headers["Allow"] == "GET, POST"
    nobody = await kit_client.request(method, "/v1/things/a/memory", headers={"Authorization": ""})
    assert nobody.status_code == 401


@pytest.mark.req("SM-27")
async def test_answers_are_json_that_no_cache_keeps(kit_client: httpx2.AsyncClient) -> None:
    for path, status in (("/v1/things/a", 200), ("/v1/failures/missing", 404), ("/v1/failures/bug", 500)):
        answer = await kit_client.get(path)
        assert answer.status_code == status
        assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
        assert answer.headers["Cache-Control"] == "no-store"
    assert (await kit_client.head("/v1/things/a")).status_code == 200


@pytest.mark.req("SM-55", "SM-59", "SM-66")
@pytest.mark.parametrize(
    ("name", "status", "body"),
    [
        ("missing", 404, {"_tag": "ThingNotFound"}),
        ("gone", 404, {"_tag": "NotFound"}),
        ("forbidden", 403, {"_tag": "Forbidden"}),
        ("bad", 400, {"_tag": "InvalidRequest"}),
        ("path", 400, {"_tag": "InvalidRequest", "path": "a.b"}),
        ("conflict", 409, {"_tag": "ThingConflict", "reason": "stale"}),
        ("taken", 409, {"_tag": "ALREADY_EXISTS"}),
        ("away", 503, {"_tag": "Unavailable"}),
        ("open", 503, {"_tag": "Unavailable"}),
        ("refused", 418, {"_tag": "Teapot"}),
        ("bug", 500, {"_tag": "Internal"}),
    ],
)
async def test_an_error_answers_with_its_name_and_what_to_do(
    kit_client: httpx2.AsyncClient, name: str, status: int, body: dict[str, str]
) -> None:
    answer = await kit_client.get(f"/v1/failures/{name}")
    told = answer.json()
    assert answer.status_code == status
    assert told.pop("message")
    assert told == body
    assert ("Retry-After" in answer.headers) is (name == "away"), "who reads it sends the request again"
    assert "secret" not in answer.text


@pytest.mark.parametrize("error", [StoreUnavailable("away"), WorkspaceRefused("unavailable", "away")])
def test_workspace_memory_says_when_to_try_again(error: RootwardError) -> None:
    answer = workspace_failed(error, "r-1")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")


def test_workspace_memory_does_not_where_the_outcome_is_unknown() -> None:
    answer = workspace_failed(StoreUnavailable("look whether it arrived", outcome="unknown"), "r-1")
    assert answer.status_code == 503
    assert "Retry-After" not in answer.headers


GOOD = {"count": 1, "paint": {"_tag": "Red", "name": "r", "parts": [1]}}


@pytest.mark.req("SM-62", "SM-64")
@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("", "body"),
        ("{", "body"),
        ("nul", "body"),
        ("null", "body"),
        ("[]", "body"),
        ('"x"', "body"),
        ("{} {}", "body"),
        ('{"count": NaN}', "body"),
        ("[" * 60_000, "body"),
        ('{"count": ' + "9" * 5_000 + "}", "body"),
        (json.dumps({**GOOD, "count": True}), "count"),
        (json.dumps({**GOOD, "count": "1"}), "count"),
        (json.dumps({**GOOD, "count": 1.5}), "count"),
        (json.dumps({**GOOD, "count": None}), "count"),
        (json.dumps({"paint": GOOD["paint"]}), "count"),
        (json.dumps({"count": 1}), "paint"),
        (json.dumps({**GOOD, "paint": None}), "paint"),
        (json.dumps({**GOOD, "paint": []}), "paint"),
        (json.dumps({**GOOD, "paint": {}}), "paint._tag"),
        (json.dumps({**GOOD, "paint": {"_tag": "Green"}}), "paint._tag"),
        (json.dumps({**GOOD, "paint": {"_tag": "red", "name": "r"}}), "paint._tag"),
        (json.dumps({**GOOD, "paint": {"_tag": None}}), "paint._tag"),
        (json.dumps({**GOOD, "paint": {"_tag": "Red"}}), "paint.name"),
        (json.dumps({**GOOD, "paint": {"_tag": "Red", "name": 1}}), "paint.name"),
        (json.dumps({**GOOD, "paint": {"_tag": "Red", "name": "\ud800"}}), "paint.name"),
        (json.dumps({**GOOD, "paint": {"_tag": "Red", "name": "r", "parts": [1, "x"]}}), "paint.parts.1"),
        (json.dumps({**GOOD, "paint": {"_tag": "Red", "name": "r", "Red": 1}}), "paint.Red"),
        (json.dumps({**GOOD, "paint": {"_tag": "Blue", "on": 1}}), "paint.on"),
        (json.dumps({**GOOD, "paint": {"_tag": "Blue", "on": True, "name": "r"}}), "paint.name"),
        (json.dumps({**GOOD, "more": 1}), "more"),
    ],
)
async def test_a_body_that_does_not_fit_answers_400_with_the_field(
    kit_client: httpx2.AsyncClient, raw: str, path: str
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await kit_client.post("/v1/things/a/memory", content=raw.encode(), headers=headers)
    assert answer.status_code == 400, answer.text
    assert (answer.json()["_tag"], answer.json()["path"]) == ("InvalidRequest", path)


class Limited(_Shape):
    size: int = Field(ge=1, le=9)
    word: str = Field(min_length=2, max_length=3)
    period: Literal["day", "month"]
    parts: list[int] = Field(max_length=1)


FITTING = {"size": 1, "word": "ab", "period": "day", "parts": []}


@pytest.mark.req("SM-62", "BM-179", "SM-127")
@pytest.mark.parametrize(
    ("shape", "given", "told"),
    [
        (Limited, {"size": 0}, "give at least 1"),
        (Limited, {"size": 4711}, "give at most 9"),
        (Limited, {"size": 1.5}, "give a whole number"),
        (Limited, {"size": "4711"}, "give a whole number"),
        (Limited, {"word": ""}, "give at least 2 characters"),
        (Limited, {"word": "4711"}, "give at most 3 characters"),
        (Limited, {"word": 4711}, "give a text"),
        (Limited, {"period": "4711"}, "give one of 'day' or 'month'"),
        (Limited, {"parts": "4711"}, "give a list"),
        (Limited, {"parts": [4711, 1]}, "give at most 1 members"),
        (Limited, {"4711": 1}, "there is no such field: leave it out"),
        (Body, {**GOOD, "paint": {"_tag": "4711"}}, "give one of 'Red', 'Blue'"),
        (Body, {**GOOD, "paint": {"name": "4711"}}, "this field is missing: give it"),
        (Body, {**GOOD, "paint": {"_tag": "Blue", "on": "4711"}}, "give true or false"),
        (Body, {**GOOD, "paint": 4711}, "give an object"),
        (Body, {"paint": GOOD["paint"]}, "this field is missing: give it"),
        (Body, 4711, "give an object"),
    ],
)
def test_a_refusal_tells_what_to_do_and_repeats_nothing_of_what_was_sent(
    shape: type[BaseModel], given: Any, told: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        shape.model_validate({**FITTING, **given} if shape is Limited else given, strict=True)
    assert advice_of(refused.value) == told


@pytest.mark.req("SM-62")
@pytest.mark.parametrize("raw", [b"\xff\xfe{\x00}\x00", b'{"count": "\xff"}', b"\xef\xbb\xbf{}", b'{"\\ud800": 1}'])
async def test_bytes_that_are_no_utf_8_or_no_text_answer_400(kit_client: httpx2.AsyncClient, raw: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = await kit_client.post("/v1/things/a/memory", content=raw, headers=headers)
    assert answer.status_code == 400


@pytest.mark.req("SM-28")
async def test_a_body_of_another_type_answers_415(kit_client: httpx2.AsyncClient) -> None:
    for kind in ("text/plain", "application/jsonx", "application/x-www-form-urlencoded", ""):
        answer = await kit_client.post("/v1/things/a/memory", content=b"{}", headers={"Content-Type": kind})
        assert (answer.status_code, answer.json()["_tag"]) == (415, "UnsupportedMediaType")
    for kind in ("application/json", "Application/JSON; charset=utf-8"):
        headers = {"Content-Type": kind}
        answer = await kit_client.post("/v1/things/a/memory", content=json.dumps(GOOD), headers=headers)
        assert answer.json() == GOOD


@pytest.mark.req("SM-65")
async def test_a_body_over_65536_bytes_answers_413_however_it_comes(kit_client: httpx2.AsyncClient) -> None:
    headers = {"Content-Type": "application/json"}
    text = json.dumps(GOOD)
    fits = text + " " * (65_536 - len(text))
    answer = await kit_client.post("/v1/things/a/memory", content=fits, headers=headers)
    assert answer.status_code == 200
    declared = await kit_client.post("/v1/things/a/memory", content=fits + " ", headers=headers)

    async def pieces() -> AsyncIterator[bytes]:
        for piece in _pieces(fits + " "):
            yield piece

    streamed = await kit_client.post("/v1/things/a/memory", content=pieces(), headers=headers)
    for refused in (declared, streamed):
        assert (refused.status_code, refused.json()["_tag"]) == (413, "PayloadTooLarge")


def _pieces(text: str) -> Iterator[bytes]:
    return (text[start : start + 1_000].encode() for start in range(0, len(text), 1_000))


@pytest.mark.req("SM-62")
async def test_a_request_that_is_broken_off_is_no_fault(service: Service, world: TeamWorld) -> None:
    kit = Kit(deps=service.deps, auth=Authenticator(deps=service.deps), models=no_models)
    [route] = [r for r in routes(kit, TABLE) if getattr(r, "path", "") == "/v1/things/{id}/memory"]
    token = await world.token(world.ana)
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/v1/things/a/memory",
        "raw_path": b"/v1/things/a/memory",
        "headers": [(b"authorization", f"Bearer {token}".encode()), (b"content-type", b"application/json")],
        "path_params": {"id": "a"},
        "query_string": b"",
    }
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await route.handle(scope, _disconnected, send)
    assert sent[0]["status"] == 400
    assert b"unexpected_faults_total{" not in service.figures.render()


async def _disconnected() -> Message:
    await asyncio.sleep(0)
    return {"type": "http.disconnect"}
