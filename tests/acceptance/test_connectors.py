"""Acceptance example 19 through a connector, and signals: over HTTP, with a worker in between, on both stores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports
from dreaming.connectors import sync_connector
from dreaming.worker import Worker
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.ports import Loss
from graph.services.knowledge.connectors import arrange_syncs
from graph.store.port import Store
from tests.acceptance.stage import NODE, Stage, made
from tests.api.conftest import ENGINES
from tests.support.held_clock import HeldClock
from tests.support.keyring import FixedKeyring
from tests.support.operations import add, block, cite, create, deduction, relate
from tests.support.places import ScriptedPlace

pytestmark = [
    pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True),
    pytest.mark.usefixtures("alone"),
]

CREATE = """
mutation($agent: ID!, $channel: ID, $options: JSON!) {
  createConnector(agentId: $agent, displayName: "Handbook", kind: "scripted", options: $options, base: CHANNEL,
    channelId: $channel) { id kind state options knowledgeBase { id kind } }
}
"""
NOTICE = "mutation($id: ID!) { syncConnector(id: $id) { id } }"
LISTED = "query($owner: ID!) { connectors(ownerId: $owner) { id lastSyncAt lastError advice failures } }"
DOCUMENTS = """
query($id: ID!) {
  node(id: $id) { ... on Connector { options documents(problemsOnly: true) { externalId state problem reason } } }
}
"""
ENTRIES = """
query($owner: ID!) {
  entries(ownerId: $owner, first: 50) {
    edges { node { id name readOnly sources { edges { node { id kind sourceVersion } } } } }
  }
}
"""
RELATION = "query($id: ID!) { node(id: $id) { ... on Relation { evidence { source { id } } } } }"
AUDIT = """
query($target: ID!) {
  auditLog(filter: {targetId: $target}) { edges { node { operation actorKind actor { displayName } } } }
}
"""
TEXT = "Orion is hosted in Berlin. Orion belongs to Helio."


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def place() -> ScriptedPlace:
    return ScriptedPlace(documents={"orion.txt": TEXT}, titles={"orion.txt": "Hosting"})


@pytest.fixture
def ports(store: Store, clock: HeldClock, place: ScriptedPlace) -> Ports:
    keyring = FixedKeyring()
    return Ports(clock=clock, store=store, blobs=open_blobs("memory:///"), places={"scripted": place}, keyring=keyring)


async def sync(stage: Stage, clock: HeldClock, connector: str) -> None:
    """Give notice over HTTP, and let a worker look."""
    clock.advance(timedelta(minutes=1))
    await stage.host.ok(NOTICE, id=connector)
    await looked(stage, clock)


async def looked(stage: Stage, clock: HeldClock) -> None:
    clock.advance(timedelta(minutes=15))
    await arrange_syncs(stage.world.deps)
    worker = Worker(deps=stage.world.deps, anchor_minutes=0, handlers={"sync_connector": sync_connector})
    while await worker.step():
        pass


async def mirror(stage: Stage) -> Mapping[str, Any] | None:
    found = await stage.ana.ok(ENTRIES, owner=stage.gid(stage.world.atlas))
    return next((edge["node"] for edge in found["entries"]["edges"] if edge["node"]["name"] == "Hosting"), None)


@pytest.mark.req("MA-19", "MA-21", "MA-23", "MA-24", "MA-25", "KN-29", "KN-62", "AD-18")
async def test_19_connector_document_withdrawn(stage: Stage, clock: HeldClock, place: ScriptedPlace) -> None:
    # Given a connector with a document D, and a message m
    m = await stage.say("I hear that Orion belongs to Helio.")
    world = stage.world
    where = {"agent": stage.gid(world.atlas), "channel": stage.gid(world.ops), "options": {"where": "there"}}
    assert await stage.ana.code(CREATE, **where) == "FORBIDDEN"
    connector = (await stage.dan.ok(CREATE, **where))["createConnector"]
    assert connector["options"] == {"where": "there"}
    await looked(stage, clock)
    shown = await mirror(stage)
    assert shown is not None
    assert shown["readOnly"] is True
    (source,) = shown["sources"]["edges"]
    document = source["node"]["id"]
    assert (source["node"]["kind"], source["node"]["sourceVersion"]) == ("CONNECTOR_DOC", TEXT)
    (synced,) = (await stage.ana.ok(AUDIT, target=shown["id"]))["auditLog"]["edges"]
    assert synced["node"]["operation"] == "mirror.sync"
    assert (synced["node"]["actorKind"], synced["node"]["actor"]["displayName"]) == ("CONNECTOR", "Handbook")
    # a block B citing D, a deduction C based on B, a relation R with evidence from D and from m
    known = cite(m, "Orion belongs to Helio")
    first = await stage.write(
        create("Orion", block("Belongs to Helio.", known), type="system", ref="o"),
        create("Helio", block("Owns Orion.", known), ref="h"),
        relate("o", "belongs_to", "h", m, "Orion belongs to Helio"),
        relate("o", "belongs_to", "h", document, "Orion belongs to Helio"),
    )
    orion, relation = made(first), made(first, 2)
    b = made(await stage.write(add(orion, block("Is hosted in Berlin.", cite(document, "hosted in Berlin")))))
    c = made(await stage.write(add(orion, deduction("Berlin loses power", "Orion stops", b))))
    everything = await stage.texts(orion)
    # (nobody else writes to the mirror)
    content = add(shown["id"], block("Ours now.", cite(document, "hosted in Berlin")))
    assert await stage.refused(content) == "READ_ONLY_MIRROR"
    # One network error withdraws nothing, nor does one "forbidden"
    place.unlisted, place.answers = {"orion.txt"}, {"orion.txt": "network"}
    await sync(stage, clock, connector["id"])
    (told,) = (await stage.dan.ok(LISTED, owner=stage.gid(world.atlas)))["connectors"]
    assert (told["lastError"], told["advice"]) == (
        "SYNC_NETWORK",
        "the place of the connector did not answer: it is looked at again later",
    )
    place.answers = {"orion.txt": Loss.FORBIDDEN}
    await sync(stage, clock, connector["id"])
    assert await stage.texts(orion) == everything
    # When D answers "forbidden" twice
    await sync(stage, clock, connector["id"])
    # Then the mirror, B and C are in no read or search
    assert await mirror(stage) is None
    assert await stage.texts(orion) == ["Belongs to Helio."]
    for hidden in (document, shown["id"], b, c):
        assert await stage.ana.ok(NODE, id=hidden) == {"node": None}
    assert (await stage.search("Berlin"))["items"] == []
    assert "Berlin" not in json.dumps(await stage.entry(orion))
    # R remains with evidence m only
    evidence = (await stage.ana.ok(RELATION, id=relation))["node"]["evidence"]
    assert [one["source"]["id"] for one in evidence] == [m]
    # and after access returns all are visible again
    place.unlisted, place.answers = set(), {}
    await sync(stage, clock, connector["id"])
    assert await stage.texts(orion) == everything
    for id_ in (document, shown["id"], b, c):
        assert (await stage.ana.ok(NODE, id=id_))["node"]["id"] == id_
    assert {orion, shown["id"]} <= {item["ref"] for item in (await stage.search("Berlin"))["items"]}
    evidence = (await stage.ana.ok(RELATION, id=relation))["node"]["evidence"]
    assert {one["source"]["id"] for one in evidence} == {m, document}
    told = (await stage.dan.ok(LISTED, owner=stage.gid(world.atlas)))["connectors"]
    assert [(one["id"], one["lastError"], one["failures"]) for one in told] == [(connector["id"], None, 0)]


@pytest.mark.req("AD-18", "MA-19")
async def test_an_admin_is_told_which_documents_cannot_be_read_and_why(
    stage: Stage, clock: HeldClock, place: ScriptedPlace
) -> None:
    place.documents = {"good.txt": "It is good.", "bad.txt": "\x00\x01", "empty.txt": ""}
    where = {"agent": stage.gid(stage.world.atlas), "channel": stage.gid(stage.world.ops)}
    connector = (await stage.dan.ok(CREATE, **where, options={"where": "there"}))["createConnector"]["id"]
    await looked(stage, clock)
    told = {"node": {"options": None, "documents": None}}
    assert await stage.ana.ok(DOCUMENTS, id=connector) == told
    await stage.world.grant(stage.world.ana, Right.ADMIN, stage.world.node)
    shown = (await stage.ana.ok(DOCUMENTS, id=connector))["node"]["documents"]
    assert [(one["externalId"], one["state"], one["problem"]) for one in shown] == [
        ("bad.txt", "refused", "unknown"),
        ("empty.txt", "refused", "no_text"),
    ]
    assert shown[1]["reason"] == "the file holds no text (a scan?); submit one with text"


SIGNALS = """
mutation($agent: ID!, $name: String!, $volatile: Boolean, $base: KbKind!) {
  createSignalSource(agentId: $agent, displayName: $name, base: $base, volatile: $volatile) { id }
}
"""
INGEST = """
mutation($to: ID!, $id: String!, $payload: JSON!) {
  ingestSignal(input: {signalSourceId: $to, externalId: $id, type: "deploy.done", payload: $payload,
    occurredAt: "2025-05-10T09:00:00.000Z"}) { stored arrival sourceId }
}
"""
SOURCE = "query($id: ID!) { node(id: $id) { ... on Source { kind text knowledgeBase { kind } } } }"


@pytest.mark.req("MA-15", "MA-16", "MA-18", "AD-15", "AD-17", "AD-18")
async def test_signals_reach_the_agent_by_the_rule_of_their_source(stage: Stage) -> None:
    agent = stage.gid(stage.world.atlas)
    made_ = await stage.dan.ok(SIGNALS, agent=agent, name="Deploys", volatile=False, base="SHARED")
    deploys = made_["createSignalSource"]["id"]
    sent = (await stage.host.ok(INGEST, to=deploys, id="e1", payload={"to": "Berlin"}))["ingestSignal"]
    assert (sent["stored"], sent["arrival"]) == (True, "STORED")
    shown = (await stage.ben.ok(SOURCE, id=sent["sourceId"]))["node"]
    assert (shown["kind"], shown["knowledgeBase"]["kind"]) == ("SIGNAL", "SHARED")
    assert '"to": "Berlin"' in shown["text"]
    again = (await stage.host.ok(INGEST, to=deploys, id="e1", payload={"to": "Rome"}))["ingestSignal"]
    assert (again["arrival"], again["sourceId"]) == ("UNCHANGED", sent["sourceId"])
    made_ = await stage.dan.ok(SIGNALS, agent=agent, name="Prices", volatile=True, base="AGENT")
    prices = made_["createSignalSource"]["id"]
    sent = (await stage.host.ok(INGEST, to=prices, id="p1", payload={"price": 12}))["ingestSignal"]
    assert sent == {"stored": False, "arrival": None, "sourceId": None}
    assert await stage.ben.code(INGEST, to=deploys, id="e2", payload={"x": 1}) == "NOT_FOUND"
    assert await stage.host.code(INGEST, to=stage.gid(NodeId("sig_none")), id="e2", payload={"x": 1}) == "NOT_FOUND"
    assert await stage.ana.code(SIGNALS, agent=agent, name="Mine", volatile=False, base="SHARED") == "FORBIDDEN"
    assert await stage.dan.code(SIGNALS, agent=agent, name="Chat", volatile=False, base="PRIVATE") == "BAD_INPUT"


@pytest.mark.req("MA-18")
async def test_search_shows_the_system_of_record_of_a_value(stage: Stage) -> None:
    said = await stage.say("The list price of Orion is set in the shop.")
    price = block("Prices of Orion are set in the shop.", cite(said, "set in the shop"), authority="shop.example")
    await stage.write(create("Orion", price))
    found = await stage.ana.ok(
        "query($input: MemorySearchInput!) { memorySearch(input: $input) { items { kind authority } } }",
        input={"query": "prices of Orion", "ownerId": stage.gid(stage.world.atlas)},
    )
    assert [one["authority"] for one in found["memorySearch"]["items"] if one["kind"] == "ENTRY"] == ["shop.example"]
