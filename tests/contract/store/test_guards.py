"""Guards and audiences are stored as they are given."""

from __future__ import annotations

import pytest

from graph.model.access import Audience, Guard, Need, Rule, RuleKind
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Entry
from graph.store.port import Store, Writer
from tests.contract.store.asking import Ask
from tests.support.builders import World, clause, person, private, shared

pytestmark = pytest.mark.req("KN-12")


async def test_a_guard_comes_back_as_it_was_set(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry()
    guard = world.guard_for(
        entry,
        shared(),
        private("chn_1"),
        person("a,b"),
        need=Need.ALL,
        live=False,
        held=False,
        excluded=frozenset({NodeId("prn_ana"), NodeId("prn_a,b")}),
        tags=("b", "a", "a,b", ""),
        sort_at=-7,
    )
    await world.write(store, entry, guards=[guard])
    assert await ask.guards(entry.id) == {entry.id: guard}


@pytest.mark.parametrize("rules", [None, frozenset(), frozenset({Rule(RuleKind.PERSON, "")})], ids=repr)
@pytest.mark.parametrize("need", list(Need))
async def test_missing_and_empty_rules_stay_apart(
    store: Store, ask: Ask, world: World, rules: frozenset[Rule] | None, need: Need
) -> None:
    entry = world.make_entry()
    guard = world.guard_for(entry, rules=rules, need=need)
    await world.write(store, entry, guards=[guard])
    found = (await ask.guards(entry.id))[entry.id]
    assert found == guard
    assert type(found.need) is Need


async def test_a_later_guard_replaces_all_of_the_earlier_one(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry()
    first = world.guard_for(entry, tags=("x",), excluded=frozenset({NodeId("prn_ana")}), live=False)
    second = world.guard_for(entry, private("chn_1"))
    await world.write(store, entry, guards=[first])
    await world.write(store, guards=[second])
    assert await ask.guards(entry.id) == {entry.id: second}


async def test_the_last_guard_of_one_call_counts(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry()
    first, second = world.guard_for(entry, tags=("x",)), world.guard_for(entry, tags=("y",))
    await world.write(store, entry, guards=[first, second])
    assert await ask.guards(entry.id) == {entry.id: second}


async def test_guards_and_audiences_of_what_has_none(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry()
    await world.write(store, entry)
    for read in (ask.guards, ask.audiences):
        assert await read() == {}
        assert await read(entry.id, world.id("ent"), NodeId("nonsense")) == {}


async def test_a_guard_alone_brings_no_audience(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry()
    await world.write(store, entry, guards=[world.guard_for(entry)])
    assert await ask.audiences(entry.id) == {}


async def test_an_audience_comes_back_as_it_was_set(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry()
    audience = world.audience_for(
        entry, clause(shared(), private("chn_1")), clause(person("a,b")), excluded=["prn_ana", "prn_a,b"]
    )
    await world.write(store, entry, guards=[world.guard_for(entry)], audiences=[audience])
    assert await ask.audiences(entry.id) == {entry.id: audience}
    nobody = Audience(node=entry.id, clauses=frozenset(), excluded=frozenset({NodeId("prn_ben")}))
    await world.write(store, audiences=[nobody])
    assert await ask.audiences(entry.id) == {entry.id: nobody}


async def test_guards_of_many_nodes_in_one_call(store: Store, ask: Ask, world: World) -> None:
    entries = [world.make_entry() for _ in range(1_100)]
    guards = {entry.id: world.guard_for(entry, private(f"chn_{number % 7}")) for number, entry in enumerate(entries)}
    audiences = {id: world.audience_for(id, guard.rules or clause()) for id, guard in guards.items()}
    await world.write(store, *entries, guards=list(guards.values()), audiences=list(audiences.values()))
    assert await ask.guards(*guards) == guards
    assert await ask.audiences(*guards) == audiences
    assert await ask.count(world.viewer(private("chn_0")), Entry) == 158


async def test_a_writer_reads_the_guards_it_set(store: Store, world: World) -> None:
    entry = world.make_entry()
    guard, audience = world.guard_for(entry), world.audience_for(entry)

    async def work(writer: Writer) -> tuple[dict[NodeId, Guard], dict[NodeId, Audience], bool]:
        await writer.put([entry])
        await writer.guard([guard])
        await writer.admit([audience])
        seen = await writer.get(world.viewer(shared()), [entry.id])
        return dict(await writer.guards([entry.id])), dict(await writer.audiences([entry.id])), bool(seen)

    assert await store.transact(work) == ({entry.id: guard}, {entry.id: audience}, True)


async def test_setting_nothing_does_nothing(store: Store) -> None:
    async def work(writer: Writer) -> None:
        await writer.guard([])
        await writer.admit([])
        await writer.link([])
        await writer.unlink([])
        await writer.index([])
        await writer.unindex([])
        await writer.lock([])

    await store.transact(work)


async def test_the_encoding_of_rules_keeps_hostile_names_apart(store: Store, ask: Ask, world: World) -> None:
    rules = [
        Rule(RuleKind.PERSON, "a b"),
        Rule(RuleKind.PERSON, "a", "b"),
        Rule(RuleKind.PERSON, "a,b"),
        Rule(RuleKind.PERSON, "a\x00"),
        Rule(RuleKind.PERSON, "a"),
        Rule(RuleKind.PERSON, "A"),
        Rule(RuleKind.PERSON, "é"),
        Rule(RuleKind.PERSON, "e\u0301"),
        Rule(RuleKind.PERSON, "__entity"),
        Rule(RuleKind.PERSON, "* AND +words:x"),
    ]
    entries = [world.make_entry() for _ in rules]
    await world.write(
        store,
        *entries,
        guards=[world.guard_for(entry, rule) for entry, rule in zip(entries, rules, strict=True)],
        audiences=[world.audience_for(e, clause(rule)) for e, rule in zip(entries, rules, strict=True)],
        texts=[world.text_for(entry, "heron") for entry in entries],
    )
    for entry, rule in zip(entries, rules, strict=True):
        assert await ask.ids(world.viewer(rule), Entry) == [entry.id]
        assert await ask.found(world.viewer(rule), "heron") == [f"{entry.id}#block"]
        assert (await ask.guards(entry.id))[entry.id].rules == clause(rule)
