"""Snapshots: copies of a workspace that outlive its session, until they are deleted (SB-98, SB-118)."""

from __future__ import annotations

from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.sandbox import SandboxSnapshot
from graph.rules.admin_chain import AdminOperation
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.session import Session as Reading
from graph.services.sandbox.acting import Act
from graph.services.sandbox.copying import copy_files
from graph.services.sandbox.files import all_files, remove_files
from graph.services.sandbox.finding import hold_sandbox
from graph.services.workspace.finding import require_verb
from graph.services.workspace.run_finding import find_one, hold_one, named
from graph.store.query import After, Eq, Find, both


def snapshot_id(given: str) -> NodeId:
    """Return the internal id of a snapshot that a client names, ``snap_…``.

    Raises:
        WorkspaceRefused: ``not_found``: none can have such an id.
    """
    return named(SandboxSnapshot, given)


async def take_snapshot(cmd: Command, act: Act, session_id: NodeId) -> SandboxSnapshot:
    """Copy the workspace of a session, open or closed, as it is.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``.
    """
    session = await hold_sandbox(cmd, session_id, Right.RUN)
    snapshot = SandboxSnapshot(
        id=act.deps.new_id(SandboxSnapshot.PREFIX),
        workspace=session.workspace,
        created_at=act.at,
        session_id=session.id,
        created_by=act.actor,
    )
    await act.put([snapshot])
    paths = await copy_files(act, session.id, snapshot)
    await act.note(session, "sandbox.snapshot.create", snapshot.id, {"files": len(paths)})
    return snapshot


def snapshots_query(
    reading: Reading, session_id: NodeId | None = None, *, first: int, after: After | None = None
) -> Find[SandboxSnapshot]:
    """Return the question for the snapshots of the caller's workspace, or of one session of it, by id: oldest first.

    Raises:
        WorkspaceRefused: ``forbidden``.
    """
    require_verb(reading.facts, None, Right.READ)
    of_session = None if session_id is None else Eq("session_id", session_id)
    where = both(Eq("workspace", reading.facts.workspace), of_session)
    return Find(kind=SandboxSnapshot, where=where, first=first, after=after)


async def delete_snapshot(cmd: Command, act: Act, id_: NodeId) -> None:
    """Delete a snapshot; sessions that started from it have files of their own.

    Its session may be gone, so this is in the chain of administration.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``.
    """
    await find_one(cmd, id_, SandboxSnapshot)  # nothing is locked for ids that name nothing
    snapshot = await hold_one(cmd, id_, SandboxSnapshot)
    require_verb(cmd.facts, None, Right.WRITE)
    await remove_files(act, await all_files(act.writer, snapshot.id))
    await act.writer.delete([snapshot.id])
    await record_admin(cmd, AdminOperation.SNAPSHOT_DELETE, snapshot.id)
