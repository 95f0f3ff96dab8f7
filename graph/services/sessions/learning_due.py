"""What a completed turn makes due: consolidating the memory of its session, and that of its agent.

Called in the transaction that completes the turn; nobody waits for what it asks for (SM-120).
Source: SM-95 to SM-97, AM-20 to AM-27.
"""

from __future__ import annotations

from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.sessions import Session, Turn, TurnState
from graph.rules.agent_learning import learning_model
from graph.services.access.commands import Command
from graph.services.learning.jobs import enqueue
from graph.services.sessions.consolidations import LEARN_AGENT, LEARN_SESSION
from graph.services.sessions.finding import SESSIONS
from graph.services.sessions.state import organization_settings, switches_of
from graph.store.port import Reader
from graph.store.query import And, Eq, Find


def session_key(session_id: NodeId) -> str:
    """Return the unique key of the job that consolidates a session: one runs at a time (SM-114)."""
    return f"{LEARN_SESSION}:{session_id}"


def agent_key(agent_id: NodeId, session_id: NodeId) -> str:
    """Return the unique key of the step of an agent that a turn of a session makes due (AM-34)."""
    return f"{LEARN_AGENT}:{agent_id}:{session_id}"


async def learning_due(cmd: Command, session: Session, turn: Turn) -> None:
    """Ask for what a turn that was just written as completed makes due; call it last, it locks ids of jobs.

    Args:
        cmd: of the transaction that completes the turn.
        session: as it is then.
        turn: as it is then; its `model` None says that only App actions ran.
    """
    if await _agent_is_due(cmd.writer, session):
        await _ask(cmd, LEARN_AGENT, agent_key(session.agent_id, session.id), session, turn)
    if turn.model is not None and (await switches_of(cmd.writer, session)).generate:
        await _ask(cmd, LEARN_SESSION, session_key(session.id), session, turn)


async def _agent_is_due(reader: Reader, session: Session) -> bool:
    """True if the agent of a session learns at all and no turn of it waits in any session (AM-22, AM-23)."""
    if learning_model(await organization_settings(reader, session)) is None:
        return False
    waiting = And((Eq("agent_id", session.agent_id), Eq("state", TurnState.QUEUED)))
    queue = (await reader.find(SESSIONS, Find(kind=Turn, where=waiting))).nodes
    return not any(prefix_of(turn.place_id) == Session.PREFIX for turn in queue)


async def _ask(cmd: Command, kind: str, key: str, session: Session, turn: Turn) -> None:
    await enqueue(
        cmd.writer,
        kind,
        workspace=session.workspace,
        unique_key=key,
        due_at=cmd.at,
        now=cmd.at,
        subject=session.id,
        agent=session.agent_id,
        arguments={"turn": turn.id, "model": turn.model},
    )
