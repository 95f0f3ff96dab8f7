"""The client has a method for every route of the service and for every host operation, with all their arguments."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from graphql import GraphQLSchema, build_schema, parse, validate
from graphql.language import FieldNode, OperationDefinitionNode

from rootward.service import AsyncClient, Client, NewItem, NewMessage, TaskResult
from rootward.service.operations import AsyncSurface, Operation, SyncSurface

_SCHEMA = Path(__file__).parents[2] / "schema.graphql"
_NAMED = """
ingest_messages create_session append_item queue_turn begin_turn suspend_turn resume_turn complete_turn
cancel_turn confide fork_session restore_version promote set_members record_task_result ingest_signal
delete_chat_history delete_session
"""


def surfaces(client: Client | AsyncClient) -> dict[str, object]:
    return {name: value for name, value in vars(client).items() if isinstance(value, SyncSurface | AsyncSurface)}


def operations(surface: object) -> Iterator[tuple[str, Operation[..., object]]]:
    for name in dir(type(surface)):
        found = inspect.getattr_static(type(surface), name)
        if isinstance(found, Operation):
            yield name, found


@pytest.mark.req("MT-66")
async def test_every_route_of_the_reference_has_a_method(server: str) -> None:
    async with httpx2.AsyncClient(base_url=server) as http:
        found = (await http.get("/openapi.json")).json()["paths"]
    paths = {path: item for path, item in found.items() if path.startswith(("/v1/", "/api/v1/"))}
    listed = {(method.upper(), path) for path, methods in paths.items() for method in methods if method != "parameters"}
    assert len(listed) > 20
    with Client(server, "rw_x") as client:
        made = {
            (one.route.method, one.route.path)
            for surface in surfaces(client).values()
            for _, one in operations(surface)
        }
    assert listed - made == set()


@pytest.mark.req("MT-66")
async def test_both_clients_have_the_same_operations(server: str) -> None:
    with Client(server, "rw_x") as client:
        async with AsyncClient(server, "rw_x") as waiting:
            of_threads = {name: dict(operations(surface)) for name, surface in surfaces(client).items()}
            of_tasks = {name: dict(operations(surface)) for name, surface in surfaces(waiting).items()}
            assert of_threads == of_tasks
            assert all(of_threads.values())
            assert inspect.iscoroutinefunction(waiting.sessions.sender.send)
            assert inspect.signature(client.files.read) == inspect.signature(waiting.files.read)


def dummy(name: str) -> object:
    """Return something for an argument that has no default."""
    now = datetime(2026, 5, 4, tzinfo=UTC)
    made = {
        "item": NewItem(type="person_message", text="x"),
        "messages": [NewMessage(external_id="m", sent_at=now, text="x")],
        "member_ids": ["p"],
        "result": TaskResult(task_id="t", state="SUCCEEDED", steps=[]),
        "occurred_at": now,
        "payload": {"a": 1},
    }
    return made.get(name, "x")


@pytest.mark.req("AD-17")
def test_host_operations_have_the_names_and_all_arguments_of_the_schema() -> None:
    schema: GraphQLSchema = build_schema(_SCHEMA.read_text())
    assert schema.mutation_type is not None
    with Client("http://rootward.test", "rw_x") as client:
        made = dict(operations(client.host))
    assert set(made) >= set(_NAMED.split())
    for name, one in made.items():
        needed = [p for p in inspect.signature(one.ask).parameters.values() if p.default is inspect.Parameter.empty]
        arguments = {parameter.name: dummy(parameter.name) for parameter in needed}
        body = one.call(**arguments).ask.body
        assert body is not None
        document = parse(body["query"])
        assert validate(schema, document) == [], name
        [definition] = document.definitions
        assert isinstance(definition, OperationDefinitionNode)
        [field] = definition.selection_set.selections
        assert isinstance(field, FieldNode)
        words = [word.title() if place else word for place, word in enumerate(name.split("_"))]
        assert field.name.value == "".join(words)
        declared = schema.mutation_type.fields[field.name.value].args
        assert {argument.name.value for argument in field.arguments or ()} == set(declared), name
        key = body["variables"].get("idempotencyKey")
        assert (key is not None and len(key) == 32) == ("idempotencyKey" in declared), name
