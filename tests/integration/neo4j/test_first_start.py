"""Constraints and indexes on an empty database, by one server or by several at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from graph.model.errors import StoreError, StoreNewer, StoreUnavailable
from graph.model.schema import SCHEMA_VERSION
from graph.store.neo4j import Neo4jStore, schema
from tests.support.clock import FakeClock
from tests.support.neo4j_store import AUTH, drop_schema, run, wipe

ROUNDS = 10


@pytest.fixture
async def fresh(neo4j_uri: str) -> AsyncIterator[str]:
    """The address of a database that nobody has used yet."""
    await wipe(neo4j_uri)
    await drop_schema(neo4j_uri)
    yield neo4j_uri
    await wipe(neo4j_uri)


def a_store(uri: str) -> Neo4jStore:
    return Neo4jStore(uri, auth=AUTH, clock=FakeClock())


async def open_and_close(uri: str) -> bool:
    store = a_store(uri)
    await store.open()
    try:
        return (await store.health()).ready
    finally:
        await store.close()


async def test_two_servers_start_at_once_on_an_empty_database(neo4j_uri: str) -> None:
    for _ in range(ROUNDS):
        await wipe(neo4j_uri)
        await drop_schema(neo4j_uri)
        assert all(await asyncio.gather(open_and_close(neo4j_uri), open_and_close(neo4j_uri)))
        found = await run(neo4j_uri, "SHOW INDEXES YIELD name, state WHERE name STARTS WITH 'rw_' RETURN name, state")
        assert sorted(name for name, _ in found) == sorted(rule.name for rule in schema.rules())
        assert {state for _, state in found} == {"ONLINE"}


async def test_every_unique_rule_is_a_constraint(fresh: str) -> None:
    await open_and_close(fresh)
    found = await run(fresh, "SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH 'rw_' RETURN name")
    assert {name for (name,) in found} == {rule.name for rule in schema.rules() if rule.kind == "UNIQUE"}


async def test_a_start_that_was_cut_short_is_finished_by_the_next(fresh: str) -> None:
    for rule in schema.rules()[::3]:
        await run(fresh, rule.statement)
    assert await open_and_close(fresh)


async def test_a_rule_that_cannot_be_made_stops_the_start_with_its_name(fresh: str) -> None:
    await run(fresh, "UNWIND [1, 2] AS twice CREATE (:Counter {key: 'secret value'})")
    with pytest.raises(StoreError, match="rw_counter_key") as refused:
        await a_store(fresh).open()
    assert "secret value" not in str(refused.value) + str(refused.value.__cause__)


async def test_another_index_of_the_same_name_stops_the_start_with_its_name(fresh: str) -> None:
    await run(fresh, "CREATE INDEX rw_aud FOR (n:Other) ON (n.key)")
    try:
        with pytest.raises(StoreError, match="rw_aud"):
            await a_store(fresh).open()
    finally:
        await run(fresh, "DROP INDEX rw_aud")


async def test_the_version_is_recorded_and_listed(fresh: str) -> None:
    store = a_store(fresh)
    await store.open()
    try:
        assert [step.applied for step in await store.migrations()] == [True] * SCHEMA_VERSION
        assert (await store.health()).schema_version == SCHEMA_VERSION
    finally:
        await store.close()


@pytest.mark.req("AD-40")
async def test_a_database_of_a_newer_version_is_refused_untouched(fresh: str) -> None:
    await run(fresh, "CREATE (:Meta {id: 'rootward', version: $version})", version=SCHEMA_VERSION + 1)
    with pytest.raises(StoreNewer):
        await a_store(fresh).open()
    assert await run(fresh, "SHOW INDEXES YIELD name WHERE name STARTS WITH 'rw_' RETURN name") == []


async def test_a_server_that_is_away_is_unavailable(unused_port: int) -> None:
    store = a_store(f"bolt://127.0.0.1:{unused_port}")
    with pytest.raises(StoreUnavailable):
        await store.open()
    assert not (await store.health()).ready


@pytest.fixture
async def unused_port() -> int:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    port = int(server.sockets[0].getsockname()[1])
    server.close()
    return port
