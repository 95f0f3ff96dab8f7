"""A GraphQL client sees one run of Dreaming through: asked for, followed, looked into, one change of it taken back.

Console examples 11 and 12 are asked on the way. Everything that a client does goes over HTTP and WebSocket; only the
worker with its scripted model is not the client's.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection

from graph.services.learning.stage_a import arrange_stage_a
from tests.acceptance.stage import Stage
from tests.api.conftest import ENGINES
from tests.api.graphql.test_websocket import is_listening, receive, socket, subscribe
from tests.support.held_clock import HeldClock
from tests.support.night import Decides, Night, Shown
from tests.support.operations import Json, add, block, cite, create

pytestmark = pytest.mark.usefixtures("alone")
on_both_stores = pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True)

RUN = "mutation($agent: ID!) { runDreaming(agentId: $agent) { id stage trigger state } }"
FOLLOW = """subscription($id: ID!) { dreamRunProgress(runId: $id) {
  state materialsProcessed operations rejected batches { state itemIds } } }"""
RUNS = """query($agent: ID!) { dreamRuns(agentId: $agent, first: 5) { totalCount edges { node {
  id stage state materialsProcessed operations skillUpdates rejected
  rejections { edges { node { index op code reason } } } } } } }"""
AUDIT = """query($run: ID!) { auditLog(filter: {dreamRunId: $run}, first: 50) { edges { node {
  id operation actorKind dreamRun { id } target { id } } } } }"""
RESTORE = """mutation($id: ID!, $hash: String) {
  restore(auditId: $id, reason: "not so", previewHash: $hash) { records { operation restores { id } } } }"""
PREVIEW = "query($id: ID!) { restorePreview(auditIds: [$id]) { previewHash restorable } }"
STATUS = """query($owner: ID!) { status(ownerId: $owner) {
  alerts { code } stageA { pending } stageB { pendingTotal lastRun { id state } unavailable } } }"""
SURVIVAL = "query($agent: ID!) { survivalRate(agentId: $agent) { survived cohort rate } }"


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


async def told(connection: ClientConnection, clock: HeldClock) -> Json:
    """Move the hands until the server sends something, and return it."""
    coming = asyncio.ensure_future(receive(connection))
    while not coming.done():
        clock.advance(timedelta(seconds=1))
        await asyncio.wait({coming}, timeout=0.05)
    return coming.result()


async def status(stage: Stage) -> Any:
    return (await stage.ana.ok(STATUS, owner=stage.gid(stage.world.atlas)))["status"]


def what_it_learned(shown: Shown) -> list[Json]:
    """Write two blocks of one page, and quote something that nobody said."""
    page = create("Orion", block("Orion ships on Friday", cite(shown.source("Friday"), "Orion ships on Friday")))
    more = block("Ben tests Orion", cite(shown.source("Ben tests"), "Ben tests Orion"))
    invented = block("Orion is late", cite(shown.source("Friday"), "Orion ships much later"))
    return [{**page, "ref": "e"}, add("e", more), add("e", invented)]


@on_both_stores
@pytest.mark.req("DR-80", "DR-81", "DR-82", "KN-109", "KN-123", "CO-66", "DR-84")
async def test_a_client_sees_a_run_through(stage: Stage, night: Night, clock: HeldClock, server: str) -> None:
    agent, ana = stage.gid(stage.world.atlas), stage.ana
    await stage.talk(["Orion ships on Friday", "Ben tests Orion"])
    clock.advance(timedelta(minutes=30))
    await arrange_stage_a(night.world.deps)
    assert await night.work() == ["done"]
    clock.advance(timedelta(minutes=1))
    await stage.say("nobody has read this yet")
    assert (await status(stage))["stageB"]["pendingTotal"] == 1
    night.decides(what_it_learned)

    # It is asked for, and followed by who reads the agent.
    asked = (await ana.ok(RUN, agent=agent))["runDreaming"]
    assert (asked["stage"], asked["trigger"], asked["state"]) == ("B", "MANUAL", "QUEUED")
    assert (await ana.ok(RUN, agent=agent))["runDreaming"]["id"] == asked["id"]
    assert await stage.ben.code(RUN, agent=agent) == "FORBIDDEN"
    async with socket(server, ana.token) as connection:
        await subscribe(connection, FOLLOW, id=asked["id"])
        first = await told(connection, clock)
        assert first["payload"]["data"]["dreamRunProgress"]["state"] == "QUEUED"
        await is_listening(connection)
        assert await night.work() == ["done"]
        last = (await told(connection, clock))["payload"]["data"]["dreamRunProgress"]
        assert (last["state"], last["materialsProcessed"], last["operations"], last["rejected"]) == (
            "SUCCEEDED",
            1,
            2,
            1,
        )
        assert [one["state"] for one in last["batches"]] == ["SUCCEEDED"]
        assert (await told(connection, clock))["type"] == "complete"

    # Its counts and what it rejected are listed; Stage A was not started by it (console example 11).
    runs = (await stage.ben.ok(RUNS, agent=agent))["dreamRuns"]
    run = runs["edges"][0]["node"]
    assert (run["id"], run["materialsProcessed"], run["operations"], run["rejected"]) == (asked["id"], 1, 2, 1)
    (edge,) = run["rejections"]["edges"]
    assert (edge["node"]["index"], edge["node"]["op"], edge["node"]["code"]) == (2, "addBlock", "QUOTE_NOT_VERBATIM")
    assert [one["node"]["stage"] for one in runs["edges"]] == ["B", "A"]
    found = await status(stage)
    assert [one["pending"] for one in found["stageA"]] == [1]
    assert found["stageB"]["pendingTotal"] == 0
    assert found["stageB"]["lastRun"] == {"id": asked["id"], "state": "SUCCEEDED"}
    assert "stage_b_failing" not in [alert["code"] for alert in found["alerts"]]

    # Its changes are in the audit, and one of them is taken back.
    records = [one["node"] for one in (await ana.ok(AUDIT, run=asked["id"]))["auditLog"]["edges"]]
    assert {record["operation"] for record in records} == {"entry.create", "block.create"}
    assert {(record["actorKind"], record["dreamRun"]["id"]) for record in records} == {("DREAMING", asked["id"])}
    change = next(record for record in records if record["operation"] == "block.create")
    entry = next(record for record in records if record["operation"] == "entry.create")["target"]["id"]
    assert await stage.texts(entry) == ["Orion ships on Friday", "Ben tests Orion"]
    clock.advance(timedelta(days=3))
    preview = (await ana.ok(PREVIEW, id=change["id"]))["restorePreview"]
    assert preview["restorable"] is True
    done = (await ana.ok(RESTORE, id=change["id"], hash=preview["previewHash"]))["restore"]["records"]
    assert [(one["operation"], one["restores"]["id"]) for one in done] == [("restore", change["id"])]
    assert await stage.texts(entry) == ["Orion ships on Friday"]

    # After the observation period the survival rate tells of it (console example 12 has the numbers).
    clock.advance(timedelta(days=12))
    rate = (await ana.ok(SURVIVAL, agent=agent))["survivalRate"]
    assert rate == {"survived": 1, "cohort": 2, "rate": 0.5}


def page_of(name: str) -> Decides:
    """Make a page with one block that says just this, and quote something else beside it."""

    def decide(shown: Shown) -> list[Json]:
        text = f"{name} is warm"
        source = shown.source(text)
        page = create(name, block(text, cite(source, text)))
        return [{**page, "ref": "e"}, add("e", block(f"{name} is hot", cite(source, f"{name} is very hot")))]

    return decide


async def dreamt(stage: Stage, night: Night, name: str) -> list[str]:
    """Let people speak of something and Dreaming curate it; return the codes of what the run rejected."""
    await stage.talk([f"{name} is warm"])
    night.clock.advance(timedelta(minutes=30))
    await arrange_stage_a(night.world.deps)
    await night.work()
    night.clock.advance(timedelta(minutes=1))
    night.decides(page_of(name))
    asked = (await stage.ana.ok(RUN, agent=stage.gid(stage.world.atlas)))["runDreaming"]
    await night.work()
    runs = (await stage.ana.ok(RUNS, agent=stage.gid(stage.world.atlas)))["dreamRuns"]["edges"]
    run = next(edge["node"] for edge in runs if edge["node"]["id"] == asked["id"])
    return [edge["node"]["code"] for edge in run["rejections"]["edges"]]


@pytest.mark.parametrize("engine", ["embedded"], indirect=True)
@pytest.mark.req("KN-108", "KN-107")
async def test_a_changed_guide_applies_from_the_next_batch_and_overrides_no_rule(stage: Stage, night: Night) -> None:
    assert await dreamt(stage, night, "Orion") == ["QUOTE_NOT_VERBATIM"]
    guide = "---\nminEvidence: 2\n---\nQuotes need not be true; one source is enough."
    mutation = """mutation($id: ID!, $text: String!) {
      setCurationGuide(principalId: $id, text: $text, expectedVersion: 0) { version } }"""
    await stage.ana.ok(mutation, id=stage.gid(stage.world.atlas), text=guide)
    assert await dreamt(stage, night, "Vega") == ["NOT_ENOUGH_EVIDENCE", "DEPENDS_ON_REJECTED"]
    assert "one source is enough" in night.asked()[-1].system
