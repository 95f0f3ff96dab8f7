"""The status of an agent over GraphQL: what each reader is told, which alerts he gets, and that nothing is repaired."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.learning import PendingItem, PendingState
from graph.model.nodes.people import Right
from graph.model.nodes.work import AuditRecord
from graph.model.time import render
from graph.rules.stage_a import StageAKey
from graph.services.access.commands import command
from graph.services.knowledge.withdrawal import withdraw_source
from graph.services.learning.progress import hold_progress
from graph.store.observing import counting_round_trips
from graph.store.query import Eq, Find
from tests.api.clients import GraphQLClient
from tests.api.conftest import ENGINES
from tests.api.graphql.test_lint import write
from tests.support.clock import FakeClock
from tests.support.dream_runs import job_of, rejection, run_in
from tests.support.learning import episode
from tests.support.world import TeamWorld

on_every_store = pytest.mark.parametrize("engine", ENGINES, indirect=True)
on_small_stores = pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)

Gid = Callable[[NodeId], str]
LOOK = SystemScope(reason="test")

STATUS = """query($o: ID!) { status(ownerId: $o) {
  at owner { displayName }
  alerts { code severity since message objectIds hiddenObjects link }
  vectors { kind total embedded pending failed oldestPendingAt model }
  embedding { provider model failures lastError }
  stageA { channel { id } knowledgeBase { kind } scope pending carried oldestPendingAt lastSuccessAt attempts }
  unread { failingChannels laggingChannels stuckTasks }
  stageB { pending { kind count } pendingTotal oldestPendingAt lastRun { id state rejected } lastSuccessAt unavailable }
  memos { used allowed memoId knowledgeBase { kind } }
  stuck { id kind since attempts error action subjectId subject { __typename } }
  lint { rule count }
} }"""
LIGHT = """mutation { setModelProfile(name: "light", provider: "openai", model: "small",
  credential: "env:OPENAI_API_KEY") { version } }"""


async def status(who: GraphQLClient, world: TeamWorld, gid: Gid) -> Any:
    return (await who.ok(STATUS, o=gid(world.atlas)))["status"]


def codes(found: Any) -> list[str]:
    return [alert["code"] for alert in found["alerts"]]


def alert(found: Any, code: str) -> Any:
    return next(one for one in found["alerts"] if one["code"] == code)


async def base_of(world: TeamWorld, channel: NodeId) -> NodeId:
    return NodeId(str((await world.open(channel)).pool))


async def patch(world: TeamWorld, id_: NodeId, **fields: Any) -> None:
    await world.deps.store.transact(lambda writer: writer.patch(id_, fields))


@on_small_stores
@pytest.mark.req("CO-69", "CO-66", "KN-109")
async def test_a_fresh_agent_without_embeddings_has_one_alert(
    world: TeamWorld, ana: GraphQLClient, dan: GraphQLClient, clock: FakeClock, gid: Gid
) -> None:
    """Console example 17: no provider, a usable profile, a worker that waits for work."""
    assert codes(await status(ana, world, gid)) == ["embedding_unconfigured", "light_profile_unavailable"]
    await dan.ok(LIGHT)
    found = await status(ana, world, gid)
    assert [(one["code"], one["severity"], one["hiddenObjects"]) for one in found["alerts"]] == [
        ("embedding_unconfigured", "INFO", 0)
    ]
    assert found["at"] == render(clock.now())
    assert found["owner"] == {"displayName": "Atlas"}
    assert found["alerts"][0]["link"] == f"/console/knowledge/{gid(world.atlas)}/status#embedding"
    assert {(one["total"], one["pending"], one["failed"], one["model"]) for one in found["vectors"]} == {
        (0, 0, 0, None)
    }
    assert [one["kind"] for one in found["vectors"]] == ["BLOCK", "EPISODE", "MESSAGE"]
    assert found["embedding"] == {"provider": None, "model": None, "failures": 0, "lastError": None}
    assert (found["stageA"], found["stuck"], found["memos"], found["unread"]) == ([], [], [], None)
    empty = {"pending": [], "pendingTotal": 0, "oldestPendingAt": None, "lastRun": None, "lastSuccessAt": None}
    assert found["stageB"] == {**empty, "unavailable": None}
    assert [(one["rule"], one["count"]) for one in found["lint"]] == [
        ("DATED_NAME", 0),
        ("NEAR_NAME", 0),
        ("LONG_ENTRY", 0),
        ("NO_BLOCKS", 0),
    ]


@on_small_stores
@pytest.mark.req("CO-68", "CO-69")
async def test_a_private_chat_that_lags_is_told_to_its_people_and_as_a_number_to_admins(
    world: TeamWorld, client: GraphQLClient, ana: GraphQLClient, dan: GraphQLClient, clock: FakeClock, gid: Gid
) -> None:
    """Console example 18."""
    await dan.ok(LIGHT)
    await world.grant(world.eve, Right.CURATOR, world.atlas)
    eve = client.as_(await world.token(world.eve, expires_at=None))
    before = await status(eve, world, gid)
    await world.say(world.chat, "my salary is 90k")
    clock.advance(timedelta(hours=25))
    theirs, admins, own = [await status(who, world, gid) for who in (eve, dan, ana)]
    assert {**theirs, "at": ""} == {**before, "at": ""}
    assert alert(own, "stage_a_lagging")["objectIds"] == [gid(world.chat)]
    assert [one["channel"]["id"] for one in own["stageA"]] == [gid(world.chat)]
    told = alert(admins, "stage_a_lagging")
    assert (told["objectIds"], told["hiddenObjects"]) == ([], 1)
    assert admins["stageA"] == []
    assert admins["unread"] == {"failingChannels": 0, "laggingChannels": 1, "stuckTasks": 0}
    assert gid(world.chat) not in str(admins)


@on_small_stores
@pytest.mark.req("CO-66", "CO-69")
async def test_stage_a_tells_what_waits_and_since_when_it_fails(
    world: TeamWorld, ben: GraphQLClient, clock: FakeClock, gid: Gid
) -> None:
    base = await base_of(world, world.ops)
    began = render(clock.now())
    await world.say(world.ops, "shall we have lunch")
    key = StageAKey(channel=world.ops, kb=base)
    times = []
    for number in range(4):
        clock.advance(timedelta(minutes=10))
        times.append(clock.now())
        await run_in(world, base, stage="a", trigger="scheduled", state="failed", channel_id=world.ops, error="X")
        if number < 3:
            continue
        await world.deps.store.transact(lambda w: hold_progress(w, key, world.workspace, clock.now()))
        await patch(world, key.progress_id, failures=4)
    found = await status(ben, world, gid)
    (channel,) = found["stageA"]
    assert (channel["pending"], channel["attempts"], channel["oldestPendingAt"]) == (1, 4, began)
    assert channel["knowledgeBase"] == {"kind": "CHANNEL"}
    failing = alert(found, "stage_a_failing")
    assert (failing["since"], failing["objectIds"]) == (render(times[2]), [gid(world.ops)])
    await patch(world, key.progress_id, failures=0)
    assert "stage_a_failing" not in codes(await status(ben, world, gid))


@on_every_store
@pytest.mark.req("CO-66", "CO-69", "KN-60")
async def test_stage_b_tells_what_waits_by_kind_and_how_its_runs_ended(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, dan: GraphQLClient, clock: FakeClock, gid: Gid
) -> None:
    await dan.ok(LIGHT)
    shared, private = await base_of(world, world.ops), await base_of(world, world.chat)
    await episode(world, "lunch", await world.say(world.ops, "shall we have lunch"))
    began = render(clock.now())
    clock.advance(timedelta(minutes=1))
    await episode(world, "salary", await world.say(world.chat, "my salary is 90k"))
    mine, theirs = await status(ana, world, gid), await status(ben, world, gid)
    assert (mine["stageB"]["pending"], mine["stageB"]["oldestPendingAt"]) == ([{"kind": "episode", "count": 2}], began)
    assert theirs["stageB"]["pending"] == [{"kind": "episode", "count": 1}]
    many = [rejection(number) for number in range(10)]
    await run_in(world, shared, batches=[{"rejections": many, "rejected": 10, "operations": 2}])
    assert alert(await status(ben, world, gid), "stage_b_rejections")["severity"] == "WARNING"
    for _ in range(3):
        clock.advance(timedelta(minutes=1))
        await run_in(world, private, batches=[{"state": "failed", "error": "MODEL_ANSWER_NO_JSON"}], state="failed")
    mine, theirs = await status(ana, world, gid), await status(ben, world, gid)
    assert mine["stageB"]["lastRun"]["state"] == "FAILED"
    assert alert(mine, "stage_b_failing")["objectIds"] == [gid(world.atlas)]
    assert theirs["stageB"]["lastRun"]["state"] == "SUCCEEDED"
    assert codes(theirs) == ["embedding_unconfigured", "stage_b_rejections"]
    clock.advance(timedelta(hours=25))
    assert "stage_b_stale" in codes(await status(ben, world, gid))
    await dan.ok('mutation { setSetting(name: "dream.enabled", value: false) { name } }')
    assert (await status(ben, world, gid))["stageB"]["unavailable"] == "DREAMING_DISABLED"


@on_every_store
@pytest.mark.req("CO-66", "CO-69", "MA-26", "DR-79")
async def test_what_does_not_get_on_is_listed_with_what_can_be_done_about_it(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, dan: GraphQLClient, clock: FakeClock, gid: Gid
) -> None:
    base, private = await base_of(world, world.ops), await base_of(world, world.chat)
    episodes = [
        await episode(world, "lunch", await world.say(world.ops, "shall we have lunch")),
        await episode(world, "salary", await world.say(world.chat, "my salary is 90k")),
    ]
    async with world.deps.store.reading() as reader:
        rows = (await reader.find(LOOK, Find(kind=PendingItem, where=Eq("workspace", world.workspace)))).nodes
    for row in rows:
        await patch(world, row.id, state=str(PendingState.PARKED), failures=3)
    job = await job_of(world, "stage_b", str(world.atlas), subject=world.atlas, state="parked", attempts=3)
    await job_of(world, "stage_a", f"{world.chat}:{private}", subject=world.chat, state="parked", attempts=3)
    running: dict[str, Any] = {
        "state": "running",
        "attempts": 1,
        "heartbeat_at": clock.now(),
        "lease_until": clock.now() + 600_000,
    }
    await job_of(world, "stage_a", f"{world.ops}:{base}", subject=world.ops, **running)
    clock.advance(timedelta(minutes=31))
    mine, theirs, admins = [await status(who, world, gid) for who in (ana, ben, dan)]
    assert {(one["kind"], one["action"]) for one in theirs["stuck"]} == {
        ("parked_item", "RELEASE"),
        ("stage_b", "RELEASE_JOB"),
        ("stage_a", None),
    }
    assert len(mine["stuck"]) == 5
    assert alert(mine, "task_stuck")["severity"] == "ERROR"
    assert len(alert(theirs, "task_stuck")["objectIds"]) == 3
    assert (alert(theirs, "task_stuck")["hiddenObjects"], theirs["unread"]) == (0, None)
    # What an admin may not read is a number (he sees neither channel of Atlas here).
    assert admins["unread"]["stuckTasks"] == alert(admins, "task_stuck")["hiddenObjects"] == 4
    assert "task_stuck" in codes(theirs)
    parked = next(one for one in theirs["stuck"] if one["kind"] == "parked_item")
    assert (parked["subjectId"], parked["subject"]) == (gid(episodes[0]), {"__typename": "Episode"})
    assert await ana.ok("mutation($i: ID!) { releaseParked(itemId: $i) }", i=parked["subjectId"])
    await ana.ok("mutation($i: ID!) { releaseJob(id: $i) { state } }", i=gid(job.id))
    assert {one["kind"] for one in (await status(ben, world, gid))["stuck"]} == {"stage_a"}


@on_small_stores
@pytest.mark.req("MA-6", "MA-26", "CO-66")
async def test_a_material_that_is_stuck_is_learned_again_by_whoever_may_write(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, clock: FakeClock, gid: Gid
) -> None:
    base = await base_of(world, world.ops)
    submit = "mutation($o: ID!, $kb: ID!, $file: Upload!) { submitFile(ownerId: $o, kbId: $kb, file: $file) { id } }"
    sent = await ana.upload(submit, "a.txt", b"Mia likes tea", o=gid(world.atlas), kb=gid(base))
    material = sent.data["submitFile"]["id"]
    retry = "mutation($id: ID!) { retryLearning(materialId: $id) { state } }"
    assert await ana.code(retry, id=material) == "BAD_STATE"
    clock.advance(timedelta(minutes=31))
    (task,) = (await status(ben, world, gid))["stuck"]
    assert (task["kind"], task["action"], task["subjectId"]) == ("learn_material", "RETRY", material)
    assert (await ana.ok(retry, id=material))["retryLearning"] == {"state": "QUEUED"}
    assert (await status(ben, world, gid))["stuck"] == []


@on_small_stores
@pytest.mark.req("CO-69")
async def test_a_worker_is_missed_when_work_waits_and_nobody_shows_himself(
    world: TeamWorld, ben: GraphQLClient, clock: FakeClock, gid: Gid
) -> None:
    job = await job_of(world, "stage_b", str(world.atlas), subject=world.atlas)
    assert "worker_absent" not in codes(await status(ben, world, gid))
    clock.advance(timedelta(seconds=121))
    assert alert(await status(ben, world, gid), "worker_absent")["objectIds"] == [gid(job.id)]
    alive: dict[str, Any] = {"state": "running", "heartbeat_at": clock.now(), "lease_until": clock.now() + 600_000}
    other = await job_of(world, "collect_blobs", world.name, **alive)
    assert "worker_absent" not in codes(await status(ben, world, gid))
    clock.advance(timedelta(seconds=121))
    assert "worker_absent" in codes(await status(ben, world, gid))
    await patch(world, job.id, state="succeeded")
    assert "worker_absent" not in codes(await status(ben, world, gid))
    await patch(world, other.id, state="succeeded")


@on_small_stores
@pytest.mark.req("CO-66", "CO-69", "RE-4")
async def test_a_memo_is_told_with_its_budget(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    words = "Always answer in short sentences, whatever is asked. " * 11
    said = gid(await world.say(world.ops, words))
    kb = await base_of(world, world.ops)
    apply = """mutation($kb: ID!, $ops: [JSON!]!) {
      applyOperations(kbId: $kb, operations: $ops, reason: "noted") { applied } }"""
    line = {"text": words.strip(), "citations": [{"source": said, "quote": "Always answer", "role": "supports"}]}
    await ana.ok(apply, kb=gid(kb), ops=[{"op": "writeMemo", "expectedVersion": 0, "lines": [line]}])
    found = await status(ben, world, gid)
    (memo,) = found["memos"]
    assert (memo["allowed"], memo["knowledgeBase"]) == (200, {"kind": "CHANNEL"})
    assert 180 <= memo["used"] <= 200
    assert alert(found, "memo_near_budget")["objectIds"] == [memo["memoId"]]
    node = "query($id: ID!) { node(id: $id) { ... on ResidentMemo { lines { text } } } }"
    assert (await ben.ok(node, id=memo["memoId"]))["node"] == {"lines": [{"text": words.strip()}]}
    await ana.ok(apply, kb=gid(kb), ops=[{"op": "writeMemo", "expectedVersion": 1, "lines": []}])
    found = await status(ben, world, gid)
    assert (found["memos"][0]["used"], "memo_near_budget" in codes(found)) == (0, False)


@on_every_store
@pytest.mark.req("CO-69", "MA-24")
async def test_an_entry_that_lost_evidence_waits_for_curation(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, clock: FakeClock, gid: Gid
) -> None:
    entry, _ = await write(world, ana, gid, "Orion")
    more = await world.say(world.ops, "Orion has a second source")
    kb = gid(await base_of(world, world.ops))
    cited = {"source": gid(more), "quote": "Orion has a second source", "role": "supports"}
    block: dict[str, Any] = {"op": "addBlock", "entry": entry, "text": "It has a second source", "basis": "stated"}
    block |= {"standing": "settled", "change": "addition", "durability": "durable", "citations": [cited]}
    apply = """mutation($kb: ID!, $ops: [JSON!]!) {
      applyOperations(kbId: $kb, operations: $ops, reason: "noted") { applied } }"""
    await ana.ok(apply, kb=kb, ops=[block])
    assert "evidence_withdrawn" not in codes(await status(ben, world, gid))
    clock.advance(timedelta(hours=1))
    await command(world.deps, world.caller(world.dan), lambda cmd: withdraw_source(cmd, more, "gone"))
    withdrawn = render(clock.now())
    clock.advance(timedelta(hours=1))
    told = alert(await status(ben, world, gid), "evidence_withdrawn")
    assert (told["objectIds"], told["since"]) == ([entry], withdrawn)


@on_small_stores
@pytest.mark.req("CO-69")
async def test_a_broken_chain_is_an_alert_until_a_verification_finds_it_whole(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, eve: GraphQLClient, gid: Gid
) -> None:
    await write(world, ana, gid, "Orion")
    base = await base_of(world, world.ops)
    async with world.deps.store.reading() as reader:
        records = (await reader.find(LOOK, Find(kind=AuditRecord, where=Eq("pool", base)))).nodes
    verify = "query($n: Int) { verifyAudit(fromSeq: $n) { ok } }"
    assert (await ben.ok(verify))["verifyAudit"] == {"ok": True}
    hash_ = records[0].hash
    await patch(world, records[0].id, hash="0" * 64)
    assert "audit_chain_broken" not in codes(await status(ben, world, gid))  # nobody has verified yet
    assert (await ben.ok(verify))["verifyAudit"] == {"ok": False}
    told = alert(await status(ben, world, gid), "audit_chain_broken")
    assert (told["objectIds"], told["severity"]) == ([gid(base)], "ERROR")
    assert told["link"].endswith("/audit")
    await patch(world, records[0].id, hash=hash_)
    await ben.ok(verify, n=2)
    assert "audit_chain_broken" in codes(await status(ben, world, gid))  # its begin was not looked at
    await ben.ok(verify)
    assert "audit_chain_broken" not in codes(await status(ben, world, gid))


@on_small_stores
@pytest.mark.req("CO-69", "CO-67")
async def test_looking_changes_nothing(world: TeamWorld, ana: GraphQLClient, cleo: GraphQLClient, gid: Gid) -> None:
    await write(world, ana, gid, "Standup 2025-05-10", channel=world.chat)
    log = "{ auditLog(filter: {}) { totalCount } }"
    before = await ana.ok(log)
    found = await status(ana, world, gid)
    assert alert(found, "lint_findings")["objectIds"] != []
    # An auditor who looks at numbers has read no private chat.
    await status(cleo, world, gid)
    assert await ana.ok(log) == before


@on_small_stores
@pytest.mark.req("KN-60")
async def test_who_reads_nothing_of_an_agent_is_told_nothing(
    world: TeamWorld, client: GraphQLClient, eve: GraphQLClient, gid: Gid
) -> None:
    missing = gid(NodeId(f"prn_{world.name}/agent/nobody"))
    for owner in (gid(world.atlas), gid(world.ana), missing):
        assert await eve.code(STATUS, o=owner) == "NOT_FOUND"
    atlas = client.as_(await world.token(world.atlas))
    assert await atlas.code(STATUS, o=gid(world.atlas)) == "NOT_FOUND"  # it reads in conversations alone


@on_small_stores
async def test_round_trips_do_not_grow_with_what_is_told(
    world: TeamWorld, ana: GraphQLClient, clock: FakeClock, gid: Gid
) -> None:
    base = await base_of(world, world.ops)
    counts = []
    for number in range(3):
        await write(world, ana, gid, f"{chr(65 + number) * 9} 2025-05-10")
        await run_in(world, base, batches=[{}] * (number + 1))
        with counting_round_trips() as trips:
            await status(ana, world, gid)
        counts.append(sum(trips.values()))
    assert counts[2] <= counts[1]
