"""Random requests made from the schema (goal E3): each is answered with a type, and tells only what the law shows."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable

import httpx2
import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports, Service
from api.errors import TABLE
from api.graphql.schema import build_schema
from graph.model.ids import GlobalId, NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryFile
from graph.model.schema import kind_of
from graph.services.access.commands import Command, command
from graph.services.agents.promotion import promote
from graph.services.sandbox.acting import change
from graph.services.sandbox.sessions import create_sandbox
from graph.services.sandbox.snapshots import take_snapshot
from graph.services.sessions.changing import FactState
from graph.services.workspace.changing import actor_of
from graph.services.workspace.files import create_file
from graph.services.workspace.finding import hold_memory
from graph.store.port import Store
from tests.api.clients import answer_of
from tests.api.graphql.generator import Generator, body_of
from tests.support.bot_room import BotRoom
from tests.support.bot_talk import BotTalk
from tests.support.clock import FakeClock
from tests.support.ids import SequentialIds
from tests.support.keyring import FixedKeyring
from tests.support.profile import sized
from tests.support.random_library import RandomLibrary, Truth, random_library
from tests.support.randomness import SeededRandomness
from tests.support.run_room import RunRoom
from tests.support.session_room import SessionRoom
from tests.support.world import TeamWorld

CASES = sized(small=500, full=5_000)
CODES = {row.code for row in TABLE.values()} - {"INTERNAL"} | {"UNKNOWN_TYPE", "SCOPE_FORBIDDEN"}
TRACES = ("Traceback", 'File "', "apsw", "cypher", "sqlite", "strawberry", "NoneType", "object has no attribute")
READERS = ("ben", "eve")
"""Those who can change nothing: whatever they send, what they may see stays the same."""
WRITERS = ("ana", "dan", "cleo")


class Fuzz:
    """A service with a random library, and what each reader may not see."""

    def __init__(self, service: Service, http: httpx2.AsyncClient, library: RandomLibrary, truth: Truth) -> None:
        self.service, self.http, self.library, self.truth = service, http, library, truth
        self.schema = build_schema()._schema
        self.ids = [*sorted(self.gid(node) for node in truth.nodes if kind_of(node)), "", "ent_x", "💥"]
        self.codes: Counter[str] = Counter()

    def gid(self, node: NodeId) -> str:
        spec = kind_of(node)
        assert spec is not None
        return GlobalId(kind=spec.name, workspace=self.library.world.workspace, node=node).encode()

    async def hidden_of(self, name: str) -> tuple[set[str], set[str]]:
        """Return the words and ids that a reader may never be told."""
        asker = next(one for one in self.library.askers if one.name == name)
        async with asker.session(self.service.deps) as session:
            visible = self.truth.visible(session.viewer)
        words = {word for guard, word in self.library.words.items() if guard not in visible}
        shown = {word for guard, word in self.library.words.items() if guard in visible}
        ids = {
            self.gid(node)
            for node in self.truth.nodes
            if (spec := kind_of(node)) and spec.guarded and node not in visible and node != asker.caller.principal
        }
        return words - shown, ids

    async def send(self, token: str, generator: Generator) -> tuple[str, str]:
        """Send one request; return it and its answer, which is sound in form."""
        body = body_of(generator.request())
        headers = {"Authorization": f"Bearer {token}", "content-type": "application/json"}
        response = await self.http.post("/graphql", content=body, headers=headers)
        answer = answer_of(response)
        assert response.status_code in (200, 400), body
        assert not [trace for trace in TRACES if trace in str(answer.errors)], (body, answer.errors)
        assert "INTERNAL" not in answer.codes, (body, answer.errors)
        assert answer.data is not None or answer.errors, body
        self.codes.update(answer.codes or ["fine"])
        return body.decode(), response.text

    def generator(self, seed: int, kinds: tuple[str, ...], left_out: Iterable[str] = ()) -> Generator:
        return Generator(
            schema=self.schema, rng=random.Random(seed), ids=self.ids, kinds=kinds, left_out=frozenset(left_out)
        )


@pytest.fixture(params=["memory", "embedded"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ports(store: Store, clock: FakeClock) -> Ports:
    """Equal runs make equal ids, so that a failing request can be sent again."""
    blobs = open_blobs("memory:///")
    return Ports(
        clock=clock,
        ids=SequentialIds(),
        randomness=SeededRandomness(),
        store=store,
        blobs=blobs,
        keyring=FixedKeyring(),
    )


@pytest.fixture
async def fuzz(service: Service, http: httpx2.AsyncClient, clock: FakeClock) -> Fuzz:
    library = await random_library(service.deps, clock, 7)
    await remember(library)
    return Fuzz(service, http, library, await Truth.of(service.deps.store))


async def remember(library: RandomLibrary) -> None:
    """Give the people of the library memories of every surface, each with a word of its own."""
    world = library.world
    sessions, bots = SessionRoom(world), await BotRoom(world=world).make()
    await sessions.make("ses_41")
    await sessions.begin("t1")
    item = await sessions.say("i-01", "marzipan")
    fact = FactState(key="k", content="nougat", kind="procedure", sources=("i-01",))
    await sessions.learn(fact, processed=["i-01"])
    await world.grant(world.ben, Right.READ, world.atlas)
    await command(world.deps, world.caller(world.host), lambda cmd: promote(cmd, sessions.id("ses_41")))
    talk = await BotTalk(room=bots).make()
    one = await bots.fact("praline")
    two = await bots.observe("caramel", one)
    await talk.begin("t1", "fudge")
    await talk.confide("t1", "toffee")
    library.words |= {item.id: "marzipan", NodeId(one): "praline", NodeId(two): "caramel"}
    library.words |= await work_with_memories(world)


async def work_with_memories(world: TeamWorld) -> dict[NodeId, str]:
    """Let Ana have memories, a run that uses one, and a sandbox; return the words in them."""
    runs = await RunRoom(world=world).make()
    memory = await runs.files()

    async def write(cmd: Command) -> MemoryFile:
        held = await hold_memory(cmd, memory.id, Right.WRITE)
        return await create_file(cmd, held, actor_of(cmd), "a.md", "truffle")

    file = await runs.do(write)
    await runs.accept(await runs.thread(team=memory))
    who = world.caller(world.ana)
    sandbox = await change(runs.deps, who, lambda cmd, act: create_sandbox(cmd, act, {}))
    await change(runs.deps, who, lambda cmd, act: take_snapshot(cmd, act, sandbox.id))
    return {file.id: "truffle"}


NO_FILE = ("Mutation.submitFile", "Mutation.replaceMaterial")
"""An upload is no JSON request; test_app sends those."""
NO_UNDOING = ("Mutation.restore", "Mutation.restoreBatch")
"""The records of a random library have no true images; tests/property/services/test_restore undoes real histories."""
NO_FETCH = ("Mutation.submitUrl",)
"""Asks the name server of the machine; tests/api/adapters/test_fetch looks at addresses."""


@pytest.mark.req("KN-60", "KN-61", "KN-110")
@pytest.mark.parametrize("name", READERS)
async def test_a_reader_is_told_nothing_that_the_law_hides(fuzz: Fuzz, name: str) -> None:
    token = await fuzz.library.world.token(fuzz.library.world.person(name))
    words, ids = await fuzz.hidden_of(name)
    assert words
    assert ids
    generator = fuzz.generator(11, ("Query", "Query", "Mutation"), (*NO_FILE, *NO_FETCH))
    for _ in range(CASES // 4):
        asked, told = await fuzz.send(token, generator)
        assert not [word for word in words if word in told], asked
        assert not [id_ for id_ in ids if id_ in told and id_ not in asked], asked
    assert fuzz.codes["fine"] >= CASES // 80, fuzz.codes
    assert fuzz.codes["NOT_FOUND"], fuzz.codes


@pytest.mark.req("KN-110")
@pytest.mark.parametrize("name", WRITERS)
async def test_who_may_write_gets_a_typed_answer_to_anything(fuzz: Fuzz, name: str) -> None:
    token = await fuzz.library.world.token(fuzz.library.world.person(name))
    # Whoever disables himself or revokes his own token would hear 401 from then on.
    left_out = ("Mutation.setDisabled", "Mutation.revokeToken", *NO_FILE, *NO_FETCH, *NO_UNDOING)
    generator = fuzz.generator(13, ("Query", "Mutation"), left_out)
    for _ in range(CASES // 6):
        await fuzz.send(token, generator)
    assert fuzz.codes["fine"] >= CASES // 125, fuzz.codes
