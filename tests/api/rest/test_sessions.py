"""The routes of session memory over HTTP in this process: shapes, commands, conflicts, errors, rights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from api.bootstrap import Ports, Service, build
from api.settings import Settings
from graph.model.nodes.people import Right
from graph.model.time import Millis
from graph.rules.session_memory_text import MemoryRules
from graph.services.access.tokens import create_token
from graph.services.sessions.changing import FactState
from graph.store.memory import MemoryStore
from graph.store.port import Store
from tests.api.rest.failing import failing_service
from tests.support.clock import FakeClock
from tests.support.keyring import FixedKeyring
from tests.support.logs import everything_logged
from tests.support.session_room import SessionClient, SessionRoom
from tests.support.world import TeamWorld

FACT: Mapping[str, Any] = {"content": "Porto.", "kind": "decision"}


@pytest.mark.req("SM-1", "SM-11", "SM-13", "SM-20", "SM-24", "SM-25")
async def test_a_new_session_reads_as_the_contract_writes_it(
    room: SessionRoom, person: SessionClient, clock: FakeClock
) -> None:
    await room.make(review=True)
    assert await person.memory() == {
        "entries": {},
        "processed": [],
        "settings": {"use": True, "generate": True},
        "overrides": {},
    }
    view = await person.view()
    head = view.pop("head")
    assert isinstance(head, str)
    now = clock.now()
    assert view == {
        "id": "ses_41",
        "agent": "atlas",
        "revision": 0,
        "review": True,
        "createdAt": now,
        "updatedAt": now,
    }


@pytest.mark.req("SM-2", "SM-3", "SM-7", "SM-8", "SM-9", "SM-14", "SM-32", "SM-33")
async def test_an_entry_lives_under_its_key_until_the_session_goes(
    room: SessionRoom, person: SessionClient, clock: FakeClock
) -> None:
    await room.make()
    for key in ("venue", "food"):
        await person.edit("Remember", key=key, **FACT)
    memory = await person.memory()
    assert {key: entry["key"] for key, entry in memory["entries"].items()} == {"venue": "venue", "food": "food"}
    fields = {"key", "content", "kind", "sources", "updatedAt", "status"}
    assert [set(entry) for entry in memory["entries"].values()] == [fields, fields]
    clock.advance(timedelta(seconds=5))
    view = await person.edit("Forget", key="venue")
    gone = (await person.memory())["entries"]["venue"]
    assert gone["updatedAt"] == clock.now() == view["updatedAt"]
    assert (gone["status"], gone["content"], gone["kind"]) == ("retracted", "Porto.", "decision")
    assert len(gone["sources"]) == 1
    await person.edit("Remember", key="venue", content="Braga.", kind="fact")
    back = (await person.memory())["entries"]["venue"]
    assert (back["status"], back["content"], back["kind"]) == ("active", "Braga.", "fact")


@pytest.mark.req("SM-4", "SM-15")
async def test_one_key_in_two_spellings_is_one_fact(room: SessionRoom, person: SessionClient) -> None:
    await room.make()
    await person.edit("Remember", key="caf\u00e9", **FACT)
    await person.edit("Remember", key="cafe\u0301", content="Closed.", kind="fact")
    assert {k: e["content"] for k, e in (await person.memory())["entries"].items()} == {"caf\u00e9": "Closed."}
    await person.edit("Forget", key="cafe\u0301")
    assert (await person.memory())["entries"]["caf\u00e9"]["status"] == "retracted"


@pytest.mark.req("SM-6", "SM-10", "SM-27", "SM-31")
async def test_every_kind_is_taken_and_no_cache_keeps_an_answer(room: SessionRoom, person: SessionClient) -> None:
    await room.make()
    answers = []
    for kind in ("fact", "decision", "preference", "procedure", "hypothesis"):
        answers.append(await person.try_("Remember", key="k", content="c", kind=kind))
        memory = await person.memory()
        assert memory["entries"]["k"]["kind"] == kind
    assert len(set(memory["processed"])) == len(memory["processed"]) == 5
    assert memory["entries"]["k"]["sources"] == memory["processed"][-1:]
    refused = await person.try_("Forget", key="none"), await person.try_("Forget", key="")
    missing = await person.http.get("/v1/sessions/none/memory", headers=person.headers)
    unsigned = await person.http.get("/v1/sessions/ses_41/memory")
    for answer in (*answers, *refused, missing, unsigned):
        assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.req("SM-5")
async def test_a_content_comes_back_as_it_was_given(room: SessionRoom, person: SessionClient) -> None:
    await room.make()
    for content in (" <b>x</b> \r\n\t**y**\u2028", "\u0065\u0301 is not composed", '{"a": 1}', "\x01\x7f"):
        await person.edit("Remember", key="k", content=content, kind="fact")
        assert (await person.memory())["entries"]["k"]["content"] == content


@pytest.mark.req("SM-35", "SM-36", "SM-37", "SM-38", "SM-40")
@pytest.mark.parametrize("tag", ["Remember", "Forget"])
async def test_the_same_edit_again_is_an_edit(
    room: SessionRoom, person: SessionClient, clock: FakeClock, tag: str
) -> None:
    await room.make()
    fields = {"key": "venue", **(FACT if tag == "Remember" else {})}
    await person.edit("Remember", key="venue", **FACT)
    await person.edit(tag, **fields)
    first, before = await person.view(), await person.memory()
    clock.advance(timedelta(seconds=1))
    second = await person.edit(tag, **fields)
    after = await person.memory()
    assert second["revision"] == first["revision"] + 1
    assert second["head"] != first["head"]
    one, two = before["entries"]["venue"], after["entries"]["venue"]
    assert two["updatedAt"] == one["updatedAt"] + 1_000
    assert after["processed"] == [*before["processed"], *two["sources"]]
    assert two["sources"] != one["sources"]
    assert {**two, "sources": [], "updatedAt": 0} == {**one, "sources": [], "updatedAt": 0}


@pytest.mark.req("SM-41", "SM-43", "SM-44", "SM-45", "SM-53")
async def test_configure_without_a_switch_or_with_values_already_set_counts_as_a_change(
    room: SessionRoom, person: SessionClient
) -> None:
    await room.make()
    await room.begin("t-1")
    head = (await person.view())["head"]
    steps: list[tuple[dict[str, Any], dict[str, bool]]] = [
        ({}, {}),
        ({"use": False}, {"use": False}),
        ({"use": False}, {"use": False}),
        ({"generate": True}, {"use": False, "generate": True}),
        ({"use": None, "generate": None}, {}),
        ({"use": None}, {}),
    ]
    for revision, (fields, overrides) in enumerate(steps, start=1):
        view = await person.edit("Configure", **fields)
        assert (view["revision"], view["head"]) == (revision, head)
        memory = await person.memory()
        assert memory["overrides"] == overrides
        assert memory["processed"] == []


@pytest.mark.req("SM-79", "SM-81", "SM-82")
async def test_a_change_of_the_organizations_default_shows_at_the_next_read(
    room: SessionRoom, person: SessionClient
) -> None:
    organization = await room.organization()
    await room.make(organization_id=organization.id)
    await person.edit("Configure", use=True)
    before = await person.view()
    assert (await person.memory())["settings"] == {"use": True, "generate": True}
    organization = await room.set_organization(organization, memory={"use": False, "generate": False})
    memory = await person.memory()
    assert memory["settings"] == {"use": True, "generate": False}
    assert memory["overrides"] == {"use": True}
    await room.set_organization(organization, memory={})
    assert (await person.memory())["settings"] == {"use": True, "generate": True}
    assert await person.view() == before


@pytest.mark.req("SM-26")
async def test_reading_changes_nothing(room: SessionRoom, person: SessionClient, store: Store) -> None:
    await room.start()
    rows = [row async for row in store.export_rows()]
    view, memory = await person.view(), await person.memory()
    assert (await person.view(), await person.memory()) == (view, memory)
    kept = [row async for row in store.export_rows()]
    # Only the token may note the day of its last use.
    assert [r for r in kept if type(r).__name__ != "Token"] == [r for r in rows if type(r).__name__ != "Token"]


@pytest.mark.req("SM-54", "SM-56")
@pytest.mark.parametrize(
    "command",
    [
        {"_tag": "Remember", "key": "venue", **FACT},
        {"_tag": "Forget", "key": "venue"},
        {"_tag": "Forget", "key": "no such key"},
        {"_tag": "Configure", "use": False},
    ],
)
async def test_an_edit_of_a_state_that_is_past_is_stale_and_changes_nothing(
    room: SessionRoom, person: SessionClient, command: dict[str, Any]
) -> None:
    await room.make()
    old = await person.view()
    await person.edit("Remember", key="venue", **FACT)
    view, memory = await person.view(), await person.memory()
    for head, revision in (
        (old["head"], old["revision"]),
        (view["head"], old["revision"]),
        (old["head"], view["revision"]),
        ("", 10**30),
    ):
        answer = await person.send({"expected": head, "revision": revision, "command": command})
        assert answer.status_code == 409
        assert set(answer.json()) == {"_tag", "message", "reason"}
        assert (answer.json()["_tag"], answer.json()["reason"]) == ("SessionConflict", "stale")
    assert (await person.view(), await person.memory()) == (view, memory)


@pytest.mark.req("SM-54")
async def test_an_item_or_a_consolidation_in_between_makes_an_edit_stale(
    room: SessionRoom, person: SessionClient
) -> None:
    await room.make()

    async def learn() -> None:
        await room.learn(processed=["i-1"])

    async def say() -> None:
        await room.say("i-2")

    await room.say("i-1")
    for change in (learn, say):
        seen = await person.view()
        await change()
        body = {"expected": seen["head"], "revision": seen["revision"], "command": {"_tag": "Configure"}}
        assert (await person.send(body)).json()["reason"] == "stale"


@pytest.mark.req("SM-34", "SM-55", "SM-56")
async def test_forgetting_what_was_never_known_is_a_conflict(room: SessionRoom, person: SessionClient) -> None:
    await room.make()
    view = await person.view()
    answer = await person.try_("Forget", key="hotel")
    assert answer.status_code == 409
    assert answer.json()["reason"] == "unknown_key"
    assert await person.view() == view


@pytest.mark.req("SM-19", "SM-58")
async def test_the_1001st_active_fact_does_not_fit_until_one_is_forgotten(
    room: SessionRoom, person: SessionClient
) -> None:
    await room.make()
    await room.say("i-1")
    await room.learn(*(FactState(key=f"k{n}", content="c", kind="fact", sources=("i-1",)) for n in range(1_000)))
    view = await person.view()
    full = await person.try_("Remember", key="more", **FACT)
    assert (full.status_code, full.json()["reason"]) == (409, "memory_full")
    assert await person.view() == view
    await person.edit("Remember", key="k1", **FACT)  # an active one is replaced
    await person.edit("Forget", key="k1")
    await person.edit("Remember", key="more", **FACT)
    again = await person.try_("Remember", key="k1", **FACT)  # a retracted one would count again
    assert again.json()["reason"] == "memory_full"


@pytest.mark.req("SM-47", "SM-62", "SM-63", "SM-64")
@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"expected": None}, "expected"),
        ({"expected": 1}, "expected"),
        ({"revision": "1"}, "revision"),
        ({"revision": True}, "revision"),
        ({"revision": 1.5}, "revision"),
        ({"command": None}, "command"),
        ({"command": {}}, "command._tag"),
        ({"command": {"_tag": "Recall"}}, "command._tag"),
        ({"command": {"_tag": "Remember", "content": "c", "kind": "fact"}}, "command.key"),
        ({"command": {"_tag": "Remember", "key": "k", "kind": "fact"}}, "command.content"),
        ({"command": {"_tag": "Remember", "key": "k", "content": "c"}}, "command.kind"),
        ({"command": {"_tag": "Remember", "key": 1, **FACT}}, "command.key"),
        ({"command": {"_tag": "Remember", "key": "k\ud800", **FACT}}, "command.key"),
        ({"command": {"_tag": "Remember", "key": "k", "content": "c", "kind": "note"}}, "command.kind"),
        ({"command": {"_tag": "Remember", "key": "k", "content": " ", "kind": "fact"}}, "command.content"),
        ({"command": {"_tag": "Forget"}}, "command.key"),
        ({"command": {"_tag": "Forget", "key": "a" * 129}}, "command.key"),
        ({"command": {"_tag": "Forget", "key": "k", "content": "c"}}, "command.content"),
        ({"command": {"_tag": "Configure", "use": "true"}}, "command.use"),
        ({"command": {"_tag": "Configure", "use": 1}}, "command.use"),
        ({"command": {"_tag": "Configure", "usw": True}}, "command.usw"),
        ({"command": {"_tag": "Refresh", "force": True}}, "command.force"),
        ({"person": "u_1"}, "person"),
    ],
)
async def test_a_body_that_does_not_fit_names_the_field_and_changes_nothing(
    room: SessionRoom, person: SessionClient, change: dict[str, Any], path: str
) -> None:
    await room.make()
    view = await person.view()
    good = {"expected": view["head"], "revision": view["revision"], "command": {"_tag": "Configure"}}
    headers = {**person.headers, "Content-Type": "application/json"}
    raw = json.dumps({**good, **change})
    answer = await person.http.post(f"{person.path}/memory", content=raw, headers=headers)
    assert answer.status_code == 400
    assert (answer.json()["_tag"], answer.json()["path"]) == ("InvalidRequest", path)
    assert await person.view() == view


@pytest.mark.req("SM-47", "SM-62")
@pytest.mark.parametrize("field", ["expected", "revision", "command"])
@pytest.mark.parametrize("tag", ["Refresh", "Configure"])
async def test_a_body_must_have_all_three_fields(
    room: SessionRoom, person: SessionClient, field: str, tag: str
) -> None:
    await room.make()
    body = {"expected": "x", "revision": 0, "command": {"_tag": tag}}
    answer = await person.send({name: value for name, value in body.items() if name != field})
    assert (answer.status_code, answer.json()["path"]) == (400, field)


@pytest.mark.req("SM-59", "SM-60", "SM-61", "SM-67")
async def test_checks_come_in_their_order(room: SessionRoom, person: SessionClient, clock: FakeClock) -> None:
    world = room.world
    await room.make()
    await world.grant(world.ben, Right.READ, room.id("ses_41"))
    tokens = {name: await world.token(world.person(name)) for name in ("ana", "ben", "eve")}

    async def state(token: str | None, session: str, kind: str, content: bytes) -> int:
        headers = {"Content-Type": kind, **({} if token is None else {"Authorization": f"Bearer {token}"})}
        path = f"/v1/sessions/{session}/memory"
        return (await person.http.post(path, content=content, headers=headers)).status_code

    wrong, large, stale = b"{", b"x" * 70_000, json.dumps({"expected": "", "revision": 0}).encode()
    asked = [(kind, content) for kind in ("text/plain", "application/json") for content in (wrong, large, stale)]
    assert {await state(None, "ses_nope", *one) for one in asked} == {401}
    clock.advance(timedelta(minutes=2))  # so many failures in a minute would be slowed down
    assert {await state("rw_no_token", "ses_41", *one) for one in asked} == {401}
    assert {await state(tokens["ana"], "ses_nope", *one) for one in asked} == {404}
    assert {await state(tokens["eve"], "ses_41", *one) for one in asked} == {404}
    assert {await state(tokens["ben"], "ses_41", *one) for one in asked} == {403}
    assert await state(tokens["ana"], "ses_41", "text/plain", wrong) == 415
    assert await state(tokens["ana"], "ses_41", "application/json", large) == 413
    assert await state(tokens["ana"], "ses_41", "application/json", wrong) == 400
    configure = {"expected": "", "revision": 0, "command": {"_tag": "Configure"}}
    assert await state(tokens["ana"], "ses_41", "application/json", json.dumps(configure).encode()) == 409


@pytest.mark.req("SM-59")
@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic abc", "Bearer rw_x_y", "Bearer \u00e9"])
async def test_a_credential_that_does_not_count_answers_401(
    room: SessionRoom, http: httpx2.AsyncClient, header: str | None
) -> None:
    await room.make()
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}
    for session in ("ses_41", "ses_nope"):
        answer = await http.get(f"/v1/sessions/{session}/memory", headers=headers)  # type: ignore[arg-type]
        assert (answer.status_code, answer.json()["_tag"]) == (401, "Unauthorized")
        assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.req("SM-61")
async def test_a_token_with_the_right_to_read_alone_reads_and_does_not_write(
    room: SessionRoom, http: httpx2.AsyncClient, person: SessionClient
) -> None:
    await room.make()
    world = room.world
    expires = Millis(world.deps.now() + 86_400_000)
    minted = await room.as_ana(lambda cmd: create_token(cmd, world.ana, expires_at=expires, rights=[Right.READ]))
    reader = SessionClient(http=http, token=minted.text)
    assert await reader.memory() == await person.memory()
    for command in ({"_tag": "Refresh"}, {"_tag": "Configure"}, {"_tag": "Nothing"}):
        answer = await reader.send({"expected": "", "revision": 0, "command": command})
        assert (answer.status_code, answer.json()["_tag"]) == (403, "Forbidden")


@pytest.mark.req("SM-60", "SM-68")
async def test_nobody_else_sees_a_session_whatever_his_role(
    room: SessionRoom, http: httpx2.AsyncClient, person: SessionClient
) -> None:
    world = room.world
    await room.start()
    unknown = await http.get("/v1/sessions/ses_nope", headers=person.headers)
    for who in (world.ben, world.cleo, world.dan, world.eve, world.host, world.atlas):
        client = SessionClient(http=http, token=await world.token(who))
        for path in ("/v1/sessions/ses_41", "/v1/sessions/ses_41/memory"):
            answer = await http.get(path, headers=client.headers)
            assert answer.status_code == 404
            assert answer.content == unknown.content
        posted = await client.send({"expected": "", "revision": 0, "command": {"_tag": "Configure"}})
        assert posted.content == unknown.content


@pytest.mark.req("SM-60")
async def test_a_session_of_another_workspace_is_not_there(room: SessionRoom, http: httpx2.AsyncClient) -> None:
    await room.make()
    other = await TeamWorld(deps=room.world.deps, name="elsewhere").make()
    client = SessionClient(http=http, token=await other.token(other.ana))
    answer = await http.get(client.path, headers=client.headers)
    assert (answer.status_code, answer.json()["_tag"]) == (404, "SessionNotFound")


@pytest.mark.req("SM-61")
async def test_a_grant_of_write_lets_edit_and_its_loss_takes_effect_at_once(
    room: SessionRoom, http: httpx2.AsyncClient
) -> None:
    world = room.world
    await room.make()
    grant = await world.grant(world.ben, Right.WRITE, room.id("ses_41"))
    ben = SessionClient(http=http, token=await world.token(world.ben))
    await ben.edit("Remember", key="venue", **FACT)
    await world.revoke(grant, world.ben)
    assert (await http.get(ben.path, headers=ben.headers)).status_code == 404


@pytest.mark.req("SM-29")
@pytest.mark.parametrize(
    "sent", ["ses_41%2Fmemory", "%00", "%2e%2e", "%E2%82%AC", "a%20b", "%ff", "x" * 300, "%252e", "%"]
)
async def test_an_odd_id_answers_404(room: SessionRoom, person: SessionClient, sent: str) -> None:
    await room.make()
    for path in (f"/v1/sessions/{sent}", f"/v1/sessions/{sent}/memory"):
        url = httpx2.URL("http://rootward.test").copy_with(raw_path=path.encode())
        answer = await person.http.get(url, headers=person.headers)
        assert (answer.status_code, answer.json()["_tag"]) == (404, "SessionNotFound")


@pytest.mark.req("SM-28")
async def test_other_methods_answer_405(person: SessionClient, room: SessionRoom) -> None:
    await room.make()
    for path, allowed in ((person.path, "GET"), (f"{person.path}/memory", "GET, POST")):
        for method in {"POST", "PUT", "PATCH", "DELETE"} - set(allowed.split(", ")):
            answer = await person.http.request(method, path, headers=person.headers)
            assert (answer.status_code, answer.json()["_tag"]) == (405, "MethodNotAllowed")
            assert answer.headers["Allow"] == allowed


@pytest.mark.req("SM-66")
async def test_a_store_that_is_away_answers_503_and_nothing_is_half_written(
    settings: Settings, clock: FakeClock
) -> None:
    async with failing_service(settings, clock) as failing:
        room = SessionRoom(await TeamWorld(deps=failing.service.deps).make())
        await room.start()
        person = SessionClient(http=failing.http, token=await room.world.token(room.world.ana))
        view = await person.view()
        body = {
            "expected": view["head"],
            "revision": view["revision"],
            "command": {"_tag": "Remember", "key": "venue", **FACT},
        }

        async def left() -> object:
            return await person.view(), await person.memory()

        refused, answer = await failing.refusals(lambda: person.send(body), left)
        assert refused > 10
        assert answer.json()["session"]["revision"] == view["revision"] + 1


@pytest.mark.req("SM-127")
async def test_keys_and_contents_stay_out_of_logs_figures_and_errors(
    room: SessionRoom, person: SessionClient, service: Service, capfd: pytest.CaptureFixture[str]
) -> None:
    await room.make()
    told = []
    with everything_logged():
        await room.say("i-1", "secretsaid")
        await person.edit("Remember", key="secretkey", content="secretcontent", kind="fact")
        await person.memory()
        await room.begin("t-1")
        for fields in (
            {"key": "secretother"},
            {"key": "secretkey\0"},
            {"key": "secretkey", "secretfield" * 100: "secretcontent"},
        ):
            told.append((await person.try_("Forget", **fields)).json())
        told.append((await person.try_("Remember", key="k", content="secretcontent", kind="secretkind")).json())
    captured = capfd.readouterr()
    assert "request" in captured.err + captured.out
    assert "secret" not in captured.err + captured.out
    assert b"secret" not in service.figures.render()
    assert [answer["_tag"] for answer in told] == ["SessionConflict", *["InvalidRequest"] * 3]
    assert not [answer for answer in told if "secret" in answer["message"]]


@pytest.mark.req("SM-83", "SM-90", "SM-92")
async def test_a_policy_of_the_server_limits_the_text(settings: Settings, clock: FakeClock) -> None:
    for ports, values, expected in (
        (MemoryRules.make(maxLength=150), {}, False),
        (None, {"sessions": {"memory": {"max_length": 150}}}, False),
        (None, {}, True),
    ):
        given = Settings.model_validate({**settings.model_dump(), **values})
        made = Ports(clock=clock, store=MemoryStore(clock=clock), keyring=FixedKeyring(), session_memory=ports)
        service = build(given, ports=made)
        async with service.app.router.lifespan_context(service.app):
            room = SessionRoom(await TeamWorld(deps=service.deps).make())
            await room.make()
            await room.remember("venue", "x" * 100)
            assert ("venue" in await room.begin("t-1")) is expected
