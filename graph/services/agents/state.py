"""The present memory of an agent, read under its lock, and the one way to make a version of it.

The pool is made at its first use. People, learning and promotion all write through `write_version`: the entries, one
row of the log and the audit record, in the caller's transaction. Source: AM-7, AM-18, AM-34, ADR 0032.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from graph.model.access import Clause, Rule, RuleKind, SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.errors import BadInput, Forbidden, MissingObject
from graph.model.ids import NodeId, WorkspaceId, hosted_id, local_part
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.people import Principal, PrincipalKind, Right
from graph.model.nodes.sessions import AgentChange, AgentEntry, AgentMemory, ChangeCause
from graph.rules.agent_memory import NOT_FOUND, EntryState, stored_sources
from graph.rules.guarding import guard_of
from graph.rules.rights import ViewerFacts, surface_rights
from graph.services.access.commands import Command
from graph.services.access.guards import put_alone
from graph.services.audience import decide_new
from graph.services.pool_audit import PoolStep, record_step
from graph.store.port import Reader, Writer
from graph.store.query import Direction, Eq, Find

AGENTS = SystemScope(reason="the memory of an agent under its lock")
_CHANGING: Final = ("content", "kind", "status", "sources", "updated_at", "changed_in", "by_person")
"""Fields of an entry that a later version of it changes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VersionStep:
    """One version of an agent's memory.

    Attributes:
        operation: for the audit, such as ``agent.learn``.
        actor: who did it; `on_behalf_of` the person that a host named.
        entries: as they are to be, at most one a key; not empty.
    """

    cause: ChangeCause
    operation: str
    actor: NodeId
    actor_kind: ModifierKind
    entries: Sequence[EntryState]
    on_behalf_of: NodeId | None = None


def agent_id(workspace: WorkspaceId, local: str) -> NodeId:
    """Return the internal id of an agent by its local id.

    Raises:
        MissingObject: no agent can have such an id.
    """
    try:
        return hosted_id(Principal.PREFIX, workspace, local, container=PrincipalKind.AGENT)
    except BadInput:
        raise MissingObject(NOT_FOUND) from None


def memory_id(agent: NodeId) -> NodeId:
    """Return the id of the pool of an agent."""
    workspace = agent.partition("_")[2].partition("/")[0]
    return hosted_id(AgentMemory.PREFIX, workspace, local_part(agent))


def rules_of(agent: NodeId) -> Clause:
    """Return who may read all that an agent remembers: who has `read` on it (AM-44)."""
    return frozenset({Rule(RuleKind.BOT, agent)})


async def check_readable(reader: Reader, facts: ViewerFacts, agent: NodeId) -> Principal:
    """Return an agent whose memory the caller may read.

    Raises:
        MissingObject: missing, deleted, no agent, or not for him, all alike (AM-17).
    """
    found = (await reader.get(AGENTS, [agent])).get(agent)
    if not isinstance(found, Principal) or found.kind != PrincipalKind.AGENT or found.workspace != facts.workspace:
        raise MissingObject(NOT_FOUND)
    if found.deleted_at is not None or Right.READ not in surface_rights(facts, agent):
        raise MissingObject(NOT_FOUND)
    return found


def require_write(facts: ViewerFacts, agent: NodeId) -> None:
    """Refuse who may read an agent's memory but not write it.

    Raises:
        Forbidden: he may not (AM-17).
    """
    if Right.WRITE not in surface_rights(facts, agent):
        raise Forbidden("this needs the right write on the agent")


async def hold_writable(cmd: Command, agent: NodeId) -> AgentMemory:
    """Lock the memory of an agent that the caller may write and return its present state.

    Raises:
        MissingObject, Forbidden: he may not read it, or not write it.
    """
    await check_readable(cmd.writer, cmd.facts, agent)
    require_write(cmd.facts, agent)
    return await hold_memory(cmd, agent)


async def hold_memory(cmd: Command, agent: NodeId) -> AgentMemory:
    """Lock the memory of an agent, make it if it is not there yet, and return its present state."""
    id_ = memory_id(agent)
    await cmd.writer.lock([id_])
    found = await find_memory(cmd.writer, agent)
    if found is not None:
        return found
    made = AgentMemory(id=id_, workspace=cmd.caller.workspace, pool=id_, created_at=cmd.at, agent_id=agent)
    await put_alone(cmd.writer, made, rules_of(agent))
    return made


async def find_memory(reader: Reader, agent: NodeId) -> AgentMemory | None:
    """Return the memory of an agent; None if it was never used."""
    id_ = memory_id(agent)
    found = (await reader.get(AGENTS, [id_])).get(id_)
    return found if isinstance(found, AgentMemory) else None


async def entries_of(reader: Reader, agent: NodeId) -> dict[str, AgentEntry]:
    """Return all entries of an agent by key, retracted ones included."""
    page = await reader.find(AGENTS, Find(kind=AgentEntry, where=Eq("agent_id", agent)))
    return {entry.key: entry for entry in page.nodes}


async def write_version(cmd: Command, pool: AgentMemory, step: VersionStep) -> AgentMemory:
    """Commit one version of a memory that the caller holds locked; return the memory as it is now."""
    version = pool.version + 1
    before = await entries_of(cmd.writer, pool.agent_id)
    made = [_entry(cmd, pool, state, before.get(state.key), version) for state in step.entries]
    old = [entry for entry in made if entry.key in before]
    new = [entry for entry in made if entry.key not in before]
    await cmd.writer.patch_many({entry.id: _fields(entry) for entry in old})
    await _unlink(cmd.writer, [entry.id for entry in old])
    await cmd.writer.put([*new, _change(cmd, pool, step, version)])
    links = _citations(made, step.entries)
    await cmd.writer.link(links)
    await decide_new(cmd.writer, [guard_of(entry, rules_of(pool.agent_id)) for entry in new], links)
    await cmd.writer.patch_many({pool.id: {"version": version}})
    return await _audited(cmd, replace(pool, version=version), step, [entry.id for entry in made])


def _entry(cmd: Command, pool: AgentMemory, state: EntryState, before: AgentEntry | None, version: int) -> AgentEntry:
    return AgentEntry(
        id=before.id if before else cmd.deps.new_id(AgentEntry.PREFIX),
        workspace=pool.workspace,
        pool=pool.id,
        created_at=before.created_at if before else cmd.at,
        agent_id=pool.agent_id,
        key=state.key,
        content=state.content,
        kind=state.kind,
        status=state.status,
        sources=stored_sources(state),
        updated_at=state.updated_at,
        changed_in=version,
        by_person=state.by_person,
    )


def _fields(entry: AgentEntry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in _CHANGING}


def _change(cmd: Command, pool: AgentMemory, step: VersionStep, version: int) -> AgentChange:
    return AgentChange(
        id=cmd.deps.new_id(AgentChange.PREFIX),
        workspace=pool.workspace,
        pool=pool.id,
        created_at=cmd.at,
        version=version,
        at=cmd.at,
        cause=step.cause,
        keys=tuple(sorted(state.key for state in step.entries)),
    )


async def _unlink(writer: Writer, entries: Collection[NodeId]) -> None:
    if entries:
        await writer.unlink(await writer.edges(AGENTS, sorted(entries), [EdgeType.CITES], Direction.OUT))


def _citations(made: Sequence[AgentEntry], states: Sequence[EntryState]) -> list[Edge]:
    return [
        Edge(type=EdgeType.CITES, source=entry.id, target=item)
        for entry, state in zip(made, states, strict=True)
        for item in state.sources
    ]


async def _audited(cmd: Command, pool: AgentMemory, step: VersionStep, entries: Sequence[NodeId]) -> AgentMemory:
    """Write the audit record and return the memory with its head."""
    noted = PoolStep(
        operation=step.operation,
        actor=step.actor,
        actor_kind=step.actor_kind,
        target=entries[0] if len(entries) == 1 else pool.id,
        rules=rules_of(pool.agent_id),
        on_behalf_of=step.on_behalf_of,
        codes={"version": pool.version, "entries": list(entries)},
    )
    record = await record_step(cmd.writer, cmd.deps, pool, noted, tx_id=cmd.tx_id, at=cmd.at)
    return replace(pool, audit_seq=record.seq, audit_head=record.hash)
