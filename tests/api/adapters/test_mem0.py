"""Both wire forms of mem0 against a server on loopback, and what the outbound policy refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from api.adapters.mem0 import Mem0
from api.adapters.outbound import OutboundPolicy
from graph.model.errors import RecordsFailed, SettingsInvalid
from graph.ports import RecordAccount, RecordWire
from graph.rules.record_providers import PLATFORM, SELF_HOSTED
from tests.api.adapters.test_fetch import DIRECT, hostile_names
from tests.api.adapters.web import Recorder, Site, serving
from tests.support.mem0_server import Fault, Mem0Server
from tests.support.record_room import wire_to


@pytest.fixture(params=[PLATFORM, SELF_HOSTED])
async def server(request: pytest.FixtureRequest) -> AsyncIterator[Mem0Server]:
    async with Mem0Server(form=request.param, key="m0-key") as made:
        yield made


@pytest.fixture
def wire(server: Mem0Server) -> RecordWire:
    return wire_to(server)


@pytest.fixture
def account(server: Mem0Server) -> RecordAccount:
    return RecordAccount(type=server.form, base_url=server.url, key="m0-key")


@pytest.mark.req("RM-61", "RM-62", "RM-63", "RM-64", "RM-65", "RM-67", "RM-68", "RM-70", "RM-71")
async def test_a_record_is_added_found_changed_searched_deleted_and_purged(
    wire: RecordWire, server: Mem0Server, account: RecordAccount
) -> None:
    id_ = await wire.add(account, "alice", "likes  tea\n")
    found = await wire.find(account, id_)
    assert found is not None
    assert (found.text, found.namespace, found.score) == ("likes  tea\n", "alice", None)
    assert found.updated_at == "2025-05-10T07:00:01.123Z"
    await wire.update(account, id_, "likes coffee")
    assert server.texts("alice") == ["likes coffee"]
    server.store("alice", "nothing in common")
    near = await wire.search(account, "alice", "coffee", limit=5)
    assert [(record.text, record.score) for record in near] == [("likes coffee", 0.5), ("nothing in common", 0.0)]
    assert server.asked[-1].body == {
        "query": "coffee",
        "filters": {"user_id": "alice"},
        "top_k": 5,
        "threshold": 0.0,
    }
    await wire.delete(account, id_)
    assert await wire.find(account, id_) is None
    await wire.purge(account, "alice")
    assert server.texts("alice") == []
    name, value = ("authorization", "Token m0-key") if server.form == PLATFORM else ("x-api-key", "m0-key")
    assert {asked.headers.get(name) for asked in server.asked} == {value}


@pytest.mark.req("RM-63")
async def test_an_id_that_the_platform_cannot_have_is_missing(
    wire: RecordWire, server: Mem0Server, account: RecordAccount
) -> None:
    assert await wire.find(account, "no-uuid") is None


@pytest.mark.req("RM-77")
async def test_ids_and_namespaces_are_encoded(wire: RecordWire, server: Mem0Server, account: RecordAccount) -> None:
    await wire.find(account, "a/b?c#d")
    await wire.purge(account, "a&user_id=b%20#\u20ac")
    await wire.browse(account, "a&user_id=b", offset=0, limit=5)
    assert "a%2Fb%3Fc%23d" in server.asked[0].path
    assert server.asked[1].query == {"user_id": "a&user_id=b%20#\u20ac"}
    asked = server.asked[2]
    assert (asked.query.get("user_id") or asked.body["filters"]["user_id"]) == "a&user_id=b"
    assert "show_expired" not in str(asked)


@pytest.mark.req("RM-76", "RM-69")
@pytest.mark.parametrize(
    ("fault", "reason", "status"),
    [
        (Fault(status=502), "status", 502),
        (Fault(status=401), "status", 401),
        (Fault(drops=True), "transport", None),
        (Fault(raw=b"<html>"), "unreadable", None),
        (Fault(raw=b'{"results": 3}'), "unreadable", None),
        (Fault(raw=b'{"results": [{"id": 3}]}'), "unreadable", None),
        (Fault(raw=b"[" * 100_000), "unreadable", None),
        (Fault(raw=b"\xff"), "unreadable", None),
    ],
)
async def test_a_failure_keeps_nothing_of_the_answer(
    wire: RecordWire, server: Mem0Server, account: RecordAccount, fault: Fault, reason: str, status: int | None
) -> None:
    server.fault = lambda asked: fault
    for call in (
        wire.browse(account, "alice", offset=0, limit=5),
        wire.search(account, "alice", "x", limit=5),
        wire.add(account, "alice", "x"),
    ):
        with pytest.raises(RecordsFailed) as caught:
            await call
        assert (caught.value.reason, caught.value.status) == (reason, status)
        assert "canary" not in str(caught.value)
    assert len(server.asked) == 3


@pytest.mark.req("RM-15")
async def test_a_call_takes_no_longer_than_it_may(server: Mem0Server, account: RecordAccount) -> None:
    never = asyncio.Event()
    server.fault = lambda asked: Fault(hangs=never)
    with pytest.raises(RecordsFailed) as caught:
        await wire_to(server, operation_s=0.05).find(account, "x")
    assert caught.value.reason == "transport"


@pytest.mark.req("RM-15")
async def test_an_answer_is_read_up_to_eight_mebibytes(
    wire: RecordWire, server: Mem0Server, account: RecordAccount
) -> None:
    whole = b'{"results": []}'
    server.fault = lambda asked: Fault(raw=whole + b" " * (8 * 1_048_576 - len(whole)))
    assert (await wire.browse(account, "alice", offset=0, limit=5)).records == []
    server.fault = lambda asked: Fault(raw=whole + b" " * (8 * 1_048_576 - len(whole) + 1))
    with pytest.raises(RecordsFailed) as caught:
        await wire.browse(account, "alice", offset=0, limit=5)
    assert caught.value.reason == "unreadable"


@pytest.mark.req("RM-62", "RM-71")
@pytest.mark.parametrize(
    "raw",
    [
        b'{"results":[{"id":"a","event":"ADD"},{"id":"b","event":"ADD"}]}',
        b'{"status":"PENDING","event_id":"e"}',
        b'{"results":[]}',
        b'{"results":[{"id":"a","event":"NOOP"}]}',
        b"{}",
    ],
)
async def test_an_add_that_is_not_one_record_is_no_success(
    wire: RecordWire, server: Mem0Server, account: RecordAccount, raw: bytes
) -> None:
    server.fault = lambda asked: Fault(raw=raw)
    with pytest.raises(RecordsFailed):
        await wire.add(account, "alice", "x")


@pytest.mark.req("RM-75", "RM-66")
async def test_any_offset_and_limit_give_that_part_of_the_list(
    wire: RecordWire, server: Mem0Server, account: RecordAccount
) -> None:
    texts = [str(number) for number in range(430)]
    for text in texts:
        server.store("alice", text)
    for offset, limit in ((0, 100), (150, 100), (7, 3), (199, 2), (399, 31), (400, 30), (330, 100), (430, 10), (0, 1)):
        part = await wire.browse(account, "alice", offset=offset, limit=limit)
        assert [record.text for record in part.records] == texts[offset : offset + limit]
        assert part.more is (offset + limit < 430)


@pytest.mark.req("RM-8", "RM-9")
@pytest.mark.parametrize("template", DIRECT)
async def test_no_payload_reaches_the_network_of_the_server(template: str) -> None:
    sentinel, connector = Site(), Recorder()
    async with serving(sentinel, "127.0.0.1"):
        wire = Mem0(policy=OutboundPolicy(require_https=False), resolver=hostile_names(), connector=connector)
        url = template.format(p=sentinel.port).rstrip("/")
        for type_ in (PLATFORM, SELF_HOSTED):
            with pytest.raises(RecordsFailed) as caught:
                await wire.purge(RecordAccount(type=type_, base_url=url, key="k"), "alice")
            assert caught.value.reason == "denied"
    assert (connector.attempts, sentinel.connections) == ([], 0)


@pytest.mark.req("RM-8", "RM-9")
async def test_a_redirect_to_a_private_address_is_not_followed(
    wire: RecordWire, server: Mem0Server, account: RecordAccount
) -> None:
    sentinel = Site()
    async with serving(sentinel, "127.0.0.3"):
        server.fault = lambda asked: Fault(location=f"http://127.0.0.3:{sentinel.port}/memories")
        with pytest.raises(RecordsFailed) as caught:
            await wire.find(account, "x")
    assert (caught.value.status, sentinel.connections, len(server.asked)) == (307, 0, 1)


@pytest.mark.req("RM-7", "RM-8", "RM-9")
async def test_the_policy_lets_listed_origins_alone_be_private_or_plain(
    server: Mem0Server, account: RecordAccount
) -> None:
    listed = wire_to(server)
    assert (await listed.browse(account, "alice", offset=0, limit=1)).records == []
    connector = Recorder()
    for policy, url in (
        (OutboundPolicy(), server.url),
        (OutboundPolicy(require_https=False), server.url),
        (OutboundPolicy(), "http://example.org"),
        (listed.policy, f"http://127.0.0.1:{server.port - 1}"),
        (listed.policy, f"http://127.0.0.2:{server.port}"),
        (listed.policy, server.url.replace("http:", "https:")),
    ):
        with pytest.raises(RecordsFailed) as caught:
            await Mem0(policy=policy, connector=connector).browse(
                replace(account, base_url=url), "a", offset=0, limit=1
            )
        assert caught.value.reason == "denied"
    assert connector.attempts == []


@pytest.mark.req("RM-8", "RM-9")
async def test_plain_http_to_public_addresses_needs_the_policy(account: RecordAccount) -> None:
    connector = Recorder()
    open_wire = Mem0(policy=OutboundPolicy(require_https=False), connector=connector)
    with pytest.raises(RecordsFailed) as caught:
        await open_wire.find(replace(account, base_url="http://93.184.215.14"), "x")
    assert (caught.value.reason, connector.attempts) == ("transport", ["93.184.215.14"])


@pytest.mark.parametrize("text", ["", "10.0.0.5", "http://10.0.0.5/x", "ftp://10.0.0.5", "http://a@10.0.0.5", "*"])
def test_what_is_no_origin_is_refused_at_start_up(text: str) -> None:
    with pytest.raises(SettingsInvalid):
        OutboundPolicy.of(require_https=True, http_origins=[text])


@pytest.mark.req("RM-70")
@pytest.mark.parametrize(
    ("score", "shown"), [(0.25, 0.25), (1, 1.0), (7, 1.0), (-1, 0.0), ("0.5", None), (True, None), (None, None)]
)
async def test_a_score_is_a_number_from_0_to_1(
    wire: RecordWire, server: Mem0Server, account: RecordAccount, score: Any, shown: float | None
) -> None:

    record = {"id": "a", "memory": "x", "user_id": "alice", "score": score, "updated_at": "yesterday"}
    server.fault = lambda asked: Fault(raw=json.dumps({"results": [record]}).encode())
    [found] = await wire.search(account, "alice", "x", limit=5)
    assert (found.score, found.updated_at) == (shown, None)
