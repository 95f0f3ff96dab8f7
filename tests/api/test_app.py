"""Health, figures, sign-in, sizes and downloads over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import httpx2
import pytest
import structlog

from api.bootstrap import Service
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.people import Right
from graph.rules.pools import base_id
from graph.services.access.commands import command
from graph.services.access.provisioning import set_disabled
from graph.store.port import Health
from tests.api.clients import GraphQLClient, answer_of
from tests.support.clock import FakeClock
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]

VIEWER = "{ viewer { displayName } }"
SUBMIT = """
mutation($owner: ID!, $kb: ID!, $file: Upload!) {
  submitFile(ownerId: $owner, kbId: $kb, file: $file, title: "Notes") {
    id state contentHash source { downloadPath } submitter { displayName }
  }
}
"""


@pytest.mark.req("AD-37")
async def test_live_answers_without_the_store_and_ready_says_which_part_is_not(
    service: Service, http: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    well = await http.get("/health/ready")
    assert (well.status_code, well.json()) == (200, {"ready": True, "parts": {"store": {"ready": True, "reason": ""}}})

    async def away() -> Health:
        return Health(ready=False, engine="memory", schema_version=1, reason="no answer")

    monkeypatch.setattr(service.deps.store, "health", away)
    ill = await http.get("/health/ready")
    assert ill.status_code == 503
    assert ill.json() == {"ready": False, "parts": {"store": {"ready": False, "reason": "no answer"}}}
    assert (await http.get("/health/live")).status_code == 200


@pytest.mark.req("AD-37")
async def test_figures_name_routes_and_codes_but_no_person_and_no_content(
    http: httpx2.AsyncClient, ana: GraphQLClient, world: TeamWorld, gid: Gid
) -> None:
    told = (await http.get("/metrics")).text
    for name in ("requests", "store_calls", "jobs", "model_calls", "searches", "search_seconds", "visibility_proved"):
        assert f"# HELP rootward_{name}" in told, "from the start"
    await ana.run('{ node(id: "canary-51") { id } nothing }')
    await ana.ok(VIEWER)
    await world.say(world.ops, "canary-51 likes tea")
    search = 'query($o: ID!) { memorySearch(input: {query: "canary-51", ownerId: $o}) { items { ref } } }'
    assert (await ana.ok(search, o=gid(world.atlas)))["memorySearch"]["items"]
    text = (await http.get("/metrics")).text
    assert 'rootward_searches_total{outcome="ok"} 1.0' in text
    assert "rootward_search_seconds_count 1.0" in text
    assert "rootward_visibility_proved_total 0.0" in told
    assert "rootward_visibility_proved_total 0.0" not in text
    assert 'rootward_requests_total{route="/graphql",status="200"}' in text
    assert 'rootward_graphql_errors_total{code="BAD_INPUT"}' in text
    assert "rootward_store_calls_total" in text
    assert all(word not in text for word in ("canary-51", "Ana", world.name, str(ana.token)))


@pytest.mark.req("AD-9", "AD-11", "AD-13")
async def test_every_credential_that_is_not_valid_gets_the_same_answer(
    client: GraphQLClient, ana: GraphQLClient, world: TeamWorld, clock: FakeClock
) -> None:
    soon = await world.token(world.ana, expires_at=clock.now())
    assert ana.token is not None
    forged = ana.token[:-1] + ("0" if ana.token[-1] != "0" else "1")
    bodies = set()
    for token in (None, "", "x", "rw_", "rw_0_" + "a" * 48, soon, forged):
        clock.advance(timedelta(seconds=61))
        response = await client.http.post("/graphql", json={"query": VIEWER}, headers=client.as_(token)._headers())
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"
        bodies.add(response.text)
    assert len(bodies) == 1


@pytest.mark.req("AD-11")
async def test_ten_failures_make_further_ones_of_an_address_wait(client: GraphQLClient) -> None:
    guess = client.as_("rw_0_" + "a" * 48)
    for _ in range(10):
        assert (await guess.run(VIEWER)).status == 401
    answer = await guess.run(VIEWER)
    assert (answer.status, answer.codes) == (429, ["TOO_MANY_ATTEMPTS"])
    assert answer.headers["retry-after"] == "60"
    for path in ("/v1/sessions/s-1", "/api/v1/memories", "/blobs/x"):
        refused = await guess.http.get(path, headers=guess._headers())
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")


@pytest.mark.req("AD-11")
async def test_who_is_known_is_let_in_from_an_address_that_waits(client: GraphQLClient, ana: GraphQLClient) -> None:
    guess = client.as_("rw_0_" + "a" * 48)
    answers = [await guess.run(VIEWER) for _ in range(11)]
    assert answers[-1].status == 429
    assert (await ana.ok(VIEWER))["viewer"] == {"displayName": "Ana"}
    rest = await ana.http.get("/v1/sessions/s-1", headers=ana._headers())
    assert (rest.json()["_tag"], (await guess.run(VIEWER)).status) == ("SessionNotFound", 429)


@pytest.mark.req("AD-7")
async def test_who_is_disabled_is_nobody_at_once(ana: GraphQLClient, world: TeamWorld) -> None:
    await ana.ok(VIEWER)
    await command(world.deps, world.caller(world.dan), lambda cmd: set_disabled(cmd, world.ana, True))
    assert (await ana.run(VIEWER)).status == 401


@pytest.mark.req("AD-7")
async def test_a_revoked_grant_takes_effect_at_the_next_read(ben: GraphQLClient, world: TeamWorld, gid: Gid) -> None:
    grant = await world.grant(world.eve, Right.READER, world.atlas)
    eve = ben.as_(await world.token(world.eve))
    await world.open(world.ops)
    source = gid(await world.say(world.ops, "for readers"))
    query = "query($id: ID!) { owners { totalCount } node(id: $id) { id } }"
    assert (await eve.ok(query, id=source))["owners"]["totalCount"] == 1
    await world.revoke(grant, world.eve)
    assert (await eve.ok(query, id=source))["owners"]["totalCount"] == 0


NO_REQUESTS = [b"", b"{", b"null", b"1", b'"{ viewer { id } }"', b"{}", b'{"query": 1}', b"\xff"]
OTHER_ENCODINGS = ['{"query": "{ viewer { id } }"}'.encode(name) for name in ("utf-16", "utf-16-le", "utf-32")]


@pytest.mark.req("FM-11", "KN-121")
@pytest.mark.parametrize("body", NO_REQUESTS + OTHER_ENCODINGS)
async def test_a_body_that_is_no_request_is_refused(ana: GraphQLClient, body: bytes) -> None:
    headers = {**ana._headers(), "Content-Type": "application/json"}
    response = await ana.http.post("/graphql", content=body, headers=headers)
    assert (response.status_code, answer_of(response).codes) == (400, ["BAD_INPUT"])


async def test_a_body_or_variables_over_the_limit_are_refused(ana: GraphQLClient) -> None:
    query = "query($id: ID!) { node(id: $id) { id } }"
    assert (await ana.run(query, id="x" * 1_048_577)).status == 413
    assert (await ana.run(query + "#" + "x" * 5_000_000, id="x")).status == 413
    assert (await ana.run(query, id="x" * 100_000)).data == {"node": None}


async def test_json_without_end_is_refused(ana: GraphQLClient) -> None:
    headers = {**ana._headers(), "Content-Type": "application/json"}
    for body in (b"[" * 100_000, b'{"query": "{ viewer { id } }", "variables": ' + b'{"a":' * 100_000):
        response = await ana.http.post("/graphql", content=body, headers=headers)
        assert (response.status_code, answer_of(response).codes) == (400, ["BAD_INPUT"])


async def test_json_of_any_depth_is_answered(ana: GraphQLClient) -> None:
    """Reading JSON, measuring it and refusing its depth each end at a depth of their own."""
    headers = {**ana._headers(), "Content-Type": "application/json"}
    for depth in range(840, 1_000):
        body = b'{"query": "{ viewer { id } }", "variables": {"a": %s%s}}' % (b"[" * depth, b"]" * depth)
        answer = answer_of(await ana.http.post("/graphql", content=body, headers=headers))
        assert answer.codes == ["BAD_INPUT"], depth


@pytest.mark.req("MA-3", "MA-4")
async def test_an_uploaded_file_is_downloaded_unchanged_by_who_may_see_it(
    ana: GraphQLClient, eve: GraphQLClient, client: GraphQLClient, world: TeamWorld, gid: Gid
) -> None:
    conversation = await world.open(world.chat)
    base = gid(NodeId(str(conversation.pool)))
    data = b"Lin likes tea.\n" * 100
    answer = await ana.upload(SUBMIT, "notes.txt", data, owner=gid(world.atlas), kb=base)
    assert not answer.errors, answer.errors
    material = answer.data["submitFile"]
    assert (material["state"], material["submitter"]["displayName"]) == ("QUEUED", "Ana")
    path = material["source"]["downloadPath"]
    shown = await ana.http.get(path, headers=ana._headers())
    assert shown.content == data
    assert shown.headers["content-disposition"].startswith("attachment")
    assert shown.headers["x-content-type-options"] == "nosniff"
    hidden = await eve.http.get(path, headers=eve._headers())
    missing = await eve.http.get("/blobs/nothing", headers=eve._headers())
    assert (hidden.status_code, hidden.content) == (missing.status_code, missing.content) == (404, missing.content)
    assert (await client.http.get(path)).status_code == 401
    listed = "query($owner: ID!) { materials(ownerId: $owner) { totalCount edges { node { id title } } } }"
    assert (await ana.ok(listed, owner=gid(world.atlas)))["materials"]["totalCount"] == 1
    assert (await eve.ok(listed, owner=gid(world.atlas)))["materials"] == {"totalCount": 0, "edges": []}


@pytest.mark.parametrize(
    ("operations", "places"),
    [
        ("{}", "{}"),
        ("[]", '{"0": ["variables.file"]}'),
        ('{"query": "x", "variables": {}}', '{"0": ["variables.file"]}'),
        ('{"query": "x", "variables": {"file": 1}}', '{"0": ["variables.file"]}'),
        ('{"query": "x", "variables": {"file": null}}', '{"0": ["query"]}'),
        ('{"query": "x", "variables": {"file": null}}', '{"0": ["variables.file", "variables.file"]}'),
        ('{"query": "x", "variables": {"file": null}}', "[" * 10_000),
        ('{"query": "x", "variables": {"file": null}}', '{"0": ["variables.__class__.x"]}'),
        *(
            ('{"query": "x", "variables": {"file": null}}', places)
            for places in ("[]", "null", "5", '"x"', '{"0": [1]}')
        ),
    ],
)
async def test_a_form_that_is_no_upload_is_refused(ana: GraphQLClient, operations: str, places: str) -> None:
    files: dict[str, tuple[str | None, str]] = {
        "operations": (None, operations),
        "map": (None, places),
        "0": ("a.txt", "text"),
    }
    response = await ana.http.post("/graphql", files=files, headers={**ana._headers(), "Rootward-Upload": "1"})
    assert (response.status_code, answer_of(response).codes) == (400, ["BAD_INPUT"])


async def test_a_file_cannot_be_given_as_a_variable(ana: GraphQLClient, world: TeamWorld, gid: Gid) -> None:
    base = gid(base_id(world.name, world.atlas, KbKind.SHARED))
    assert await ana.code(SUBMIT, owner=gid(world.atlas), kb=base, file="/etc/passwd") == "BAD_INPUT"


@pytest.mark.req("AD-42")
async def test_each_request_has_one_log_line_with_the_id_that_its_answer_carries(ana: GraphQLClient) -> None:
    with structlog.testing.capture_logs() as lines:
        answer = await ana.run("{ viewer { displayName } }")
    (line,) = [one for one in lines if one["event"] == "request"]
    assert set(line) == {"event", "log_level", "method", "route", "status", "seconds"}
    assert answer.headers["rootward-request-id"]
