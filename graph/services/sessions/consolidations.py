"""The records of consolidations: written when one begins, ended with it, and read by who may read the session.

They hold codes and times, never content. Source: SM-122, AM-33.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from graph.model.access import SystemScope
from graph.model.errors import InvalidRequest
from graph.model.ids import NodeId
from graph.model.nodes.sessions import Consolidation, Outcome
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.jobs import DROPPED
from graph.services.access.session import Session as Reading
from graph.services.sessions.finding import open_session
from graph.store.port import Reader, Writer
from graph.store.query import And, By, Eq, Find

RECORDS = SystemScope(reason="records of consolidations")
LEARN_SESSION: Final = "learn_session"
LEARN_AGENT: Final = "learn_agent"
MAX_FIRST: Final = 500
OF_SESSION: Final = "session"
OF_AGENT: Final = "agent"
_OF: Final = {LEARN_SESSION: OF_SESSION, LEARN_AGENT: OF_AGENT}


@dataclass(frozen=True, kw_only=True, slots=True)
class Ending:
    """How a consolidation ended; `error` is a code."""

    outcome: Outcome
    error: str | None = None


async def begin_record(writer: Writer, record: Consolidation) -> None:
    """Write that a consolidation begins; one of the same kind that never ended is closed: its worker died."""
    left = await _open(writer, record.of, record.session_id)
    await writer.patch_many({old.id: _ended(record.started_at, Outcome.FAILED, DROPPED) for old in left})
    await writer.put([record])


async def end_record(writer: Writer, record: NodeId, at: Millis, ending: Ending) -> None:
    """Write how a consolidation ended; nothing if the record went with its session."""
    await writer.patch_many({record: _ended(at, ending.outcome, ending.error)})


async def close_records(writer: Writer, job: Job, code: str, at: Millis) -> None:
    """Close the record of a job that was given up while it ran."""
    if job.kind in _OF and job.subject_id is not None:
        left = await _open(writer, _OF[job.kind], job.subject_id)
        await writer.patch_many({old.id: _ended(at, Outcome.FAILED, code) for old in left})


async def consolidations(reading: Reading, session_id: NodeId, first: int = 100) -> Sequence[Consolidation]:
    """Return the consolidations of a session's memory, newest first.

    Raises:
        MissingObject: ``SessionNotFound``.
        InvalidRequest: `first` is not 1 to 500.
    """
    await open_session(reading, session_id)
    if not 1 <= first <= MAX_FIRST:
        raise InvalidRequest(f"first is 1 to {MAX_FIRST}", path="first")
    where = And((Eq("session_id", session_id), Eq("of", OF_SESSION)))
    query = Find(kind=Consolidation, where=where, order=By("started_at", descending=True), first=first)
    return (await reading.reader.find(RECORDS, query)).nodes


async def _open(reader: Reader, of: str, session: NodeId | None) -> Sequence[Consolidation]:
    where = And((Eq("session_id", session), Eq("of", of), Eq("outcome", "")))
    return (await reader.find(RECORDS, Find(kind=Consolidation, where=where))).nodes


def _ended(at: Millis, outcome: Outcome, error: str | None) -> dict[str, object]:
    return {"ended_at": at, "outcome": str(outcome), "error": error}
