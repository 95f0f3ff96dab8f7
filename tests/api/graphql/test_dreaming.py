"""Runs of Dreaming, their rejections and progress, the survival rate, jobs and profiles over GraphQL."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.learning import RunState
from graph.model.nodes.people import Right
from graph.services.learning.runs import end_run
from graph.store.observing import counting_round_trips
from tests.api.clients import GraphQLClient
from tests.api.conftest import ENGINES
from tests.api.graphql.test_websocket import receive, socket, subscribe
from tests.support.clock import FakeClock
from tests.support.dream_runs import job_of, rejection, run_in, stored_job
from tests.support.operations import block, cite, create, dream
from tests.support.world import TeamWorld

on_every_store = pytest.mark.parametrize("engine", ENGINES, indirect=True)
on_small_stores = pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)

Gid = Callable[[NodeId], str]

RUNS = """query($agent: ID!, $first: Int, $after: String) {
  dreamRuns(agentId: $agent, first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor }
    edges { node { id stage trigger state startedAt endedAt materialsProcessed operations skillUpdates rejected error
      agent { displayName } channel { id } knowledgeBase { kind }
      batches { id state attempts rejected itemIds txId error }
      rejections(first: 2) { totalCount pageInfo { hasNextPage endCursor }
        edges { node { batchId index op code reason } } }
    } } }
}"""
MORE = """query($id: ID!, $after: String) { node(id: $id) { ... on DreamRun {
  rejections(first: 2, after: $after) { edges { node { index code } } pageInfo { hasNextPage } } } } }"""
SURVIVAL = "query($a: ID!) { survivalRate(agentId: $a) { survived cohort rate windowDays lookbackDays } }"
PROGRESS = "subscription($id: ID!) { dreamRunProgress(runId: $id) { state operations batches { state } } }"
JOBS = "query($a: ID, $s: [JobState!]) { jobs(agentId: $a, states: $s) { id kind subjectId state reason attempts } }"


async def base_of(world: TeamWorld, channel: NodeId) -> NodeId:
    return NodeId(str((await world.open(channel)).pool))


@on_small_stores
@pytest.mark.req("KN-109", "DR-54", "DR-80", "DR-81")
async def test_runs_are_told_with_their_counts_and_every_rejection(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, eve: GraphQLClient, clock: FakeClock, gid: Gid
) -> None:
    shared, private = await base_of(world, world.ops), await base_of(world, world.chat)
    batches: list[dict[str, Any]] = [
        {"rejections": [rejection(2), rejection(5, "RUMOUR_OVERRIDE")], "rejected": 2, "operations": 3},
        {"rejections": [rejection(0)], "rejected": 1, "skill_updates": 1, "item_ids": ("a", "b", "c", "d")},
    ]
    first = await run_in(world, shared, batches=batches)
    clock.advance(timedelta(minutes=1))
    await run_in(world, private, batches=[{"state": "failed", "error": "MODEL_UNAVAILABLE"}], state="failed")
    found = (await ana.ok(RUNS, agent=gid(world.atlas)))["dreamRuns"]
    assert found["totalCount"] == 2
    assert [edge["node"]["state"] for edge in found["edges"]] == ["FAILED", "SUCCEEDED"]
    failed, done = (edge["node"] for edge in found["edges"])
    assert (failed["error"], failed["knowledgeBase"]) == ("MODEL_UNAVAILABLE", {"kind": "PRIVATE"})
    assert (done["stage"], done["trigger"], done["agent"]) == ("B", "MANUAL", {"displayName": "Atlas"})
    assert [done[name] for name in ("materialsProcessed", "operations", "skillUpdates", "rejected")] == [4, 3, 1, 3]
    assert [one["rejected"] for one in done["batches"]] == [2, 1]
    assert done["rejections"]["totalCount"] == 3
    assert [edge["node"] for edge in done["rejections"]["edges"]] == [
        {"batchId": done["batches"][0]["id"], "reason": "quote what was said", **one}
        for one in (
            {"index": 2, "op": "addRelation", "code": "QUOTE_NOT_VERBATIM"},
            {"index": 5, "op": "addRelation", "code": "RUMOUR_OVERRIDE"},
        )
    ]
    page = done["rejections"]["pageInfo"]
    assert page["hasNextPage"] is True
    rest = (await ana.ok(MORE, id=gid(first.id), after=page["endCursor"]))["node"]["rejections"]
    assert rest == {
        "edges": [{"node": {"index": 0, "code": "QUOTE_NOT_VERBATIM"}}],
        "pageInfo": {"hasNextPage": False},
    }
    assert await ben.code(MORE, id=gid(first.id), after=page["endCursor"]) == "CURSOR_INVALID"


@on_every_store
@pytest.mark.req("KN-60", "KN-113", "KN-114")
async def test_a_run_over_a_private_chat_is_in_no_list_count_or_node_of_others(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, eve: GraphQLClient, clock: FakeClock, gid: Gid
) -> None:
    shared, private = await base_of(world, world.ops), await base_of(world, world.chat)
    seen, hidden = [], []
    for number in range(3):
        clock.advance(timedelta(minutes=1))
        seen.append(gid((await run_in(world, shared, batches=[{}] * number)).id))
        hidden.append(gid((await run_in(world, private)).id))
    both = [id_ for pair in zip(reversed(hidden), reversed(seen), strict=True) for id_ in pair]
    for who, expected in ((ana, set(both)), (ben, set(seen)), (eve, set())):
        listed: list[str] = []
        after = None
        while True:
            page = (await who.ok(RUNS, agent=gid(world.atlas), first=2, after=after))["dreamRuns"]
            listed += [edge["node"]["id"] for edge in page["edges"]]
            assert page["totalCount"] == len(expected)
            after = page["pageInfo"]["endCursor"]
            if not page["pageInfo"]["hasNextPage"]:
                break
        assert len(listed) == len(set(listed))
        assert set(listed) == expected
        for id_ in both:
            node = (await who.ok("query($id: ID!) { node(id: $id) { id } }", id=id_))["node"]
            assert (node is not None) is (id_ in expected)


@on_small_stores
@pytest.mark.req("KN-109")
async def test_what_dreaming_wrote_names_its_run(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    source = await world.say(world.ops, "Lin likes tea")
    run = await run_in(world, await base_of(world, world.ops))
    done = await dream(world, create("Lin", block("Lin likes tea", cite(source, "Lin likes tea"))), run=run.id)
    entry = gid(done.verdicts[0].created[0])
    query = """query($id: ID!) { entry(id: $id) {
      blocks { current { dreamRun { id } } } audit { edges { node { dreamRun { id } } } } } }"""
    found = (await ben.ok(query, id=entry))["entry"]
    assert found["blocks"][0]["current"]["dreamRun"] == {"id": gid(run.id)}
    assert found["audit"]["edges"][0]["node"]["dreamRun"] == {"id": gid(run.id)}


@on_every_store
@pytest.mark.req("DR-84", "DR-86")
async def test_the_survival_rate_is_null_while_nothing_was_observed(
    world: TeamWorld, ana: GraphQLClient, eve: GraphQLClient, clock: FakeClock, gid: Gid
) -> None:
    source = await world.say(world.ops, "Lin likes tea")
    await dream(world, create("Lin", block("Lin likes tea", cite(source, "Lin likes tea"))))
    empty = {"survived": 0, "cohort": 0, "rate": None, "windowDays": 14, "lookbackDays": 90}
    assert (await ana.ok(SURVIVAL, a=gid(world.atlas)))["survivalRate"] == empty
    clock.advance(timedelta(days=20))
    found = (await ana.ok(SURVIVAL, a=gid(world.atlas)))["survivalRate"]
    assert found == {**empty, "survived": 1, "cohort": 1, "rate": 1.0}
    assert await eve.code(SURVIVAL, a=gid(world.atlas)) == "NOT_FOUND"
    assert await ana.code(SURVIVAL, a=gid(world.ana)) == "NOT_FOUND"


@on_small_stores
@pytest.mark.req("KN-123")
async def test_a_run_is_followed_until_it_ended(
    server: str, world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, clock: FakeClock, gid: Gid
) -> None:
    private = await base_of(world, world.chat)
    run = await run_in(world, private, batches=[{"state": "running"}], state="running", ended_at=None)
    async with socket(server, ana.token) as connection, socket(server, ben.token) as outside:
        await subscribe(outside, PROGRESS, id=gid(run.id))
        refused = await receive(outside)
        assert refused["payload"]["errors"][0]["extensions"]["code"] == "NOT_FOUND"
        await subscribe(connection, PROGRESS, id=gid(run.id))
        event = await receive(connection)
        assert event["payload"]["data"]["dreamRunProgress"] == {
            "state": "RUNNING",
            "operations": 0,
            "batches": [{"state": "RUNNING"}],
        }

        await world.deps.store.transact(lambda writer: end_run(writer, run.id, RunState.SUCCEEDED, clock.now()))
        event = await receive(connection)
        assert event["payload"]["data"]["dreamRunProgress"]["state"] == "SUCCEEDED"
        assert (await receive(connection))["type"] == "complete"


@on_every_store
async def test_operators_list_cancel_and_release_background_work(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, dan: GraphQLClient, clock: FakeClock, gid: Gid
) -> None:
    private = await base_of(world, world.chat)
    waiting = await job_of(world, "stage_a", f"{world.chat}:{private}", subject=world.chat, state="parked", attempts=3)
    whole = await job_of(world, "stage_b", str(world.atlas), subject=world.atlas)
    found = (await ana.ok(JOBS, a=gid(world.atlas)))["jobs"]
    assert {(one["kind"], one["subjectId"]) for one in found} == {
        ("stage_a", gid(world.chat)),
        ("stage_b", gid(world.atlas)),
    }
    assert [one["kind"] for one in (await ana.ok(JOBS, s=["PARKED"]))["jobs"]] == ["stage_a"]
    assert (await ben.ok(JOBS))["jobs"] == []
    # The admin learns that something waits, not whose chat it is.
    assert [one["subjectId"] for one in (await dan.ok(JOBS, s=["PARKED"]))["jobs"]] == [None]
    release = "mutation($id: ID!) { releaseJob(id: $id) { state attempts subjectId } }"
    assert await ben.code(release, id=gid(waiting.id)) == "NOT_FOUND"
    released = (await dan.ok(release, id=gid(waiting.id)))["releaseJob"]
    assert released == {"state": "QUEUED", "attempts": 0, "subjectId": None}
    cancel = 'mutation($id: ID!) { cancelJob(id: $id, reason: "too_expensive") { state reason } }'
    assert (await ana.ok(cancel, id=gid(whole.id)))["cancelJob"] == {"state": "CANCELLED", "reason": "too_expensive"}
    assert await ana.code(cancel, id=gid(whole.id)) == "BAD_STATE"
    assert (await stored_job(world, whole.id)).state == "cancelled"


@on_small_stores
async def test_a_curator_who_is_not_in_a_chat_does_not_learn_of_its_work(
    world: TeamWorld, client: GraphQLClient, gid: Gid
) -> None:
    await world.grant(world.eve, Right.CURATOR, world.atlas)
    eve = client.as_(await world.token(world.eve))
    private = await base_of(world, world.chat)
    job = await job_of(world, "stage_a", f"{world.chat}:{private}", subject=world.chat)
    await job_of(world, "stage_b", str(world.atlas), subject=world.atlas)
    assert [one["kind"] for one in (await eve.ok(JOBS))["jobs"]] == ["stage_b"]
    release = "mutation($id: ID!) { releaseJob(id: $id) { state } }"
    assert await eve.code(release, id=gid(job.id)) == "NOT_FOUND"


@on_small_stores
async def test_profiles_are_set_listed_and_removed_and_only_admins_learn_where_keys_are(
    world: TeamWorld, ana: GraphQLClient, dan: GraphQLClient
) -> None:
    made = """mutation { setModelProfile(name: "light", provider: "openai", model: "small",
      credential: "env:OPENAI_API_KEY") { version } }"""
    assert (await dan.ok(made))["setModelProfile"] == {"version": 1}
    query = "{ modelProfiles { name provider model credential } }"
    shown = {"name": "light", "provider": "openai", "model": "small"}
    assert (await dan.ok(query))["modelProfiles"] == [{**shown, "credential": "env:OPENAI_API_KEY"}]
    assert (await ana.ok(query))["modelProfiles"] == [{**shown, "credential": None}]
    remove = 'mutation { deleteModelProfile(name: "light") }'
    assert await ana.code(remove) == "FORBIDDEN"
    assert await dan.ok(remove) == {"deleteModelProfile": True}
    assert (await dan.ok(query))["modelProfiles"] == []


@on_small_stores
async def test_a_longer_page_of_runs_costs_no_more_round_trips(world: TeamWorld, ana: GraphQLClient, gid: Gid) -> None:
    base = await base_of(world, world.ops)
    for number in range(8):
        await run_in(world, base, batches=[{"rejections": [rejection(number)]}] * 2)
    counts = []
    for first in (2, 8):
        with counting_round_trips() as trips:
            page = (await ana.ok(RUNS, agent=gid(world.atlas), first=first))["dreamRuns"]
        assert len(page["edges"]) == first
        counts.append(sum(trips.values()))
    assert counts[1] <= counts[0]
