"""Subscriptions over a real WebSocket: who may open one, what it carries, how it follows rights."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Origin, Subprotocol

from api.bootstrap import Ports, build
from api.settings import Settings
from graph.model.ids import NodeId
from graph.services.access.commands import command
from graph.services.access.tokens import revoke_token
from graph.services.knowledge.audit_feed import POLL_SECONDS
from tests.api.clients import GraphQLClient
from tests.api.conftest import ENGINES
from tests.api.graphql.test_entries import an_entry
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]

FEED = "subscription { auditFeed { operation actor { displayName } target { id __typename } knowledgeBase { kind } } }"


@asynccontextmanager
async def socket(server: str, token: str | None, *, origin: str | None = None) -> AsyncIterator[ClientConnection]:
    url = server.replace("http://", "ws://") + "/graphql"
    given = Origin(origin) if origin else None
    async with connect(url, subprotocols=[Subprotocol("graphql-transport-ws")], origin=given) as made:
        payload = {"Authorization": f"Bearer {token}"} if token else {}
        await made.send(json.dumps({"type": "connection_init", "payload": payload}))
        yield made


async def receive(connection: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(60):  # rather a failure than a suite that hangs
        found: dict[str, Any] = json.loads(await connection.recv())
    return found


async def subscribe(connection: ClientConnection, query: str, **variables: Any) -> None:
    assert await receive(connection) == {"type": "connection_ack"}
    payload = {"query": query, "variables": variables}
    await connection.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))


async def is_listening(connection: ClientConnection) -> None:
    """Return once the server has begun to work on what was sent before."""
    await connection.send(json.dumps({"type": "ping"}))
    assert (await receive(connection))["type"] == "pong"


@pytest.mark.req("KN-123", "AD-35")
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_the_audit_feed_tells_a_change_made_elsewhere_to_those_who_may_see_it(
    server: str, world: TeamWorld, ana: GraphQLClient, gid: Gid, settings: Settings, ports: Ports
) -> None:
    await an_entry(world, ana, gid, "Kai", "Kai likes tea")
    elsewhere = httpx2.ASGITransport(app=build(settings, ports=ports).app)  # shares the store and nothing else
    async with (
        socket(server, ana.token) as connection,
        httpx2.AsyncClient(transport=elsewhere, base_url="http://rootward.test") as http,
    ):
        await subscribe(connection, FEED)
        await is_listening(connection)
        entry = await an_entry(world, GraphQLClient(http=http, token=ana.token), gid)
        event = await receive(connection)
    assert POLL_SECONDS <= 1, "so that what waits for a look is told within two seconds"
    assert (event["type"], event["id"]) == ("next", "1")
    told = event["payload"]["data"]["auditFeed"]
    assert told == {
        "operation": "entry.create",
        "actor": {"displayName": "Ana"},
        "target": {"id": entry, "__typename": "Entry"},
        "knowledgeBase": {"kind": "PRIVATE"},
    }


@pytest.mark.req("KN-123", "KN-60")
async def test_the_feed_of_somebody_else_tells_nothing_of_a_private_chat(
    server: str, world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    async with socket(server, ben.token) as connection:
        await subscribe(connection, FEED)
        await is_listening(connection)
        await an_entry(world, ana, gid)
        await world.say(world.ops, "Kai leads Atlas")
        pool = gid(NodeId(str((await world.open(world.ops)).pool)))
        source = gid(await world.say(world.ops, "Kai leads Orion"))
        from tests.api.graphql.test_entries import APPLY, create_entry

        await ana.ok(APPLY, kb=pool, operations=[create_entry("Kai", source, "Kai leads Orion")])
        event = await receive(connection)
    # The first thing he is told is the change in the channel that he reads.
    assert event["payload"]["data"]["auditFeed"]["knowledgeBase"] == {"kind": "CHANNEL"}


@pytest.mark.req("AD-7", "KN-123")
async def test_a_revoked_token_ends_its_subscriptions(server: str, world: TeamWorld, ana: GraphQLClient) -> None:
    async with socket(server, ana.token) as connection:
        await subscribe(connection, FEED)
        await is_listening(connection)
        assert ana.token is not None
        token = NodeId("tok_" + ana.token.split("_")[1])
        await command(world.deps, world.caller(world.dan), lambda cmd: revoke_token(cmd, token))
        event = await receive(connection)
    assert event["payload"]["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"


@pytest.mark.parametrize("token", [None, "rw_0_" + "0" * 48, "nonsense"])
async def test_without_a_valid_token_the_connection_ends(server: str, token: str | None) -> None:
    async with socket(server, token) as connection:
        with pytest.raises(ConnectionClosed) as closed:
            await receive(connection)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4403


async def test_a_page_of_another_origin_gets_no_connection(server: str, ana: GraphQLClient) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with socket(server, ana.token, origin="https://evil.test"):
            pass
    assert refused.value.response.status_code == 403


async def test_a_page_of_the_same_origin_gets_one(server: str, ana: GraphQLClient) -> None:
    async with socket(server, ana.token, origin=server) as connection:
        assert await receive(connection) == {"type": "connection_ack"}


@pytest.mark.parametrize(
    "query",
    [
        "{ viewer { id } }",
        "mutation { openConversation(channelId: 1) { id } }",
        "subscription { nothing }",
        "subscription { auditFeed { id } ",
        "subscription { auditFeed { " + "id " * 500 + "} }",
        "subscription { a: auditFeed { id } b: auditFeed { id } }",
    ],
)
async def test_only_sound_subscriptions_are_taken(server: str, ana: GraphQLClient, query: str) -> None:
    async with socket(server, ana.token) as connection:
        await subscribe(connection, query)
        event = await receive(connection)
    assert event["type"] == "error"
    assert event["payload"][0]["extensions"]["code"] in {"BAD_INPUT", "QUERY_TOO_COMPLEX"}


def subscription(id_: Any = "1", **payload: Any) -> dict[str, Any]:
    return {"type": "subscribe", "id": id_, "payload": {"query": FEED, **payload}}


NO_TEXTS: tuple[Any, ...] = (None, 1, [], {})
NO_MESSAGES: list[str | bytes] = [
    *("[]", "[[]]", "7", "null", "true", '"ping"', "{}", '{"type": 1}', '{"type": null}', '{"type": ["ping"]}'),
    *('{"type": {}}', '{"type": "stop"}', '{"type": "' + "x" * 500 + '"}', '{"type": "complete"}', "", "{", "NaN"),
    *('{"type": "complete", "id": []}', '{"type": "complete", "id": {}}', '{"type": "subscribe"}', b"{}", b"\xff"),
    *('{"type": "ping", "payload": []}', '{"type": "connection_init", "payload": "x"}', "[" * 100_000, "9" * 5_000),
    *(json.dumps(subscription(id_)) for id_ in (*NO_TEXTS, "", "x" * 65, "é", "\ud800")),
    *(json.dumps(subscription(query=query)) for query in NO_TEXTS),
    *(json.dumps({**subscription(), "payload": payload}) for payload in (*NO_TEXTS[:3], "x", {})),
]


@pytest.mark.req("KN-110", "KN-123")
async def test_a_frame_that_is_no_message_ends_the_connection(
    server: str, ana: GraphQLClient, caplog: pytest.LogCaptureFixture
) -> None:
    for frame in NO_MESSAGES:
        async with socket(server, ana.token) as connection:
            assert await receive(connection) == {"type": "connection_ack"}
            await connection.send(frame)
            with pytest.raises(ConnectionClosed) as closed:
                await receive(connection)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4400, frame[:80]
    assert "Traceback" not in caplog.text


@pytest.mark.req("KN-110")
async def test_a_payload_of_the_wrong_form_is_refused_and_the_connection_stays(server: str, ana: GraphQLClient) -> None:
    wrong: list[dict[str, Any]] = [{"variables": []}, {"variables": 7}, {"operationName": []}, {"operationName": "x"}]
    async with socket(server, ana.token) as connection:
        assert await receive(connection) == {"type": "connection_ack"}
        for payload in (*wrong, {"query": "\ud800"}):
            await connection.send(json.dumps(subscription(**payload)))
            event = await receive(connection)
            assert (event["type"], event["payload"][0]["extensions"]["code"]) == ("error", "BAD_INPUT")
        await is_listening(connection)


@pytest.mark.req("KN-60", "KN-123")
async def test_learning_progress_of_what_is_hidden_and_of_what_is_not_there_are_alike(
    server: str, world: TeamWorld, ben: GraphQLClient, gid: Gid
) -> None:
    query = "subscription($id: ID!) { learningProgress(materialId: $id) { state } }"
    answers = []
    for id_ in (gid(await world.say(world.chat, "hidden")), gid(NodeId("src_00000000000000000000000000"))):
        async with socket(server, ben.token) as connection:
            await subscribe(connection, query, id=id_)
            answers.append(await receive(connection))
    assert answers[0] == answers[1]
    assert answers[0]["payload"]["errors"][0]["extensions"]["code"] == "NOT_FOUND"
