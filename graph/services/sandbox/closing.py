"""Closing a sandbox session: it is noted in one transaction with the job that does it, and so is its end (SB-113)."""

from __future__ import annotations

from typing import Final

from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.sandbox import SandboxSession, SandboxState
from graph.model.time import Millis
from graph.rules.jobs import CLOSE_SANDBOX, JobState, released
from graph.services.access.commands import Command
from graph.services.learning.jobs import enqueue
from graph.services.sandbox.acting import Act
from graph.services.sandbox.finding import hold_sandbox
from graph.services.sandbox.stored import FILES
from graph.store.port import Reader

HEAD_START_MS: Final = 60_000
"""So long workers leave a job to the request that waits for it; then they go on with what it left."""


def close_key(id_: NodeId) -> str:
    """Return the unique key of the job that closes a session."""
    return f"{CLOSE_SANDBOX}:{id_}"


async def begin_close(cmd: Command, act: Act, id_: NodeId, *, waits: bool) -> SandboxSession:
    """Let nothing be recorded any more, and ask for the job that makes memory; again, do no more than that.

    Args:
        cmd: of the caller.
        act: of the same transaction.
        id_: of the session.
        waits: the caller does the job itself.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``.
    """
    session = await hold_sandbox(cmd, id_, Right.RUN)
    if session.status == SandboxState.CLOSED:
        return session
    if session.status == SandboxState.OPEN:
        session = await act.set(session, status=str(SandboxState.CLOSING), closed_by=act.actor)
        session = await act.note(session, "sandbox.close")
    job = await enqueue(
        act.writer,
        CLOSE_SANDBOX,
        workspace=session.workspace,
        unique_key=close_key(id_),
        due_at=Millis(act.at + HEAD_START_MS) if waits else act.at,
        now=act.at,
        subject=id_,
    )
    if job.state == JobState.PARKED:  # whoever closes again wants it tried again
        await act.writer.patch_many({job.id: released(act.at)})
    return session


async def closing_session(reader: Reader, id_: NodeId) -> SandboxSession | None:
    """Return a session that is being closed; None if it is closed, or gone."""
    found = (await reader.get(FILES, [id_])).get(id_)
    is_closing = isinstance(found, SandboxSession) and found.status == SandboxState.CLOSING
    return found if is_closing and isinstance(found, SandboxSession) else None


async def end_close(act: Act, session: SandboxSession, works: Json, report: Json) -> SandboxSession:
    """Close a session that is held locked, with the report of what was done (SB-105, SB-115)."""
    fields = {"status": str(SandboxState.CLOSED), "works": works, "report": report, "closed_at": act.at}
    return await act.note(await act.set(session, **fields), "sandbox.closed")
