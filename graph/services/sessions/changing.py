"""The one way to change a session: new items, one change of its memory, revision + 1 and the audit record.

Commands, hosts and learning all write through `write_step`, in a transaction of theirs that holds the session locked.
Source: SM-25, SM-70 to SM-74, ADR 0032.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from graph.model.edges import Edge, EdgeType
from graph.model.fields import Json, Node
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.sessions import EntryStatus, Session, SessionChange, SessionFact, SessionItem
from graph.model.time import Millis
from graph.services.access.commands import Command
from graph.services.access.guards import put_all_alone
from graph.services.deps import Deps
from graph.services.pool_audit import PoolStep, record_step
from graph.services.sessions.finding import rules_of
from graph.services.sessions.state import current_facts, item_id
from graph.store.port import Writer

_BATCH: Final = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Actor:
    """Who changes a session; `on_behalf_of` is the person that a host named (AD-16)."""

    id: NodeId
    kind: ModifierKind
    on_behalf_of: NodeId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FactState:
    """What a fact is to be.

    Attributes:
        sources: local ids of the items that support it, in history order.
        by_person: a person's command makes it, not learning.
    """

    key: str
    content: str
    kind: str
    sources: tuple[str, ...]
    status: str = EntryStatus.ACTIVE
    by_person: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionStep:
    """One committed change of a session.

    Attributes:
        operation: for the audit, such as ``session.learn``.
        codes: for the audit: ids and codes, never content or keys.
        target: for the audit; None: the session.
        items: new ones, made by `next_item`; each follows the one before.
        facts: their new states, at most one a key.
        processed: local ids of items that were read with this change, in history order.
        fields: further fields of the session to set.
    """

    operation: str
    by: Actor
    codes: Json = None
    target: NodeId | None = None
    items: tuple[SessionItem, ...] = ()
    facts: tuple[FactState, ...] = ()
    processed: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)


def actor_of(cmd: Command, person: NodeId | None = None) -> Actor:
    """Return the caller as an actor, and whom he named."""
    return Actor(id=cmd.facts.principal, kind=cmd.actor_kind, on_behalf_of=person)


def next_item(deps: Deps, session: Session, at: Millis, **fields: Any) -> SessionItem:
    """Return the item that follows the present version; ``id`` is made unless it is among `fields`."""
    made: dict[str, Any] = {
        "id": fields.pop("id", None) or item_id(session, deps.ids.new()),
        "workspace": session.workspace,
        "pool": session.id,
        "created_at": at,
        "session_id": session.id,
        "head": f"v-{deps.ids.new()}",
        "parent": session.head,
        "depth": session.depth + 1,
        "change_seq": session.change_seq,
    }
    return SessionItem(**made, **fields)


async def apply_change(
    writer: Writer,
    deps: Deps,
    session: Session,
    by: Actor,
    *,
    facts: Sequence[FactState],
    processed: Sequence[str],
    tx_id: str,
    at: Millis,
    operation: str = "session.learn",
) -> Session:
    """Write what was learned at the present version: no item, no new head, revision + 1 (SM-74, SM-113, SM-114).

    Args:
        writer: of a transaction that holds the session (`finding.hold_session`).
        deps: makes ids.
        session: its present state, read under the lock.
        by: who learned it.
        facts: new states, at most one a key; those that break a rule were dropped before.
        processed: local ids of the items that were read, in history order.
        tx_id: of the transaction.
        at: its time.
        operation: for the audit.

    Returns:
        The session as it is now; unchanged if there is neither a fact nor a read item.
    """
    if not facts and not processed:
        return session
    codes = {"facts": len(facts), "read": len(processed)}
    step = SessionStep(operation=operation, by=by, codes=codes, facts=tuple(facts), processed=tuple(processed))
    return await write_step(writer, deps, session, step, tx_id=tx_id, at=at)


async def write_step(
    writer: Writer, deps: Deps, session: Session, step: SessionStep, *, tx_id: str, at: Millis
) -> Session:
    """Commit one change of a session that the caller holds locked; return the session as it is now."""
    at = Millis(max(at, session.updated_at))  # a writer who waited for the lock began earlier
    fields: dict[str, Any] = {**step.fields, "revision": session.revision + 1, "updated_at": at}
    if step.items:
        await put_in(writer, session, step.items)
        fields |= {"head": step.items[-1].head, "depth": step.items[-1].depth}
    if step.facts or step.processed:
        fields["change_seq"] = session.change_seq + 1
    changed = replace(session, **fields)
    await _write_memory(writer, deps, changed, step, at)
    await writer.patch_many({session.id: fields})
    return await note_step(writer, deps, changed, step, tx_id=tx_id, at=at)


async def note_step(
    writer: Writer, deps: Deps, session: Session, step: SessionStep, *, tx_id: str, at: Millis
) -> Session:
    """Write the audit record of a step and return the session with the head of its chain."""
    noted = PoolStep(
        operation=step.operation,
        actor=step.by.id,
        actor_kind=step.by.kind,
        target=step.target or session.id,
        rules=rules_of(session),
        on_behalf_of=step.by.on_behalf_of,
        codes=step.codes,
    )
    record = await record_step(writer, deps, session, noted, tx_id=tx_id, at=at)
    return replace(session, audit_seq=record.seq, audit_head=record.hash)


async def put_in(writer: Writer, session: Session, nodes: Sequence[Node]) -> None:
    """Write nodes of a session that rest on nothing, or need nothing of what they rest on, in batches."""
    rules = rules_of(session)
    for start in range(0, len(nodes), _BATCH):
        await put_all_alone(writer, nodes[start : start + _BATCH], rules)


def citations(session: Session, facts: Iterable[SessionFact]) -> list[Edge]:
    """Return the links from facts to the items that support them."""
    return [
        Edge(type=EdgeType.CITES, source=fact.id, target=item_id(session, local))
        for fact in facts
        for local in fact.sources
    ]


async def _write_memory(writer: Writer, deps: Deps, session: Session, step: SessionStep, at: Millis) -> None:
    if not step.facts and not step.processed:
        return
    made = [_fact(deps, session, state, at) for state in step.facts]
    before = await current_facts(writer, session.id, [fact.key for fact in made]) if made else {}
    await writer.patch_many({fact.id: {"current": False} for fact in before.values()})
    await put_in(writer, session, made)
    await writer.link(citations(session, made))
    new = {item.id for item in step.items}
    read = [id_ for id_ in (item_id(session, local) for local in step.processed) if id_ not in new]
    await writer.patch_many({id_: {"processed": True} for id_ in read})
    await writer.put([_change(deps, session, step, made, at)])


def _fact(deps: Deps, session: Session, state: FactState, at: Millis) -> SessionFact:
    return SessionFact(
        id=deps.new_id(SessionFact.PREFIX),
        workspace=session.workspace,
        pool=session.id,
        created_at=at,
        session_id=session.id,
        key=state.key,
        content=state.content,
        kind=state.kind,
        status=state.status,
        sources=state.sources,
        updated_at=at,
        change=session.change_seq,
        by_person=state.by_person,
    )


def _change(deps: Deps, session: Session, step: SessionStep, made: Sequence[SessionFact], at: Millis) -> SessionChange:
    return SessionChange(
        id=deps.new_id(SessionChange.PREFIX),
        workspace=session.workspace,
        pool=session.id,
        created_at=at,
        session_id=session.id,
        seq=session.change_seq,
        head=session.head,
        facts=tuple(fact.id for fact in made),
        processed=step.processed,
    )
