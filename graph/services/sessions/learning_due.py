"""What a completed turn makes due: consolidating the memory of its session, and that of its agent.

Called in the transaction that completes the turn; nobody waits for what it asks for (SM-120).
Source: SM-95 to SM-97, AM-22 to AM-27.
"""

from __future__ import annotations

from graph.model.nodes.sessions import Session, Turn
from graph.services.access.commands import Command


async def learning_due(cmd: Command, session: Session, turn: Turn) -> None:
    """Ask for what a turn that was just written as completed makes due; call it last, it locks ids of jobs.

    Args:
        cmd: of the transaction that completes the turn.
        session: as it is then.
        turn: as it is then; its `model` None says that only App actions ran.
    """
    del cmd, session, turn
