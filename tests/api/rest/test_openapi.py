"""The reference lists every route and every field, and answers fit it."""

from __future__ import annotations

from typing import Any

import httpx2
import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest
from starlette.routing import Route

from api.bootstrap import Service
from tests.support.session_room import SessionClient, SessionRoom

NO_REST = ("/graphql", "/graphiql", "/mcp", "/console")
"""What has a language, or files, of its own; the root leads to the console."""


@pytest.fixture
async def document(http: httpx2.AsyncClient) -> dict[str, Any]:
    answer = await http.get("/openapi.json")
    assert answer.status_code == 200
    return dict(answer.json())


def fits(document: dict[str, Any], path: str, method: str, status: str, answer: Any) -> None:
    """Check an answer against what the reference says of it."""
    said = document["paths"][path][method]["responses"][status]["content"]["application/json"]["schema"]
    jsonschema.validate(answer, {**said, "components": document["components"]}, cls=jsonschema.Draft202012Validator)


@pytest.mark.req("SM-30")
async def test_the_reference_lists_every_route_of_the_surfaces(service: Service, document: dict[str, Any]) -> None:
    served = {
        (route.path.replace(":path}", "}"), method.lower())
        for route in service.app.routes
        if isinstance(route, Route) and route.path != "/" and not route.path.startswith(NO_REST)
        for method in (route.methods or set()) - {"HEAD"}
    }
    listed = {(path, method) for path, item in document["paths"].items() for method in item if method != "parameters"}
    move = "/api/v1/memories/{memory_id}/files/move"  # a file of this name is one like others: only POST is the command
    search = "/api/v1/memories/{memory_id}/records/search"
    of_all = {(move, method) for method in ("get", "put", "delete")} | {(search, "put"), (search, "delete")}
    assert served - of_all == listed


@pytest.mark.req("SM-3", "SM-20", "SM-24", "SM-30")
async def test_every_field_of_the_answers_is_listed(
    room: SessionRoom, person: SessionClient, document: dict[str, Any]
) -> None:
    await room.start()
    await person.edit("Remember", key="venue", content="Porto.", kind="decision")
    await person.edit("Configure", use=False)
    view, memory = {"session": await person.view()}, await person.memory()
    session, path = "/v1/sessions/{sessionId}", "/v1/sessions/{sessionId}/memory"
    fits(document, session, "get", "200", view)
    fits(document, path, "get", "200", memory)
    fits(document, path, "post", "200", view)
    schemas = document["components"]["schemas"]
    assert set(view["session"]) == set(schemas["SessionFields"]["properties"])
    assert set(memory) == set(schemas["SessionMemory"]["properties"])
    assert set(memory["entries"]["venue"]) == set(schemas["SessionEntry"]["properties"])
    # and a field that is not listed would be noticed
    with pytest.raises(jsonschema.ValidationError):
        fits(document, path, "get", "200", {**memory, "more": 1})


@pytest.mark.req("SM-30", "SM-55")
async def test_errors_and_bodies_are_listed(room: SessionRoom, person: SessionClient, document: dict[str, Any]) -> None:
    await room.make()
    path = "/v1/sessions/{sessionId}/memory"
    for answer in (await person.try_("Forget", key="hotel"), await person.try_("Forget", key="")):
        fits(document, path, "post", str(answer.status_code), answer.json())
    states = "200 400 401 403 404 405 409 413 415 429 502 503"
    assert " ".join(sorted(document["paths"][path]["post"]["responses"])) == states
    said = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    schema = {**said, "components": document["components"]}
    view = await person.view()
    for command in ({"_tag": "Forget", "key": "k"}, {"_tag": "Configure", "use": None}, {"_tag": "Refresh"}):
        jsonschema.validate({"expected": view["head"], "revision": view["revision"], "command": command}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"expected": view["head"], "revision": 0, "command": {"_tag": "Recall"}}, schema)


@pytest.mark.req("SM-30")
def test_the_reference_is_openapi(document: dict[str, Any]) -> None:
    from openapi_spec_validator import validate

    validate(document)
