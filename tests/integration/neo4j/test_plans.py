"""What the planner makes of the statements: the design rests on it, so it is asserted.

A list is a limit over an ordered seek, and nothing a viewer may not see is touched: the work (database hits) stays
the same however many hidden rows there are.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from graph.model.edges import EdgeType
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import BlockVersion, Entry
from graph.model.nodes.work import AuditRecord
from graph.store.neo4j import Neo4jStore, closure, entrances
from graph.store.neo4j.driver import AutoCommit, Rows, Runner, Sessions, connect
from graph.store.neo4j.pending import Pending, statement
from graph.store.neo4j.reader import Neo4jReader
from graph.store.query import And, By, Direction, Eq, Find, In, Linked, Match, Newest, Tagged, TextIndex
from tests.support.builders import NOW, World, channel, clause, person, private, shared, vector
from tests.support.clock import FakeClock
from tests.support.neo4j_store import AUTH, profile, run

PAGE = 5
VISIBLE = 40
HIDDEN = 1_500
HELD = (shared(), private("chn_1"), channel("chn_2"))

SCANS = {"AllNodesScan", "NodeByLabelScan", "NodeIndexScan", "UnionNodeByLabelsScan"}
SORTS = {"Sort", "PartialSort"}

Ask = Callable[[Neo4jReader], Awaitable[Any]]


class Recording:
    """Passes statements on and keeps them.

    Attributes:
        statements: each with its parameters.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self.statements: list[tuple[str, dict[str, Any]]] = []

    async def run(self, statement: str, /, **parameters: Any) -> Rows:
        self.statements.append((statement, parameters))
        return await self._runner.run(statement, **parameters)


@pytest.fixture
async def recording(neo4j_uri: str) -> AsyncIterator[Recording]:
    driver = connect(neo4j_uri, AUTH)
    yield Recording(AutoCommit(Sessions(driver, "neo4j"), FakeClock()))
    await driver.close()


@pytest.fixture
async def filled(store: Neo4jStore, world: World) -> World:
    await add(store, world, VISIBLE, hidden=False)
    return world


async def add(store: Neo4jStore, world: World, count: int, *, hidden: bool) -> None:
    """Store entries and block versions with texts and vectors; the newest are hidden ones."""
    clauses = [clause(rule, person("prn_other")) if hidden else clause(rule) for rule in HELD]
    entries = [world.make_entry(name=f"Entry {n % 7}") for n in range(count)]
    blocks = [world.make_block_version(embedding=vector(1.0, n / 9), embedding_model="m") for n in range(count)]
    nodes = [*entries, *blocks]
    await world.write(
        store,
        *nodes,
        guards=[world.guard_for(node, tags=("topic",), sort_at=n) for n, node in enumerate(nodes)],
        audiences=[world.audience_for(node, clauses[n % len(clauses)]) for n, node in enumerate(nodes)],
        edges=[world.cites(block, entry) for block, entry in zip(blocks, entries, strict=True)],
        texts=[world.text_for(entry, f"alpha word{n % 9}") for n, entry in enumerate(entries)],
    )


async def plans(recording: Recording, uri: str, ask: Ask) -> list[dict[str, Any]]:
    """Return the plans of the statements with which a question is answered."""
    recording.statements.clear()
    await ask(Neo4jReader(recording))
    return [await profile(uri, statement, **parameters) for statement, parameters in recording.statements]


def operators(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for child in plan.get("children", ()):
        yield from operators(child)


def sorts(operator: dict[str, Any]) -> bool:
    return operator["operatorType"].partition("@")[0] in SORTS


def names(found: list[dict[str, Any]]) -> set[str]:
    return {operator["operatorType"].partition("@")[0] for plan in found for operator in operators(plan)}


def work(found: list[dict[str, Any]]) -> int:
    return sum(operator.get("dbHits", 0) for plan in found for operator in operators(plan))


def newest(world: World, **more: Any) -> Ask:
    return lambda reader: reader.find(world.viewer(*HELD), Find(kind=Entry, order=Newest(), first=PAGE, **more))


def questions(world: World) -> dict[str, Ask]:
    viewer, block = world.viewer(*HELD), world.id("ent", "000001")
    return {
        "newest": newest(world),
        "newest, backward": newest(world, backward=True),
        "newest with a tag": newest(world, where=Tagged(["topic"])),
        "newest that fit": newest(world, where=Eq("read_only", False)),
        "by name": lambda reader: reader.find(viewer, Find(kind=Entry, order=By("name"), first=PAGE)),
        "linked": lambda reader: reader.find(viewer, Find(kind=BlockVersion, where=Linked(["CITES"], [block]))),
        "by a key": lambda reader: reader.find(viewer, Find(kind=BlockVersion, where=Eq("block_id", block))),
        "by two keys": lambda reader: reader.find(
            viewer, Find(kind=Source, where=And([Eq("channel_id", viewer.principal), In("seq", [1, 2])]))
        ),
        "by id": lambda reader: reader.find(viewer, Find(kind=Entry, where=Eq("id", block))),
        "count": lambda reader: reader.aggregate(viewer, Entry),
        "count with a tag": lambda reader: reader.aggregate(viewer, Entry, Tagged(["topic"])),
        "facet": lambda reader: reader.aggregate(viewer, Entry, by="type"),
        "get": lambda reader: reader.get(viewer, [block]),
        "edges": lambda reader: reader.edges(viewer, [block], [EdgeType.CITES], Direction.IN),
        "guards": lambda reader: reader.guards([block]),
        "audiences": lambda reader: reader.audiences([block]),
        "closure": lambda reader: reader.closure([block], [EdgeType.CITES], Direction.IN),
        "proof": lambda reader: reader.closure([block], [EdgeType.CITES], Direction.IN, guarded=True),
        "match": lambda reader: reader.match(viewer, Match(index=TextIndex.ENTRY, words=("alpha", "word3"))),
        "nearest": lambda reader: reader.nearest(viewer, BlockVersion, [1.0, 0.5], model="m", limit=PAGE),
    }


async def test_no_question_of_a_viewer_scans(recording: Recording, filled: World, neo4j_uri: str) -> None:
    for question, ask in questions(filled).items():
        found = names(await plans(recording, neo4j_uri, ask))
        assert not SCANS & found, question


@pytest.mark.parametrize("question", ["newest", "newest, backward", "newest with a tag", "newest that fit"])
async def test_the_newest_are_read_in_order_and_cut_a_clause(
    recording: Recording, filled: World, neo4j_uri: str, question: str
) -> None:
    *_, found = await plans(recording, neo4j_uri, questions(filled)[question])
    assert all(operator["rows"] <= PAGE + 1 for operator in operators(found) if sorts(operator))
    (seek,) = [
        operator
        for operator in operators(found)
        if "NodeIndexSeek" in operator["operatorType"] and "Aud(" in operator["args"]["Details"]
    ]
    assert seek["rows"] <= len(HELD) * (PAGE + 1)
    assert "Limit" in names([found])


async def test_hidden_rows_add_no_work(store: Neo4jStore, recording: Recording, filled: World, neo4j_uri: str) -> None:
    asked = questions(filled)
    before = {name: work(await plans(recording, neo4j_uri, ask)) for name, ask in asked.items()}
    await add(store, filled, HIDDEN, hidden=True)
    await run(neo4j_uri, "CALL db.prepareForReplanning()")
    for name, ask in asked.items():
        assert work(await plans(recording, neo4j_uri, ask)) <= 1.5 * before[name] + 50, name


async def test_the_writes_that_wait_have_one_way_each_whatever_the_store_holds(
    store: Neo4jStore, neo4j_uri: str
) -> None:
    text = statement(("CITES", "DERIVED_FROM"))
    found = names([await profile(neo4j_uri, text, counters=[], **Pending().parameters(()))])
    ways = {"NodeUniqueIndexSeek(Locking)", "NodeIndexSeek", "MergeUniqueNode", "Expand(Into)"}
    assert ways <= found, "it is planned but once"
    assert not (SCANS | {"Expand(All)"}) & found, "a link is looked for between its ends"


@pytest.mark.parametrize("guarded", [False, True])
async def test_a_closure_walks_breadth_first_with_a_visited_set(
    store: Neo4jStore, recording: Recording, world: World, neo4j_uri: str, guarded: bool
) -> None:
    width, layers = 6, 14
    ladder = [[world.make_block_version() for _ in range(width)] for _ in range(layers)]
    edges = [
        world.cites(upper, lower)
        for above, below in zip(ladder, [*ladder[1:], ladder[0]], strict=True)
        for upper in above
        for lower in below
    ]
    await world.write(store, *(node for layer in ladder for node in layer), edges=edges)
    start = ladder[0][0].id

    async def ask(reader: Neo4jReader) -> None:
        reached = await reader.closure([start], [EdgeType.CITES], Direction.OUT, guarded=guarded)
        assert len(reached.depths) == width * layers
        assert len(reached.edges) == len(edges)

    found = await plans(recording, neo4j_uri, ask)
    assert any("Pruning,BFS" in name for name in names(found))


async def test_who_passes_very_many_clauses_reads_the_kind_in_order(
    store: Neo4jStore, recording: Recording, world: World, neo4j_uri: str
) -> None:
    entries = [world.make_entry() for _ in range(500)]
    await world.write(
        store,
        *entries,
        guards=[world.guard_for(entry, sort_at=n) for n, entry in enumerate(entries)],
        audiences=[world.audience_for(entry, clause(private(f"chn_{n}"))) for n, entry in enumerate(entries)],
    )
    auditor = world.viewer(audits=["*"])
    page = await Neo4jReader(recording).find(auditor, Find(kind=Entry, order=Newest(), first=PAGE))
    assert [node.id for node in page.nodes] == [entry.id for entry in reversed(entries[-PAGE:])]
    *_, found = await plans(
        recording, neo4j_uri, lambda reader: reader.find(auditor, Find(kind=Entry, order=Newest(), first=PAGE))
    )
    assert not SCANS & names([found])
    assert not any(sorts(operator) for operator in operators(found))


async def test_a_limited_closure_of_very_much_is_the_nearest_part_of_the_whole(
    store: Neo4jStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = [world.make_entry() for _ in range(31)]
    edges = [world.cites(tree[(n - 1) // 2], tree[n]) for n in range(1, len(tree))]
    await world.write(store, *tree, edges=[*edges, world.cites(tree[-1], tree[0])])
    async with store.reading() as reader:
        for limit in (1, 6, 7, 31, 40):
            asked = ([tree[0].id], [EdgeType.CITES], Direction.OUT)
            at_once = await reader.closure(*asked, limit=limit)
            with monkeypatch.context() as patched:
                patched.setattr(closure, "_MANY", 3)
                assert await reader.closure(*asked, limit=limit) == at_once
            assert (len(at_once.depths), at_once.truncated) == (min(limit, len(tree)), limit < len(tree))


async def test_the_end_of_a_long_log_is_read_along_its_index(
    store: Neo4jStore, recording: Recording, world: World, neo4j_uri: str
) -> None:
    length = await write_log(store, world)
    query = Find(kind=AuditRecord, where=Eq("pool", world.pool), order=By("seq", descending=True), first=PAGE)
    *_, by_system = await plans(recording, neo4j_uri, lambda reader: reader.find(world.system, query))
    *_, by_viewer = await plans(recording, neo4j_uri, lambda reader: reader.find(world.viewer(shared()), query))
    assert work([by_system]) < length / 5
    assert work([by_viewer]) < 15 * length
    seen: list[int] = []
    async with store.reading() as reader:
        while len(seen) < 3 * PAGE:
            page = await reader.find(world.viewer(shared()), query)
            seen += [record.seq for record in page.nodes]
            query = replace(query, after=page.places[-1])
    assert seen == [length - 1 - n for n in range(3 * PAGE)]


async def write_log(store: Neo4jStore, world: World) -> int:
    """Store more audit records of one pool than are looked at one by one; return how many."""
    length = entrances.FEW + 500
    record = {"tx_id": "t", "actor_id": "prn_a", "actor_kind": "human", "operation": "o", "target_kind": "Entry"}
    chain = {"target_id": "ent_1", "recorded_at": NOW, "prev_hash": "", "hash": ""}
    logged = [world.make(AuditRecord, pool=world.pool, seq=seq, **record, **chain) for seq in range(length)]
    await world.write(store, *logged, clauses=[clause(shared())])
    return length
