"""Who is refused, in which order, and what an error says (BM-7, BM-174 to BM-188)."""

from __future__ import annotations

from dataclasses import replace

import httpx2
import pytest

from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.sealed import Sealed
from tests.support.bot_room import BotRoom, Rest

ROUTES = [
    ("GET", "", Right.READ),
    ("POST", "", Right.READ),
    ("GET", "/log", Right.READ),
    ("POST", "/purge", Right.WRITE),
    ("GET", "/bot", Right.WRITE),
    ("PATCH", "/bot", Right.WRITE),
]


@pytest.mark.req("BM-7", "BM-175", "BM-182")
@pytest.mark.parametrize(("method", "path", "right"), ROUTES)
async def test_without_a_valid_token_nothing_else_is_said(
    room: BotRoom, http: httpx2.AsyncClient, method: str, path: str, right: Right
) -> None:
    for token, bot in (("", "bot_9"), ("rw_x_y", "bot_9"), ("", "bot_nope")):
        reply = await Rest(http=http, token=token, bot=bot).send(method, path, content=b"no json")
        assert (reply.status, reply.tag, reply.headers["WWW-Authenticate"]) == (401, "Unauthorized", "Bearer")


@pytest.mark.req("BM-7", "BM-176", "BM-182", "BM-183")
@pytest.mark.parametrize(("method", "path", "right"), ROUTES)
async def test_an_unknown_bot_and_one_without_read_answer_alike(
    room: BotRoom, u_1: Rest, method: str, path: str, right: Right
) -> None:
    odd = ["bot_nope", "u_1", "a%20b", "%00", "%C3%A4", "a%2Fb", "..", "x" * 200, "%25", "%FF"]

    replies = [
        await replace(u_1, bot=bot).send(method, path, content=b"no json")
        for bot in ("atlas", *odd)  # u_1 has no right on Atlas
        if bot != ".."
    ]

    assert {(reply.status, str(reply.body)) for reply in replies} == {(404, str(replies[0].body))}
    assert replies[0].tag == "BotNotFound"


@pytest.mark.req("BM-7", "BM-177", "BM-182")
@pytest.mark.parametrize(("method", "path", "right"), ROUTES)
async def test_each_route_needs_its_right_before_the_body_is_looked_at(
    room: BotRoom, u_1: Rest, u_9: Rest, method: str, path: str, right: Right
) -> None:
    reply = await u_1.send(method, path, content=b"no json")

    expected = 403 if right is Right.WRITE else {"GET": 200, "POST": 415}[method]
    assert reply.status == expected
    assert (await u_9.send(method, path, content=b"no json")).status == {"GET": 200}.get(method, 415)


@pytest.mark.req("BM-137", "AD-9")
async def test_a_token_that_carries_no_read_reads_nothing(room: BotRoom, u_1: Rest) -> None:
    await room.fact("Mine.")
    narrow = replace(u_1, token=await room.token("u_1", rights=[Right.READER]))

    assert (await narrow.send("GET")).status == 404


@pytest.mark.req("BM-179", "BM-180", "BM-182")
async def test_bodies_are_refused_by_size_kind_and_form_in_this_order(u_1: Rest) -> None:
    json = {"Content-Type": "application/json"}

    large = await u_1.send("POST", content=b"[" * 65_537, headers=json)
    text = await u_1.send("POST", content=b"{}", headers={"Content-Type": "text/plain"})
    broken = await u_1.send("POST", content=b'{"command": ', headers=json)
    constant = await u_1.send("POST", content=b'{"command": NaN}', headers=json)
    surrogate = await u_1.send(
        "POST", content=b'{"command": {"_tag": "Remember", "content": "a\\ud800"}}', headers=json
    )

    assert (large.status, large.tag) == (413, "PayloadTooLarge")
    assert (text.status, text.tag) == (415, "UnsupportedMediaType")
    assert {(reply.status, reply.tag) for reply in (broken, constant, surrogate)} == {(400, "InvalidRequest")}


@pytest.mark.req("BM-180")
@pytest.mark.parametrize(
    ("path", "allowed"), [("", "GET, POST"), ("/log", "GET"), ("/purge", "POST"), ("/bot", "GET, PATCH")]
)
async def test_another_method_is_not_allowed(u_1: Rest, path: str, allowed: str) -> None:
    reply = await u_1.send("DELETE", path)

    assert (reply.status, reply.tag, reply.headers["Allow"]) == (405, "MethodNotAllowed", allowed)


@pytest.mark.req("BM-187", "BM-188")
async def test_a_changed_ciphertext_is_refused_and_not_returned(room: BotRoom, u_1: Rest) -> None:
    one, other = await room.fact("The first text."), await room.fact("The second text.")
    swapped = (await room.entry(other)).content

    await room.deps.store.transact(lambda writer: writer.patch(NodeId(one), {"content": swapped}))
    reply = await u_1.send("GET")
    assert (reply.status, reply.tag) == (503, "Unavailable")
    assert "second" not in str(reply.body)

    broken = Sealed(swapped.data[:-1] + bytes([swapped.data[-1] ^ 1]))
    await room.deps.store.transact(lambda writer: writer.patch(NodeId(one), {"content": broken}))
    assert (await u_1.send("GET")).status == 503


@pytest.mark.req("BM-174", "BM-188")
async def test_every_answer_is_json_that_no_cache_keeps(u_1: Rest) -> None:
    for reply in (await u_1.send("GET"), await u_1.forget("mem_x"), await u_1.remember("")):
        assert reply.headers["Cache-Control"] == "no-store"
        assert reply.headers["Content-Type"].startswith("application/json")
        if reply.status >= 400:
            assert {"_tag", "message"} <= reply.body.keys()
