"""`memorySearch` by words alone, within the service call, over 250 thousand texts.

    python -m bench.search [--scale 1]

Eight channels of one agent hold an eighth of the texts each (a message is two: alone, and with its neighbours). One
person is in one of the channels, another in four, so that he sees half. Questions have five words, from common to
rare. On Neo4j the reference is one bare full-text query that returns a thousand hits with their words. On the
embedded store the questions are asked again with a vector for every text, without the time that a model takes for the
question itself.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator

from bench._engines import EMBEDDED, Engine, engines
from bench._table import Goal, Table, Timing, arguments, at_once, scaled, timed
from bench._talk import WORDS, Talk
from bench._vectors import give_vectors
from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId, hosted_id
from graph.model.nodes.evidence import Channel, ChannelKind
from graph.model.nodes.people import Principal, Right
from graph.rules.scopes import MemoryScope
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.knowledge.conversations import open_conversation, set_routing_rule
from graph.services.knowledge.ingest import ingest_messages
from graph.services.search.search import memory_search
from graph.services.search.values import SearchAnswer, SearchQuestion
from graph.store.port import Writer
from tests.support.world import TeamWorld

TEXTS, CHANNELS, BATCH, HITS = 250_000, 8, 1_000, 1_000
GOALS = {1: Goal(most_ms=25), 4: Goal(most_ms=40)}
RANKS = ((0, 30), (30, 300), (300, 1_500), (300, 3_000), (1_500, 15_000))
"""From how far up the list of common words each word of a question is."""


async def talk_in(world: TeamWorld, texts: int) -> dict[int, NodeId]:
    """Fill the channels; return who is in how many of them."""
    channels = [hosted_id(Channel.PREFIX, world.name, f"room-{n}", container="atlas") for n in range(CHANNELS)]
    people = {n: hosted_id(Principal.PREFIX, world.name, f"in-{n}", container="human") for n in GOALS}
    await world.deps.store.transact(lambda writer: _places(writer, world, channels, people))
    for person in people.values():
        await world.grant(person, Right.READER, world.atlas)
    for number, channel in enumerate(channels):
        await _fill(world, channel, texts // CHANNELS // 2, seed=number)
    return people


async def _places(writer: Writer, world: TeamWorld, channels: list[NodeId], people: dict[int, NodeId]) -> None:
    now = world.deps.now()
    await writer.put(
        [
            Channel(
                id=id_,
                workspace=world.workspace,
                created_at=now,
                kind=ChannelKind.SHARED_CHANNEL,
                owner_id=world.atlas,
            )
            for id_ in channels
        ]
    )
    await writer.put(
        [
            Principal(id=id_, workspace=world.workspace, created_at=now, kind="human", display_name=f"In {n}")
            for n, id_ in people.items()
        ]
    )
    await writer.link(
        [
            Edge(type=EdgeType.MEMBER_OF, source=person, target=channel)
            for count, person in people.items()
            for channel in channels[:count]
        ]
    )


async def _fill(world: TeamWorld, channel: NodeId, messages: int, *, seed: int) -> None:
    admin, host = world.caller(world.dan), world.caller(world.host)
    await command(world.deps, admin, lambda cmd: set_routing_rule(cmd, channel, MemoryScope.CHANNEL, isolated=True))
    conversation = await command(world.deps, host, lambda cmd: open_conversation(cmd, channel))
    for said in Talk(speakers=(world.ana, world.ben), seed=seed).batches(messages, BATCH):
        await command(world.deps, host, lambda cmd, said=said: ingest_messages(cmd, conversation.id, said))  # type: ignore[misc]


def questions() -> Iterator[str]:
    """Yield questions of five words, the same on every run."""
    chosen = random.Random(3)
    while True:
        yield " ".join(WORDS[chosen.randrange(low, high)] for low, high in RANKS)


async def ask(world: TeamWorld, person: NodeId, question: str) -> SearchAnswer:
    """Ask as `memorySearch` does."""
    asked = SearchQuestion(query=question, owner_id=world.atlas)
    answer, _ = await read(world.deps, world.caller(person), lambda session: memory_search(session, asked))
    return answer


async def measure(engine: Engine, scale: float, table: Table) -> None:
    """Add the rows of one engine."""
    texts, rounds = scaled(TEXTS, scale, least=2_000), scaled(100, scale, least=10)
    world = await TeamWorld(engine.deps).make()
    people = await talk_in(world, texts)
    by_words = {}
    for clauses, person in people.items():
        asked = questions()
        found = await ask(world, person, next(asked))
        if not found.items:
            raise SystemExit(f"{engine.name}: nothing found")
        time = await timed(lambda person=person, asked=asked: ask(world, person, next(asked)), rounds, warm_up=5)  # type: ignore[misc]
        by_words[clauses] = time
        what = f"search, {texts:,} texts, {clauses} clause{'s' * (clauses > 1)}, {engine.name}"
        if engine.name == EMBEDDED:
            bare = await _bare_sqlite(engine, texts, rounds)
            table.add(what, time, of=f"FTS5, {HITS:,} hits with words", reference=bare, goal=GOALS[clauses])
        else:
            bare = await _bare_neo4j(engine, rounds)
            table.add(what, time, of=f"bare query, {HITS:,} hits", reference=bare, goal=Goal(most_ratio=3))
    if engine.name == EMBEDDED:
        await _with_vectors(world, people, by_words, rounds, table)


async def _with_vectors(
    world: TeamWorld, people: dict[int, NodeId], by_words: dict[int, Timing], rounds: int, table: Table
) -> None:
    """Give every text a vector and ask again; the vector of the question is there at once."""
    count = await give_vectors(world)
    for clauses, person in people.items():
        asked = questions()
        found = await ask(world, person, next(asked))
        if not any("message_vector" in item.ranks for item in found.items):
            raise SystemExit("nothing found by a vector")
        time = await timed(lambda person=person, asked=asked: ask(world, person, next(asked)), rounds, warm_up=5)  # type: ignore[misc]
        what = f"search with {count:,} vectors, {clauses} clause{'s' * (clauses > 1)}, {EMBEDDED}"
        table.add(what, time, of="by words alone", reference=by_words[clauses], goal=Goal(most_more_ms=25))


async def _bare_sqlite(engine: Engine, texts: int, rounds: int) -> Timing:
    """Time plain full text over as many texts as one channel holds: ranked by the engine, everything visible."""
    db = engine.bare_sqlite("search.db")
    db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS bare USING fts5(words)")
    if not db.execute("SELECT count(*) FROM bare").get:
        talk = Talk(seed=99)
        with db:
            db.executemany("INSERT INTO bare VALUES (?)", ((talk.sentence(),) for _ in range(texts // CHANNELS)))
    asked = (" OR ".join(question.split()) for question in questions())
    sql = f"SELECT rowid, words FROM bare WHERE bare MATCH ? ORDER BY rank LIMIT {HITS}"
    return await timed(at_once(lambda: db.execute(sql, (next(asked),)).fetchall()), rounds, warm_up=3)


async def _bare_neo4j(engine: Engine, rounds: int) -> Timing:
    """Time a thousand rows with their words through the driver, found by an index."""
    await engine.bare_query("CREATE INDEX bare_n IF NOT EXISTS FOR (b:BareText) ON (b.n)")
    if not (await engine.bare_query("MATCH (b:BareText) RETURN b LIMIT 1")):
        talk = Talk(seed=99, words=50)
        rows = [{"n": number, "words": talk.sentence().split()} for number in range(HITS)]
        await engine.bare_query("UNWIND $rows AS row CREATE (b:BareText) SET b = row", rows=rows)
        await engine.bare_query("CALL db.awaitIndexes()")
    query = f"MATCH (b:BareText) WHERE b.n >= 0 RETURN b.n, b.words LIMIT {HITS}"
    return await timed(lambda: engine.bare_query(query), rounds, warm_up=5)


async def main() -> None:
    """Measure all engines."""
    scale = arguments(__doc__).scale
    table = Table("memorySearch without a model", scale)
    async with engines(heap_mb=1_536) as found:
        for engine in found:
            await measure(engine, scale, table)
    table.print()


if __name__ == "__main__":
    asyncio.run(main())
