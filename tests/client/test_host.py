"""What a host reports through the library's client; each report is done once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import httpx2
import pytest

from rootward.service import (
    AsyncClient,
    Conflict,
    ConnectionFailed,
    Forbidden,
    InvalidRequest,
    NewItem,
    NewMessage,
    NotFound,
    TaskResult,
    TaskStep,
    Unauthenticated,
)
from tests.client.conftest import As, Gid
from tests.support.world import TeamWorld

AT = datetime(2026, 5, 4, tzinfo=UTC)
_MEMORY = "query($id: ID!) { sessionMemory(sessionId: $id) { processed } session(sessionId: $id) { revision } }"


@pytest.mark.req("AD-17")
async def test_a_host_drives_a_session_from_begin_to_end(world: TeamWorld, as_: As, gid: Gid) -> None:
    host, ana = as_(await world.token(world.host)), as_(await world.token(world.ana))
    who = gid(world.ana)
    made = await host(host.host.create_session, gid(world.atlas), person_id=who, local_id="s1", model="m-1")
    assert (made.local_id, made.revision) == ("s1", 0)
    assert (await host(host.host.queue_turn, made.id, "t1", person_id=who)).state == "queued"
    start = await host(host.host.begin_turn, "t1", session_id=made.id, operator_id=who)
    assert "Ana" in start.instructions
    assert start.input is None
    said = NewItem(type="person_message", text="We meet in Porto.", local_id="i-1", person_id=who)
    item = await host(host.host.append_item, said, session_id=made.id)
    assert item.head != made.head
    assert (await host(host.host.suspend_turn, made.id, "t1")).state == "suspended"
    assert "Ana" in (await host(host.host.resume_turn, "t1", session_id=made.id)).instructions
    assert (await host(host.host.complete_turn, "t1", session_id=made.id, model=None)).state == "completed"
    await host(host.host.begin_turn, "t2", session_id=made.id)
    assert (await host(host.host.cancel_turn, "t2", session_id=made.id)).state == "cancelled"
    seen = await ana(ana.sessions.read, "s1")
    await ana(ana.sessions.remember, "s1", seen=seen, key="how", content="Write it down.", kind="procedure")
    fork = await host(host.host.fork_session, made.id, item.head, local_id="s2")
    assert fork.head == item.head
    assert (await host(host.host.promote, made.id)).version == 1
    assert (await host(host.host.restore_version, made.id, made.head)).head == made.head
    gone = await host(host.host.delete_session, made.id)
    assert (gone.facts, gone.id) == (1, made.id)
    with pytest.raises(NotFound):
        await ana(ana.sessions.read, "s1")


@pytest.mark.req("AD-17")
async def test_a_host_reports_messages_members_and_tasks(world: TeamWorld, as_: As, gid: Gid) -> None:
    host = as_(await world.token(world.host))
    conversation = await world.open(world.ops)
    at = gid(conversation.id)
    messages = [NewMessage(external_id="m1", sent_at=AT, text="Ship it.", speaker_id=gid(world.ana))]
    first = await host(host.host.ingest_messages, at, messages)
    assert first.arrivals == ("STORED",)
    again = await host(host.host.ingest_messages, at, messages)
    assert (again.arrivals, again.source_ids) == (("UNCHANGED",), first.source_ids)
    steps = [TaskStep(action="deploy", outcome="OK", text="Done.")]
    result = TaskResult(task_id="t1", state="SUCCEEDED", steps=steps, final_answer="Up.", conversation_id=at)
    told = await host(host.host.record_task_result, result)
    assert len(told.source_ids) == 1
    changed = await host(host.host.set_members, gid(world.ops), [gid(world.ana)])
    assert (changed.added, changed.removed) == ((), (gid(world.ben),))
    with pytest.raises(NotFound):
        await host(
            host.host.ingest_signal,
            gid(world.ops),
            external_id="e1",
            type="deploy.done",
            payload={"to": "Berlin"},
            occurred_at=AT,
        )


@pytest.mark.req("AD-24")
async def test_graphql_answers_with_data_and_refuses_with_typed_errors(world: TeamWorld, as_: As, gid: Gid) -> None:
    host, ana, ben = [as_(await world.token(who)) for who in (world.host, world.ana, world.ben)]
    made = await host(host.host.create_session, gid(world.atlas), person_id=gid(world.ana))
    data = await ana(ana.execute, _MEMORY, {"id": made.id})
    assert data == {"sessionMemory": {"processed": []}, "session": {"revision": 0}}
    with pytest.raises(NotFound) as hidden:
        await ben(ben.execute, _MEMORY, {"id": made.id})
    assert (hidden.value.code, hidden.value.status) == ("SessionNotFound", 404)
    with pytest.raises(Forbidden) as denied:
        await ana(ana.host.create_session, gid(world.atlas))
    assert denied.value.status == 403
    with pytest.raises(InvalidRequest) as wrong:
        await ana(ana.execute, "query { nothing }")
    assert wrong.value.code == "BAD_INPUT"
    with pytest.raises(Unauthenticated):
        await as_("rw_no_body")(as_("rw_no_body").execute, "{ __typename }")


@pytest.mark.req("AD-17")
async def test_a_given_key_is_used_and_returns_the_first_result(world: TeamWorld, as_: As, gid: Gid) -> None:
    host = as_(await world.token(world.host))
    first = await host(host.host.create_session, gid(world.atlas), idempotency_key="k1")
    assert await host(host.host.create_session, gid(world.atlas), idempotency_key="k1") == first
    other = await host(host.host.create_session, gid(world.atlas))
    assert other.id != first.id
    with pytest.raises(Conflict):
        await host(host.host.create_session, gid(world.atlas), review=True, idempotency_key="k1")


class Cut(httpx2.AsyncBaseTransport):
    """Lets requests through and loses the answers of the first ones."""

    def __init__(self, lost: int) -> None:
        self.lost = lost
        self.bodies: list[bytes] = []
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.bodies.append(request.content)
        answer = await self._inner.handle_async_request(request)
        if self.lost:
            self.lost -= 1
            await answer.aread()
            await answer.aclose()
            raise httpx2.ReadError("cut", request=request)
        return answer

    async def aclose(self) -> None:
        await self._inner.aclose()


@pytest.fixture
async def cut() -> AsyncIterator[Cut]:
    made = Cut(lost=1)
    yield made
    await made.aclose()


async def no_pause(_: float) -> None:
    """Wait for nothing."""


@pytest.mark.req("AD-17")
async def test_a_report_whose_answer_was_lost_is_sent_again_under_its_key_and_done_once(
    world: TeamWorld, server: str, cut: Cut, gid: Gid
) -> None:
    http = httpx2.AsyncClient(transport=cut)
    host = AsyncClient(server, await world.token(world.host), http=http, sleep=no_pause)
    ana = AsyncClient(server, await world.token(world.ana), sleep=no_pause)
    cut.lost = 0
    made = await host.host.create_session(gid(world.atlas), person_id=gid(world.ana), local_id="s1")
    cut.lost = 2
    item = await host.host.append_item(
        NewItem(type="person_message", text="Hello.", person_id=gid(world.ana)), session_id=made.id
    )
    assert cut.bodies[-1] == cut.bodies[-2] == cut.bodies[-3]
    seen = await ana.sessions.read("s1")
    assert (seen.revision, seen.head) == (1, item.head)
    cut.lost = 1
    with pytest.raises(ConnectionFailed):  # it has no key: whether it was done is not known, so it is not sent again
        await host.execute("mutation($id: ID!) { promote(sessionId: $id) { version } }", {"id": made.id})
    await ana.close()
