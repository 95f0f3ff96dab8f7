"""Sealed texts on a real Neo4j: nothing of them in its files, and what older versions kept plainly goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from graph.model.access import SystemScope
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.work import Receipt
from graph.model.time import Millis
from graph.services.admin.resealing import sealing_kinds
from graph.store.neo4j import Neo4jStore
from graph.store.query import Find
from tests.support import neo4j_server as launcher
from tests.support.clock import FakeClock
from tests.support.keyring import fixed_vault
from tests.support.neo4j_plugin import chosen_version
from tests.support.neo4j_server import Neo4jServer
from tests.support.neo4j_store import AUTH, run
from tests.support.plain_texts import STEM, canary, files_of, hits
from tests.support.sealed_nodes import sealed_nodes, texts_of

CANARIES = 1_000
SPACE = WorkspaceId("sealed")
READING = SystemScope(reason="opening everything")
PLAIN = "MAGPIE55e1"


@pytest.mark.req("BM-184", "BM-186", "BM-187", "AD-29")
async def test_no_sealed_text_stands_in_a_file_of_a_running_a_killed_and_a_stopped_server(
    own_server: Neo4jServer,
) -> None:
    """Goal D1; a text that is not sealed shows that the search sees what was written."""
    files = partial(files_of, own_server.home)
    nodes = sealed_nodes(fixed_vault(), SPACE, CANARIES, canary)
    open_text = canary(1).replace(STEM, PLAIN) * 10  # a short one would be packed into a few bits a letter
    plain = Receipt(id=NodeId("rcp_plain"), workspace=SPACE, created_at=Millis(1), result=open_text)
    async with opened(own_server) as store:
        await store.transact(lambda writer: writer.put([plain, *nodes]))
        assert await asyncio.to_thread(hits, files()) == []
        own_server.kill()
    assert {file.relative_to(own_server.home).parts[0] for file in files()} >= {"data", "logs"}
    assert await asyncio.to_thread(hits, files(), PLAIN)
    assert await asyncio.to_thread(hits, files()) == []

    again = await asyncio.to_thread(launcher.start, chosen_version(), home=own_server.home)
    async with opened(again) as store:
        assert await texts_in(store) >= {canary(number) for number in range(CANARIES)}
    await asyncio.to_thread(again.stop)
    assert await asyncio.to_thread(hits, files(), PLAIN)
    assert await asyncio.to_thread(hits, files()) == []


@asynccontextmanager
async def opened(server: Neo4jServer) -> AsyncIterator[Neo4jStore]:
    store = Neo4jStore(server.uri, auth=AUTH, clock=FakeClock())
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def texts_in(store: Neo4jStore) -> set[str]:
    """Return every sealed text of a store, opened."""
    vault = fixed_vault()
    async with store.reading() as reader:
        pages = [await reader.find(READING, Find(kind=spec.node)) for spec in sealing_kinds()]
    return {text for page in pages for node in page.nodes for text in texts_of(vault, node)}


@pytest.mark.req("BM-186", "AD-40")
async def test_answers_of_models_that_were_kept_plainly_are_gone(empty_store: Neo4jStore, neo4j_uri: str) -> None:
    await run(neo4j_uri, "CREATE (:ModelCall {id: 'mcl_old', state: 'answered', answer: 'plain'})")
    await run(neo4j_uri, "MATCH (m:Meta {id: 'rootward'}) SET m.version = 5")
    await empty_store.close()
    await empty_store.open()
    found = await run(neo4j_uri, "MATCH (n:ModelCall {id: 'mcl_old'}) RETURN n.answer, n.state")
    assert found == [[None, "unusable"]]
