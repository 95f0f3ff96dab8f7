"""Sessions, agent memory and bot memory on every store: sealed fields, every kind, rules with alternatives.

One test each for many cases, since each costs a store on a server.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from graph.model.access import Guard, Need, Rule, RuleKind, for_rule, narrowest
from graph.model.edges import LAW_EDGES
from graph.model.errors import AlreadyExists, RootwardError
from graph.model.fields import FieldType, Node
from graph.model.ids import NodeId
from graph.model.nodes import bots, sessions
from graph.model.nodes.bots import BotEntry, ChatItem
from graph.model.nodes.knowledge import BlockVersion
from graph.model.nodes.sessions import SessionChange
from graph.model.schema import KINDS, KindSpec, kinds
from graph.model.sealed import Sealed
from graph.rules.visibility import source_graph, visible_to
from graph.services.audience import guard_and_decide, law_edge
from graph.store.port import Store, Writer
from graph.store.query import Direction, Find, Newest, Tagged
from tests.contract.store.asking import Ask
from tests.reference.law import naive_law
from tests.support.builders import NOW, World, clause
from tests.support.graphs import Flavour, GraphCase, random_case, store_edges
from tests.support.profile import sized

pytestmark = pytest.mark.req("KN-12", "BM-187")

NEW = [kind for kind in KINDS if kind.__module__ in (sessions.__name__, bots.__name__)]
HOSTILE = Sealed(bytes(range(256)) + b"\x00\xff' OR 1=1 --\r\n")
VALUES: dict[FieldType, Any] = {
    FieldType.TEXT: "ü \x00 '\"",
    FieldType.INTEGER: 2**53,
    FieldType.REAL: 0.1,
    FieldType.BOOLEAN: True,
    FieldType.BYTES: b"\x00\xff",
    FieldType.JSON: {"a": [1, None, {"b": "ü"}]},
    FieldType.TEXTS: ("b", "a", "", "a,b"),
    FieldType.SEALED: HOSTILE,
}


def filled(world: World, spec: KindSpec, *, optional: bool) -> Node:
    """Return a node of a kind with a value in every field, or with None wherever that may stand."""
    values: dict[str, Any] = {
        field.name: None if field.nullable and not optional else VALUES[field.type]
        for field in spec.fields
        if field.name not in ("id", "workspace")
    }
    body = f"{world.name}{'full' if optional else 'bare'}"
    return spec.node(**{**values, "id": NodeId(f"{spec.prefix}_{body}"), "workspace": world.workspace})


async def test_every_kind_comes_back_full_and_bare(store: Store, world: World, ask: Ask) -> None:
    made = [filled(world, kinds()[kind.__name__], optional=full) for kind in NEW for full in (True, False)]
    unlike = [replace(node, **_distinct(node, number)) for number, node in enumerate(made)]
    await store.transact(lambda writer: writer.put(unlike))
    assert await ask.get(world.system, *(node.id for node in unlike)) == {node.id: node for node in unlike}


def _distinct(node: Node, number: int) -> dict[str, Any]:
    """Return other values for what is unique together, so that full and bare are two."""
    named = {name for names in type(node).UNIQUE for name in names} & {"seq", "version", "key"}
    return {name: f"k{number}" if name == "key" else number for name in named}


async def test_sealed_values_are_kept_to_the_byte_and_nothing_else_is_taken(
    store: Store, world: World, ask: Ask
) -> None:
    values = [HOSTILE, Sealed(b""), Sealed(b"\x00" * 70_000)]
    entries = [entry(world, number, content=value) for number, value in enumerate(values)]
    await store.transact(lambda writer: writer.put(entries))
    found = await ask.get(world.system, *(node.id for node in entries))
    assert [node.content for node in found.values() if isinstance(node, BotEntry)] == values
    item = world.make(ChatItem, chat_id=world.id("cht"), seq=1, type="person_message", text=HOSTILE, occurred_at=NOW)
    await store.transact(lambda writer: writer.put([item]))
    await store.transact(lambda writer: writer.patch(item.id, {"text": None}))
    assert (await ask.get(world.system, item.id))[item.id] == replace(item, text=None)
    await store.transact(lambda writer: writer.patch(item.id, {"text": Sealed(b"again")}))
    assert (await ask.get(world.system, item.id))[item.id] == replace(item, text=Sealed(b"again"))
    for plain in ("a secret", b"a secret", 7):
        with pytest.raises((TypeError, RootwardError)) as refused:
            await store.transact(lambda writer, plain=plain: writer.patch(item.id, {"text": plain}))  # type: ignore[misc]
        assert "secret" not in str(refused.value)
    assert (await ask.get(world.system, item.id))[item.id] == replace(item, text=Sealed(b"again"))


async def test_what_must_be_unique_is_refused_twice(store: Store, world: World) -> None:
    first = world.make(SessionChange, session_id=world.id("ses"), seq=1, head="h")
    await store.transact(lambda writer: writer.put([first]))
    again = replace(first, id=world.id("sch"))
    with pytest.raises(AlreadyExists):
        await store.transact(lambda writer: writer.put([again]))
    other = replace(again, session_id=world.id("ses"))
    await store.transact(lambda writer: writer.put([other]))


def entry(world: World, number: int, **values: Any) -> BotEntry:
    """Return an entry of a bot; later numbers are newer."""
    defaults = {
        "id": NodeId(f"mem_{world.name}{number:04}"),
        "pool": world.id("bpl", "bot"),
        "created_at": NOW + number,
        "bot_id": world.id("prn", "bot"),
        "layer": "fact",
        "content": HOSTILE,
        "chars": 1,
        "status": "active",
        "updated_at": NOW,
    }
    return world.make(BotEntry, **{**defaults, **values})


async def test_rules_with_alternatives_admit_by_any_one_in_every_way_of_reading(
    store: Store, world: World, ask: Ask
) -> None:
    """Each alternative becomes a clause of its own, filed under its narrowest rule; tags, order and counts follow."""
    org, bot = Rule(RuleKind.ORG, "org_w//o"), Rule(RuleKind.BOT, "prn_w/agent/b")
    audiences = [("p",), ("g",), ("p", "g"), ("g", "b"), ("p", "g", "b"), ("b",)]
    entries = [entry(world, number, tags=("trip", f"n{number}")) for number in range(len(audiences))]
    guards = [
        guard(world, node, {for_rule(tags), org, bot}, excluded={NodeId("prn_gone")} if "g" in tags else set())
        for node, tags in zip(entries, audiences, strict=True)
    ]

    async def work(writer: Writer) -> None:
        await writer.put(entries)
        await guard_and_decide(writer, guards)

    await store.transact(work)
    stored = await ask.audiences(*(node.id for node in entries))
    assert stored[entries[4].id].clauses == {clause(for_rule([tag]), org, bot) for tag in "pgb"}
    assert {narrowest(one) for one in stored[entries[4].id].clauses} == {for_rule([tag]) for tag in "pgb"}
    for held in ("", "p", "g", "b", "pg", "pgb"):
        viewer = world.viewer(org, bot, *(for_rule([tag]) for tag in held))
        wanted = [node.id for node, tags in zip(entries, audiences, strict=True) if set(tags) & set(held)]
        assert await ask.ids(viewer, BotEntry, order=Newest()) == wanted[::-1]
        assert await ask.count(viewer, BotEntry) == len(wanted)
        assert set(await ask.get(viewer, *(node.id for node in entries))) == set(wanted)
        assert await ask.ids(viewer, BotEntry, Tagged(("trip",)), order=Newest(), first=2) == wanted[::-1][:2]
    left = world.viewer(org, bot, for_rule(["g"]), principal="prn_gone")
    assert await ask.ids(left, BotEntry, order=Newest()) == []
    assert await ask.ids(world.viewer(bot, for_rule(["p"])), BotEntry) == [], "and the organization is asked too"


async def test_a_rule_that_loses_an_alternative_is_filed_anew(store: Store, world: World, ask: Ask) -> None:
    node = entry(world, 1)
    everyone = {tag: world.viewer(for_rule([tag])) for tag in "pg"}

    async def readers(*tags: str) -> set[str]:
        async def work(writer: Writer) -> None:
            if not await writer.get(world.system, [node.id]):
                await writer.put([node])
            await guard_and_decide(writer, [guard(world, node, {for_rule(tags)})])

        await store.transact(work)
        return {tag for tag, viewer in everyone.items() if await ask.ids(viewer, BotEntry) == [node.id]}

    assert await readers("p", "g") == {"p", "g"}
    assert await readers("g") == {"g"}
    assert await readers("p") == {"p"}
    assert await readers("g", "p") == {"p", "g"}


def guard(world: World, node: Node, rules: set[Rule], excluded: set[NodeId] | None = None) -> Guard:
    return replace(
        world.guard_for(node, *rules, need=Need.NONE),
        excluded=frozenset(excluded or ()),
        tags=node.tags if isinstance(node, BotEntry) else (),
    )


@pytest.mark.req("BM-42", "BM-46", "BM-47", "BM-48", "BM-54", "BM-150")
@pytest.mark.parametrize("seed", range(sized(small=3, full=1_000)))
async def test_hostile_graphs_of_bots_are_shown_as_the_law_proves(store: Store, seed: int) -> None:
    """Cycles, gaps, missing records, retracted sources and exclusions, with tags of which any admits."""
    world = World()
    case = in_world(random_case(random.Random(seed), Flavour.BOT, most_nodes=40), world)
    ids = [guard.node for guard in case.guards]

    async def work(writer: Writer) -> None:
        await writer.put([*nodes_of(case, world)])
        await writer.link(store_edges(case))
        await guard_and_decide(writer, case.guards)

    await store.transact(work)
    hidden = 0
    for viewer in case.viewers:
        mine = replace(viewer, workspace=world.workspace)
        async with store.reading() as reader:
            shown = set(await reader.get(mine, ids))
            listed = {
                node.id
                for kind in (ChatItem, BlockVersion)
                for node in (await reader.find(mine, Find(kind=kind))).nodes
            }
            reached = await reader.closure(ids, LAW_EDGES, Direction.OUT)
            guards = await reader.guards(list(reached.depths))
        proved = visible_to(source_graph(guards.values(), map(law_edge, reached.edges)), mine)
        assert shown == proved == naive_law(case.guards, case.edges, mine)
        assert listed == shown
        hidden += len(ids) - len(shown)
    assert hidden


def in_world(case: GraphCase, world: World) -> GraphCase:
    """Return the graph with ids of this world: sources are items of chats, all else is a statement."""

    def named(node: NodeId) -> NodeId:
        return world.id("cit" if node.startswith("src") else "blv", node)

    guards = tuple(
        replace(
            guard,
            node=named(guard.node),
            workspace=world.workspace,
            kind="ChatItem" if guard.node.startswith("src") else "BlockVersion",
        )
        for guard in case.guards
    )
    edges = tuple(replace(edge, source=named(edge.source), target=named(edge.target)) for edge in case.edges)
    return replace(case, guards=guards, edges=edges)


def nodes_of(case: GraphCase, world: World) -> Iterator[Node]:
    for guard in case.guards:
        if guard.kind == "ChatItem":
            yield world.make(ChatItem, id=guard.node, chat_id=world.id("cht"), seq=1, type="x", occurred_at=NOW)
        else:
            yield world.make_block_version(id=guard.node)
