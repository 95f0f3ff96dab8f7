"""The routes of runs and their attempts (MT-28 to MT-33)."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from api.rest.workspace.kit import WCall, WHandler, answer
from api.rest.workspace.run_shapes import (
    ATTEMPTS,
    CHECKPOINT,
    COMPLETE,
    FORK,
    RUN,
    THREAD_RUNS,
    CompleteBody,
    ForkBody,
    NewRunBody,
    attempt_json,
    mounts_of_body,
    run_json,
)
from api.rest.workspace.threads import opened as opened_thread
from api.rest.workspace.threads import shown as shown_thread
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import AgentProfile, WorkspaceRun
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.workspace.attempts import start_attempt
from graph.services.workspace.run_finding import named, open_one
from graph.services.workspace.runs import accept_run, commit_progress, end_run
from graph.services.workspace.threads import fork_run


def table() -> Mapping[str, Mapping[str, WHandler]]:
    """Return the routes of runs."""
    return {
        THREAD_RUNS: {"POST": _accept},
        RUN: {"GET": _get},
        ATTEMPTS: {"POST": _attempt},
        CHECKPOINT: {"POST": _checkpoint},
        COMPLETE: {"POST": _complete},
        FORK: {"POST": _fork},
    }


async def _accept(call: WCall) -> Response:
    thread_id = (await opened_thread(call, Right.RUN)).thread.id
    body = await call.body(NewRunBody)
    agent_id = named(AgentProfile, body.agent_id)
    run = await command(call.deps, call.caller, lambda cmd: accept_run(cmd, thread_id, agent_id, body.input))
    return answer(run_json(run), 201)


async def _get(call: WCall) -> Response:
    return answer(run_json(await _opened(call, Right.READ)))


async def _attempt(call: WCall) -> Response:
    return answer(attempt_json(await start_attempt(call.deps, call.caller, _id(call))), 201)


async def _checkpoint(call: WCall) -> Response:
    id_ = _id(call)
    return answer(run_json(await command(call.deps, call.caller, lambda cmd: commit_progress(cmd, id_))))


async def _complete(call: WCall) -> Response:
    id_ = (await _opened(call, Right.RUN)).id
    body = await call.body(CompleteBody)
    return answer(run_json(await command(call.deps, call.caller, lambda cmd: end_run(cmd, id_, body.status))))


async def _fork(call: WCall) -> Response:
    id_ = (await _opened(call, Right.RUN)).id
    mounts = mounts_of_body((await call.body(ForkBody, optional=True)).memories, "memories")
    return shown_thread(await command(call.deps, call.caller, lambda cmd: fork_run(cmd, id_, mounts)), 201)


async def _opened(call: WCall, verb: Right) -> WorkspaceRun:
    id_ = _id(call)
    found, _ = await read(call.deps, call.caller, lambda reading: open_one(reading, id_, WorkspaceRun, verb))
    return found


def _id(call: WCall) -> NodeId:
    return named(WorkspaceRun, call.id("run_id"))
