"""One state of rights a request, agents in their conversations, and the record of an auditor's reading."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, cast

import httpx2
import pytest

from api.bootstrap import Ports, build
from api.settings import Settings
from graph.model.access import Viewer
from graph.model.ids import GlobalId, NodeId
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.people import Right
from graph.rules.pools import base_id
from graph.store.memory import MemoryStore
from graph.store.port import Isolation, Reader
from tests.api.clients import GraphQLClient
from tests.api.graphql.test_entries import APPLY, an_entry, create_entry
from tests.api.graphql.test_skeleton import OPEN
from tests.support.clock import FakeClock
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]

LOG = "{ auditLog(filter: {}) { edges { node { operation actor { displayName } } } } }"


def operations(answer: Any) -> list[str]:
    return [edge["node"]["operation"] for edge in answer["auditLog"]["edges"]]


@pytest.mark.req("KN-59")
async def test_an_auditor_who_reads_a_private_chat_leaves_one_record_a_request(
    world: TeamWorld, ana: GraphQLClient, cleo: GraphQLClient, gid: Gid
) -> None:
    entry = await an_entry(world, ana, gid)
    before = operations(await ana.ok(LOG))
    query = "query($id: ID!) { a: entry(id: $id) { name } b: entry(id: $id) { projection } node(id: $id) { id } }"
    assert (await cleo.ok(query, id=entry))["a"] == {"name": "Lin"}
    after = await ana.ok(LOG)
    assert operations(after) == ["access.read", *before]
    assert after["auditLog"]["edges"][0]["node"]["actor"] == {"displayName": "Cleo"}


@pytest.mark.req("KN-59")
async def test_who_takes_part_leaves_no_record(world: TeamWorld, ana: GraphQLClient, gid: Gid) -> None:
    entry = await an_entry(world, ana, gid)
    before = operations(await ana.ok(LOG))
    await ana.ok("query($id: ID!) { entry(id: $id) { name projection } }", id=entry)
    assert operations(await ana.ok(LOG)) == before


@pytest.mark.req("KN-56", "KN-43")
async def test_an_agent_reads_only_in_a_conversation_of_its_own(
    world: TeamWorld, ana: GraphQLClient, client: GraphQLClient, gid: Gid
) -> None:
    entry = await an_entry(world, ana, gid)
    private, shared = gid((await world.open(world.chat)).id), gid((await world.open(world.ops)).id)
    atlas = client.as_(await world.token(world.atlas))
    query = "query($id: ID!) { entry(id: $id) { name } }"

    def speaking(conversation: str) -> GraphQLClient:
        return GraphQLClient(http=atlas.http, token=atlas.token, headers={"Rootward-Conversation": conversation})

    assert await atlas.ok(query, id=entry) == {"entry": None}
    assert await speaking(shared).ok(query, id=entry) == {"entry": None}
    assert await speaking(private).ok(query, id=entry) == {"entry": {"name": "Lin"}}
    assert await speaking("nothing").code(query, id=entry) == "NOT_FOUND"
    other = await TeamWorld(deps=world.deps).make()
    assert await speaking(gid((await other.open(other.ops)).id)).code(query, id=entry) == "NOT_FOUND"


@pytest.mark.req("KN-56")
async def test_an_agent_writes_in_a_conversation_and_reads_what_it_wrote(
    world: TeamWorld, client: GraphQLClient, gid: Gid
) -> None:
    source = gid(await world.say(world.chat, "Lin likes tea"))
    conversation = gid((await world.open(world.chat)).id)
    atlas = client.as_(await world.token(world.atlas))
    made = await atlas.ok(APPLY, conversation=conversation, operations=[create_entry("Lin", source, "Lin likes tea")])
    assert made["applyOperations"]["results"][0]["created"][0]["name"] == "Lin"
    assert await atlas.code(APPLY, operations=[create_entry("Kai", source, "Lin likes tea")]) == "SCOPE_FORBIDDEN"


NAMING = {
    "entries": "query($kb: ID!, $o: ID!) { entries(ownerId: $o, filter: {kbIds: [$kb]}) { totalCount } }",
    "materials": "query($kb: ID!, $o: ID!) { materials(ownerId: $o, kbIds: [$kb]) { totalCount } }",
    "auditLog": "query($kb: ID!, $o: ID!) { auditLog(filter: {ownerId: $o, kbIds: [$kb]}) { totalCount } }",
    "memorySearch": """query($kb: ID!, $c: ID) {
        memorySearch(input: {query: "tea", conversationId: $c, kbIds: [$kb]}) { totalTokens } }""",
    "projection": "query($kb: ID!, $e: ID!) { entry(id: $e) { projection(kbId: $kb) } }",
    "submitText": 'mutation($kb: ID!, $o: ID!) { submitText(ownerId: $o, kbId: $kb, text: "Tea") { id } }',
    "applyOperations": """mutation($kb: ID!, $c: ID) {
        applyOperations(conversationId: $c, kbId: $kb, operations: [], reason: "r") { applied } }""",
}


@pytest.mark.req("KN-56", "KN-60")
@pytest.mark.parametrize("field", NAMING)
async def test_an_agent_names_no_base_outside_of_its_conversation(
    world: TeamWorld, client: GraphQLClient, gid: Gid, field: str
) -> None:
    source = gid(await world.say(world.ops, "Lin likes tea"))
    own, private = await world.open(world.ops), (await world.open(world.chat)).pool
    conversation = gid(own.id)
    here = {"Rootward-Conversation": conversation}
    atlas = GraphQLClient(http=client.http, token=await world.token(world.atlas), headers=here)
    made = await atlas.ok(APPLY, conversation=conversation, operations=[create_entry("Lin", source, "Lin likes tea")])
    entry = made["applyOperations"]["results"][0]["createdIds"][0]
    given = {"o": gid(world.atlas), "c": conversation, "e": entry}
    unknown = base_id(world.name, world.atlas, KbKind.CHANNEL, NodeId("chn_w/atlas/nowhere"))
    for base in (gid(NodeId(str(private))), gid(unknown)):
        answer = await atlas.run(NAMING[field], kb=base, **given)
        assert answer.codes == ["SCOPE_FORBIDDEN"]
    if field not in ("submitText", "applyOperations"):
        await atlas.ok(NAMING[field], kb=gid(NodeId(str(own.pool))), **given)


class FreshReader:
    """Reads each time what is committed by then, as Neo4j does."""

    def __init__(self, store: Committed) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        async def call(*arguments: Any, **named: Any) -> Any:
            if name == "get" and isinstance(arguments[0], Viewer) and self._store.moves:
                await self._store.moves.pop()()
            async with self._store.snapshot() as reader:
                return await getattr(reader, name)(*arguments, **named)

        return call


class Committed(MemoryStore):
    """A store without snapshots, in which rights move in the middle of a read."""

    def __init__(self, *, clock: FakeClock) -> None:
        super().__init__(clock=clock)
        self.moves: list[Callable[[], Any]] = []
        self.commands = 0

    @property
    def isolation(self) -> Isolation:
        return Isolation.READ_COMMITTED

    def snapshot(self) -> AbstractAsyncContextManager[Reader]:
        return super().reading()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Reader]:
        yield cast(Reader, FreshReader(self))

    async def transact(self, work: Any, *, tx_id: str | None = None) -> Any:
        self.commands += 1
        return await super().transact(work, tx_id=tx_id)


@pytest.mark.req("KN-116")
async def test_a_read_during_which_rights_moved_is_repeated_and_a_command_is_not(
    settings: Settings, clock: FakeClock
) -> None:
    store = Committed(clock=clock)
    service = build(settings, ports=Ports(clock=clock, store=store))
    async with service.app.router.lifespan_context(service.app):
        world = await TeamWorld(deps=service.deps).make()
        transport = httpx2.ASGITransport(app=service.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://t") as http:
            host = GraphQLClient(http=http, token=await world.token(world.host))
            await host.ok("{ viewer { id } }")

            async def grant() -> None:
                await world.grant(world.host, Right.READER, world.atlas)

            channel = GlobalId(kind="Channel", workspace=world.workspace, node=world.ops).encode()
            store.moves.append(grant)
            query = "{ owners { totalCount edges { node { displayName } } } viewer { displayName } }"
            seen = await host.ok(query)
            assert seen["owners"]["totalCount"] == len(seen["owners"]["edges"]) == 1
            assert service.figures.render().decode().count("rootward_read_repeated_total 1.0") == 1
            opened = await host.ok(OPEN, channel=channel)

            async def revoke() -> None:
                await world.grant(world.host, Right.AUDITOR, world.node)

            store.moves.append(revoke)
            before = store.commands
            again = await host.ok(OPEN, channel=channel)
            assert again["openConversation"]["id"] == opened["openConversation"]["id"]
            assert not store.moves
            # One command, and the grant that moved the rights while the payload was read.
            assert store.commands - before == 2
            assert not store.moves


RIGHTS = "query($a: ID!) { workspace { viewerRights } node(id: $a) { ... on Principal { viewerRights } } }"


@pytest.mark.req("CO-5")
async def test_everybody_is_told_what_they_may_do_themselves(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, dan: GraphQLClient, gid: Gid
) -> None:
    def told(answer: Any) -> tuple[list[str], list[str]]:
        return answer["node"]["viewerRights"], answer["workspace"]["viewerRights"]

    agent = gid(world.atlas)
    assert told(await ana.ok(RIGHTS, a=agent)) == (["CURATOR", "READER"], [])
    assert told(await ben.ok(RIGHTS, a=agent)) == (["READER"], [])
    assert "ADMIN" in told(await dan.ok(RIGHTS, a=agent))[1]
