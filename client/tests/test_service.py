"""The client without a service: retries, errors, encodings; what needs one is in the service's own tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx2
import pytest

from rootward import RootwardError
from rootward.service import (
    AsyncClient,
    Client,
    ConnectionFailed,
    Forbidden,
    NewMessage,
    PreconditionFailed,
    Retries,
    ServiceError,
    TaskResult,
    Unavailable,
    UnexpectedAnswer,
    bots,
)

VIEW = {
    "session": {
        "id": "s1",
        "agent": "a",
        "head": "v-1",
        "revision": 3,
        "review": False,
        "createdAt": 1,
        "updatedAt": 2,
        "new": [],
    }
}


@dataclass
class Service:
    """Answers requests in order, and keeps them; the last answer stays."""

    answers: list[httpx2.Response | Exception]
    seen: list[httpx2.Request] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.seen.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **more: Any) -> Client:
        http = httpx2.Client(transport=httpx2.MockTransport(self))
        return Client("http://rootward.test/", "rw_t", http=http, sleep=self.slept.append, **more)


def busy(seconds: int | None = 5) -> httpx2.Response:
    headers = {} if seconds is None else {"Retry-After": str(seconds)}
    return httpx2.Response(503, json={"_tag": "Unavailable", "message": "try again"}, headers=headers)


def lost() -> httpx2.ReadError:
    return httpx2.ReadError("a secret")


def ok() -> httpx2.Response:
    return httpx2.Response(200, json=VIEW)


def read(client: Client) -> object:
    return client.sessions.read("s1")


def remember(client: Client) -> object:
    return client.bots.remember("b", content="x")


def begin(client: Client) -> object:
    return client.host.begin_turn("t1", session_id="s")


def started() -> httpx2.Response:
    it = {"id": "t", "localId": "t1", "instructions": "Be brief.", "input": None}
    return httpx2.Response(200, json={"data": {"it": it}})


def kept() -> httpx2.Response:
    return httpx2.Response(200, json={"entry": None, "version": 1})


@pytest.mark.parametrize(
    ("act", "answer"), [(read, ok), (remember, kept), (begin, started)], ids=["read", "change", "keyed"]
)
def test_a_busy_service_is_asked_again_when_it_says(
    act: Callable[[Client], object], answer: Callable[[], httpx2.Response]
) -> None:
    service = Service([busy(7), busy(2), answer()])
    assert act(service.client()) is not None
    assert service.slept == [7.0, 2.0]
    assert len({request.content for request in service.seen}) == 1


def test_a_busy_service_is_asked_no_longer_than_is_sensible() -> None:
    service = Service([busy()])
    with pytest.raises(Unavailable) as failed:
        read(service.client())
    assert (failed.value.retry_after_s, failed.value.code, failed.value.status) == (5.0, "Unavailable", 503)
    assert len(service.seen) == 3
    for answer in (busy(None), busy(31), httpx2.Response(503, text="oops", headers={"Retry-After": "soon"})):
        service = Service([answer])
        with pytest.raises(Unavailable):
            read(service.client())
        assert len(service.seen) == 1
    service = Service([busy()])
    with pytest.raises(Unavailable):
        read(service.client(retries=Retries(most=0)))
    assert len(service.seen) == 1


def test_only_what_may_be_done_twice_is_sent_again_when_the_answer_is_lost() -> None:
    service = Service([lost(), lost(), ok()])
    read(service.client())
    assert service.slept == [0.5, 1.0]
    service = Service([lost(), started()])
    begin(service.client())
    keys = {json.loads(request.content)["variables"]["idempotencyKey"] for request in service.seen}
    assert (len(service.seen), len(keys)) == (2, 1)
    service = Service([lost()])
    with pytest.raises(ConnectionFailed) as failed:
        remember(service.client())
    assert len(service.seen) == 1
    assert "secret" not in str(failed.value)
    assert failed.value.status is None


async def test_the_client_of_tasks_decides_as_the_one_of_threads() -> None:
    service, slept = Service([busy(7), lost(), ok()]), []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    http = httpx2.AsyncClient(transport=httpx2.MockTransport(service))
    async with AsyncClient("http://rootward.test", "rw_t", http=http, sleep=sleep) as client:
        view = await client.sessions.read("s1")
    assert (view.revision, slept) == (3, [7.0, 1.0])
    assert not http.is_closed


def test_a_request_names_the_token_in_its_header_and_the_ids_encoded_once() -> None:
    service = Service([httpx2.Response(200, json={"changes": []})])
    client = service.client()
    client.agents.log("a/../b?x", limit=3)
    client.bots.log("地", before=None)
    first, second = service.seen
    assert str(first.url) == "http://rootward.test/v1/agents/a%2F..%2Fb%3Fx/memory/log?limit=3"
    assert first.headers["authorization"] == "Bearer rw_t"
    assert str(second.url) == "http://rootward.test/v1/bots/%E5%9C%B0/memory/log"
    with pytest.raises(ValueError, match="empty"):
        client.agents.log("")
    assert len(service.seen) == 2


def test_filters_repeat_and_are_encoded() -> None:
    service = Service([httpx2.Response(200, json={"items": [], "next_cursor": None})])
    service.client().memories.list(labels={"team": "a&b", "x": "1"}, limit=2)
    assert str(service.seen[0].url).endswith("/api/v1/memories?label=team%3Aa%26b&label=x%3A1&limit=2")


def test_a_stale_change_tells_the_current_file() -> None:
    current = {"path": "a.md", "version": 4, "size": 2, "content": "zh"}
    error = {
        "code": "precondition_failed",
        "message": "it changed",
        "details": {"current_etag": '"mfile_1:4"', "current": current},
        "request_id": "r1",
    }
    service = Service([httpx2.Response(412, json={"error": error})])
    with pytest.raises(PreconditionFailed) as failed:
        service.client().files.replace("mem_1", "a.md", "fr", etag='"mfile_1:3"')
    told = failed.value
    assert (told.current, told.current_etag, told.request_id) == (current, '"mfile_1:4"', "r1")
    assert service.seen[0].headers["if-match"] == '"mfile_1:3"'
    error["details"] = {"current_etag": None, "current": None}
    service = Service([httpx2.Response(412, json={"error": error})])
    with pytest.raises(PreconditionFailed) as gone:
        service.client().files.delete("mem_1", "a.md", etag='"mfile_1:3"')
    assert (gone.value.current, gone.value.current_etag) == (None, None)


@pytest.mark.parametrize(
    ("answer", "kind", "code"),
    [
        (httpx2.Response(200, text="<html>"), UnexpectedAnswer, "unexpected_answer"),
        (httpx2.Response(200, json={"session": {"id": 7}}), UnexpectedAnswer, "unexpected_answer"),
        (httpx2.Response(200, json={"session": {**VIEW["session"], "revision": True}}), UnexpectedAnswer, None),
        (httpx2.Response(200, json=[]), UnexpectedAnswer, "unexpected_answer"),
        (httpx2.Response(302, headers={"Location": "http://other.test"}), ServiceError, "http_302"),
        (httpx2.Response(502, text="<html>"), Unavailable, "http_502"),
        (httpx2.Response(403, json={"error": "odd"}), Forbidden, "http_403"),
        (httpx2.Response(403, json={"_tag": 7, "message": []}), Forbidden, "http_403"),
        (httpx2.Response(500, json={"_tag": "Internal", "message": "look it up"}), ServiceError, "Internal"),
    ],
)
def test_answers_of_another_form_are_errors_of_the_tree(
    answer: httpx2.Response, kind: type[ServiceError], code: str | None
) -> None:
    service = Service([answer])
    with pytest.raises(RootwardError) as failed:
        read(service.client())
    assert type(failed.value) is kind
    assert code in (None, failed.value.code)


@pytest.mark.parametrize(
    "answer",
    [
        {"errors": [7]},
        {"errors": "odd"},
        {"data": None},
        {"data": {}},
        [],
        {"errors": [{"extensions": []}], "data": {}},
    ],
)
def test_odd_answers_of_graphql_are_errors_too(answer: object) -> None:
    service = Service([httpx2.Response(200, json=answer)])
    with pytest.raises(ServiceError):
        begin(service.client())


def test_a_graphql_error_has_code_status_reason_and_path() -> None:
    extensions = {"code": "SessionConflict", "status": 409, "reason": "stale", "path": "key"}
    service = Service(
        [httpx2.Response(200, json={"data": None, "errors": [{"message": "m", "extensions": extensions}]})]
    )
    with pytest.raises(ServiceError) as failed:
        service.client().execute("{ it }")
    told = failed.value
    assert (told.code, told.status, told.reason, told.path) == ("SessionConflict", 409, "stale", "key")


def test_content_is_not_shown_by_the_client_itself() -> None:
    call = bots.remember.call("b", content="a secret")
    assert b"a secret" in (call.content or b"")
    assert "a secret" not in repr(call)


def test_times_keep_their_zone_and_must_have_one() -> None:
    at = datetime(2025, 5, 10, 8, 30, tzinfo=timezone(timedelta(hours=2)))
    message = NewMessage(external_id="m", sent_at=at, text="x")
    assert message.variables()["sentAt"] == "2025-05-10T08:30:00.000+02:00"
    result = TaskResult(task_id="t", state="FAILED", steps=[], ended_at=at.replace(tzinfo=None))
    with pytest.raises(ValueError, match="zone"):
        result.variables()


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize(
    ("address", "token", "told"),
    [
        ("rootward.test", "rw_t", "begins with http"),
        ("localhost:8000", "rw_t", "begins with http"),
        ("http:///v1", "rw_t", "begins with http"),
        ("", "rw_t", "begins with http"),
        ("http://rootward.test", "rw_t\n", "end of its line"),
        ("http://rootward.test", "rw_ö", "printable ASCII"),
    ],
)
def test_an_address_or_a_token_that_cannot_be_one_is_told_before_anything_is_sent(
    kind: type[Client | AsyncClient], address: str, token: str, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        kind(address, token)
