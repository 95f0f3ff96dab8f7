"""The routes of threads and of the memories they mount (MT-1 to MT-18, MT-28, MT-33)."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response

from api.rest.workspace.kit import WCall, WHandler, answer, collection
from api.rest.workspace.run_shapes import (
    ARCHIVE,
    COMPACT,
    MOUNT,
    MOUNTS,
    THREAD,
    THREADS,
    UNARCHIVE,
    MountBody,
    MountPatch,
    NewThreadBody,
    mount_json,
    mount_of_body,
    mounts_json,
    mounts_of_body,
    thread_json,
)
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import RunThread, WorkspaceRun
from graph.rules.run_mounts import checked_access
from graph.services.access.commands import command
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.workspace.finding import require_verb
from graph.services.workspace.mounts import change_mount, mount_memory, unmount_memory
from graph.services.workspace.run_finding import named, thread_tag
from graph.services.workspace.threads import ThreadView, archive_thread, compact_thread, create_thread, thread_view


def table() -> Mapping[str, Mapping[str, WHandler]]:
    """Return the routes of threads and mounts."""
    return {
        THREADS: {"POST": _create},
        THREAD: {"GET": _get},
        ARCHIVE: {"POST": _archive},
        UNARCHIVE: {"POST": _unarchive},
        COMPACT: {"POST": _compact},
        MOUNTS: {"GET": _list, "POST": _mount},
        MOUNT: {"PATCH": _change, "DELETE": _unmount},
    }


async def may_run(call: WCall, verb: Right = Right.RUN) -> None:
    """Refuse who lacks a verb on the workspace, before the body is looked at (FM-17).

    Raises:
        WorkspaceRefused: ``forbidden``.
    """

    async def look(reading: Reading) -> None:
        require_verb(reading.facts, None, verb)

    await read(call.deps, call.caller, look)


async def opened(call: WCall, verb: Right) -> ThreadView:
    """Return the thread that the path names, before anything else of the request is looked at.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``.
    """
    id_ = _id(call)
    view, _ = await read(call.deps, call.caller, lambda reading: thread_view(reading, id_, verb))
    return view


def shown(view: ThreadView, status: int = 200) -> Response:
    """Return a thread with its ETag."""
    return answer(thread_json(view), status, tag=thread_tag(view.thread))


async def _create(call: WCall) -> Response:
    await may_run(call)
    body = await call.body(NewThreadBody, optional=True)
    mounts = mounts_of_body(body.memories, "memories")
    parent = None if body.parent_run_id is None else named(WorkspaceRun, body.parent_run_id)
    return shown(await command(call.deps, call.caller, lambda cmd: create_thread(cmd, mounts, parent)), 201)


async def _get(call: WCall) -> Response:
    return shown(await opened(call, Right.READ))


async def _archive(call: WCall) -> Response:
    id_ = _id(call)
    return shown(await command(call.deps, call.caller, lambda cmd: archive_thread(cmd, id_, archived=True)))


async def _unarchive(call: WCall) -> Response:
    id_ = _id(call)
    return shown(await command(call.deps, call.caller, lambda cmd: archive_thread(cmd, id_, archived=False)))


async def _compact(call: WCall) -> Response:
    id_ = _id(call)
    await command(call.deps, call.caller, lambda cmd: compact_thread(cmd, id_))
    return answer(None)


async def _list(call: WCall) -> Response:
    view = await opened(call, Right.READ)
    call.page("mounts", view.thread.id)  # all are listed (MT-12), but what fits no collection is refused here too
    return collection(mounts_json(view.mounts), None, tag=thread_tag(view.thread))


async def _mount(call: WCall) -> Response:
    id_ = (await opened(call, Right.RUN)).thread.id
    tags = call.if_match()
    mount = mount_of_body(await call.body(MountBody))
    done = await command(call.deps, call.caller, lambda cmd: mount_memory(cmd, id_, tags, mount))
    return answer(mount_json(done.mount), 201, tag=thread_tag(done.thread))


async def _change(call: WCall) -> Response:
    id_ = (await opened(call, Right.RUN)).thread.id
    tags, name = call.if_match(), call.id("name")
    body = await call.body(MountPatch)
    checked_access(body.access)
    given = {field: getattr(body, field) for field in body.model_fields_set}
    done = await command(call.deps, call.caller, lambda cmd: change_mount(cmd, id_, name, tags, given))
    return answer(mount_json(done.mount), tag=thread_tag(done.thread))


async def _unmount(call: WCall) -> Response:
    id_ = (await opened(call, Right.RUN)).thread.id
    tags, name = call.if_match(), call.id("name")
    thread = await command(call.deps, call.caller, lambda cmd: unmount_memory(cmd, id_, name, tags))
    return answer(None, tag=thread_tag(thread))


def _id(call: WCall) -> NodeId:
    return named(RunThread, call.id("thread_id"))
