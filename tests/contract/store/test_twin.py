"""A viewer cannot tell a store with hidden rows from its twin that never held them (attack case 4, KN-60, KN-114)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from graph.model.access import Audience, Clause, Guard, Viewer
from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import BlockVersion, Entry
from graph.model.time import Millis
from graph.store.port import Reader, Store
from graph.store.query import (
    By,
    Direction,
    Eq,
    Find,
    In,
    IsSet,
    Linked,
    Match,
    Newest,
    Range,
    Tagged,
    TextIndex,
    TextRow,
)
from tests.support.builders import AGENT, NOW, World, channel, clause, person, private, shared, vector
from tests.support.profile import sized

pytestmark = pytest.mark.req("KN-12", "KN-60", "KN-61", "KN-114")

RULES = [shared(), channel("chn_1"), channel("chn_2"), private("chn_3"), person("prn_reader"), shared("prn_other")]
WORDS = ["dog", "cat", "bird", "fish", "rare"]
SIZE = 40


@dataclass
class Content:
    """Everything of one world, as written."""

    nodes: list[Node]
    guards: list[Guard]
    audiences: list[Audience]
    edges: list[Edge]
    texts: list[TextRow]

    def only(self, kept: set[NodeId]) -> Content:
        """Return what touches kept nodes alone."""
        return Content(
            nodes=[node for node in self.nodes if node.id in kept],
            guards=[guard for guard in self.guards if guard.node in kept],
            audiences=[audience for audience in self.audiences if audience.node in kept],
            edges=[edge for edge in self.edges if edge.source in kept and edge.target in kept],
            texts=[text for text in self.texts if text.guard in kept],
        )


def grow(world: World, numbers: random.Random) -> Content:
    """Return a world that depends on the seed alone, but for the world's name."""
    content = Content([], [], [], [], [])
    pools = [world.id("knb", name) for name in "ab"]
    for number in range(SIZE):
        name, at = numbers.choice("pqr"), Millis(NOW + numbers.randrange(6))
        if number % 2:
            node: Node = world.make_entry(
                name=name,
                type=numbers.choice(["person", "topic"]),
                created_at=at,
                pool=numbers.choice(pools),
                deleted_at=numbers.choice([None, Millis(1)]),
            )
        else:
            embedding = vector(numbers.uniform(-1, 1), numbers.uniform(-1, 1))
            node = world.make_block_version(
                text=name, created_at=at, pool=numbers.choice(pools), embedding=embedding, embedding_model="m"
            )
        tags = tuple(numbers.sample(["x", "y", "z"], numbers.randrange(3)))
        clauses = [clause(*numbers.sample(RULES, numbers.randint(1, 2))) for _ in range(numbers.randrange(4))]
        excluded = ["prn_reader"] if numbers.random() < 0.1 else []
        content.nodes.append(node)
        content.guards.append(world.guard_for(node, tags=tags))
        content.audiences.append(
            replace(world.audience_for(node, clause(shared()), excluded=excluded), clauses=absorbed(clauses))
        )
        words = numbers.choices(WORDS, weights=[9, 5, 3, 2, 1], k=numbers.randint(1, 6))
        content.texts.append(
            world.text_for(node, words, sort_at=at, pool=node.pool, part=numbers.choice(["name", "block"]))
        )
    ids = [node.id for node in content.nodes]
    for _ in range(2 * SIZE):
        one, two = numbers.sample(ids, 2)
        content.edges.append(world.cites(one, two, type=numbers.choice([EdgeType.CITES, EdgeType.SUPERSEDES])))
    return content


def absorbed(clauses: Sequence[Clause]) -> frozenset[Clause]:
    """Return the clauses that contain no other."""
    return frozenset(c for c in clauses if not any(other < c for other in clauses))


def viewers(world: World) -> list[Viewer]:
    pool = world.id("knb", "a")
    return [
        world.viewer(),
        world.viewer(shared()),
        world.viewer(*RULES),
        world.viewer(shared(), channel("chn_1")),
        world.viewer(person("prn_reader"), private("chn_3"), channel("chn_2")),
        world.viewer(*RULES, pools=[pool]),
        world.viewer(*RULES, principal="prn_someone"),
        world.viewer(audits=[AGENT]),
        world.viewer(RULES[4], audits=["*"], pools=[pool]),
    ]


def sees(viewer: Viewer, content: Content, node: NodeId) -> bool:
    """The rule in its plainest form."""
    (guard,) = [guard for guard in content.guards if guard.node == node]
    (audience,) = [audience for audience in content.audiences if audience.node == node]
    asked = viewer.pools is None or guard.pool in viewer.pools
    return asked and viewer.principal not in audience.excluded and any(viewer.passes_all(c) for c in audience.clauses)


async def everything(reader: Reader, world: World, viewer: Viewer, ids: Sequence[NodeId]) -> list[str]:
    """Return every answer the viewer can get, as text without the world's name."""
    shown = await reader.get(viewer, ids)
    answers: list[object] = [sorted(shown.items())]
    wheres = [
        None,
        Eq("name", "p"),
        In("type", ("person",)),
        Range("created_at", NOW + 1, NOW + 4),
        IsSet("deleted_at"),
        Tagged(("x",)),
        Tagged(("y", "z")),
        Linked(("CITES",), sorted(shown)),
    ]
    orders = (Newest(), By("name"), By("deleted_at", descending=True))
    for number, where in enumerate(wheres):
        for order in orders if where is None else orders[number % 3 :][:1]:
            after = None
            for _ in range(3):
                backward = bool(number % 2)
                page = await reader.find(
                    viewer,
                    Find(kind=Entry, where=where, order=order, first=3, after=after, backward=backward),
                )
                answers.append(page)
                if not page.more:
                    break
                after = page.places[-1]
        answers.append(sorted((await reader.aggregate(viewer, Entry, where)).items(), key=repr))
        answers.append(sorted((await reader.aggregate(viewer, Entry, where, "type")).items(), key=repr))
    for limit, parts in ((1, None), (4, None), (100, None), (3, ("name",))):
        matches = await reader.match(
            viewer, Match(index=TextIndex.ENTRY, words=(*WORDS, "none"), limit=limit, parts=parts)
        )
        answers.append((sorted(map(repr, matches.hits)), sorted(matches.df.items()), matches.total))
    for direction in Direction:
        answers.append(await reader.edges(viewer, ids, [EdgeType.CITES, EdgeType.SUPERSEDES], direction))
    neighbours = await reader.nearest(viewer, BlockVersion, [1.0, 0.5], model="m", limit=5)
    answers.append([(found.id, round(found.similarity, 5)) for found in neighbours])
    return [repr(answer).replace(world.name, "W") for answer in answers]


async def store_content(store: Store, world: World, content: Content) -> None:
    await world.write(
        store,
        *content.nodes,
        guards=content.guards,
        audiences=content.audiences,
        edges=content.edges,
        texts=content.texts,
    )


@pytest.mark.parametrize("seed", range(sized(small=2, full=200)))
async def test_the_twin_gives_the_same_answers(store: Store, seed: int) -> None:
    full = World()
    content = grow(full, random.Random(seed))
    await store_content(store, full, content)
    for number in range(len(viewers(full))):
        twin = World()
        shown = {node.id for node in content.nodes if sees(viewers(full)[number], content, node.id)}
        twins = grow(twin, random.Random(seed))
        await store_content(store, twin, twins.only({NodeId(id.replace(full.name, twin.name)) for id in shown}))
        async with store.reading() as reader:
            mine = await everything(reader, full, viewers(full)[number], [node.id for node in content.nodes])
            other = await everything(reader, twin, viewers(twin)[number], [node.id for node in twins.nodes])
        assert mine == other
        assert mine[0].count("Entry(") + mine[0].count("BlockVersion(") == len(shown)


def test_the_worlds_differ_in_name_only() -> None:
    one, two = World(), World()
    grown = [repr(grow(world, random.Random(1))).replace(world.name, "W") for world in (one, two)]
    assert grown[0] == grown[1]


def test_the_seeds_hide_and_show_something() -> None:
    world = World()
    content = grow(world, random.Random(0))
    counts = [sum(sees(viewer, content, node.id) for node in content.nodes) for viewer in viewers(world)]
    assert counts[0] == 0
    assert 0 < counts[1] < counts[2] < SIZE
