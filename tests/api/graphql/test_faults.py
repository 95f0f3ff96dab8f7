"""What goes wrong is told by code, and nothing of what was sent or kept gets into errors, logs or figures (case 15)."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator

import httpx2
import pytest
from graphql import GraphQLError

from api.bootstrap import Ports, build
from api.graphql.faults import wire_error
from api.observability import start_logging
from api.settings import Settings
from graph.model.errors import StoreUnavailable
from graph.model.ids import NodeId, WorkspaceId
from graph.store.port import Store
from tests.api.clients import GraphQLClient
from tests.support.clock import FakeClock
from tests.support.faults import Fault, FaultyStore, PlannedFault
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]

CANARY = "canary7f3a"


@pytest.fixture(autouse=True)
def production_logs(capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    start_logging("debug", "json")
    yield
    root.handlers, root.level = before[0], before[1]


SENT = [
    f"{{ {CANARY} }}",
    f"{{ viewer {{ {CANARY} }} }}",
    f'{{ node(id: "{CANARY}", {CANARY}: 1) {{ id }} }}',
    f"{{ entries(ownerId: 1, first: {CANARY}) {{ totalCount }} }}",
    f'{{ entries(ownerId: 1, first: "{CANARY}") {{ totalCount }} }}',
    f'{{ entry(id: 1, asOf: {{recorded: "{CANARY}"}}) {{ id }} }}',
    f'{{ entry(id: 1, asOf: {{{CANARY}: "x"}}) {{ id }} }}',
    f'{{ explainVisibility(id: "{CANARY}") {{ visible }} {CANARY} }}',
    f"query {CANARY}($v: {CANARY}!) {{ viewer {{ id }} }}",
    f"{{ viewer {{ ...{CANARY} }} }}",
    f"{{ viewer @{CANARY} {{ id }} }}",
    f'mutation {{ ingestMessages(conversationId: "{CANARY}", messages: [{{text: "{CANARY}"}}]) {{ txId }} }}',
    f'mutation {{ applyOperations(operations: ["{CANARY}"], reason: "{CANARY}") {{ txId }} }}',
    f'mutation {{ submitUrl(ownerId: 1, kbId: 2, url: "https://{CANARY}") {{ id }} }}',
    f'"{CANARY}',
    f"{{ provenance(id: 1, direction: {CANARY}) {{ truncated }} }}",
    f'{{ memorySearch(input: {{query: "{CANARY}", conversationId: "{CANARY}"}}) {{ totalTokens }} }}',
    f'{{ entries(ownerId: 1, after: "{CANARY}") {{ totalCount }} }}',
]


@pytest.mark.req("AD-42", "KN-110")
@pytest.mark.parametrize("query", SENT)
async def test_a_refused_document_is_quoted_nowhere(
    query: str, ana: GraphQLClient, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = await ana.run(query)
    figures = (await ana.http.get("/metrics")).text
    assert answer.errors
    # An alias or field of the client may come back as a key of data or of a path, never in words.
    told = json.dumps([{key: value for key, value in error.items() if key != "path"} for error in answer.errors])
    captured = capsys.readouterr()
    for place in (told, figures, captured.err, captured.out):
        assert CANARY not in place


@pytest.mark.req("AD-42")
@pytest.mark.parametrize("value", [CANARY, [CANARY], {CANARY: CANARY}, 10**400])
async def test_a_variable_of_a_wrong_type_is_quoted_nowhere(
    value: object, ana: GraphQLClient, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "query($n: Int, $t: AsOf) { entries(ownerId: 1, first: $n) { totalCount } entry(id: 1, asOf: $t) { id } }"
    for variables in ({"n": value}, {"t": value}, {"t": {"recorded": value}}):
        answer = await ana.run(query, **variables)
        assert set(answer.codes) == {"BAD_INPUT"}
        captured = capsys.readouterr()
        assert CANARY not in json.dumps(answer.errors) + captured.err + captured.out
        assert "10000000" not in json.dumps(answer.errors)


@pytest.mark.req("AD-42", "KN-110")
@pytest.mark.parametrize("operation", ["find", "get", "closure", "edges"])
async def test_a_fault_below_is_masked_and_logged_without_its_words(
    operation: str,
    settings: Settings,
    store: Store,
    clock: FakeClock,
    client: GraphQLClient,
    ana: GraphQLClient,
    world: TeamWorld,
    gid: Gid,
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = gid(await world.say(world.chat, CANARY))

    def broken() -> BaseException:
        return RuntimeError(f"MATCH (n) WHERE n.text = '{CANARY}'")

    query = "query($id: ID!, $o: ID!) { node(id: $id) { id } entries(ownerId: $o) { totalCount } }"
    answers = []
    for at in range(1, 12):
        faulty = FaultyStore(store, [PlannedFault(fault=Fault.FAIL, at=at, operation=operation, error=broken)])
        service = build(settings, ports=Ports(clock=clock, store=faulty))
        transport = httpx2.ASGITransport(app=service.app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://t") as http:
            answers.append(await GraphQLClient(http=http, token=ana.token).run(query, id=source, o=gid(world.atlas)))
    failed = [answer for answer in answers if answer.errors]
    captured = capsys.readouterr()
    assert failed
    assert all(set(answer.codes) == {"INTERNAL"} for answer in failed)
    assert "RuntimeError" in captured.err
    assert CANARY not in json.dumps([answer.errors for answer in answers]) + captured.err + captured.out


@pytest.mark.req("KN-110")
async def test_a_store_that_is_away_says_so_and_the_next_request_is_answered_anew(
    settings: Settings, store: Store, clock: FakeClock, ana: GraphQLClient, world: TeamWorld, gid: Gid
) -> None:
    source = gid(await world.say(world.chat, "still here"))
    query = "query($id: ID!) { node(id: $id) { id } }"

    def away() -> BaseException:
        return StoreUnavailable("the store cannot answer now: try again")

    faulty = FaultyStore(store, [PlannedFault(fault=Fault.FAIL, at=1, operation="closure", error=away)])
    service = build(settings, ports=Ports(clock=clock, store=faulty))
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=service.app), base_url="http://t") as http:
        client = GraphQLClient(http=http, token=ana.token)
        first = await client.run(query, id=source)
        assert (first.codes, first.errors[0]["extensions"]["status"]) == (["STORE_UNAVAILABLE"], 503)
        # A failed look is not kept as "hidden" (case 7).
        assert await client.ok(query, id=source) == {"node": {"id": source}}


def test_messages_keep_names_of_the_schema_and_nothing_else() -> None:
    def told(message: str) -> str:
        return str(wire_error(GraphQLError(message), WorkspaceId("w"), {"Query", "node"})["message"])

    assert (
        told("Cannot query field 'node' on type 'Query'. Did you mean 'nodes'?")
        == "Cannot query field 'node' on type 'Query'"
    )
    assert told("Cannot query field 'x' on type 'Query'.") == "Cannot query field '…' on type 'Query'"
    assert told("Variable '$node' got invalid value 'secret'; oops") == "Variable '$node' has a value that does not fit"
    assert told("Expected value of type 'Int', found secret.") == "Expected value of type '…'"
    assert (
        told("Argument 'Query.node(node:)' of type 'node!' is required, but it was not provided.")
        == "Argument 'Query.node(node:)' of type 'node!' is required, but it was not provided"
    )
    assert told("Int cannot represent non-integer value: :)'secret") == "Int cannot represent non-integer value"
