"""Conditions of `find` and `aggregate`."""

from __future__ import annotations

import pytest

from graph.model.edges import EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Episode, Source
from graph.model.nodes.knowledge import Entry
from graph.store.port import Store
from graph.store.query import And, Contains, Eq, In, IsSet, Linked, Or, Range, Tagged, Where, both
from tests.contract.store.asking import Ask
from tests.support.builders import NOW, World, clause, shared

pytestmark = pytest.mark.req("KN-12")


@pytest.fixture
async def entries(store: Store, world: World) -> dict[str, NodeId]:
    """Four entries named by a letter: types, dates and read-only flags differ."""
    made = {
        "a": world.make_entry(name="a", type="person", deleted_at=None, updated_at=10),
        "b": world.make_entry(name="b", type="topic", deleted_at=NOW, updated_at=20, read_only=True),
        "c": world.make_entry(name="c", type="topic", deleted_at=None, updated_at=30),
        "d": world.make_entry(name="d", type="", deleted_at=0, updated_at=-5),
    }
    await world.write(store, *made.values())
    return {name: entry.id for name, entry in made.items()}


CONDITIONS: list[tuple[Where, str]] = [
    (Eq("type", "topic"), "bc"),
    (Eq("type", ""), "d"),
    (Eq("type", "Topic"), ""),
    (Eq("deleted_at", None), "ac"),
    (Eq("deleted_at", 0), "d"),
    (Eq("read_only", True), "b"),
    (Eq("read_only", False), "acd"),
    (IsSet("deleted_at"), "bd"),
    (In("type", ("person", "topic")), "abc"),
    (In("type", ()), ""),
    (In("deleted_at", (None, 0)), "d"),
    (In("updated_at", (10, 30, 99)), "ac"),
    (Range("updated_at", 10, 30), "ab"),
    (Range("updated_at", None, 10), "d"),
    (Range("updated_at", 20, None), "bc"),
    (Range("updated_at", 30, 30), ""),
    (Range("updated_at"), "abcd"),
    (Range("deleted_at"), "bd"),
    (Range("deleted_at", None, 1), "d"),
    (Range("name", "b", "d"), "bc"),
    (And(()), "abcd"),
    (Or(()), ""),
    (And((Eq("type", "topic"), Eq("deleted_at", None))), "c"),
    (Or((Eq("type", "person"), Range("updated_at", None, 0))), "ad"),
    (And((Or((Eq("name", "a"), Eq("name", "b"))), Or((Eq("read_only", True), Eq("name", "d"))))), "b"),
    (Or((And((Eq("name", "a"), Eq("type", "topic"))), And(()))), "abcd"),
]


@pytest.mark.parametrize(("where", "expected"), CONDITIONS, ids=[repr(where) for where, _ in CONDITIONS])
async def test_a_condition_finds_and_counts_the_same(
    ask: Ask, world: World, entries: dict[str, NodeId], where: Where, expected: str
) -> None:
    assert await ask.ids(world.system, Entry, where) == [entries[name] for name in expected]
    assert await ask.count(world.system, Entry, where) == len(expected)


async def test_no_condition_finds_all(ask: Ask, world: World, entries: dict[str, NodeId]) -> None:
    assert await ask.ids(world.system, Entry) == list(entries.values())


async def test_both_joins_what_is_given(ask: Ask, world: World, entries: dict[str, NodeId]) -> None:
    where = both(None, Eq("type", "topic"), None, Eq("read_only", False))
    assert await ask.ids(world.system, Entry, where) == [entries["c"]]


async def test_in_takes_more_values_than_an_engine_has_parameters(
    ask: Ask, world: World, entries: dict[str, NodeId]
) -> None:
    names = (*(f"none {number}" for number in range(40_000)), "a")
    assert await ask.ids(world.system, Entry, In("name", names)) == [entries["a"]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a,b", "1"), ("a", "23"), ("b", "2"), ("A", "4"), ("", "5"), ("a\x00", "6"), ("%", ""), ("\u00e9", "7")],
)
async def test_contains_asks_for_a_whole_text(store: Store, ask: Ask, world: World, value: str, expected: str) -> None:
    """Source: attack case 6."""
    systems = [("a,b",), ("a", "b"), ("a", "ab"), ("A",), ("",), ("a\x00",), ("\u00e9",), ("e\u0301",), ()]
    await world.write(
        store, *(world.make_episode(topic=str(number), systems=texts) for number, texts in enumerate(systems, 1))
    )
    page = await ask.page(world.system, Episode, Contains("systems", value))
    assert "".join(episode.topic for episode in page.nodes) == expected


async def test_tagged_asks_for_any_of_the_tags(store: Store, ask: Ask, world: World) -> None:
    tags = [("person",), ("topic", "person"), ("topic",), (), ("Person",), ("per",)]
    entries = [world.make_entry() for _ in tags]
    guards = [world.guard_for(entry, tags=own) for entry, own in zip(entries, tags, strict=True)]
    await world.write(store, *entries, guards=guards, audiences=[world.audience_for(e) for e in entries])
    for scope in (world.system, world.viewer(shared())):
        assert await ask.ids(scope, Entry, Tagged(("person",))) == [e.id for e in entries[:2]]
        assert await ask.ids(scope, Entry, Tagged(("person", "topic"))) == [e.id for e in entries[:3]]
        assert await ask.ids(scope, Entry, Tagged(())) == []
        assert await ask.ids(scope, Entry, Tagged(("none",))) == []
        assert await ask.count(scope, Entry, Tagged(("person", "topic"))) == 3


@pytest.mark.parametrize("tag", ["a,b", "a b", "é", "e\u0301", "a\x00", "'", "%", "*", "a ", "0", "__entity"])
async def test_a_hostile_tag_finds_itself_only(store: Store, ask: Ask, world: World, tag: str) -> None:
    mine, other = world.make_entry(), world.make_entry()
    guards = [world.guard_for(mine, tags=(tag,)), world.guard_for(other, tags=("a", "b", "E", ""))]
    await world.write(store, mine, other, guards=guards, audiences=[world.audience_for(e) for e in (mine, other)])
    assert await ask.ids(world.viewer(shared()), Entry, Tagged((tag,))) == [mine.id]


async def test_new_tags_replace_the_old_ones(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry()
    await world.write(
        store, entry, guards=[world.guard_for(entry, tags=("old",))], audiences=[world.audience_for(entry)]
    )
    await world.write(store, guards=[world.guard_for(entry, tags=("new",))], audiences=[world.audience_for(entry)])
    assert await ask.ids(world.viewer(shared()), Entry, Tagged(("old",))) == []
    assert await ask.ids(world.viewer(shared()), Entry, Tagged(("new",))) == [entry.id]
    assert await ask.ids(world.viewer(shared()), Entry) == [entry.id]


async def test_linked_asks_for_an_edge_out(store: Store, ask: Ask, world: World) -> None:
    one, two, three = (world.make_source(text=name) for name in ("one", "two", "three"))
    missing = world.id("src", "missing")
    edges = [
        world.cites(one, two),
        world.cites(one, two, key="again"),
        world.cites(two, three, type=EdgeType.SUPERSEDES),
        world.cites(three, missing),
    ]
    await world.write(store, one, two, three, edges=edges)
    assert await ask.ids(world.system, Source, Linked(("CITES",), (two.id,))) == [one.id]
    assert await ask.ids(world.system, Source, Linked(("CITES",), (three.id,))) == []
    assert await ask.ids(world.system, Source, Linked(("CITES", "SUPERSEDES"), (two.id, three.id))) == [one.id, two.id]
    assert await ask.ids(world.system, Source, Linked(("CITES",), (missing,))) == [three.id]
    assert await ask.ids(world.system, Source, Linked((), (two.id,))) == []
    assert await ask.ids(world.system, Source, Linked(("CITES",), ())) == []
    assert await ask.count(world.system, Source, Linked((EdgeType.CITES,), (two.id, missing))) == 2


async def test_tagged_and_linked_stand_beside_other_conditions(store: Store, ask: Ask, world: World) -> None:
    entries = [world.make_entry(type=type) for type in ("person", "topic", "topic")]
    source = world.make_source()
    await world.write(
        store,
        *entries,
        source,
        clauses=[clause(shared())],
        edges=[world.cites(entry, source) for entry in entries[:2]],
    )
    await world.write(
        store,
        guards=[world.guard_for(entry, tags=("t",)) for entry in entries[1:]],
        audiences=[world.audience_for(entry) for entry in entries[1:]],
    )
    linked = Linked(("CITES",), (source.id,))
    scope = world.viewer(shared())
    assert await ask.ids(scope, Entry, And((Tagged(("t",)), linked))) == [entries[1].id]
    assert await ask.ids(scope, Entry, Or((Tagged(("t",)), linked))) == [e.id for e in entries]
    assert await ask.ids(scope, Entry, And((Eq("type", "topic"), Or((Tagged(("none",)), linked))))) == [entries[1].id]


async def test_counts_by_a_field_name_every_value(ask: Ask, world: World, entries: dict[str, NodeId]) -> None:
    assert await ask.counts(world.system, Entry, "type") == {"person": 1, "topic": 2, "": 1}
    assert await ask.counts(world.system, Entry, "deleted_at") == {None: 2, NOW: 1, 0: 1}
    assert await ask.counts(world.system, Entry, "read_only") == {True: 1, False: 3}
    assert await ask.counts(world.system, Entry, "type", Eq("deleted_at", None)) == {"person": 1, "topic": 1}


async def test_counts_of_nothing(ask: Ask, world: World) -> None:
    assert await ask.count(world.system, Entry) == 0
    assert await ask.counts(world.system, Entry, "type") == {}


async def test_counts_keep_hostile_values_apart(store: Store, ask: Ask, world: World) -> None:
    types = ["a", "a ", "a\x00", "A", "\u00e9", "e\u0301", "null", "None", ""]
    await world.write(store, *(world.make_entry(type=type) for type in types))
    assert await ask.counts(world.system, Entry, "type") == dict.fromkeys(types, 1)
