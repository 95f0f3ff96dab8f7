"""Pages over GraphQL, proved by traversal: 50 observations with content and citations, and 50 entries.

Each entry has three blocks of two citations: 3,600 fields. The observations are the blocks of one entry: 50 of them,
two citations each.

    python -m bench.page [--scale 1]

The whole request in this process: HTTP, token, limits, rights, reads, proofs, JSON. The reference is Strawberry
alone, resolving plain objects of the same shape; the goal there is that everything else adds at most twice as much.
The goal of 25 ms is that of the observations.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import strawberry
from strawberry.schema.config import StrawberryConfig

from api.bootstrap import Ports, build
from api.settings import Settings
from bench._engines import EMBEDDED, NEO4J, Engine, engines
from bench._table import Goal, Table, Timing, arguments, scaled, timed
from bench._talk import WORDS, Talk
from graph.model.ids import GlobalId, NodeId
from graph.model.nodes.knowledge import Entry
from graph.model.nodes.people import Principal
from graph.services.access.commands import command
from graph.services.knowledge.ingest import ingest_messages
from tests.api.clients import GraphQLClient
from tests.support.operations import Json, add, apply, block, cite, create, made
from tests.support.world import TeamWorld

ENTRIES, BLOCKS, CITATIONS, AT_ONCE = 50, 3, 2, 10
OBSERVATIONS = 50
WARM_UP = {EMBEDDED: 3, NEO4J: 50}
"""Rounds that do not count; a Java machine compiles what runs often only after it has run often."""
QUERY = """
query Page($owner: ID!) {
  entries(ownerId: $owner, first: 50) {
    edges { node {
      id name type version
      blocks { id position current {
        id version text basis standing recordedAt
        citations { quote start end role source { id } }
      } }
    } }
  }
}
"""
OBSERVED = """
query Observations($entry: ID!) {
  entry(id: $entry) {
    id
    blocks { id current {
      id text recordedAt
      citations { quote start end source { id text } }
    } }
  }
}
"""


@asynccontextmanager
async def served(engine: Engine) -> AsyncIterator[tuple[TeamWorld, GraphQLClient]]:
    """Give the service on an engine's store, with a client of it in this process."""
    settings = Settings.model_validate({"data_dir": engine.folder, "store": {"url": "memory:"}})
    service = build(settings, ports=Ports(store=engine.store))
    transport = httpx2.ASGITransport(app=service.app)
    async with (
        service.app.router.lifespan_context(service.app),
        httpx2.AsyncClient(transport=transport, base_url="http://rootward.bench") as http,
    ):
        world = await TeamWorld(service.deps).make()
        yield world, GraphQLClient(http=http, token=await world.token(world.ben))


async def write_entries(world: TeamWorld) -> None:
    """Have the agent write the entries of the page."""
    evidence = await _evidence(world, ENTRIES * BLOCKS * CITATIONS, seed=7)
    made_up = [_entry(number, evidence) for number in range(ENTRIES)]
    for first in range(0, ENTRIES, AT_ONCE):
        await apply(world, *made_up[first : first + AT_ONCE])


async def write_observations(world: TeamWorld) -> NodeId:
    """Have the agent write one entry with the observations; return its id."""
    evidence = await _evidence(world, OBSERVATIONS * CITATIONS, seed=8)
    talk = Talk(seed=8)
    blocks = [block(f"{talk.sentence(15)}.", *(next(evidence) for _ in range(CITATIONS))) for _ in range(OBSERVATIONS)]
    entry = made(await apply(world, create(f"{WORDS[7_000]} {WORDS[8_000]}", blocks[0])))
    for first in range(1, OBSERVATIONS, AT_ONCE):
        await apply(world, *(add(entry, content) for content in blocks[first : first + AT_ONCE]))
    return entry


async def _evidence(world: TeamWorld, count: int, *, seed: int) -> Iterator[Json]:
    conversation = await world.open(world.ops)
    (said,) = Talk(speakers=(world.ana, world.ben), seed=seed).batches(count, 1_000)
    host = world.caller(world.host)
    receipt = await command(world.deps, host, lambda cmd: ingest_messages(cmd, conversation.id, said))
    return iter(
        [cite(id_, message.text[:80].rsplit(" ", 1)[0]) for id_, message in zip(receipt.source_ids, said, strict=True)]
    )


def _entry(number: int, evidence: Iterator[Json]) -> Json:
    talk = Talk(seed=number)
    blocks = [block(f"{talk.sentence(15)}.", *(next(evidence) for _ in range(CITATIONS))) for _ in range(BLOCKS)]
    return create(f"{WORDS[5_000 + number]} {WORDS[9_000 + number]}", *blocks)


def count_fields(data: Any) -> int:
    """Return how many fields an answer has."""
    if isinstance(data, dict):
        return len(data) + sum(map(count_fields, data.values()))
    return sum(map(count_fields, data)) if isinstance(data, list) else 0


# --- the reference: the same shape, plain


def plain_schema(data: Any) -> strawberry.Schema:
    """Return a schema that resolves plain objects holding the answer of the service."""
    made: dict[str, Any] = {}

    def type_of(name: str, example: dict[str, Any]) -> Any:
        fields = {key: annotation(f"{name}{key.title()}", value) for key, value in example.items()}
        made[name] = strawberry.type(type(name, (), {"__annotations__": fields}))
        return made[name]

    def annotation(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return list[annotation(name, value[0])]  # type: ignore[misc]  # made while running
        return type_of(name, value) if isinstance(value, dict) else type(value)

    def objects(name: str, value: Any) -> Any:
        if isinstance(value, list):
            return [objects(name, one) for one in value]
        if isinstance(value, dict):
            return made[name](**{key: objects(f"{name}{key.title()}", one) for key, one in value.items()})
        return value

    connection = type_of("Entries", data["entries"])
    found = objects("Entries", data["entries"])

    def entries(self: Any, ownerId: strawberry.ID, first: int) -> Any:
        return found

    entries.__annotations__["return"] = connection
    query = type("Query", (), {"entries": strawberry.field(resolver=entries)})
    return strawberry.Schema(query=strawberry.type(query), config=StrawberryConfig(auto_camel_case=False))


async def _strawberry(data: Any, owner: str, rounds: int) -> Timing:
    schema = plain_schema(data)
    variables = {"owner": owner}
    result = await schema.execute(QUERY, variable_values=variables)
    if result.errors or result.data != data:
        raise SystemExit(f"the reference does not answer alike: {result.errors}")
    return await timed(lambda: schema.execute(QUERY, variable_values=variables), rounds, warm_up=3)


@dataclass(frozen=True, kw_only=True)
class Times:
    """What the pages of one engine took."""

    page: Timing
    observations: Timing


async def measure(engine: Engine, rounds: int, table: Table, embedded: Times | None) -> Times:
    """Add the rows of one engine; return its times."""
    async with served(engine) as (world, client):
        await write_entries(world)
        owner = _global(world.workspace, world.atlas)
        data = await client.ok(QUERY, owner=owner)
        fields = count_fields(data)
        if len(data["entries"]["edges"]) != ENTRIES:
            raise SystemExit(f"{engine.name}: {len(data['entries']['edges'])} entries on the page")
        time = await timed(lambda: client.ok(QUERY, owner=owner), rounds, warm_up=WARM_UP[engine.name])
        what = f"page of {ENTRIES}, {fields:,} fields, {engine.name}"
        if engine.name == EMBEDDED:
            plain = await _strawberry(data, owner, rounds)
            table.add(what, time, of="Strawberry, plain objects", reference=plain, goal=Goal(most_ratio=3))
        else:
            table.add(what, time, of="embedded", reference=embedded.page if embedded else None)
        return Times(page=time, observations=await _observations(engine, world, client, rounds, table, embedded))


async def _observations(
    engine: Engine, world: TeamWorld, client: GraphQLClient, rounds: int, table: Table, embedded: Times | None
) -> Timing:
    entry = GlobalId(kind=Entry.__name__, workspace=world.workspace, node=await write_observations(world)).encode()
    data = await client.ok(OBSERVED, entry=entry)
    seen = len(data["entry"]["blocks"])
    if seen != OBSERVATIONS:
        raise SystemExit(f"{engine.name}: {seen} observations on the page")
    time = await timed(lambda: client.ok(OBSERVED, entry=entry), rounds, warm_up=WARM_UP[engine.name])
    what = f"{seen} observations, {count_fields(data):,} fields, {engine.name}"
    if engine.name == EMBEDDED:
        table.add(what, time, goal=Goal(most_ms=25))
    else:
        reference = embedded.observations if embedded else None
        table.add(what, time, of="embedded", reference=reference, goal=Goal(most_ratio=4))
    return time


def _global(workspace: Any, node: NodeId) -> str:
    return GlobalId(kind=Principal.__name__, workspace=workspace, node=node).encode()


async def main() -> None:
    """Measure all engines."""
    scale = arguments(__doc__).scale
    table = Table("Pages of 50 over GraphQL", scale)
    embedded: Times | None = None
    async with engines(opened=False) as found:
        for engine in found:
            times = await measure(engine, scaled(100, scale, least=5), table, embedded)
            embedded = embedded or times
    table.print()


if __name__ == "__main__":
    asyncio.run(main())
