"""Small figures of the embedded store: ingest, decisions, closures, lists and keyword matches.

    python bench/store_micro.py --hidden 10000 100000 --texts 50000

Prints medians in milliseconds. A message is a source with its guard, audience, three edges and two texts.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path

from graph.model.access import Audience, Guard, Need, Rule, RuleKind, Viewer
from graph.model.edges import PROVENANCE_EDGES, Edge, EdgeType
from graph.model.ids import NodeId, WorkspaceId, encode_body, node_id
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import BlockVersion
from graph.model.time import Millis
from graph.store.embedded import EmbeddedStore
from graph.store.port import Writer
from graph.store.query import Direction, Find, Match, Newest, Tagged, TextIndex, TextRow

WORKSPACE = WorkspaceId("bench")
START = 1_746_867_600_000
BATCH = 500
Message = tuple[Source, Guard, Audience, list[Edge], list[TextRow]]
RANDOM = random.Random(7)
WORDS = [f"word{n}" for n in range(20_000)]
WEIGHTS = list(accumulate(1 / (n + 10) for n in range(len(WORDS))))
"""Cumulated: common words first, as in real text."""


class WallClock:
    def now(self) -> Millis:
        return Millis(time.time_ns() // 1_000_000)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def some_id(prefix: str, at: int) -> NodeId:
    return node_id(prefix, encode_body(at, RANDOM.randbytes(10)))


def rule(pool: str) -> Rule:
    return Rule(RuleKind.CHANNEL, f"chn_{pool}", f"prn_{pool}")


def viewer(*pools: str) -> Viewer:
    return Viewer(workspace=WORKSPACE, principal=NodeId("prn_ana"), held=frozenset(map(rule, pools)))


def words(count: int = 25) -> tuple[str, ...]:
    return tuple(RANDOM.choices(WORDS, cum_weights=WEIGHTS, k=count))


class Load:
    """Messages of one pool; only the store is timed, not their making."""

    def __init__(self, pool: str, count: int, *, every: int = 60_000) -> None:
        self.pool, self.clause = NodeId(f"knb_{pool}"), frozenset({rule(pool)})
        self._count, self._every = count, every

    def _batches(self) -> Iterator[list[Message]]:
        for at in range(0, self._count, BATCH):
            yield [self._message(START + n * self._every) for n in range(at, min(self._count, at + BATCH))]

    def _message(self, at: int) -> Message:
        id, said = some_id("src", at), words()
        source = Source(
            id=id, workspace=WORKSPACE, pool=self.pool, created_at=Millis(at), kind="message", content_hash=id,
            text=" ".join(said), author_id=NodeId("prn_bob"), speaker="bob", occurred_at=Millis(at),
            recorded_at=Millis(at), series=id, channel_id=NodeId("chn_1"), conversation_id=NodeId("cnv_1"),
            thread_id=NodeId("thr_1"), seq=at, external_id=id,
        )  # fmt: skip
        guard = Guard(
            node=id, kind="Source", workspace=WORKSPACE, pool=self.pool, need=Need.SOURCE, rules=self.clause,
            tags=("message",), sort_at=Millis(at),
        )  # fmt: skip
        ends = ((EdgeType.IN_CHANNEL, "chn_1"), (EdgeType.IN_CONVERSATION, "cnv_1"), (EdgeType.IN_THREAD, "thr_1"))
        edges = [Edge(type=type, source=id, target=NodeId(end)) for type, end in ends]
        texts = [
            TextRow(
                id=f"{id}#{part}", index=TextIndex.MESSAGE, guard=id, item=id, part=part, pool=self.pool,
                words=said, sort_at=Millis(at),
            )
            for part in ("message", "window")
        ]  # fmt: skip
        return source, guard, Audience(node=id, clauses=frozenset({self.clause})), edges, texts

    async def write(self, store: EmbeddedStore) -> float:
        """Store all; return the seconds it took."""
        taken = 0.0
        for batch in self._batches():
            started = time.perf_counter()
            await store.transact(partial(write_batch, batch=batch))
            taken += time.perf_counter() - started
        return taken


async def write_batch(writer: Writer, batch: Sequence[Message]) -> None:
    await writer.put([message[0] for message in batch])
    await writer.guard([message[1] for message in batch])
    await writer.admit([message[2] for message in batch])
    await writer.link([edge for message in batch for edge in message[3]])
    await writer.index([text for message in batch for text in message[4]])


async def layers(store: EmbeddedStore, count: int, pool: str) -> list[NodeId]:
    """Store observations up to six layers deep, each on two of the layer below; return the topmost."""
    sources = [f"src_{n:06}" for n in range(count)]
    below: list[NodeId] = [NodeId(id) for id in sources]
    for layer in range(6):
        made = [some_id("blv", START + layer) for _ in range(count)]
        nodes = [block(id, pool) for id in made]
        guards = [
            Guard(
                node=id, kind="BlockVersion", workspace=WORKSPACE, pool=NodeId(f"knb_{pool}"), need=Need.ALL,
                rules=frozenset({rule(pool)}), tags=("topic",), sort_at=Millis(START),
            )
            for id in made
        ]  # fmt: skip
        edges = [
            Edge(type=EdgeType.DERIVED_FROM, source=id, target=below[(n + k) % count])
            for n, id in enumerate(made)
            for k in (0, 1)
        ]
        audiences = [Audience(node=id, clauses=frozenset({frozenset({rule(pool)})})) for id in made]

        await store.transact(partial(write_layer, nodes=nodes, guards=guards, audiences=audiences, edges=edges))
        below = made
    return below


async def write_layer(
    writer: Writer,
    *,
    nodes: Sequence[BlockVersion],
    guards: Sequence[Guard],
    audiences: Sequence[Audience],
    edges: Sequence[Edge],
) -> None:
    await writer.put(nodes)
    await writer.guard(guards)
    await writer.admit(audiences)
    await writer.link(edges)


def block(id: NodeId, pool: str) -> BlockVersion:
    return BlockVersion(
        id=id, workspace=WORKSPACE, pool=NodeId(f"knb_{pool}"), created_at=Millis(START), block_id=NodeId("blk_1"),
        entry_id=NodeId("ent_1"), version=1, text="text " * 20, basis="stated", standing="settled",
        recorded_at=Millis(START), modifier_id=NodeId("prn_bob"), modifier_kind="dreaming",
    )  # fmt: skip


async def median_ms(question: Callable[[], Awaitable[object]], times: int = 200) -> float:
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        await question()
        taken.append((time.perf_counter() - started) * 1_000)
    return statistics.median(taken)


def tell(what: str, figure: float, unit: str = "ms") -> None:
    print(f"{what:<62}{figure:>12,.2f} {unit}", flush=True)


async def decisions(store: EmbeddedStore) -> None:
    tops = await layers(store, 400, "deep")
    asked, who = tops[:200], viewer("deep", *(f"other{n}" for n in range(20)))

    async def get() -> object:
        async with store.reading() as reader:
            return await reader.get(who, asked)

    async def audiences() -> object:
        async with store.reading() as reader:
            found = await reader.audiences(asked)
            return [id for id, audience in found.items() if any(map(who.passes_all, audience.clauses))]

    async def closure() -> object:
        async with store.reading() as reader:
            return await reader.closure(asked[:1], PROVENANCE_EDGES, Direction.OUT)

    async def many() -> object:
        async with store.reading() as reader:
            return await reader.closure(asked, PROVENANCE_EDGES, Direction.OUT)

    tell("200 observations decided by clauses", await median_ms(audiences))
    tell("200 observations decided and returned with content", await median_ms(get))
    tell("provenance closure of one observation, six layers", await median_ms(closure))
    tell("closure of 200 observations", await median_ms(many, 50))


async def lists(store: EmbeddedStore, hidden: Sequence[int]) -> None:
    await Load("mine", 2_000).write(store)
    await Load("also", 2_000).write(store)
    query = Find(kind=Source, where=Tagged(("message",)), order=Newest(), first=50)

    def page(who: Viewer) -> Callable[[], Awaitable[object]]:
        async def question() -> object:
            async with store.reading() as reader:
                return await reader.find(who, query)

        return question

    async def count() -> object:
        async with store.reading() as reader:
            return await reader.aggregate(viewer("mine", "also"), Source)

    there = 0
    for number in hidden:
        load = Load("theirs", number - there, every=1_000)
        taken = await load.write(store)
        tell(f"ingest, {number - there:,} messages", (number - there) / taken, "messages/s")
        there = number
        tell(f"newest 50 with a tag, {number:,} hidden, one clause", await median_ms(page(viewer("mine"))))
        tell(f"newest 50 with a tag, {number:,} hidden, two clauses", await median_ms(page(viewer("mine", "also"))))
        tell(f"count, {number:,} hidden", await median_ms(count))


def questions(store: EmbeddedStore, who: Viewer) -> Iterator[tuple[str, Callable[[], Awaitable[object]]]]:
    for name, asked in (
        ("one rare word", ("word15000",)),
        ("five middling words", tuple(f"word{n}" for n in (200, 300, 500, 900, 1_500))),
        ("eight words, some common", tuple(f"word{n}" for n in (0, 1, 5, 20, 80, 300, 900, 4_000))),
    ):

        async def question(asked: tuple[str, ...] = asked) -> object:
            async with store.reading() as reader:
                return await reader.match(who, Match(index=TextIndex.MESSAGE, words=asked, parts=("message",)))

        yield name, question


def store_size(folder: str) -> float:
    return sum(file.stat().st_size for file in Path(folder).iterdir()) / 2**20


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hidden", type=int, nargs="+", default=[10_000, 50_000])
    parser.add_argument("--texts", type=int, default=0, help="size of the collection for keyword matches")
    parser.add_argument("--folder", type=Path, default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        store = EmbeddedStore(Path(folder) / "bench.db", clock=WallClock())
        await store.open()
        await decisions(store)
        await lists(store, options.hidden)
        if options.texts:
            for n in range(4):
                await Load(f"texts{n}", options.texts // 4).write(store)
            for who, name in ((viewer("texts0"), "one clause"), (viewer(*(f"texts{n}" for n in range(4))), "four")):
                for asked, question in questions(store, who):
                    tell(f"match, {name}: {asked}", await median_ms(question, 50))
        await store.close()
        tell("size of the file", store_size(folder), "MiB")


if __name__ == "__main__":
    asyncio.run(main())
