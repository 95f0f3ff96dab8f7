"""Nodes: put, get, patch, delete, unique keys, expected versions."""

from __future__ import annotations

from typing import Any

import pytest

from graph.model.access import SystemScope
from graph.model.edges import EdgeType
from graph.model.errors import AlreadyExists, NotFound, VersionConflict
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Episode
from graph.model.nodes.knowledge import Entry, KnowledgeBase
from graph.model.nodes.people import Grant, SettingValue
from graph.model.time import Millis
from graph.store.port import Store, Writer
from graph.store.query import Direction, Eq
from tests.contract.store.asking import Ask
from tests.support.builders import NOW, World, clause, shared, vector

pytestmark = pytest.mark.req("KN-12")


async def put(store: Store, *nodes: Any) -> None:
    await store.transact(lambda writer: writer.put(nodes))


async def patch(store: Store, id: NodeId, changes: Any, expected: Any = None) -> None:
    await store.transact(lambda writer: writer.patch(id, changes, expected=expected))


async def test_a_node_comes_back_as_it_was_put(store: Store, world: World, ask: Ask) -> None:
    entry = world.make_entry(name="Heron", live_name="heron", deleted_at=NOW, principal_id=world.id("prn"))
    await put(store, entry)
    assert await ask.get(world.system, entry.id) == {entry.id: entry}


async def test_every_field_type_survives(store: Store, world: World, ask: Ask) -> None:
    conclusions = {"a": [1, 2.5, None, True, "ü", {"b": []}], "": "", "__entity": {"id": 1}, "n": 2**53}
    episode = world.make_episode(
        questions=("a,b", "a", "b", "", "a\x00"),
        conclusions=conclusions,
        side_topic=True,
        from_at=Millis(-1),
        to_at=Millis(2**53),
        embedding=vector(0.0, -1.5, 3.25),
        embedding_model="m",
    )
    await put(store, episode)
    (found,) = (await ask.get(world.system, episode.id)).values()
    assert found == episode
    assert isinstance(found, Episode)
    assert type(found.side_topic) is bool
    assert type(found.embedding) is bytes
    assert type(found.questions) is tuple


@pytest.mark.parametrize("value", [0, 1.5, False, "", "null", [], {}, [[None]], {"a": {"b": None}}, "1"])
async def test_a_json_value_keeps_its_type(store: Store, world: World, ask: Ask, value: Any) -> None:
    setting = world.make(SettingValue, scope_id=world.id("wsp"), name="x", value=value)
    await put(store, setting)
    (found,) = (await ask.get(world.system, setting.id)).values()
    assert isinstance(found, SettingValue)
    assert (found.value, type(found.value)) == (value, type(value))


async def test_an_enum_member_comes_back_as_its_text(store: Store, world: World, ask: Ask) -> None:
    source = world.make_source()  # its state defaults to an enum member
    await put(store, source)
    assert (await ask.get(world.system, source.id))[source.id] == source
    assert await ask.ids(world.system, type(source), Eq("state", "live")) == [source.id]


async def test_get_leaves_out_what_does_not_exist(store: Store, world: World, ask: Ask) -> None:
    entry = world.make_entry()
    await put(store, entry)
    asked = [world.id("ent"), entry.id, world.id("src"), NodeId("nonsense"), NodeId("xyz_1"), NodeId("")]
    assert list(await ask.get(world.system, *asked)) == [entry.id]


async def test_get_of_nothing_is_empty(ask: Ask, world: World) -> None:
    assert await ask.get(world.system) == {}


async def test_get_of_the_same_id_twice_is_one_node(store: Store, world: World, ask: Ask) -> None:
    entry = world.make_entry()
    await put(store, entry)
    assert await ask.get(world.system, entry.id, entry.id) == {entry.id: entry}


async def test_get_finds_nodes_of_several_kinds(store: Store, world: World, ask: Ask) -> None:
    nodes = [world.make_entry(), world.make_source(), world.make_principal(), world.make_grant()]
    await put(store, *nodes)
    assert await ask.get(world.system, *(node.id for node in nodes)) == {node.id: node for node in nodes}


async def test_more_than_a_thousand_nodes_are_read_at_once(store: Store, world: World, ask: Ask) -> None:
    entries = [world.make_entry() for _ in range(1_500)]
    await put(store, *entries)
    found = await ask.get(world.system, *(entry.id for entry in entries))
    assert len(found) == 1_500


async def test_a_system_scope_of_one_workspace_sees_no_other(store: Store, world: World, ask: Ask) -> None:
    entry = world.make_entry()
    await put(store, entry)
    assert await ask.get(World().system, entry.id) == {}
    assert list(await ask.get(SystemScope(reason="test"), entry.id)) == [entry.id]


async def test_put_of_nothing_does_nothing(store: Store) -> None:
    await put(store)


async def test_put_refuses_an_id_that_is_taken(store: Store, world: World, ask: Ask) -> None:
    entry = world.make_entry(name="first")
    await put(store, entry)
    with pytest.raises(AlreadyExists):
        await put(store, world.make_entry(id=entry.id, name="second"))
    assert await ask.get(world.system, entry.id) == {entry.id: entry}


async def test_put_refuses_the_same_id_twice_in_one_call(store: Store, world: World, ask: Ask) -> None:
    entry = world.make_entry()
    with pytest.raises(AlreadyExists):
        await put(store, entry, entry)
    assert await ask.get(world.system, entry.id) == {}


async def test_put_refuses_a_unique_key_that_is_taken(store: Store, world: World, ask: Ask) -> None:
    await put(store, world.make_entry(live_name="heron"))
    late = world.make_entry(live_name="heron")
    with pytest.raises(AlreadyExists):
        await put(store, late)
    assert await ask.get(world.system, late.id) == {}


async def test_a_unique_key_counts_within_its_pool(store: Store, world: World, ask: Ask) -> None:
    here, there = world.make_entry(live_name="heron"), world.make_entry(live_name="heron", pool=world.id("knb"))
    await put(store, here, there)
    assert await ask.count(world.system, Entry) == 2


async def test_a_key_with_an_unset_field_is_no_key(store: Store, world: World, ask: Ask) -> None:
    await put(store, *(world.make_entry(live_name=None) for _ in range(3)))
    await put(store, world.make_job(unique_key=None), world.make_job(unique_key=None))
    assert await ask.count(world.system, Entry) == 3


async def test_a_freed_unique_key_can_be_taken_again(store: Store, world: World, ask: Ask) -> None:
    first, second, third = (world.make_entry(live_name=name) for name in ("heron", None, "heron"))
    await put(store, first, second)
    await patch(store, first.id, {"live_name": None})
    await patch(store, second.id, {"live_name": "heron"})
    with pytest.raises(AlreadyExists):
        await patch(store, first.id, {"live_name": "heron"})
    await store.transact(lambda writer: writer.delete([second.id]))
    await put(store, third)
    assert await ask.ids(world.system, Entry, Eq("live_name", "heron")) == [third.id]


async def test_a_node_may_keep_its_unique_key_when_patched(store: Store, world: World, ask: Ask) -> None:
    entry = world.make_entry(live_name="heron")
    await put(store, entry)
    await patch(store, entry.id, {"live_name": "heron", "name": "Heron"})
    assert await ask.ids(world.system, Entry, Eq("name", "Heron")) == [entry.id]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("heron", "Heron"),
        ("\u00e9", "e\u0301"),
        ("a", "a "),
        ("a", "a\x00"),
        ("a", " a"),
        ("ss", "ß"),
        ("ı", "i"),
        ("ﬁ", "fi"),
        ("", " "),
        ("a/b", "a|b"),
        ("1", "01"),
    ],
)
async def test_unique_keys_that_differ_in_a_byte_differ(
    store: Store, world: World, ask: Ask, one: str, other: str
) -> None:
    await put(store, world.make_entry(live_name=one), world.make_entry(live_name=other))
    assert await ask.count(world.system, Entry, Eq("live_name", one)) == 1
    assert await ask.count(world.system, Entry, Eq("live_name", other)) == 1


async def test_fields_of_a_compound_key_do_not_run_into_each_other(store: Store, world: World, ask: Ask) -> None:
    principal, object = world.id("prn", "p"), world.id("prn", "o")
    grants = [
        world.make_grant(principal_id=principal, right="a,b", object_id=object),
        world.make_grant(principal_id=NodeId(f"{principal},a"), right="b", object_id=object),
        world.make_grant(principal_id=principal, right="a", object_id=NodeId(f"b,{object}")),
        world.make_grant(principal_id=principal, right="a\x00", object_id=object),
    ]
    await put(store, *grants)
    assert await ask.count(world.system, Grant) == 4


async def test_patch_sets_the_named_fields_only(store: Store, world: World, ask: Ask) -> None:
    entry = world.make_entry(name="old", live_name="old", deleted_at=NOW)
    await put(store, entry)
    await patch(store, entry.id, {"name": "new", "deleted_at": None, "read_only": True})
    (found,) = (await ask.get(world.system, entry.id)).values()
    assert found == world.make_entry(id=entry.id, name="new", live_name="old", deleted_at=None, read_only=True)


async def test_patch_of_a_missing_node_is_refused(store: Store, world: World) -> None:
    with pytest.raises(NotFound):
        await patch(store, world.id("ent"), {"name": "new"})


async def test_patch_of_a_placeholder_is_refused(store: Store, world: World) -> None:
    missing = world.id("src")
    await world.write(store, edges=[world.cites(world.id("blv"), missing)])
    with pytest.raises(NotFound):
        await patch(store, missing, {"text": "new"})


async def test_patch_takes_the_expected_version(store: Store, world: World, ask: Ask) -> None:
    entry = world.make_entry(current_version=3)
    await put(store, entry)
    await patch(store, entry.id, {"current_version": 4}, expected={"current_version": 3})
    assert await ask.count(world.system, Entry, Eq("current_version", 4)) == 1


async def test_patch_refuses_another_version_and_tells_the_current_one(store: Store, world: World, ask: Ask) -> None:
    entry = world.make_entry(current_version=3)
    await put(store, entry)
    with pytest.raises(VersionConflict) as refused:
        await patch(store, entry.id, {"name": "new"}, expected={"current_version": 2})
    assert refused.value.details["current"] == {"current_version": 3}
    assert await ask.get(world.system, entry.id) == {entry.id: entry}


async def test_an_unset_field_can_be_expected(store: Store, world: World, ask: Ask) -> None:
    entry = world.make_entry(deleted_at=None)
    await put(store, entry)
    await patch(store, entry.id, {"deleted_at": NOW}, expected={"deleted_at": None})
    with pytest.raises(VersionConflict):
        await patch(store, entry.id, {"name": "new"}, expected={"deleted_at": None})
    assert await ask.count(world.system, Entry, Eq("deleted_at", NOW)) == 1


async def test_patch_with_a_taken_key_is_refused_whole(store: Store, world: World, ask: Ask) -> None:
    taken, entry = world.make_entry(live_name="heron"), world.make_entry(live_name="crane")
    await put(store, taken, entry)
    with pytest.raises(AlreadyExists):
        await patch(store, entry.id, {"name": "new", "live_name": "heron"})
    assert await ask.get(world.system, entry.id) == {entry.id: entry}


async def test_patch_many_leaves_out_what_is_missing(store: Store, world: World, ask: Ask) -> None:
    one, two = world.make_entry(), world.make_source()
    await put(store, one, two)
    changes: dict[NodeId, dict[str, Any]] = {
        one.id: {"name": "new"},
        world.id("ent"): {"name": "x"},
        two.id: {"text": "t", "latest": False},
    }
    await store.transact(lambda writer: writer.patch_many(changes))
    assert await ask.count(world.system, Entry, Eq("name", "new")) == 1
    assert await ask.count(world.system, type(two), Eq("latest", False)) == 1
    assert await ask.count(world.system, Entry) == 1


async def test_patch_many_of_nothing_does_nothing(store: Store) -> None:
    await store.transact(lambda writer: writer.patch_many({}))


async def test_patch_where_sets_all_that_fit_and_counts_them(store: Store, world: World, ask: Ask) -> None:
    entries = [world.make_entry(type=type) for type in ("person", "person", "topic")]
    await put(store, *entries)
    where = Eq("workspace", world.workspace)

    async def work(writer: Writer) -> list[int]:
        return [
            await writer.patch_where(Entry, where, {"name": "all"}),
            await writer.patch_where(Entry, Eq("name", world.name), {"name": "none"}),
        ]

    assert await store.transact(work) == [3, 0]
    assert await ask.count(world.system, Entry, Eq("name", "all")) == 3


async def test_patch_where_may_change_the_field_it_asks_for(store: Store, world: World, ask: Ask) -> None:
    mine, other = f"{world.name}-a", f"{world.name}-b"
    await put(store, *(world.make_entry(type=mine) for _ in range(5)))
    changed = await store.transact(lambda writer: writer.patch_where(Entry, Eq("type", mine), {"type": other}))
    assert changed == 5
    assert await ask.counts(world.system, Entry, "type") == {other: 5}


async def test_delete_removes_node_guard_audience_texts_and_own_edges(store: Store, world: World, ask: Ask) -> None:
    entry, source = world.make_entry(), world.make_source()
    await world.write(
        store,
        entry,
        source,
        clauses=[clause(shared())],
        edges=[world.cites(entry, source)],
        texts=[world.text_for(entry, "heron")],
    )
    await store.transact(lambda writer: writer.delete([entry.id]))
    assert await ask.get(world.system, entry.id) == {}
    assert await ask.guards(entry.id) == {}
    assert await ask.audiences(entry.id) == {}
    assert await ask.found(world.system, "heron") == []
    assert await ask.edges(world.system, [entry.id]) == []
    assert (await ask.closure(source.id, direction=Direction.IN)).depths == {source.id: 0}
    assert await ask.count(world.viewer(shared()), Entry) == 0


async def test_delete_of_what_is_missing_does_nothing(store: Store, world: World, ask: Ask) -> None:
    entry = world.make_entry()
    await put(store, entry)
    await store.transact(lambda writer: writer.delete([world.id("ent"), NodeId("nonsense")]))
    await store.transact(lambda writer: writer.delete([]))
    assert await ask.get(world.system, entry.id) == {entry.id: entry}


async def test_a_deleted_node_can_be_put_again_without_its_old_audience(store: Store, world: World, ask: Ask) -> None:
    entry = world.make_entry()
    await world.write(store, entry, clauses=[clause(shared())], texts=[world.text_for(entry, "heron")])
    await store.transact(lambda writer: writer.delete([entry.id]))
    await put(store, entry)
    assert await ask.get(world.system, entry.id) == {entry.id: entry}
    assert await ask.get(world.viewer(shared()), entry.id) == {}
    assert await ask.found(world.system, "heron") == []


async def test_what_arrives_at_the_end_of_a_link_is_put_once(store: Store, world: World, ask: Ask) -> None:
    """Whether or not the store looks first whether there is a placeholder."""
    source, entry, pool = world.make_source(), world.make_entry(), world.make_knowledge_base(version=0)
    await world.write(store, entry, pool, edges=[world.cites(entry, source)])

    async def arrive(writer: Writer) -> int:
        version = await writer.increment(pool.id, "version")
        await writer.put([source])
        return version

    assert await store.transact(arrive, tx_id=f"{world.name}-arrives") == 1
    assert await ask.get(world.system, source.id) == {source.id: source}
    assert await ask.counts(world.system, KnowledgeBase, "version") == {1: 1}
    async with store.reading() as reader:
        (edge,) = await reader.edges(world.system, [source.id], [EdgeType.CITES], Direction.IN)
    assert edge.source == entry.id


async def test_a_node_may_be_removed_and_put_in_one_transaction(store: Store, world: World, ask: Ask) -> None:
    entry, other = world.make_entry(name="old", live_name="old"), world.make_entry()
    await world.write(store, entry, other, clauses=[clause(shared())], texts=[world.text_for(entry, "dog")])
    new = world.make_entry(id=entry.id, name="new", live_name="new")

    async def again(writer: Writer) -> None:
        await writer.delete([entry.id])
        assert (await writer.aggregate(world.viewer(shared()), Entry))[None] == 1
        await writer.delete([other.id])
        await writer.put([new])
        await writer.guard([world.guard_for(new)])
        await writer.admit([world.audience_for(new)])

    await store.transact(again)
    viewer = world.viewer(shared())
    assert await ask.get(viewer, entry.id, other.id) == {new.id: new}
    assert (await ask.count(viewer, Entry), await ask.ids(viewer, Entry)) == (1, [new.id])
    assert (await ask.match(viewer, "dog")).total == 0


async def test_increment_returns_the_new_value(store: Store, world: World, ask: Ask) -> None:
    pool = world.make_knowledge_base(version=7)
    await put(store, pool)

    async def work(writer: Writer) -> list[int]:
        return [await writer.increment(pool.id, "version"), await writer.increment(pool.id, "version", 5)]

    assert await store.transact(work) == [8, 13]
    assert await store.transact(lambda writer: writer.increment(pool.id, "version", -3)) == 10
    assert await ask.count(world.system, type(pool), Eq("version", 10)) == 1


async def test_increment_of_a_missing_node_is_refused(store: Store, world: World) -> None:
    with pytest.raises(NotFound):
        await store.transact(lambda writer: writer.increment(world.id("knb"), "version"))
