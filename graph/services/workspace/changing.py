"""The one way to change the files of a memory: numbers, history within its limits, sums, and the audit record.

Files, restoring and purging all write through here, in a transaction that holds the memory locked
(`finding.hold_memory`). Source: FM-26, FM-69 to FM-73, FM-82 to FM-85, FM-19.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from graph.model.fields import Json, Node
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.workspace import MemoryRevision, WorkspaceMemory
from graph.rules.memory_history import PathChange, Room, is_full, oldest_to_free, too_many
from graph.rules.memory_refusals import conflicting
from graph.rules.workspace_ids import outside
from graph.services.access.commands import Command
from graph.services.access.guards import put_all_alone
from graph.services.pool_audit import NOTHING, Beside, PoolStep, record_step
from graph.services.workspace.finding import MEMORIES, rules_of
from graph.store.port import Reader
from graph.store.query import And, By, Eq, Find, Where

_BATCH: Final = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Actor:
    """Who changes a memory (FM-71, FM-72).

    Attributes:
        principal_id: for a run its principal.
        run_id, tool_call_id: of a change by a tool of a run.
        kind: for the audit; None: that of the caller.
    """

    principal_id: NodeId
    run_id: NodeId | None = None
    tool_call_id: str | None = None
    kind: ModifierKind | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """The history of one path: how many changes there are, and the oldest of them."""

    count: int
    oldest: Sequence[MemoryRevision]


@dataclass(frozen=True, kw_only=True, slots=True)
class FileStep:
    """One committed change of the files of a memory.

    Attributes:
        operation: such as ``memory.file.update``.
        target: the file.
        changes: of paths, in the order of their numbers.
        content_bytes: by how much the files grow.
        files: by how many there are more.
        codes: for the audit, beside path and number.
        made: the file, if it is new.
        patch: what changes of the file, if it is there already.
        known: the history of paths, as far as it was read with the file.
    """

    operation: str
    target: NodeId
    changes: tuple[PathChange, ...]
    content_bytes: int = 0
    files: int = 0
    codes: Json = None
    made: tuple[Node, ...] = ()
    patch: Mapping[str, Any] = field(default_factory=dict)
    known: Mapping[str, Kept] = field(default_factory=dict)


def actor_of(cmd: Command) -> Actor:
    """Return the caller as an actor."""
    return Actor(principal_id=cmd.facts.principal)


async def write_step(cmd: Command, memory: WorkspaceMemory, actor: Actor, step: FileStep) -> WorkspaceMemory:
    """Write one change: the file, its revisions and the record; prune what must go. Who deletes a file does it after.

    Raises:
        WorkspaceRefused: ``conflict`` with reason ``memory_full``; nothing was pruned.
    """
    content = (memory.content_bytes or 0) + step.content_bytes
    limits = cmd.deps.memory_limits
    if step.content_bytes > 0 and is_full(content, limits):
        raise conflicting("memory", outside(memory.id), "memory_full", limit=limits.max_total_bytes)
    history = (memory.history_bytes or 0) - await _prune_paths(cmd, memory, step)
    made = _revisions(cmd, memory, actor, step.changes)
    history += sum(revision.previous_bytes for revision in made)
    freed, kept = await _prune_oldest(cmd, memory, Room(content=content, history=history), made)
    fields: dict[str, Any] = {
        "seq": memory.seq + len(made),
        "file_count": (memory.file_count or 0) + step.files,
        "content_bytes": content,
        "history_bytes": history - freed,
    }
    changes = {memory.id: fields, **({step.target: step.patch} if step.patch else {})}
    beside = Beside(nodes=[*step.made, *kept], changes=changes)
    codes = {"path": made[-1].path, "seq": made[-1].seq, **_moved(made), **(step.codes or {})}
    return await note(cmd, replace(memory, **fields), actor, step.operation, step.target, codes, beside)


async def note(
    cmd: Command,
    memory: WorkspaceMemory,
    actor: Actor,
    operation: str,
    target: NodeId,
    codes: Json = None,
    beside: Beside = NOTHING,
) -> WorkspaceMemory:
    """Write the audit record of a change in a memory; return the memory with the head of its chain."""
    step = PoolStep(
        operation=operation,
        actor=actor.principal_id,
        actor_kind=actor.kind or cmd.actor_kind,
        target=target,
        rules=rules_of(memory),
        codes={**(codes or {}), **_of_run(actor)} or None,
    )
    record = await record_step(cmd.writer, cmd.deps, memory, step, tx_id=cmd.tx_id, at=cmd.at, beside=beside)
    return replace(memory, audit_seq=record.seq, audit_head=record.hash)


async def put_in(cmd: Command, memory: WorkspaceMemory, nodes: Sequence[Node]) -> None:
    """Write new nodes of a memory, readable for whoever reads the memory."""
    await put_all_alone(cmd.writer, nodes, rules_of(memory))


def _of_run(actor: Actor) -> dict[str, Json]:
    given = {"run_id": actor.run_id and outside(actor.run_id), "tool_call_id": actor.tool_call_id}
    return {name: value for name, value in given.items() if value is not None}


def _moved(made: Sequence[MemoryRevision]) -> dict[str, Json]:
    return {"moved_path": made[-1].moved_path} if made[-1].moved_path is not None else {}


def _revisions(
    cmd: Command, memory: WorkspaceMemory, actor: Actor, changes: Iterable[PathChange]
) -> list[MemoryRevision]:
    return [
        MemoryRevision(
            id=cmd.deps.new_id(MemoryRevision.PREFIX),
            workspace=memory.workspace,
            pool=memory.id,
            created_at=cmd.at,
            memory_id=memory.id,
            seq=memory.seq + number,
            path=change.path,
            op=change.op,
            moved_path=change.moved_path,
            principal_id=actor.principal_id,
            run_id=actor.run_id,
            tool_call_id=actor.tool_call_id,
            previous_content=change.previous,
            previous_bytes=change.previous_bytes,
        )
        for number, change in enumerate(changes, 1)
    ]


async def kept_at(reader: Reader, memory: WorkspaceMemory, path: str) -> Kept:
    """Return the history of a path, with the oldest change, which one more may make too many; one round trip."""
    where = _at(memory, path)
    asked: Sequence[Callable[[], Awaitable[Any]]] = (
        lambda: reader.aggregate(MEMORIES, MemoryRevision, where),
        lambda: reader.find(MEMORIES, _oldest(where, 1)),
    )
    counts, page = await reader.together(asked)
    return Kept(count=counts.get(None, 0), oldest=page.nodes)


async def _prune_paths(cmd: Command, memory: WorkspaceMemory, step: FileStep) -> int:
    """Delete what is too old on the paths of a change; return how many bytes of history went (FM-82)."""
    freed = 0
    for path in dict.fromkeys(change.path for change in step.changes):
        new = sum(change.path == path for change in step.changes)
        kept = step.known.get(path) or await kept_at(cmd.writer, memory, path)
        surplus = min(too_many(kept.count, new, cmd.deps.memory_limits), kept.count)
        oldest = kept.oldest
        if surplus > len(oldest):  # fewer may be kept than when they were written
            oldest = (await cmd.writer.find(MEMORIES, _oldest(_at(memory, path), surplus))).nodes
        freed += await _delete(cmd, oldest[:surplus])
    return freed


def _at(memory: WorkspaceMemory, path: str) -> Where:
    return And((Eq("memory_id", memory.id), Eq("path", path)))


async def _prune_oldest(
    cmd: Command, memory: WorkspaceMemory, room: Room, made: Sequence[MemoryRevision]
) -> tuple[int, Sequence[MemoryRevision]]:
    """Delete the oldest history of all paths until the rest fits; return its bytes and what of `made` stays (FM-84)."""
    wanted, freed = room.over(cmd.deps.memory_limits), 0
    oldest = _oldest(Eq("memory_id", memory.id), _BATCH)
    while freed < wanted:
        found = (await cmd.writer.find(MEMORIES, oldest)).nodes
        if not found:
            gone = oldest_to_free(made, wanted - freed)
            return freed + sum(revision.previous_bytes for revision in gone), made[len(gone) :]
        freed += await _delete(cmd, oldest_to_free(found, wanted - freed))
    return freed, made


def _oldest(where: Where, first: int) -> Find[MemoryRevision]:
    """Return the question for the oldest revisions; what they hold may be left empty."""
    return Find(kind=MemoryRevision, where=where, order=By("seq"), first=first, without=("previous_content",))


async def _delete(cmd: Command, revisions: Sequence[MemoryRevision]) -> int:
    if revisions:
        await cmd.writer.delete([revision.id for revision in revisions])
    return sum(revision.previous_bytes for revision in revisions)
