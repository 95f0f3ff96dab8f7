"""Hostile texts stay texts; nothing that a user wrote shows in logs or errors."""

from __future__ import annotations

import logging
import traceback

import pytest

from graph.model.errors import AlreadyExists, BadInput, RootwardError
from graph.model.nodes.knowledge import Entry
from graph.store.neo4j import Neo4jStore
from graph.store.neo4j.driver import AutoCommit, Sessions, connect
from graph.store.query import Direction, Find, Match, TextIndex
from tests.support.builders import World, clause, shared
from tests.support.clock import FakeClock
from tests.support.neo4j_store import AUTH, run

CANARY = "canary-7731-äöü"
QUERIES = ["AND", "(", '"', "*", "C++", "&&", "!x", "field:value", "\\", "[a", "TO", "b]", "~", "^", "/x/", "*:*"]
NAMES = ["x` SET n.admin = true //", "x`) DETACH DELETE n //", "'} ) DETACH DELETE n //", "\u0000", "$p0"]


async def test_words_of_any_kind_are_found_as_they_are_and_never_raise(store: Neo4jStore, world: World) -> None:
    entries = [world.make_entry() for _ in QUERIES]
    texts = [world.text_for(entry, [word]) for entry, word in zip(entries, QUERIES, strict=True)]
    await world.write(store, *entries, clauses=[clause(shared())], texts=texts)
    async with store.reading() as reader:
        for text, word in zip(texts, QUERIES, strict=True):
            found = await reader.match(world.viewer(shared()), Match(index=TextIndex.ENTRY, words=(word,)))
            assert [hit.id for hit in found.hits] == [text.id]
        everything = Match(index=TextIndex.ENTRY, words=tuple(f"word{n}" for n in range(5_000)))
        assert (await reader.match(world.viewer(shared()), everything)).hits == ()


async def test_hostile_names_are_plain_values(store: Neo4jStore, world: World, neo4j_uri: str) -> None:
    entries = [world.make_entry(name=name, type=name) for name in NAMES]
    edges = [world.cites(entries[0], entry, key=entry.name, props={entry.name: 1}) for entry in entries[1:]]
    await world.write(store, *entries, edges=edges, clauses=[clause(shared())])
    async with store.reading() as reader:
        found = await reader.find(world.viewer(shared()), Find(kind=Entry))
        kept = await reader.edges(world.system, [entries[0].id], [edges[0].type], Direction.OUT)
    assert [node.name for node in found.nodes] == NAMES
    assert {edge.identity: edge.props for edge in kept} == {edge.identity: edge.props for edge in edges}
    assert await run(neo4j_uri, "MATCH (n:Node) WHERE n.admin IS NOT NULL RETURN n.id") == []


async def test_no_error_and_no_log_line_holds_a_users_text(
    store: Neo4jStore, world: World, neo4j_uri: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    entry = world.make_entry(live_name=CANARY, name=CANARY)
    await world.write(store, entry)
    with pytest.raises(AlreadyExists) as taken:
        await world.write(store, world.make_entry(live_name=CANARY))
    with pytest.raises(BadInput) as broken:
        await world.write(store, world.make_entry(name=f"{CANARY}\ud800"))
    driver = connect(neo4j_uri, AUTH)
    with pytest.raises(RootwardError) as refused:
        await AutoCommit(Sessions(driver, "neo4j"), FakeClock()).run(f"RETURN '{CANARY}' + toInteger('{CANARY}' / 0)")
    await driver.close()
    shown = [line for error in (taken, broken, refused) for line in traceback.format_exception(error.value)]
    assert CANARY not in caplog.text
    assert CANARY not in "".join(line for line in shown if "toInteger" not in line)


async def test_a_taken_key_is_told_by_its_fields(store: Neo4jStore, world: World) -> None:
    await world.write(store, world.make_entry(live_name="acme"))
    with pytest.raises(AlreadyExists) as taken:
        await world.write(store, world.make_entry(live_name="acme"))
    assert taken.value.details == {"kind": "Entry", "key_fields": ("pool", "live_name")}
