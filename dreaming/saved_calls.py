"""Calls of models that survive their worker: saved with their attempts and answer before the answer is used.

The key names a call within its work, the fingerprint of the request what was asked. After a restart the same key with
the same request gives the saved answer; with another request (the state moved on) the model is asked anew. An attempt
is saved and charged to the day's budget before it is made, so a worker killed during a call has paid for it.
Source: docs/design.md#learning; B20 in docs/cases.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dreaming.jobs import WorkContext, confirm_lease, guarded_commit
from dreaming.models.port import Finish, ModelAnswer, ModelPort, ModelRequest
from dreaming.models.wrappers import TimedModel
from graph.model.errors import ModelUnavailable
from graph.model.fields import Json
from graph.model.nodes.learning import ModelCall
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.knowledge_settings import Settings
from graph.rules.model_budget import day_of
from graph.services.learning.model_calls import (
    ANSWERED,
    ASKED,
    FAILED,
    answer_place,
    begin_attempt,
    call_id,
    discard_answers,
    end_attempt,
    find_call,
    request_place,
)
from graph.services.learning.spending import Account, charge_call, charge_usage, day_limits
from graph.store.port import Writer

_KEY_CHARS = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class LightModel:
    """The model of an agent with the settings in force; made by `dreaming.light_model`."""

    model: ModelPort
    settings: Settings


async def saved_call(
    work: WorkContext,
    light: LightModel,
    key: str,
    request: ModelRequest,
    *,
    since: Millis | None = None,
    kept: bool = True,
) -> ModelAnswer:
    """Return the answer to a request, from an earlier run of the same work if it is there.

    Args:
        work: the job under its lease; its agent and kind are charged.
        light: the model to ask.
        key: names the call, such as ``<run id>/<batch>/decide/1``.
        request: what to ask; `request.source_ids` are kept for erasure.
        since: when what it shows was read, if it was not just now; an answer is not kept if anything was erased since.
        kept: false for work that is not resumed: only that and how it was answered is saved, never the words.

    Raises:
        ModelUnavailable: no answer came; the attempt was saved and counted.
        ModelBudgetSpent: nothing was asked.
        LeaseLost: nothing was asked.
    """
    call = _call(work, light, call_key(work.job, key, request), request)
    async with work.deps.store.reading() as reader:
        found = await find_call(reader, call.call_key)
    if found is not None and found.state == ANSWERED and found.answer is not None:
        return _saved_answer(work, found)
    if kept:
        call = replace(call, request=work.deps.vault.seal(request_place(call), _words(request)))
    began = work.deps.now()
    known = began if since is None else since
    await _begin(work, light, call, began, since=known)
    try:
        answer = await TimedModel(inner=light.model, seconds=light.settings["dream.model_timeout_seconds"]).complete(
            request
        )
    except ModelUnavailable as error:
        await _end(work, call, began, outcome=error.reason, fields={"state": FAILED})
        raise
    fields = _fields(answer) | ({"answer": work.deps.vault.seal(answer_place(call), answer.text)} if kept else {})
    await _end(work, call, began, outcome=str(answer.finish), fields=fields, answer=answer, since=known)
    return answer


def call_key(job: Job, key: str, request: ModelRequest) -> str:
    """Return the key under which a call is saved: whose work it is (never another's), what for, and what is asked."""
    return f"{job.id}/{key}#{request.fingerprint[:_KEY_CHARS]}"


async def discard(work: WorkContext, calls: Mapping[str, ModelRequest]) -> None:
    """Forget the answers to these requests, by key: they were read and are of no use, so the next run asks anew.

    Raises:
        LeaseLost: nothing was forgotten.
    """
    keys = [call_key(work.job, key, request) for key, request in calls.items()]
    await guarded_commit(work, lambda writer: discard_answers(writer, keys))


def _call(work: WorkContext, light: LightModel, call_key: str, request: ModelRequest) -> ModelCall:
    now = work.deps.now()
    return ModelCall(
        id=call_id(call_key),
        workspace=work.job.workspace,
        created_at=now,
        call_key=call_key,
        job_id=work.job.id,
        agent_id=work.agent,
        purpose=request.purpose,
        prompt=request.prompt,
        model=light.model.name,
        state=ASKED,
        day=day_of(now),
        source_ids=request.source_ids,
    )


def _words(request: ModelRequest) -> str:
    """Return what the model is shown, as the call log keeps it (BM-186)."""
    return json.dumps([[str(message.role), message.text] for message in request.messages], ensure_ascii=False)


def _saved_answer(work: WorkContext, call: ModelCall) -> ModelAnswer:
    assert call.answer is not None
    return ModelAnswer(
        text=work.deps.vault.open(answer_place(call), call.answer),
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
        finish=Finish(call.finish or Finish.STOP),
        model=call.model,
        cost_micro_usd=call.cost_micro_usd,
    )


async def _begin(work: WorkContext, light: LightModel, call: ModelCall, began: Millis, *, since: Millis) -> None:
    async def write(writer: Writer) -> None:
        await charge_call(writer, _account(work), began, day_limits(light.settings))
        await begin_attempt(writer, call, {**_attempt(work, began), "outcome": ASKED}, since=since)
        await confirm_lease(writer, work.job, began)

    await work.deps.store.transact(write, tx_id=work.deps.ids.new())


async def _end(
    work: WorkContext,
    call: ModelCall,
    began: Millis,
    *,
    outcome: str,
    fields: Mapping[str, Json],
    answer: ModelAnswer | None = None,
    since: Millis | None = None,
) -> None:
    """Save how an attempt ended. It was made and paid for, so this needs no lease; who lost it commits nothing else."""
    now = work.deps.now()
    used = (answer.input_tokens, answer.output_tokens) if answer else (0, 0)
    attempt = {
        **_attempt(work, began),
        "outcome": outcome,
        "inputTokens": used[0],
        "outputTokens": used[1],
        "seconds": (now - began) / 1_000,
    }
    cost = (answer.cost_micro_usd or 0) if answer else 0

    async def write(writer: Writer) -> None:
        await charge_usage(writer, _account(work), began, tokens=used, cost_micro_usd=cost, failed=answer is None)
        await end_attempt(writer, call, attempt, {**fields, "ended_at": now}, since=began if since is None else since)

    await work.deps.store.transact(write, tx_id=work.deps.ids.new())


def _attempt(work: WorkContext, began: Millis) -> dict[str, Json]:
    return {"at": began, "by": work.job.fence}


def _fields(answer: ModelAnswer) -> dict[str, Json]:
    return {
        "state": ANSWERED,
        "finish": str(answer.finish),
        "model": answer.model,
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        "cost_micro_usd": answer.cost_micro_usd or 0,
    }


def _account(work: WorkContext) -> Account:
    return Account(workspace=work.job.workspace, agent=work.agent, kind=work.job.kind)
