"""Finding threads, agents, runs and sandboxes for a caller; they are the workspace's, and so are their verbs.

Source: MT-10, MT-28, SB-100.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from graph.model.access import Clause, SystemScope
from graph.model.fields import Node
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.people import Right
from graph.model.nodes.sandbox import SandboxSession, SandboxSnapshot
from graph.model.nodes.workspace import AgentProfile, RunThread, WorkspaceRun
from graph.rules.memory_refusals import missing, stale
from graph.rules.scopes import workspace_rule
from graph.rules.workspace_ids import inside, outside, tag_of
from graph.services.access.caller import workspace_node
from graph.services.access.commands import Command
from graph.services.access.guards import put_all_alone
from graph.services.access.session import Session as Reading
from graph.services.workspace.finding import require_verb

RUNS: Final = SystemScope(reason="threads and runs of a workspace whose verbs are checked")
KINDS: Final = {
    RunThread.PREFIX: "thread",
    WorkspaceRun.PREFIX: "run",
    AgentProfile.PREFIX: "agent",
    SandboxSession.PREFIX: "sandbox_session",
    SandboxSnapshot.PREFIX: "snapshot",
}
N = TypeVar("N", bound=Node)


def named(kind: type[Node], given: str) -> NodeId:
    """Return the internal id of a thread, run or agent that a client names.

    Raises:
        WorkspaceRefused: ``not_found``: none can have such an id.
    """
    found = inside(kind.PREFIX, given)
    if found is None:
        raise missing(KINDS[kind.PREFIX], given)
    return found


async def find_one(source: Reading | Command, id_: NodeId, kind: type[N]) -> N:
    """Return a thread, run or agent of the caller's workspace, whatever verbs he has.

    Raises:
        WorkspaceRefused: ``not_found``: unknown, or of another workspace.
    """
    reader = source.writer if isinstance(source, Command) else source.reader
    found = (await reader.get(RUNS, [id_])).get(id_)
    if not isinstance(found, kind) or found.workspace != source.facts.workspace:
        raise missing(KINDS[kind.PREFIX], outside(id_))
    return found


async def open_one(source: Reading | Command, id_: NodeId, kind: type[N], verb: Right) -> N:
    """Return a thread, run or agent for a caller with a verb on the workspace.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``, in this order.
    """
    found = await find_one(source, id_, kind)
    require_verb(source.facts, None, verb)
    return found


async def hold_one(cmd: Command, id_: NodeId, kind: type[N]) -> N:
    """Lock a thread, run or agent that was found, and return its present state."""
    await cmd.writer.lock([id_])
    return await find_one(cmd, id_, kind)


async def put_shared(cmd: Command, nodes: Sequence[Node]) -> None:
    """Write new nodes that whoever holds a verb on the workspace may read."""
    await put_all_alone(cmd.writer, nodes, shared_rules(cmd.caller.workspace))


def shared_rules(workspace: WorkspaceId) -> Clause:
    """Return who may read threads, agents and runs."""
    return frozenset({workspace_rule(workspace_node(workspace))})


async def touch(cmd: Command, thread: RunThread, **fields: Any) -> RunThread:
    """Give a thread that is held locked its next version (FM-12)."""
    changed = {**fields, "version": thread.version + 1, "updated_at": cmd.at}
    await cmd.writer.patch_many({thread.id: changed})
    return replace(thread, **changed)


def thread_tag(thread: RunThread) -> str:
    """Return the ETag of a thread."""
    return tag_of(thread.id, thread.version)


def check_thread_tag(thread: RunThread, tags: Collection[str]) -> None:
    """Refuse tags of which none is the thread's (MT-10).

    Raises:
        WorkspaceRefused: ``precondition_failed``.
    """
    if thread_tag(thread) not in tags:
        raise stale(thread_tag(thread))
