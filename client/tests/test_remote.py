"""Sandboxes in a service without one: what is sent, what refusals become, how a lost close is followed (SB-119)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import httpx2
import pytest

import rootward
from rootward import (
    ConversationRef,
    InvalidConversationId,
    InvalidLayout,
    InvalidSegment,
    Manifest,
    MemoryGenerateConfig,
    MemoryLayoutClash,
    MemoryReadConfig,
    NoShell,
    NotThroughService,
    PathRefused,
    SandboxClosedError,
    Segment,
    SegmentTooLarge,
    ServiceSandboxClient,
    ServiceSandboxSession,
    TerminalMetadata,
    TerminalState,
    memory,
)
from rootward.models import message
from rootward.remote.wire import generate_body, manifest_body, memory_body, refusing, segment_body
from rootward.service import Forbidden, NotFound, Retries
from rootward.service.failures import failure_of
from rootward.testing import ScriptedModel

ENDED = TerminalMetadata(terminal_state=TerminalState.COMPLETED, has_final_output=True)
SEGMENT = Segment(input=[message("user", "Hi")], terminal_metadata=ENDED, final_output="Yes.")
OPEN = {"id": "sbx_1", "status": "open", "created_at": "2026-05-01T12:00:00Z", "closed_at": None, "report": None}

Answers = Callable[[httpx2.Request], httpx2.Response]


def refused(status: int, code: str, **details: Any) -> httpx2.Response:
    error = {"code": code, "message": "no", "details": details, "request_id": "r"}
    return httpx2.Response(status, json={"error": error})


async def session(answers: Answers, slept: list[float] | None = None) -> ServiceSandboxSession:
    """A session whose requests are answered by a function, after the one that made it."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        is_new = request.method == "POST" and request.url.path.endswith("/sandbox-sessions")
        return httpx2.Response(201, json=OPEN) if is_new else answers(request)

    async def sleep(seconds: float) -> None:
        (slept if slept is not None else []).append(seconds)

    http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    client = ServiceSandboxClient("https://rootward.test", "rw_x", http=http, retries=Retries(most=0), sleep=sleep)
    return await client.create(manifest=Manifest())


@pytest.mark.req("SB-119")
def test_what_is_as_in_the_library_is_left_to_the_settings_of_the_service() -> None:
    layout = {"memories_dir": "memories", "sessions_dir": "sessions"}
    assert memory_body(memory()) == {"read": True, "generate": True, "layout": layout}
    chosen = memory(
        read=MemoryReadConfig(live_update=False), generate={"extra_prompt": "Facts.", "phase_two_model": "m"}
    )
    assert memory_body(chosen) == {
        "read": {"live_update": False},
        "generate": {"phase_two_model": "m", "extra_prompt": "Facts."},
        "layout": layout,
    }
    assert memory_body(memory(read=None))["read"] is None
    assert memory_body(memory(generate=False))["generate"] is False
    with pytest.raises(NotThroughService):
        generate_body(MemoryGenerateConfig(phase_two_model=ScriptedModel()))
    with pytest.raises(NotThroughService):
        manifest_body(Manifest(entries={"a": {"type": "file", "content": b"\xff"}}))


@pytest.mark.req("SB-119", "SB-44")
def test_what_is_never_recorded_is_not_sent() -> None:
    items = [message("developer", "hidden"), {"type": "reasoning", "summary": "hidden"}, message("assistant", "Yes.")]
    body, size = segment_body(Segment(input=[message("user", "Hi")], generated_items=items, terminal_metadata=ENDED))
    assert set(body) == {"input", "generated_items", "terminal_metadata"}
    assert body["generated_items"] == [message("assistant", "Yes.")]
    assert "hidden" not in json.dumps(body)
    assert size > len(json.dumps(body["input"]))


@pytest.mark.req("SB-119", "SB-59", "SB-96", "SB-110", "SB-111", "SB-112")
@pytest.mark.parametrize(
    ("answer", "kind", "field"),
    [
        (refused(409, "conflict", reason="session_closed"), SandboxClosedError, None),
        (refused(409, "conflict", reason="memory_layout"), MemoryLayoutClash, None),
        (refused(413, "payload_too_large", limit=10), SegmentTooLarge, None),
        (refused(400, "invalid_argument", field="group_id"), InvalidConversationId, "group_id"),
        (refused(400, "invalid_argument", field="layout.sessions_dir"), InvalidLayout, "sessions_dir"),
        (refused(400, "invalid_argument", field="segment.input"), InvalidSegment, None),
        (refused(400, "invalid_argument", field="path"), PathRefused, None),
        (refused(403, "forbidden", verb="run"), Forbidden, None),
        (refused(404, "not_found", kind="sandbox_session", id="x"), NotFound, None),
    ],
)
def test_a_refusal_is_the_exception_of_a_local_sandbox_where_that_has_one(
    answer: httpx2.Response, kind: type[Exception], field: str | None
) -> None:
    class Reply:
        status, headers, body = answer.status_code, dict(answer.headers), answer.content

    with pytest.raises(kind) as told, refusing(12):
        raise failure_of(Reply())
    assert getattr(told.value, "field", None) == field


@pytest.mark.req("SB-119", "SB-102")
@pytest.mark.parametrize(
    ("states", "closes", "slept"),
    [
        (["closed"], ["?"], []),
        (["closing", "closing", "closed"], ["?"], [2.0, 2.0]),
        (["open", "closing", "closed"], ["?", "?wait=false"], [2.0, 2.0]),
    ],
)
async def test_a_close_without_an_answer_is_followed_until_there_is_a_report(
    states: Sequence[str], closes: Sequence[str], slept: Sequence[float]
) -> None:
    left, asked = list(states), list[str]()
    pauses: list[float] = []

    def answers(request: httpx2.Request) -> httpx2.Response:
        if request.url.path.endswith("/close"):
            asked.append(f"?{request.url.query.decode()}")
            if len(asked) == 1:
                raise httpx2.ReadTimeout("lost", request=request)
            return httpx2.Response(202, json=OPEN)
        state = left.pop(0)
        return httpx2.Response(
            200, json={**OPEN, "status": state, "report": {"layouts": []} if state == "closed" else None}
        )

    sandbox = await session(answers, pauses)
    assert (await sandbox.close()).as_dict() == {"layouts": []}
    assert (asked, pauses, sandbox.status) == (closes, slept, "closed")


@pytest.mark.req("SB-119")
async def test_a_command_is_answered_by_an_error_for_the_model() -> None:
    sandbox = await session(lambda request: refused(404, "not_found", kind="sandbox_session", id="x"))
    with pytest.raises(NoShell, match="runs no commands"):
        await sandbox.execute("ls")
    with pytest.raises(NotFound):  # the session is gone, not the file
        await sandbox.files.read_text("README.md")


@pytest.mark.req("SB-119", "SB-54")
async def test_a_run_of_another_runtime_is_recorded_under_all_that_names_it() -> None:
    sent: list[Any] = []

    def answers(request: httpx2.Request) -> httpx2.Response:
        sent.append(json.loads(request.content))
        recorded = {"rollout_id": "c", "path": "sessions/c.jsonl", "segment_count": 3, "updated_at": "t"}
        return httpx2.Response(201, json=recorded)

    sandbox = await session(answers)
    recorded = await sandbox.record(memory(), ConversationRef(conversation_id="c", group_id="g"), SEGMENT)
    assert recorded is not None
    assert (recorded.rollout_id, recorded.segment_count) == ("c", 3)
    [body] = sent
    assert (body["conversation_id"], body["group_id"], body["generate"]) == ("c", "g", True)
    assert "session_id" not in body
    assert body["segment"]["final_output"] == "Yes."
    with pytest.raises(InvalidConversationId):
        await sandbox.record(memory(), ConversationRef(conversation_id="../x"), SEGMENT)
    assert len(sent) == 1


def test_nothing_else_is_looked_up_in_the_package() -> None:
    with pytest.raises(AttributeError, match="Nothing"):
        _ = rootward.Nothing
