"""The routes of sandbox sessions and snapshots (SB-104, SB-105, SB-118)."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from api.rest.workspace.kit import WCall, WHandler, answer
from api.rest.workspace.sandbox_shapes import (
    SANDBOX,
    SANDBOXES,
    SESSION_SNAPSHOTS,
    SNAPSHOT,
    ManifestBody,
    NewSandboxBody,
    sandbox_json,
    sandbox_row,
    snapshot_json,
)
from api.rest.workspace.threads import may_run
from graph.model.nodes.people import Right
from graph.model.nodes.sandbox import SandboxSession, SandboxSnapshot
from graph.rules.sandbox import manifest_paths
from graph.services.access.session import read
from graph.services.sandbox.acting import change
from graph.services.sandbox.finding import open_sandbox, sandbox_id
from graph.services.sandbox.sessions import create_sandbox, delete_sandbox
from graph.services.sandbox.snapshots import delete_snapshot, snapshot_id, take_snapshot
from graph.services.sandbox.stored import with_bytes
from graph.services.workspace.run_finding import open_one


def table() -> Mapping[str, Mapping[str, WHandler]]:
    """Return the routes of sessions and snapshots."""
    return {
        SANDBOXES: {"POST": _create},
        SANDBOX: {"GET": _get, "DELETE": _delete},
        SESSION_SNAPSHOTS: {"POST": _take},
        SNAPSHOT: {"DELETE": _delete_snapshot},
    }


async def opened(call: WCall, verb: Right) -> SandboxSession:
    """Return the session that the path names, before anything else of the request is looked at (FM-17).

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``.
    """
    id_ = sandbox_id(call.id("session_id"))
    found, _ = await read(call.deps, call.caller, lambda reading: open_sandbox(reading, id_, verb))
    return found


async def _create(call: WCall) -> Response:
    await may_run(call)
    body = await call.body(NewSandboxBody, optional=True)
    start = None if body.snapshot_id is None else snapshot_id(body.snapshot_id)
    contents = _contents(body.manifest or ManifestBody())
    session = await with_bytes(
        call.deps,
        contents,
        lambda stored: change(call.deps, call.caller, lambda cmd, act: create_sandbox(cmd, act, stored, start)),
    )
    return answer(sandbox_row(session), 201)


async def _get(call: WCall) -> Response:
    return answer(sandbox_json(await opened(call, Right.READ)))


async def _delete(call: WCall) -> Response:
    id_ = (await opened(call, Right.WRITE)).id
    await change(call.deps, call.caller, lambda cmd, act: delete_sandbox(cmd, act, id_))
    return answer(None)


async def _take(call: WCall) -> Response:
    id_ = (await opened(call, Right.RUN)).id
    snapshot = await change(call.deps, call.caller, lambda cmd, act: take_snapshot(cmd, act, id_))
    return answer(snapshot_json(snapshot), 201)


async def _delete_snapshot(call: WCall) -> Response:
    id_ = snapshot_id(call.id("snapshot_id"))
    await read(call.deps, call.caller, lambda reading: open_one(reading, id_, SandboxSnapshot, Right.WRITE))
    await change(call.deps, call.caller, lambda cmd, act: delete_snapshot(cmd, act, id_))
    return answer(None)


def _contents(manifest: ManifestBody) -> dict[str, bytes]:
    """Return the bytes of each entry by its checked path."""
    paths = manifest_paths(list(manifest.entries))
    return {path: entry.content.encode() for path, entry in zip(paths, manifest.entries.values(), strict=True)}
