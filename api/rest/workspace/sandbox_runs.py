"""The routes of runs in a sandbox, and of closing it (SB-106 to SB-116)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from api.rest.workspace.kit import WCall, WHandler, answer, invalid
from api.rest.workspace.sandbox_shapes import (
    CLOSE,
    ROLLOUTS,
    RUNS,
    MemoryBody,
    NewRunBody,
    RolloutBody,
    options_of,
    sandbox_json,
)
from api.rest.workspace.sandboxes import opened
from dreaming.sandbox.closing import ask_to_close, close_at_once
from dreaming.sandbox.options import memory_of
from dreaming.sandbox.recording import begin_run, record_run
from dreaming.sandbox.refusals import refusing
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from rootward.errors import InvalidSegment
from rootward.sandbox.identity import ConversationRef
from rootward.sandbox.memory import Memory
from rootward.sandbox.segments import Segment

_ESCAPED: Final = 2
"""JSON may write a character of three bytes in six."""
_BESIDE: Final = 65_536


def table() -> Mapping[str, Mapping[str, WHandler]]:
    """Return the routes of runs."""
    return {RUNS: {"POST": _begin}, ROLLOUTS: {"POST": _record}, CLOSE: {"POST": _close}}


async def _begin(call: WCall) -> Response:
    id_ = (await opened(call, Right.RUN)).id
    memory = _memory(call, id_, (await call.body(NewRunBody)).memory)
    begun = await begin_run(call.deps, call.caller, call.kit.sandbox, id_, memory)
    required = list(begun.capabilities_required)
    return answer({"developer_prompt": begun.developer_prompt, "capabilities_required": required}, 201)


async def _record(call: WCall) -> Response:
    id_ = (await opened(call, Right.RUN)).id
    rules = call.kit.sandbox
    limit = rules.limits.max_segment_bytes
    body = await call.body(RolloutBody, most=_ESCAPED * limit + _BESIDE, limit=limit)
    memory = _memory(call, id_, body)
    ref = ConversationRef(conversation_id=body.conversation_id, session_id=body.session_id, group_id=body.group_id)
    made = await record_run(call.deps, call.caller, rules, id_, memory, ref, _segment(body))
    if made is None:
        return answer({"recorded": False})
    return answer(dataclasses.asdict(made), 201)


async def _close(call: WCall) -> Response:
    id_ = (await opened(call, Right.RUN)).id
    wait = call.query("wait")
    if wait not in (None, "true", "false"):
        raise invalid("wait", "is true or false")
    if wait == "false":
        return answer(sandbox_json(await ask_to_close(call.deps, call.caller, id_)), 202)
    session = await close_at_once(call.deps, call.caller, call.kit.sandbox, id_)
    return answer(session.report)


def _memory(call: WCall, id_: NodeId, body: MemoryBody | RolloutBody) -> Memory:
    with refusing(id_):
        return memory_of(options_of(body), call.kit.sandbox)


def _segment(body: RolloutBody) -> Segment:
    try:
        return Segment.from_mapping(body.segment.model_dump(exclude_unset=True))
    except InvalidSegment:
        raise invalid("segment", "is no segment of a run") from None
