"""Sandbox sessions: making one, also from a snapshot, and deleting it with all that is in it (SB-104, SB-118)."""

from __future__ import annotations

from collections.abc import Mapping

from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.sandbox import SandboxSession, SandboxSnapshot, SandboxState
from graph.rules.admin_chain import AdminOperation
from graph.rules.workspace_ids import outside
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.session import Session as Reading
from graph.services.blob_rows import hold_blobs
from graph.services.knowledge.anchors import write_anchor
from graph.services.sandbox.acting import Act
from graph.services.sandbox.copying import copy_files
from graph.services.sandbox.files import all_files, remove_files, set_file
from graph.services.sandbox.finding import hold_sandbox
from graph.services.sandbox.stored import Stored
from graph.services.workspace.finding import require_verb
from graph.services.workspace.run_finding import find_one, hold_one
from graph.store.query import After, Eq, Find


async def create_sandbox(
    cmd: Command, act: Act, entries: Mapping[str, Stored], snapshot_id: NodeId | None = None
) -> SandboxSession:
    """Make an open session whose workspace starts as a snapshot, with entries added where they are absent (SB-104).

    Args:
        cmd: of the caller.
        act: of the same transaction.
        entries: bytes by checked path.
        snapshot_id: what the workspace starts as; None: empty.

    Raises:
        WorkspaceRefused: ``forbidden``; ``not_found``: there is no such snapshot.
    """
    require_verb(cmd.facts, None, Right.RUN)
    if snapshot_id is not None:
        await find_one(cmd, snapshot_id, SandboxSnapshot)
        await hold_one(cmd, snapshot_id, SandboxSnapshot)
    await hold_blobs(act.writer, act.deps, [stored.sha256 for stored in entries.values()])
    id_ = act.deps.new_id(SandboxSession.PREFIX)
    session = SandboxSession(
        id=id_,
        workspace=cmd.caller.workspace,
        pool=id_,
        created_at=act.at,
        status=str(SandboxState.OPEN),
        snapshot_id=snapshot_id,
        created_by=act.actor,
    )
    await act.put([session])
    there = set() if snapshot_id is None else await copy_files(act, snapshot_id, session)
    for path in sorted(entries.keys() - there):
        await set_file(act, session, path, entries[path])
    codes = {"files": len(there | entries.keys()), **_from(snapshot_id)}
    return await act.note(session, "sandbox.create", codes=codes)


def sandboxes_query(reading: Reading, *, first: int, after: After | None = None) -> Find[SandboxSession]:
    """Return the question for the sessions of the caller's workspace, by id: oldest first.

    Raises:
        WorkspaceRefused: ``forbidden``.
    """
    require_verb(reading.facts, None, Right.READ)
    where = Eq("workspace", reading.facts.workspace)
    return Find(kind=SandboxSession, where=where, first=first, after=after)


async def delete_sandbox(cmd: Command, act: Act, id_: NodeId) -> None:
    """Delete a session with its workspace and memory; snapshots stay, and so does its audit (SB-118).

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``.
    """
    session = await hold_sandbox(cmd, id_, Right.WRITE)
    await remove_files(act, await all_files(act.writer, session.id))
    ended = await act.note(session, "sandbox.delete")
    await act.writer.delete([session.id])
    # The chain ends with its pool: its last record is kept where nobody can cut it unnoticed (AD-27).
    codes = {"seq": ended.audit_seq, "hash": ended.audit_head}
    await record_admin(cmd, AdminOperation.SANDBOX_DELETE, session.id, codes)
    await write_anchor(act.writer, cmd.caller.workspace, act.at)  # from here on the chain is not missed


def _from(snapshot_id: NodeId | None) -> dict[str, str]:
    return {} if snapshot_id is None else {"snapshot_id": outside(snapshot_id)}
