"""The saved calls of models: found by key, written before and after each attempt, blanked by erasure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType

from graph.model.access import SystemScope
from graph.model.fields import Json
from graph.model.ids import NodeId, node_id
from graph.model.nodes.evidence import Source, SourceState
from graph.model.nodes.learning import ModelCall
from graph.model.nodes.work import AuditRecord
from graph.model.time import Millis
from graph.rules.audit_operations import AuditOperation
from graph.store.port import Reader, Writer
from graph.store.query import And, Contains, Eq, Find, In, Or, Range
from graph.store.sealing import Place

CALLS = SystemScope(reason="saved calls of models")
_AT_ONCE = 100
"""So many erased ids are looked for in one question."""

ASKED, ANSWERED, FAILED, UNUSABLE, BLANKED = "asked", "answered", "failed", "unusable", "erased"
"""States of a call. An unusable answer stays to be looked at, but the same question is asked anew."""
BLANK: Mapping[str, Json] = MappingProxyType({"request": None, "answer": None, "state": BLANKED})


def call_id(call_key: str) -> NodeId:
    """Return the id of the call of a key."""
    return node_id(ModelCall.PREFIX, call_key)


async def find_call(reader: Reader, call_key: str) -> ModelCall | None:
    """Return the call of a key, if it was ever made."""
    id_ = call_id(call_key)
    found = (await reader.get(CALLS, [id_])).get(id_)
    return found if isinstance(found, ModelCall) else None


def answer_place(call: ModelCall) -> Place:
    """Return where the answer of a call is sealed."""
    return Place(workspace=call.workspace, node=call.id, field="answer")


def request_place(call: ModelCall) -> Place:
    """Return where the request of a call is sealed."""
    return Place(workspace=call.workspace, node=call.id, field="request")


async def begin_attempt(writer: Writer, call: ModelCall, attempt: Mapping[str, Json], *, since: Millis) -> None:
    """Save that a call is about to be made; a call of the same key that failed gets one attempt more.

    If anything was erased since the prompt was made, at `since`, the request is not kept.
    """
    await writer.lock([call.id])
    found = await find_call(writer, call.call_key)
    request = None if call.request and await _any_erased(writer, call, since) else call.request
    if found is None:
        await writer.put([replace(call, state=ASKED, request=request, attempts=[dict(attempt)])])
        return
    attempts = [*(found.attempts or []), dict(attempt)]
    await writer.patch(found.id, {"state": ASKED, "request": request, "attempts": attempts})


async def end_attempt(
    writer: Writer, call: ModelCall, attempt: Mapping[str, Json], fields: Mapping[str, Json], *, since: Millis
) -> ModelCall:
    """Save how the attempt that began at ``attempt["at"]`` ended, and return the call as it is then.

    An answer that is there already stays. If anything was erased since the prompt was made, at `since`, the answer is
    not kept: what the prompt holds may repeat it, as an episode repeats its messages.
    """
    await writer.lock([call.id])
    found = await find_call(writer, call.call_key)
    assert found is not None, "an attempt is saved when it begins"
    attempts = [dict(attempt) if _same(old, attempt) else old for old in found.attempts or []]
    kept = {} if found.state == ANSWERED else dict(fields)
    if kept.get("answer") and await _any_erased(writer, found, since):
        kept |= BLANK
    await writer.patch(found.id, {**kept, "attempts": attempts})
    return replace(found, **kept, attempts=attempts)


async def discard_answers(writer: Writer, call_keys: Collection[str]) -> None:
    """Mark answers as unusable, so that the same questions are asked anew."""
    await writer.patch_many({call_id(key): {"state": UNUSABLE} for key in call_keys})


def _same(old: Json, attempt: Mapping[str, Json]) -> bool:
    return bool(old["at"] == attempt["at"] and old["by"] == attempt["by"])


async def _any_erased(reader: Reader, call: ModelCall, since: Millis) -> bool:
    nodes = await reader.get(CALLS, [NodeId(id_) for id_ in call.source_ids])
    if any(isinstance(node, Source) and node.state == SourceState.ERASED for node in nodes.values()):
        return True
    where = And((Eq("operation", str(AuditOperation.SOURCE_ERASE)), Range("recorded_at", since, None)))
    scope = replace(CALLS, workspace=call.workspace)
    return bool((await reader.find(scope, Find(kind=AuditRecord, where=where, first=1))).nodes)


async def blank_calls(writer: Writer, erased: Collection[NodeId]) -> int:
    """Blank requests and answers of all calls whose prompt held one of `erased`; return how many.

    One that is being asked is written to as well, so that its answer comes either before or to one that is blank.
    """
    count, ids = 0, sorted(erased)
    for start in range(0, len(ids), _AT_ONCE):
        held = Or([Contains("source_ids", id_) for id_ in ids[start : start + _AT_ONCE]])
        where = And([In("state", [ASKED, ANSWERED, UNUSABLE]), held])
        hit = (await writer.find(CALLS, Find(kind=ModelCall, where=where))).nodes
        await writer.patch_many({call.id: BLANK for call in hit})
        count += sum(call.state != ASKED for call in hit)
    return count
