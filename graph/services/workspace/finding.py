"""Finding a memory for a caller: is it there, may he, is it of the kind, in this order (FM-3, FM-4, FM-17)."""

from __future__ import annotations

from dataclasses import replace

from graph.model.access import Clause, SystemScope
from graph.model.errors import WorkspaceRefused
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryKind, WorkspaceMemory
from graph.rules.memory_refusals import conflicting, forbidden, missing
from graph.rules.rights import ViewerFacts, rights_on
from graph.rules.scopes import workspace_rule
from graph.rules.workspace_ids import inside, outside
from graph.services.access.caller import workspace_node
from graph.services.access.commands import Command
from graph.services.access.session import Session as Reading
from graph.store.port import Reader

MEMORIES = SystemScope(reason="a memory of a workspace whose verbs are checked, and what is in it")
VERBS = frozenset({Right.READ, Right.RUN, Right.WRITE})


def memory_id(given: str) -> NodeId:
    """Return the internal id of a memory that a client names, ``mem_…``.

    Raises:
        WorkspaceRefused: ``not_found``: no memory can have such an id.
    """
    found = inside(WorkspaceMemory.PREFIX, given)
    if found is None:
        raise missing("memory", given)
    return found


def rules_of(memory: WorkspaceMemory) -> Clause:
    """Return who may read a memory and all that is in it."""
    return frozenset({workspace_rule(workspace_node(memory.workspace), memory.id)})


def verbs_on(facts: ViewerFacts, memory: NodeId | None) -> frozenset[Right]:
    """Return the verbs that a principal holds on a memory, by a grant on it or the workspace; None: on the latter."""
    held = rights_on(facts, facts.workspace_node) | (frozenset() if memory is None else rights_on(facts, memory))
    return held & VERBS


def require_verb(facts: ViewerFacts, memory: NodeId | None, verb: Right) -> None:
    """Refuse who lacks a verb on a memory, or on the workspace.

    Raises:
        WorkspaceRefused: ``forbidden`` with `verb`.
    """
    if verb not in verbs_on(facts, memory):
        raise forbidden(verb)


def require_readable(facts: ViewerFacts, id_: NodeId | None, kind: str = "memory") -> None:
    """Refuse what the caller may not read as if it were not there; for GraphQL, where all hidden is (KN-60).

    Args:
        facts: about the caller.
        id_: of a memory; None of what the workspace has beside memories: threads, runs, agents and providers.
        kind: of what is asked for, for the refusal.

    Raises:
        WorkspaceRefused: ``not_found``, without the id.
    """
    if Right.READ not in verbs_on(facts, id_):
        raise WorkspaceRefused("not_found", f"there is no such {kind}", kind=kind)


async def find_memory(reader: Reader, facts: ViewerFacts, id_: NodeId) -> WorkspaceMemory:
    """Return a memory of the caller's workspace, whatever verbs he has.

    Raises:
        WorkspaceRefused: ``not_found``: unknown, or of another workspace.
    """
    found = (await reader.get(MEMORIES, [id_])).get(id_)
    if not isinstance(found, WorkspaceMemory) or found.workspace != facts.workspace:
        raise missing("memory", outside(id_))
    return found


async def open_memory(
    source: Reading | Command, id_: NodeId, verb: Right, kind: MemoryKind | None = None
) -> WorkspaceMemory:
    """Return a memory for a caller with a verb on it.

    Args:
        source: a session of reading, or a command, whose rights count.
        id_: internal id of the memory (`memory_id`).
        verb: READ, RUN or WRITE.
        kind: it must be of this kind.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``, ``conflict`` with reason ``memory_kind``, in this order.
    """
    reader = source.writer if isinstance(source, Command) else source.reader
    found = await find_memory(reader, source.facts, id_)
    require_verb(source.facts, found.id, verb)
    check_kind(found, kind)
    return found


async def hold_memory(
    cmd: Command, id_: NodeId, verb: Right, kind: MemoryKind | None = None, *, facts: ViewerFacts | None = None
) -> WorkspaceMemory:
    """Lock a memory for a change and return its present state.

    A memory is locked before the threads that mount it (``wsm_…`` comes before ``wth_…``).

    Args:
        cmd: of the caller.
        id_: of the memory.
        verb: that is needed.
        kind: it must be of this kind.
        facts: whose rights count, if not the caller's: such as the principal of a run (`Session.facts_of`).

    Raises:
        WorkspaceRefused: as for `open_memory`.
    """
    rights = facts or cmd.facts
    here = replace(MEMORIES, workspace=rights.workspace)
    found = (await cmd.writer.hold(here, [id_])).get(id_)
    if not isinstance(found, WorkspaceMemory):
        raise missing("memory", outside(id_))
    require_verb(rights, found.id, verb)
    check_kind(found, kind)
    return found


def check_kind(memory: WorkspaceMemory, kind: MemoryKind | None) -> None:
    """Refuse a memory of the other kind.

    Raises:
        WorkspaceRefused: ``conflict`` with reason ``memory_kind``.
    """
    if kind is not None and memory.kind != kind:
        raise conflicting("memory", outside(memory.id), "memory_kind", expected=str(kind))
