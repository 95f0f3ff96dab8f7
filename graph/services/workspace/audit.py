"""What was done in workspace memory, newest first (FM-19).

Every memory has a chain of its own (`graph.services.pool_audit`); what is done to its mounts and records is in it too.
So has every sandbox session.
"""

from __future__ import annotations

from typing import Final

from graph.model.access import SystemScope
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.people import Right
from graph.model.nodes.work import AuditRecord
from graph.model.nodes.workspace import MemoryFile, WorkspaceMemory
from graph.rules.memory_refusals import forbidden
from graph.services.access.session import Session as Reading
from graph.services.knowledge.listing import Listing
from graph.services.workspace.finding import verbs_on
from graph.store.query import After, And, By, Eq, Find, In, Or, Order, Where

AUDIT: Final = SystemScope(reason="audit of a memory, for who holds write on it")
OPERATIONS: Final = (
    "memory.create",
    "memory.update",
    "memory.delete",
    "memory.file.create",
    "memory.file.update",
    "memory.file.move",
    "memory.file.delete",
    "memory.file.restore",
    "memory.history.purge",
    "memory.record.create",
    "memory.record.update",
    "memory.record.delete",
    "thread_memory.create",
    "thread_memory.update",
    "thread_memory.delete",
    "sandbox.create",
    "sandbox.rollout",
    "sandbox.close",
    "sandbox.closed",
    "sandbox.delete",
    "sandbox.memory.write",
    "sandbox.snapshot.create",
    "sandbox.file.create",
    "sandbox.file.update",
    "sandbox.file.delete",
)
"""All that is audited here."""


async def audit_events(
    reading: Reading, target: NodeId | None, *, first: int, after: After | None = None
) -> Listing[AuditRecord]:
    """Return what was done to one object; of a memory also what was done in it; None: in the whole workspace.

    Raises:
        WorkspaceRefused: ``forbidden``: the caller does not hold write on the memory, or on the workspace.
    """
    memory = await _memory_of(reading, target)
    if Right.WRITE not in verbs_on(reading.facts, memory):
        raise forbidden(Right.WRITE)
    parts: list[Where] = [Eq("workspace", reading.facts.workspace), In("operation", OPERATIONS)]
    if target is not None:
        parts.append(Or((Eq("target_id", target), Eq("pool", target))))
    # One chain has numbers of its own; ids of several sort by the time when they were made.
    order: Order = By("id" if memory is None else "seq", descending=True)
    where = And(tuple(parts))
    page = await reading.reader.find(AUDIT, Find(kind=AuditRecord, where=where, order=order, first=first, after=after))

    async def count() -> int:
        return (await reading.reader.aggregate(AUDIT, AuditRecord, where)).get(None, 0)

    return Listing(items=page.nodes, places=page.places, more=page.more, count=count)


async def _memory_of(reading: Reading, target: NodeId | None) -> NodeId | None:
    """Return the memory that a target is or is in; None where it is neither, or gone."""
    if target is None or prefix_of(target) not in (WorkspaceMemory.PREFIX, MemoryFile.PREFIX):
        return None
    found = (await reading.reader.get(AUDIT, [target])).get(target)
    if isinstance(found, WorkspaceMemory | MemoryFile) and found.workspace == reading.facts.workspace:
        return found.pool
    return target if prefix_of(target) == WorkspaceMemory.PREFIX else None
