"""What people do to a session's memory: remember, forget, configure. Source: SM-31 to SM-57."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from graph.model.errors import SurfaceConflict
from graph.model.ids import NodeId, local_part
from graph.model.nodes.people import PrincipalKind
from graph.model.nodes.sessions import EntryStatus, ItemType, Session, SessionFact, SessionItem
from graph.rules.session_memory import (
    CONFLICT,
    Seen,
    check_room,
    check_seen,
    checked_content,
    checked_key,
    checked_kind,
)
from graph.services.access.commands import Command
from graph.services.sessions.changing import FactState, SessionStep, actor_of, next_item, write_step
from graph.services.sessions.finding import hold_writable
from graph.services.sessions.state import count_active, current_facts


async def remember(cmd: Command, session_id: NodeId, seen: Seen, *, key: str, content: str, kind: str) -> Session:
    """Make a fact, or replace and revive the one under its key; the edit is an item and the fact's only source.

    Raises:
        MissingObject, Forbidden: the caller may not read the session, or not write it.
        InvalidRequest: a key, content or kind that cannot be taken.
        SurfaceConflict: ``stale``, ``memory_full``.
    """
    session = await hold_writable(cmd, session_id)
    name, text, sort = checked_key(key), checked_content(content), checked_kind(kind)
    check_seen(session, seen)
    before = (await current_facts(cmd.writer, session.id, [name])).get(name)
    if before is None or before.status != EntryStatus.ACTIVE:
        check_room(await count_active(cmd.writer, session.id))
    edit = {"command": "Remember", "key": name, "content": text, "kind": str(sort)}
    return await _edit(cmd, session, edit, FactState(key=name, content=text, kind=sort, sources=(), by_person=True))


async def forget(cmd: Command, session_id: NodeId, seen: Seen, *, key: str) -> Session:
    """Retract a fact; one that is retracted already is retracted anew (SM-35).

    Raises:
        MissingObject, Forbidden, InvalidRequest: as for `remember`.
        SurfaceConflict: ``stale``, ``unknown_key``.
    """
    session = await hold_writable(cmd, session_id)
    name = checked_key(key)
    check_seen(session, seen)
    before = (await current_facts(cmd.writer, session.id, [name])).get(name)
    if before is None:
        raise SurfaceConflict(CONFLICT, "unknown_key", "no fact has this key")
    return await _edit(cmd, session, {"command": "Forget", "key": name}, _retracted(before))


async def configure(cmd: Command, session_id: NodeId, seen: Seen, switches: Mapping[str, bool | None]) -> Session:
    """Set or delete overrides of a session; the history stays as it is (SM-41 to SM-45).

    Args:
        cmd: of the caller.
        session_id: the session.
        seen: what the caller last saw of it.
        switches: ``use`` and ``generate``, those to change only; None follows the organization again.

    Raises:
        MissingObject, Forbidden: as for `remember`.
        SurfaceConflict: ``stale``.
    """
    session = await hold_writable(cmd, session_id)
    check_seen(session, seen)
    step = SessionStep(operation="session.configure", by=actor_of(cmd), codes=dict(switches), fields=dict(switches))
    return await write_step(cmd.writer, cmd.deps, session, step, tx_id=cmd.tx_id, at=cmd.at)


async def _edit(cmd: Command, session: Session, edit: Mapping[str, str], state: FactState) -> Session:
    item = _edit_item(cmd, session, edit)
    local = local_part(item.id)
    step = SessionStep(
        operation=f"session.{edit['command'].lower()}",
        by=actor_of(cmd),
        codes={"item": local},
        items=(item,),
        facts=(replace(state, sources=(local,)),),
        processed=(local,),
    )
    return await write_step(cmd.writer, cmd.deps, session, step, tx_id=cmd.tx_id, at=cmd.at)


def _edit_item(cmd: Command, session: Session, edit: Mapping[str, str]) -> SessionItem:
    """Return the item that records an edit; it is read at once, so learning never reads it (SM-38)."""
    return next_item(
        cmd.deps,
        session,
        cmd.at,
        type=ItemType.MEMORY_EDIT,
        person_id=cmd.facts.principal if cmd.facts.kind is PrincipalKind.HUMAN else None,
        edit=dict(edit),
        occurred_at=cmd.at,
        processed=True,
    )


def _retracted(before: SessionFact) -> FactState:
    return FactState(
        key=before.key,
        content=before.content,
        kind=before.kind,
        sources=(),
        status=EntryStatus.RETRACTED,
        by_person=True,
    )
