"""The life of a turn as a host reports it, and the instructions that its model gets (SM-124, SM-83, SM-93).

A turn is no change of its session: it moves neither head nor revision.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from graph.model.errors import BadState, NotFound
from graph.model.ids import NodeId, hosted_id, local_part
from graph.model.nodes.sessions import Session, Turn, TurnState
from graph.rules.session_memory_text import SESSION_PREFACE, memory_text
from graph.services.access.commands import Command
from graph.services.agents.instructions import agent_instructions
from graph.services.sessions.changing import SessionStep, actor_of, note_step, put_in
from graph.services.sessions.finding import SESSIONS, check_person, hold_hosted
from graph.services.sessions.learning_due import learning_due
from graph.services.sessions.state import current_facts, switches_of
from graph.store.port import Reader
from graph.store.query import By, Eq, Find

OPEN = (TurnState.QUEUED, TurnState.RUNNING, TurnState.SUSPENDED)


def turn_id(session: Session, local: str) -> NodeId:
    """Return the internal id of a turn of a session.

    Raises:
        BadInput: the local id is not 1 to 128 characters of ``A-Za-z0-9._:-`` (AD-2).
    """
    return hosted_id(Turn.PREFIX, session.workspace, local, container=f"ses:{local_part(session.id)}")


async def queue_turn(cmd: Command, session_id: NodeId, turn: str, person_id: NodeId | None = None) -> Turn:
    """Note that a turn waits to run.

    Args:
        cmd: of a host.
        session_id: where it is to run.
        turn: local id of the turn, new in the session.
        person_id: whom it is for.

    Raises:
        Forbidden, MissingObject, NotFound: no host; an unknown or foreign session; such a person.
        BadState: the session has this turn already.
    """
    session = await hold_hosted(cmd, session_id)
    if await _find(cmd, session, turn) is not None:
        raise BadState("the session has this turn already: take a new id")
    return await _make(cmd, session, turn, TurnState.QUEUED, person_id)


async def begin_turn(cmd: Command, session_id: NodeId, turn: str, person_id: NodeId | None = None) -> str:
    """Start a turn, queued before or not, and return the text that belongs in its model's instructions.

    Raises:
        Forbidden, MissingObject, NotFound: as for `queue_turn`.
        BadState: it runs already, waits for approval or is over.
    """
    session = await hold_hosted(cmd, session_id)
    found = await _find(cmd, session, turn)
    if found is None:
        found = await _make(cmd, session, turn, TurnState.RUNNING, person_id, began_at=cmd.at)
    else:
        named = found.person_id if person_id is None else await _checked(cmd, session, person_id)
        found = await _move(
            cmd, session, found, (TurnState.QUEUED,), named, state=TurnState.RUNNING, person_id=named, began_at=cmd.at
        )
    return await instructions(cmd.writer, cmd.deps.session_memory.max_length, session, found.person_id)


async def suspend_turn(cmd: Command, session_id: NodeId, turn: str, person_id: NodeId | None = None) -> Turn:
    """Note that a running turn waits for approval; raises like `begin_turn`, and NotFound for an unknown turn."""
    session, found = await _held(cmd, session_id, turn, person_id)
    return await _move(cmd, session, found, (TurnState.RUNNING,), person_id, state=TurnState.SUSPENDED)


async def resume_turn(cmd: Command, session_id: NodeId, turn: str, person_id: NodeId | None = None) -> str:
    """Let a turn go on after an approval and return the text anew (SM-93); raises like `suspend_turn`.

    The turn stays with the person for whom it began; it is with the one named here if nobody was named then.
    """
    session, found = await _held(cmd, session_id, turn, person_id)
    whose = found.person_id or person_id
    await _move(cmd, session, found, (TurnState.SUSPENDED,), person_id, state=TurnState.RUNNING, person_id=whose)
    return await instructions(cmd.writer, cmd.deps.session_memory.max_length, session, person_id or whose)


async def complete_turn(cmd: Command, session_id: NodeId, turn: str, model: str | None) -> Turn:
    """End a turn; learning that is due is asked for and not waited for (SM-95, SM-120).

    Args:
        cmd: of a host.
        session_id: where it ran.
        turn: local id of the turn.
        model: name of the model profile that ran; None: only App actions did.

    Raises:
        Forbidden, MissingObject, NotFound, BadState: as for `suspend_turn`; it is over already.
    """
    session, found = await _held(cmd, session_id, turn, None)
    done = await _move(cmd, session, found, OPEN, None, state=TurnState.COMPLETED, model=model, ended_at=cmd.at)
    await learning_due(cmd, session, done)
    return done


async def cancel_turn(cmd: Command, session_id: NodeId, turn: str, person_id: NodeId | None = None) -> Turn:
    """End a turn that failed or was cancelled: nothing is learned of it now (SM-119); raises like `complete_turn`."""
    session, found = await _held(cmd, session_id, turn, person_id)
    return await _move(cmd, session, found, OPEN, person_id, state=TurnState.CANCELLED, ended_at=cmd.at)


async def instructions(reader: Reader, max_length: int, session: Session, person_id: NodeId | None) -> str:
    """Return the memory text of a turn: its agent's part and, with `use` in force, that of its session."""
    parts = [await agent_instructions(reader, session, person_id)]
    if (await switches_of(reader, session)).use:
        facts = await current_facts(reader, session.id)
        parts.append(memory_text(SESSION_PREFACE, facts.values(), max_length))
    return "\n\n".join(part for part in parts if part)


async def _held(cmd: Command, session_id: NodeId, turn: str, person_id: NodeId | None) -> tuple[Session, Turn]:
    session = await hold_hosted(cmd, session_id)
    if person_id is not None:
        await check_person(cmd, person_id, session.organization_id)
    found = await _find(cmd, session, turn)
    if found is None:
        raise NotFound
    return session, found


async def _find(cmd: Command, session: Session, turn: str) -> Turn | None:
    id_ = turn_id(session, turn)
    found = (await cmd.writer.get(SESSIONS, [id_])).get(id_)
    return found if isinstance(found, Turn) else None


async def _checked(cmd: Command, session: Session, person_id: NodeId) -> NodeId:
    await check_person(cmd, person_id, session.organization_id)
    return person_id


async def _make(
    cmd: Command, session: Session, turn: str, state: TurnState, person_id: NodeId | None, **fields: Any
) -> Turn:
    made = Turn(
        id=turn_id(session, turn),
        workspace=session.workspace,
        pool=session.id,
        created_at=cmd.at,
        place_id=session.id,
        agent_id=session.agent_id,
        person_id=None if person_id is None else await _checked(cmd, session, person_id),
        state=state,
        seq=await _next_seq(cmd, session),
        **fields,
    )
    await put_in(cmd.writer, session, [made])
    await _note(cmd, session, made, person_id)
    return made


async def _next_seq(cmd: Command, session: Session) -> int:
    query = Find(kind=Turn, where=Eq("place_id", session.id), order=By("seq", descending=True), first=1)
    return next((turn.seq for turn in (await cmd.writer.find(SESSIONS, query)).nodes), 0) + 1


async def _move(
    cmd: Command, session: Session, turn: Turn, allowed: Collection[TurnState], named: NodeId | None, **fields: Any
) -> Turn:
    """Take a turn to another state; `named` is whom the host named for this step.

    Raises:
        BadState: it is in none of the allowed states.
    """
    if turn.state not in allowed:
        raise BadState(f"the turn is {turn.state}")
    changed = replace(turn, **fields)
    await cmd.writer.patch_many({turn.id: fields})
    await _note(cmd, session, changed, named)
    return changed


async def _note(cmd: Command, session: Session, turn: Turn, named: NodeId | None) -> None:
    """Record what became of a turn, and whom the host named; where it named nobody, for whom the turn is (AD-16)."""
    by = actor_of(cmd, named or turn.person_id)
    step = SessionStep(operation=f"turn.{turn.state}", by=by, target=turn.id, codes={"state": turn.state})
    await note_step(cmd.writer, cmd.deps, session, step, tx_id=cmd.tx_id, at=cmd.at)
