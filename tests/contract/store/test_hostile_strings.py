"""Strings that look like a query language are plain values wherever they stand (bug case 3, attack case 6)."""

from __future__ import annotations

import pytest

from graph.model.nodes.knowledge import Entry
from graph.store.port import Store
from graph.store.query import Contains, Eq, In, Newest, Tagged
from tests.contract.store.asking import Ask
from tests.support.builders import World, clause, person, shared

pytestmark = pytest.mark.req("KN-12")

HOSTILE = [
    "`x` SET n.admin = true //",
    "`x`) DETACH DELETE n //",
    "'; DROP TABLE entry; --",
    '" OR 1=1 --',
    "$id",
    "{name: 'x'}",
    "\\u0060 SET n.x = 1",
    "\\",
    "%s ? :name @x",
    "*",
    "a,b",
    '["a","b"]',
    "__entity",
    "\x00",
    "a\x00b",
    " a ",
    "\t\n\r",
    "\u2028",
    "e\u0301",
    "NULL",
    "\U0001f56f\ufe0f",
    "\U0001f56f" * 1_000,  # no indexed field is longer by contract; the indexes of Neo4j take about 8 KiB
]


@pytest.mark.parametrize("text", HOSTILE, ids=[repr(text[:16]) for text in HOSTILE])
async def test_a_hostile_string_is_a_plain_value_everywhere(store: Store, ask: Ask, world: World, text: str) -> None:
    plain = world.make_entry(name="plain", live_name="plain", type="topic")
    hostile = world.make_entry(name=text, live_name=text, type=text, origin=text)
    episode = world.make_episode(topic=text, systems=(text, "a"), conclusions={text: [text, {text: text}]})
    rule = person(text)
    guards = [
        world.guard_for(plain),
        world.guard_for(hostile, rule, shared(), tags=(text, "t")),
        world.guard_for(episode, rule),
    ]
    edge = world.cites(hostile, episode, key=text, props={text: text, "quote": text}, record=(rule.encode(),))
    await world.write(
        store,
        plain,
        hostile,
        episode,
        guards=guards,
        audiences=[
            world.audience_for(plain),
            world.audience_for(hostile, clause(rule, shared()), excluded=[text]),
            world.audience_for(episode, clause(rule)),
        ],
        edges=[edge],
        texts=[world.text_for(hostile, "dog", id=f"{hostile.id}#{text}", part=text)],
    )
    viewer = world.viewer(rule, shared())
    assert await ask.get(viewer, plain.id, hostile.id, episode.id) == {n.id: n for n in (plain, hostile, episode)}
    assert await ask.ids(viewer, Entry, Eq("name", text)) == [hostile.id]
    assert await ask.ids(viewer, Entry, In("type", (text, "none"))) == [hostile.id]
    assert await ask.ids(viewer, Entry, Tagged((text,)), order=Newest()) == [hostile.id]
    assert await ask.ids(viewer, type(episode), Contains("systems", text)) == [episode.id]
    assert await ask.counts(viewer, Entry, "type") == {"topic": 1, text: 1}
    assert await ask.edges(viewer, [hostile.id]) == [edge]
    assert (await ask.closure(hostile.id)).edges[0].record == (rule.encode(),)
    assert await ask.guards(plain.id, hostile.id, episode.id) == {guard.node: guard for guard in guards}
    matches = await ask.match(viewer, "dog", parts=(text,))
    assert [(hit.id, hit.part) for hit in matches.hits] == [(f"{hostile.id}#{text}", text)]
    assert await ask.get(world.viewer(rule, shared(), principal=text), hostile.id) == {}
    await store.transact(lambda w: w.patch(plain.id, {"name": text}, expected={"name": "plain"}))
    await store.transact(lambda w: w.unlink([edge]))
    await store.transact(lambda w: w.unindex([f"{hostile.id}#{text}"]))
    assert await ask.count(viewer, Entry, Eq("name", text)) == 2
    assert await ask.edges(viewer, [hostile.id]) == []
    assert await ask.found(viewer, "dog") == []


@pytest.mark.parametrize("text", HOSTILE[:12])
async def test_hostile_kinds_and_owners_of_jobs(store: Store, ask: Ask, world: World, text: str) -> None:
    kind = world.name + text
    job = world.make_job(kind=kind, unique_key=kind)
    await world.write(store, job, world.make_job())
    claimed = await store.transact(lambda w: w.claim([kind], text, job.due_at, 1_000))
    assert claimed is not None
    assert (claimed.id, claimed.kind, claimed.owner) == (job.id, kind, text)
    assert await ask.get(world.system, job.id) == {job.id: claimed}
