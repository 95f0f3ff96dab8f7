"""The port to the records of record memories, as the tools of runs and recall use it (RM-53, MT-51, MT-62).

Rights were checked by who calls. Errors are `WorkspaceRefused` with the codes of the record routes: ``not_found`` of
kind ``memory_record``; ``invalid_argument`` at `text`, `query` or `cursor`; ``conflict`` with reason
``write_unconfirmed``; ``unavailable``; ``disabled``. The adapter is `Deps.records`; it audits what it confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graph.model.ids import NodeId
from graph.model.nodes.workspace import WorkspaceMemory
from graph.services.access.caller import Caller


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """One record (RM-34).

    Attributes:
        score: nearness in [0, 1] in a search, else None.
        updated_at: as the backend writes it; None if it does not say.
    """

    id: str
    text: str
    score: float | None = None
    updated_at: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordPage:
    """Records in the order of the backend.

    Attributes:
        places: of each record, the cursor that goes on after it.
        next_cursor: what goes on after the page; None at the end.
    """

    records: Sequence[Record]
    places: Sequence[str]
    next_cursor: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordActor:
    """Who changes records.

    Attributes:
        caller: whose request it is.
        principal_id: for whom it is done: the caller himself, or the principal of the run.
        run_id, tool_call_id: of a change by a tool of a run.
    """

    caller: Caller
    principal_id: NodeId
    run_id: NodeId | None = None
    tool_call_id: str | None = None


class RecordBackend(Protocol):
    """Reads and changes the records of one memory; every write is sent once (RM-37)."""

    async def search(self, memory: WorkspaceMemory, query: str, *, limit: int) -> Sequence[Record]:
        """Return the records nearest to a query, nearest first, each with its score."""
        ...

    async def list(self, memory: WorkspaceMemory, *, limit: int, cursor: str | None = None) -> RecordPage:
        """Return a page of records."""
        ...

    async def add(self, memory: WorkspaceMemory, text: str, actor: RecordActor) -> Record:
        """Add a record."""
        ...

    async def update(self, memory: WorkspaceMemory, record_id: str, text: str, actor: RecordActor) -> Record:
        """Replace the text of a record."""
        ...

    async def delete(self, memory: WorkspaceMemory, record_id: str, actor: RecordActor) -> None:
        """Delete a record."""
        ...
