"""How far a stage has come with what it works on, one row a key; the same for both stages (DR-26, DR-77)."""

from __future__ import annotations

from typing import Protocol

from graph.model.access import SystemScope
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.learning import Progress
from graph.model.time import Millis
from graph.store.port import Reader, Writer

_PROGRESS = SystemScope(reason="how far Dreaming has come")


class ProgressKey(Protocol):
    """What a stage works on at a time: a channel with a base, an agent, or one of its bases."""

    @property
    def progress_id(self) -> NodeId:
        """Id of its row of progress."""
        ...

    def new_progress(self, workspace: WorkspaceId, at: Millis) -> Progress:
        """Return the row as it is before anything was read."""
        ...


async def find_progress(reader: Reader, key: ProgressKey) -> Progress | None:
    """Return how far the work of a key has come; None if it never began."""
    found = (await reader.get(_PROGRESS, [key.progress_id])).get(key.progress_id)
    return found if isinstance(found, Progress) else None


async def hold_progress(writer: Writer, key: ProgressKey, workspace: WorkspaceId, at: Millis) -> Progress:
    """Return the row of a key, made if it is not there; the caller holds its id."""
    found = await find_progress(writer, key)
    if found is None:
        found = key.new_progress(workspace, at)
        await writer.put([found])
    return found
