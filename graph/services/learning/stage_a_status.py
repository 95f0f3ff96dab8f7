"""What people see of Stage A: for each channel and base what waits, since when, and how the last runs ended (CO-66)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graph.model.ids import NodeId
from graph.model.nodes.evidence import Channel, Source
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.learning import Progress
from graph.model.time import Millis
from graph.rules.pools import scope_of
from graph.rules.scopes import may_read
from graph.rules.stage_a import StageAKey, pace_of
from graph.services.access.session import Session
from graph.services.learning.jobs import find_job
from graph.services.learning.progress import find_progress
from graph.services.learning.stage_a import COUNTING, keys_of, messages, unread, waiting_of
from graph.services.settings import load_settings
from graph.store.port import Reader
from graph.store.query import By, Eq, Find


@dataclass(frozen=True, kw_only=True, slots=True)
class StageAState:
    """One channel and base.

    Attributes:
        scope: kind of the base.
        oldest_pending_at: when the message that waits longest arrived.
        last_success_at: when the last batch was committed.
        failures: failed batches in a row; three of them are the alert ``stage_a_failing``.
        last_error: why the job waits or failed; None if it does not.
        next_try_at: when it is tried next; None if nothing is asked for.
    """

    key: StageAKey
    scope: str
    pending: int
    carried: int
    oldest_pending_at: Millis | None
    last_success_at: Millis | None
    failures: int
    last_error: str | None
    next_try_at: Millis | None


async def stage_a_states(session: Session, agent_id: NodeId) -> tuple[StageAState, ...]:
    """Return the channels and bases of an agent that the caller reads and in which something was said, by id."""
    return await _states(session, agent_id, readable=True)


async def unread_stage_a_states(session: Session, agent_id: NodeId) -> tuple[StageAState, ...]:
    """Return the others: of these an admin is told how many are affected, and nobody which (CO-68)."""
    return await _states(session, agent_id, readable=False)


async def _states(session: Session, agent_id: NodeId, *, readable: bool) -> tuple[StageAState, ...]:
    channels = (await session.reader.find(COUNTING, Find(kind=Channel, where=Eq("owner_id", agent_id)))).nodes
    mine = [channel for channel in channels if channel.workspace == session.caller.workspace]
    keys = {key: channel for channel in mine for key in keys_of(channel)}
    bases = await session.reader.get(COUNTING, sorted({key.kb for key in keys}))
    states = []
    for key in sorted(keys):
        base = bases.get(key.kb)
        if isinstance(base, KnowledgeBase) and may_read(session.viewer, scope_of(base)) is readable:
            states.append(await _state(session.reader, key, keys[key], base))
    return tuple(state for state in states if state is not None)


async def _state(reader: Reader, key: StageAKey, channel: Channel, base: KnowledgeBase) -> StageAState | None:
    progress = await find_progress(reader, key)
    settings = await load_settings(reader, channel.workspace, channel.owner_id)
    waiting = await waiting_of(reader, key, progress, channel, pace_of(settings))
    job = await find_job(reader, key.unique_key)
    if not waiting.pending and job is None:
        return None  # nothing was ever said here
    return StageAState(
        key=key,
        scope=base.kind,
        pending=waiting.pending,
        carried=len(await messages(reader, progress.carried)) if progress else 0,
        oldest_pending_at=await _oldest(reader, key, progress) if waiting.pending else None,
        last_success_at=progress.last_run_at if progress else None,
        failures=progress.failures if progress else 0,
        last_error=job.last_error if job else None,
        next_try_at=job.due_at if job and job.state == "queued" else None,
    )


async def _oldest(reader: Reader, key: StageAKey, progress: Progress | None) -> Millis | None:
    query = Find(kind=Source, where=unread(key, progress.cursor if progress else 0), order=By("seq"), first=1)
    waiting: Iterable[Source] = [
        *(await reader.find(COUNTING, query)).nodes,
        *await messages(reader, progress.returned if progress else ()),
    ]
    return min((message.recorded_at for message in waiting), default=None)
