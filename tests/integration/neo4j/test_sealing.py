"""Sealed texts on a real Neo4j: nothing of them in its files, and what older versions kept plainly goes."""

from __future__ import annotations

import asyncio

import pytest

from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.work import Receipt
from graph.model.time import Millis
from graph.store.neo4j import Neo4jStore
from tests.support.keyring import fixed_vault
from tests.support.neo4j_server import Neo4jServer
from tests.support.neo4j_store import run
from tests.support.plain_texts import STEM, canary, files_of, hits
from tests.support.sealed_nodes import sealed_nodes

CANARIES = 1_000
PLAIN = "MAGPIE55e1"


@pytest.mark.req("BM-184", "BM-186", "BM-187")
async def test_no_sealed_text_stands_in_a_file_of_the_database(
    empty_store: Neo4jStore, neo4j_server: Neo4jServer
) -> None:
    """Goal D1; a text that is not sealed shows that the search sees what was written."""
    space = WorkspaceId("sealed")
    nodes = sealed_nodes(fixed_vault(), space, CANARIES, canary)
    open_text = canary(1).replace(STEM, PLAIN) * 10  # a short one would be packed into a few bits a letter
    plain = Receipt(id=NodeId("rcp_plain"), workspace=space, created_at=Millis(1), result=open_text)
    await empty_store.transact(lambda writer: writer.put([plain, *nodes]))
    files = files_of(neo4j_server.home)
    assert await asyncio.to_thread(hits, files, PLAIN)
    assert await asyncio.to_thread(hits, files) == []


@pytest.mark.req("BM-186", "AD-40")
async def test_answers_of_models_that_were_kept_plainly_are_gone(empty_store: Neo4jStore, neo4j_uri: str) -> None:
    await run(neo4j_uri, "CREATE (:ModelCall {id: 'mcl_old', state: 'answered', answer: 'plain'})")
    await run(neo4j_uri, "MATCH (m:Meta {id: 'rootward'}) SET m.version = 5")
    await empty_store.close()
    await empty_store.open()
    found = await run(neo4j_uri, "MATCH (n:ModelCall {id: 'mcl_old'}) RETURN n.answer, n.state")
    assert found == [[None, "unusable"]]
