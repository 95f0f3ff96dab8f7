"""What a viewer gets from every read: hidden and missing look the same (KN-60, KN-61, KN-114)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from graph.model.access import ALL_AGENTS, Clause, Rule, RuleKind, Viewer
from graph.model.edges import EdgeType
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.knowledge import Entry
from graph.model.nodes.people import Grant, Workspace
from graph.model.nodes.work import Job
from graph.store.port import Store
from graph.store.query import By, Direction, Eq, Newest
from tests.contract.store.asking import Ask
from tests.support.builders import AGENT, World, channel, clause, person, private, shared

pytestmark = pytest.mark.req("KN-12", "KN-60", "KN-61", "KN-114")

ANA, BEN = person("prn_ana"), person("prn_ben")
CHAT, GROUP, SHARED = private("chn_chat"), channel("chn_group"), shared()


async def seen_everywhere(ask: Ask, scope: Any, entry: Entry) -> bool:
    """True if every read path shows the entry, False if none does; fails if they differ."""
    paths = {
        "get": entry.id in await ask.get(scope, entry.id),
        "find": entry.id in await ask.ids(scope, Entry),
        "newest": entry.id in await ask.ids(scope, Entry, order=Newest()),
        "by name": entry.id in await ask.ids(scope, Entry, order=By("name")),
        "where": entry.id in await ask.ids(scope, Entry, Eq("id", entry.id)),
        "count": await ask.count(scope, Entry, Eq("id", entry.id)) == 1,
        "counts": await ask.counts(scope, Entry, "name", Eq("id", entry.id)) == {entry.name: 1},
        "match": f"{entry.id}#block" in await ask.found(scope, "heron"),
        "df": (await ask.match(scope, "heron")).df == {"heron": 1},
        "total": (await ask.match(scope, "heron")).total >= 1,
    }
    assert len(set(paths.values())) == 1, paths
    return paths["get"]


async def write_entry(
    store: Store, world: World, clauses: Sequence[Clause], excluded: Sequence[str] = (), **values: Any
) -> Entry:
    """Store one entry with a text and the given audience."""
    entry = world.make_entry(**values)
    audience = world.audience_for(entry, *clauses, excluded=excluded)
    await world.write(
        store,
        entry,
        guards=[world.guard_for(entry)],
        audiences=[audience],
        texts=[world.text_for(entry, "the heron", pool=entry.pool)],
    )
    return entry


CASES: list[tuple[str, list[Clause], list[Rule], bool]] = [
    ("the one rule is held", [clause(SHARED)], [SHARED], True),
    ("the one rule is not held", [clause(SHARED)], [], False),
    ("another rule is held", [clause(SHARED)], [CHAT], False),
    ("all of a conjunction are held", [clause(SHARED, CHAT, ANA)], [SHARED, CHAT, ANA], True),
    ("one of a conjunction is missing", [clause(SHARED, CHAT, ANA)], [SHARED, CHAT], False),
    ("only the narrowest is held", [clause(SHARED, ANA)], [ANA], False),
    ("only the widest is held", [clause(SHARED, ANA)], [SHARED], False),
    ("the second of two clauses passes", [clause(ANA), clause(CHAT, SHARED)], [CHAT, SHARED], True),
    ("both clauses pass", [clause(ANA), clause(CHAT)], [ANA, CHAT], True),
    ("halves of two clauses are held", [clause(ANA, SHARED), clause(CHAT, GROUP)], [ANA, CHAT], False),
    ("two narrow rules in one clause", [clause(CHAT, private("chn_other"))], [CHAT], False),
    ("many rules are held beside", [clause(CHAT)], [CHAT, SHARED, GROUP, ANA, BEN], True),
    ("the same object under another kind", [clause(channel("chn_chat"))], [private("chn_chat")], False),
    ("the same rule of another agent", [clause(shared("prn_other"))], [SHARED], False),
    (
        "object and agent run together",
        [clause(Rule(RuleKind.SHARED, "a", "b"))],
        [Rule(RuleKind.SHARED, "ab", "")],
        False,
    ),
    ("an object that holds a comma", [clause(person("a,b"))], [person("a"), person("b")], False),
    ("names that differ in case", [clause(person("prn_Ana"))], [ANA], False),
    ("names that differ in form", [clause(person("\u00e9"))], [person("e\u0301")], False),
    ("names that differ in a trailing NUL", [clause(person("a\x00"))], [person("a")], False),
    ("names that differ in a trailing blank", [clause(person("a "))], [person("a")], False),
]


@pytest.mark.parametrize(("clauses", "held", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
async def test_every_read_agrees_on_who_sees(
    store: Store, ask: Ask, world: World, clauses: list[Clause], held: list[Rule], expected: bool
) -> None:
    entry = await write_entry(store, world, clauses)
    assert await seen_everywhere(ask, world.viewer(*held), entry) is expected
    assert await seen_everywhere(ask, world.system, entry)


async def test_no_clause_shows_to_nobody(store: Store, ask: Ask, world: World) -> None:
    entry = await write_entry(store, world, [clause(SHARED)])
    nobody = world.audience_for(entry)
    await world.write(store, audiences=[type(nobody)(node=entry.id, clauses=frozenset())])
    assert not await seen_everywhere(ask, world.viewer(SHARED, audits=[ALL_AGENTS]), entry)
    assert await seen_everywhere(ask, world.system, entry)
    assert not (await ask.audiences(entry.id))[entry.id].live


async def test_without_an_audience_nobody_sees(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry()
    await world.write(store, entry, texts=[world.text_for(entry, "heron")], guards=[world.guard_for(entry)])
    assert not await seen_everywhere(ask, world.viewer(SHARED, audits=[ALL_AGENTS]), entry)


async def test_without_a_guard_nobody_sees(store: Store, ask: Ask, world: World) -> None:
    entry = world.make_entry()
    await world.write(store, entry)
    assert await ask.get(world.viewer(SHARED, audits=[ALL_AGENTS]), entry.id) == {}
    assert await ask.ids(world.viewer(SHARED), Entry) == []
    assert await ask.count(world.viewer(SHARED), Entry) == 0


async def test_the_excluded_see_nothing_whatever_they_pass(store: Store, ask: Ask, world: World) -> None:
    entry = await write_entry(store, world, [clause(SHARED), clause(CHAT)], excluded=["prn_ana", "prn_ben"])
    assert not await seen_everywhere(ask, world.viewer(SHARED, CHAT, principal="prn_ana"), entry)
    assert not await seen_everywhere(ask, world.viewer(SHARED, principal="prn_ben"), entry)
    assert await seen_everywhere(ask, world.viewer(SHARED, principal="prn_cem"), entry)
    assert await seen_everywhere(ask, world.viewer(SHARED, principal="prn_an"), entry)


async def test_an_exclusion_that_ends_shows_again(store: Store, ask: Ask, world: World) -> None:
    entry = await write_entry(store, world, [clause(SHARED)], excluded=["prn_ana"])
    viewer = world.viewer(SHARED, principal="prn_ana")
    assert not await seen_everywhere(ask, viewer, entry)
    await world.write(store, audiences=[world.audience_for(entry)])
    assert await seen_everywhere(ask, viewer, entry)
    await world.write(store, audiences=[world.audience_for(entry, excluded=["prn_ana"])])
    assert not await seen_everywhere(ask, viewer, entry)


@pytest.mark.parametrize(
    ("audits", "expected"), [([AGENT], True), ([ALL_AGENTS], True), (["prn_other"], False), ([], False)]
)
async def test_an_auditor_passes_the_rules_of_his_agents(
    store: Store, ask: Ask, world: World, audits: list[str], expected: bool
) -> None:
    entry = await write_entry(store, world, [clause(SHARED, CHAT), clause(GROUP, CHAT)])
    assert await seen_everywhere(ask, world.viewer(audits=audits), entry) is expected


async def test_no_auditor_passes_a_rule_without_an_agent(store: Store, ask: Ask, world: World) -> None:
    entry = await write_entry(store, world, [clause(ANA, SHARED)])
    assert not await seen_everywhere(ask, world.viewer(audits=[AGENT, ALL_AGENTS]), entry)
    assert await seen_everywhere(ask, world.viewer(ANA, audits=[AGENT]), entry)


async def test_an_auditor_of_one_of_two_agents_sees_the_clause_of_that_one(
    store: Store, ask: Ask, world: World
) -> None:
    entry = await write_entry(store, world, [clause(SHARED, shared("prn_other"))])
    assert not await seen_everywhere(ask, world.viewer(audits=[AGENT]), entry)
    assert await seen_everywhere(ask, world.viewer(shared("prn_other"), audits=[AGENT]), entry)


async def test_pools_narrow_what_is_asked_for(store: Store, ask: Ask, world: World) -> None:
    other = world.id("knb", "other")
    here = await write_entry(store, world, [clause(SHARED)])
    cases: list[tuple[list[NodeId] | None, bool]] = [
        (None, True),
        ([world.pool], True),
        ([other, world.pool], True),
        ([other], False),
        ([], False),
    ]
    for pools, expected in cases:
        assert await seen_everywhere(ask, world.viewer(SHARED, pools=pools), here) is expected
        assert await seen_everywhere(ask, world.viewer(audits=[AGENT], pools=pools), here) is expected


async def test_pools_never_widen(store: Store, ask: Ask, world: World) -> None:
    entry = await write_entry(store, world, [clause(CHAT)])
    assert not await seen_everywhere(ask, world.viewer(SHARED, pools=[world.pool]), entry)


async def test_two_pools_with_the_same_rules_stay_apart(store: Store, ask: Ask, world: World) -> None:
    other = world.id("knb", "other")
    entries = [world.make_entry(name="x", pool=pool) for pool in (world.pool, other, other)]
    await world.write(
        store,
        *entries,
        clauses=[clause(SHARED)],
        texts=[world.text_for(entry, "heron", pool=entry.pool) for entry in entries],
    )
    for pools, count in [(None, 3), ([world.pool], 1), ([other], 2), ([world.pool, other], 3)]:
        viewer = world.viewer(SHARED, pools=pools)
        matches = await ask.match(viewer, "heron")
        assert await ask.count(viewer, Entry) == len(await ask.ids(viewer, Entry)) == count
        assert (len(matches.hits), matches.df, matches.total) == (count, {"heron": count}, count)


async def test_nothing_crosses_a_workspace(store: Store, ask: Ask, world: World) -> None:
    entry = await write_entry(store, world, [clause(SHARED)])
    for workspace in (World().workspace, WorkspaceId(""), WorkspaceId(world.name.upper())):
        viewer = world.viewer(SHARED, audits=[ALL_AGENTS], workspace=workspace)
        assert not await seen_everywhere(ask, viewer, entry)


async def test_unguarded_kinds_are_never_shown_to_a_viewer(store: Store, ask: Ask, world: World) -> None:
    nodes = [world.make_grant(), world.make_job(), world.make(Workspace, display_name="W")]
    await world.write(store, *nodes)
    viewer = world.viewer(SHARED, audits=[ALL_AGENTS])
    assert await ask.get(viewer, *(node.id for node in nodes)) == {}
    for kind in (Grant, Job, Workspace):
        assert await ask.ids(viewer, kind) == []
        assert await ask.count(viewer, kind) == 0
        assert await ask.counts(viewer, kind, "created_at") == {}
        assert await ask.count(world.system, kind) == 1


async def test_get_of_many_gives_the_visible_ones(store: Store, ask: Ask, world: World) -> None:
    entries = [world.make_entry() for _ in range(300)]
    await world.write(
        store,
        *entries,
        guards=[world.guard_for(entry) for entry in entries],
        audiences=[
            world.audience_for(entry, clause((SHARED, CHAT, ANA)[number % 3])) for number, entry in enumerate(entries)
        ],
    )
    found = await ask.get(world.viewer(CHAT, SHARED), *(entry.id for entry in entries))
    assert set(found) == {entry.id for number, entry in enumerate(entries) if number % 3 != 2}


async def test_an_edge_is_shown_to_who_sees_both_ends(store: Store, ask: Ask, world: World) -> None:
    one, two, three = world.make_entry(), world.make_entry(), world.make_entry()
    missing = world.id("ent", "missing")
    await world.write(
        store,
        one,
        two,
        three,
        guards=[world.guard_for(entry) for entry in (one, two, three)],
        audiences=[
            world.audience_for(one, clause(SHARED)),
            world.audience_for(two, clause(SHARED), clause(CHAT)),
            world.audience_for(three, clause(CHAT)),
        ],
        edges=[world.cites(one, two), world.cites(two, three), world.cites(one, three), world.cites(two, missing)],
    )
    ids = [one.id, two.id, three.id, missing]

    async def ends(scope: Any, direction: Direction) -> list[tuple[NodeId, NodeId]]:
        return [(edge.source, edge.target) for edge in await ask.edges(scope, ids, direction=direction)]

    for direction in Direction:
        assert await ends(world.viewer(SHARED), direction) == [(one.id, two.id)]
        assert await ends(world.viewer(CHAT), direction) == [(two.id, three.id)]
        assert await ends(world.viewer(), direction) == []
        assert len(await ends(world.viewer(SHARED, CHAT), direction)) == 3
    assert len(await ends(world.system, Direction.OUT)) == 4


async def test_an_edge_to_an_unguarded_node_is_shown_to_no_viewer(store: Store, ask: Ask, world: World) -> None:
    entry, grant = world.make_entry(), world.make_grant()
    await world.write(store, grant)
    await world.write(store, entry, clauses=[clause(SHARED)], edges=[world.cites(entry, grant, type=EdgeType.TARGETS)])
    assert await ask.edges(world.viewer(SHARED), [entry.id], EdgeType.TARGETS) == []
    assert len(await ask.edges(world.system, [entry.id], EdgeType.TARGETS)) == 1


async def test_a_changed_audience_counts_from_the_next_read(store: Store, ask: Ask, world: World) -> None:
    entry = await write_entry(store, world, [clause(SHARED)])
    for clauses, viewer, expected in [
        ([clause(CHAT)], world.viewer(SHARED), False),
        ([clause(CHAT)], world.viewer(CHAT), True),
        ([clause(CHAT, ANA), clause(GROUP)], world.viewer(CHAT), False),
        ([clause(CHAT, ANA), clause(GROUP)], world.viewer(GROUP), True),
        ([clause(GROUP)], world.viewer(CHAT, ANA), False),
        ([clause(SHARED)], world.viewer(SHARED), True),
    ]:
        await world.write(store, audiences=[world.audience_for(entry, *clauses)])
        assert await seen_everywhere(ask, viewer, entry) is expected


async def test_counts_follow_every_change(store: Store, ask: Ask, world: World) -> None:
    """Counters per clause must move with admit, patch, tags and delete."""
    entries = [world.make_entry(type=("person", "topic")[number % 2]) for number in range(10)]
    await world.write(store, *entries, clauses=[clause(SHARED)])
    viewer = world.viewer(SHARED)
    assert await ask.count(viewer, Entry) == 10
    await world.write(store, audiences=[world.audience_for(e, clause(CHAT)) for e in entries[:3]])
    assert await ask.count(viewer, Entry) == 7
    await world.write(store, audiences=[world.audience_for(e, clause(CHAT), clause(SHARED)) for e in entries[:2]])
    assert await ask.count(viewer, Entry) == 9
    assert await ask.count(world.viewer(SHARED, CHAT), Entry) == 10
    await store.transact(lambda writer: writer.delete([entries[0].id, entries[9].id]))
    assert await ask.count(viewer, Entry) == 7
    await store.transact(lambda writer: writer.patch(entries[1].id, {"type": "person"}))
    assert await ask.counts(viewer, Entry, "type") == {"person": 4, "topic": 3}
    await store.transact(lambda writer: writer.guard([world.guard_for(entries[5], tags=("x",))]))
    await world.write(store, audiences=[world.audience_for(entries[5])])
    assert await ask.count(viewer, Entry) == 7


async def test_many_clauses_held_by_one_viewer(store: Store, ask: Ask, world: World) -> None:
    """More clauses than one keyword call of an engine takes (docs/design.md#the-stores)."""
    rules = [private(f"chn_{number}") for number in range(1_200)]
    entries = [world.make_entry(name=f"{number}") for number in range(1_200)]
    await world.write(
        store,
        *entries,
        guards=[world.guard_for(entry) for entry in entries],
        audiences=[world.audience_for(e, clause(r)) for e, r in zip(entries, rules, strict=True)],
        texts=[world.text_for(entry, "heron") for entry in entries],
    )
    viewer = world.viewer(*rules[:1_100])
    assert await ask.count(viewer, Entry) == 1_100
    assert await ask.ids(viewer, Entry, order=Newest(), first=7) == [entry.id for entry in entries[:7]]
    matches = await ask.match(viewer, "heron", limit=2_000)
    assert len(matches.hits) == matches.total == matches.df["heron"] == 1_100


async def test_an_audience_of_many_clauses(store: Store, ask: Ask, world: World) -> None:
    clauses = [clause(private(f"chn_{number}"), SHARED) for number in range(200)]
    entry = await write_entry(store, world, clauses)
    assert await seen_everywhere(ask, world.viewer(private("chn_199"), SHARED), entry)
    assert not await seen_everywhere(ask, world.viewer(private("chn_200"), SHARED), entry)
    assert (await ask.audiences(entry.id))[entry.id].clauses == frozenset(clauses)


async def test_a_viewer_of_nothing_gets_nothing(store: Store, ask: Ask, world: World) -> None:
    entry = await write_entry(store, world, [clause(SHARED)])
    nobody = Viewer(workspace=world.workspace, principal=NodeId(""), held=frozenset())
    assert not await seen_everywhere(ask, nobody, entry)
    assert (await ask.match(nobody, "heron")).total == 0
