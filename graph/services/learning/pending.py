"""What waits for Stage B: rows made with their item, taken away with the batch that used it (DR-31, DR-79).

A row waits as long as its item can be seen by anyone: what was withdrawn does not count, and waits on when it returns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from graph.model.errors import Forbidden, NotFound
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.evidence import Source, SourceKind
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.learning import PendingItem, PendingState
from graph.model.nodes.people import PrincipalKind
from graph.rules.changes import Changes
from graph.rules.pending import MAX_FAILURES, pending_id, pending_item, waits
from graph.rules.pools import scope_of
from graph.rules.scopes import check_write
from graph.services.access.commands import Command
from graph.services.learning.stage_a import read_again
from graph.services.ledger import COMMIT_GUARD
from graph.store.port import Reader, Writer
from graph.store.query import And, By, Eq, Find, Where


def pend(changes: Changes, source: Source, agent: NodeId, *, replaces: Source | None = None) -> None:
    """Let a new source wait, if it is of a kind that does; an older version of it waits no more."""
    if waits(source):
        changes.puts.append(pending_item(source, agent, source.created_at))
    if replaces is not None:
        changes.patches.setdefault(pending_id(replaces.id), {})["state"] = str(PendingState.CONSUMED)


async def pending_items(reader: Reader, agent: NodeId, *, pool: NodeId | None = None) -> list[PendingItem]:
    """Return what waits for an agent, in one base or in all, oldest first."""
    return await _live(reader, await _rows(reader, agent, PendingState.PENDING, pool))


async def parked_items(reader: Reader, agent: NodeId) -> list[PendingItem]:
    """Return what was parked because it failed too often, oldest first."""
    return await _live(reader, await _rows(reader, agent, PendingState.PARKED, None))


async def consume(writer: Writer, items: Iterable[PendingItem]) -> None:
    """Take items away, in the transaction of the batch that used them."""
    await writer.patch_many({item.id: {"state": str(PendingState.CONSUMED)} for item in items})


async def consume_source(writer: Writer, source: NodeId) -> None:
    """Take the row of a source away, if it has one: a learning task has used it (MA-7)."""
    await writer.patch_many({pending_id(source): {"state": str(PendingState.CONSUMED)}})


async def note_failure(writer: Writer, item: PendingItem) -> bool:
    """Count the failure of an item that was alone in its batch; true if it is parked now."""
    failures = item.failures + 1
    parked = failures >= MAX_FAILURES
    state = PendingState.PARKED if parked else PendingState.PENDING
    await writer.patch_many({item.id: {"failures": failures, "state": str(state)}})
    return parked


async def park(writer: Writer, items: Iterable[PendingItem]) -> None:
    """Set items aside until a person releases them."""
    await writer.patch_many({item.id: {"state": str(PendingState.PARKED)} for item in items})


async def release_parked(cmd: Command, id_: NodeId) -> bool:
    """Let a parked item wait again; false if it was not parked. A message goes back to Stage A, all else to Stage B.

    Args:
        cmd: the command of a person.
        id_: of the row, or of the episode or source itself.

    Raises:
        NotFound: no such item for the caller.
        Forbidden: the caller is no person.
        OperationRejected: ``SCOPE_FORBIDDEN``: he may only read the knowledge base of the item.
    """
    row_id = id_ if prefix_of(id_) == PendingItem.PREFIX else pending_id(id_)
    row = (await cmd.writer.get(COMMIT_GUARD, [row_id])).get(row_id)
    item = (await cmd.session.open([row.item_id])).get(row.item_id) if isinstance(row, PendingItem) else None
    if not isinstance(row, PendingItem) or item is None:
        raise NotFound
    if cmd.facts.kind is not PrincipalKind.HUMAN:
        raise Forbidden("only a person releases what was parked")
    base = (await cmd.writer.get(COMMIT_GUARD, [row.pool])).get(row.pool) if row.pool else None
    if not isinstance(base, KnowledgeBase):
        raise NotFound
    check_write(cmd.facts, scope_of(base))
    if row.state != PendingState.PARKED:
        return False
    state = PendingState.PENDING
    if isinstance(item, Source) and item.kind == SourceKind.MESSAGE:
        await read_again(cmd.writer, [item])
        state = PendingState.CONSUMED
    await cmd.writer.patch(row.id, {"state": str(state), "failures": 0})
    return True


async def _rows(reader: Reader, agent: NodeId, state: PendingState, pool: NodeId | None) -> Sequence[PendingItem]:
    parts: list[Where] = [Eq("agent_id", agent), Eq("state", str(state))]
    if pool is not None:
        parts.append(Eq("pool", pool))
    return (await reader.find(COMMIT_GUARD, Find(kind=PendingItem, where=And(parts), order=By("created_at")))).nodes


async def _live(reader: Reader, rows: Collection[PendingItem]) -> list[PendingItem]:
    audiences = await reader.audiences([row.item_id for row in rows]) if rows else {}
    return [row for row in rows if row.item_id in audiences and audiences[row.item_id].live]
