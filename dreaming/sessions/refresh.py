"""Consolidating a session at once, for who waits for it. Source: SM-46 to SM-52, SM-116."""

from __future__ import annotations

from dreaming.jobs import ModelMaker
from graph.model.ids import NodeId
from graph.services.access.caller import Caller
from graph.services.deps import Deps


async def refresh_session(deps: Deps, models: ModelMaker, caller: Caller, session_id: NodeId) -> None:
    """Consolidate a session and return once that was committed; read the session afterwards.

    Nothing happens while `generate` is off, or if no item is unread. A running consolidation is waited for.

    Raises:
        MissingObject: ``SessionNotFound``.
        Forbidden: the caller may read but not write it.
        SurfaceConflict: ``SessionConflict`` with the reason ``no_model``.
        ModelFailed: the model gave no answer that can be used; nothing changed, and the error was recorded.
    """
    raise NotImplementedError
