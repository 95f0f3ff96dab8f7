"""Finding sandbox sessions for a caller: is it there, may he, is it open, in this order (FM-17, SB-100, SB-111)."""

from __future__ import annotations

from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.sandbox import SandboxSession, SandboxState
from graph.rules.memory_refusals import conflicting
from graph.rules.workspace_ids import outside
from graph.services.access.commands import Command
from graph.services.access.session import Session as Reading
from graph.services.workspace.finding import require_verb
from graph.services.workspace.run_finding import find_one, hold_one, named, open_one

KIND = "sandbox_session"


def sandbox_id(given: str) -> NodeId:
    """Return the internal id of a session that a client names, ``sbx_…``.

    Raises:
        WorkspaceRefused: ``not_found``: none can have such an id.
    """
    return named(SandboxSession, given)


async def open_sandbox(source: Reading | Command, id_: NodeId, verb: Right) -> SandboxSession:
    """Return a session for a caller with a verb on the workspace.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``, in this order.
    """
    return await open_one(source, id_, SandboxSession, verb)


async def hold_sandbox(cmd: Command, id_: NodeId, verb: Right) -> SandboxSession:
    """Lock a session for a change and return its present state.

    Raises:
        WorkspaceRefused: as for `open_sandbox`.
    """
    await find_one(cmd, id_, SandboxSession)  # nothing is locked for ids that name nothing
    found = await hold_one(cmd, id_, SandboxSession)
    require_verb(cmd.facts, None, verb)
    return found


def check_open(session: SandboxSession) -> None:
    """Refuse a session that is closing or closed (SB-111).

    Raises:
        WorkspaceRefused: ``conflict`` with reason ``session_closed``.
    """
    if session.status != SandboxState.OPEN:
        raise conflicting(KIND, outside(session.id), "session_closed")
