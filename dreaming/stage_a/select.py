"""What the next batch of a channel holds, read under the scope of its base alone (DR-12 to DR-15, DR-19, KN-54)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dreaming.stage_a.prompt import costs_of
from graph.model.errors import OperationRejected
from graph.model.ids import NodeId, node_id
from graph.model.nodes.evidence import Channel, Source
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.learning import DreamBatch, DreamRun, Progress, RunState
from graph.model.nodes.people import PrincipalKind
from graph.model.nodes.work import Job
from graph.rules.pools import channel_facts
from graph.rules.scopes import ConversationFacts, MemoryScope, make_viewer
from graph.rules.stage_a import Batch, Limits, StageAKey, choose, is_due, is_overdue, limits_of, pace_of
from graph.services.access.caller import Caller
from graph.services.access.session import Session, read
from graph.services.deps import Deps
from graph.services.learning.stage_a import COUNTING, is_readable, unread, waiting_of
from graph.services.settings import load_settings
from graph.store.query import By, Find

NOTHING = Batch(messages=(), carried=frozenset(), may_stay_open=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Selected:
    """A batch with what it was chosen from.

    Attributes:
        progress: the row as it was read; a batch may be committed only onto the same version of it.
        batch: without messages if a run was begun and all that it was about is gone.
        limits: of its prompt.
    """

    key: StageAKey
    channel: Channel
    base: KnowledgeBase
    progress: Progress
    batch: Batch
    limits: Limits

    @property
    def run_id(self) -> NodeId:
        """Id of the run of this batch: one for each version of the progress, so that a restart finds it."""
        return run_id(self.progress)

    @property
    def batch_id(self) -> NodeId:
        """Id of the only batch of the run."""
        return batch_id(self.progress, self.progress.version)


def batch_id(progress: Progress, version: int) -> NodeId:
    """Return the id of the batch that worked on from a version of the progress."""
    return node_id(DreamBatch.PREFIX, f"{progress.id}/{version}")


def run_id(progress: Progress) -> NodeId:
    """Return the id of the run that works on from this progress."""
    return node_id(DreamRun.PREFIX, f"{progress.id}/{progress.version}")


def key_of(job: Job) -> StageAKey:
    """Return the pair that a job is about."""
    return StageAKey(channel=NodeId(job.arguments["channel"]), kb=NodeId(job.arguments["kb"]))


def agent_of(job: Job) -> Caller:
    """Return the agent of a job as the caller in whose name it reads and writes."""
    assert job.agent_id is not None
    return Caller(workspace=job.workspace, principal=job.agent_id, kind=PrincipalKind.AGENT)


async def select(deps: Deps, job: Job, *, halvings: int = 0, afresh: bool = False) -> Selected | None:
    """Return the next batch of a job's channel; None if nothing is due.

    A batch whose run was begun is chosen again as it was, as long as its messages are as they were.

    Args:
        deps: the ports.
        job: whose channel and base.
        halvings: the limits are halved so often, after answers that were cut.
        afresh: choose anew even if a run was begun: its messages changed.
    """
    selected, _ = await read(deps, agent_of(job), lambda session: _select(session, key_of(job), halvings, afresh))
    return selected


async def _select(session: Session, key: StageAKey, halvings: int, afresh: bool) -> Selected | None:
    reader = session.reader
    found = await reader.get(
        COUNTING,
        [
            key.channel,
            key.kb,
            key.progress_id,
        ],
    )
    channel, base, row = found.get(key.channel), found.get(key.kb), found.get(key.progress_id)
    if not isinstance(channel, Channel) or not isinstance(base, KnowledgeBase):
        return None
    progress = row if isinstance(row, Progress) else key.new_progress(channel.workspace, session.deps.now())
    settings = await load_settings(reader, channel.workspace, channel.owner_id)
    pace, now = pace_of(settings), session.deps.now()
    waiting = await waiting_of(reader, key, row if isinstance(row, Progress) else None, channel, pace)
    begun = await _begun(session, progress)
    if begun is None and not is_due(waiting, pace, now):
        return None
    session.own_viewer = make_viewer(session.facts, conversation=_place(channel, base), pools=[base.id])
    failed = await _batch(session, progress, progress.version - 1) if progress.failures else None
    size = len(failed.item_ids) if failed else 0
    limits = limits_of(settings, halvings=halvings, failures=progress.failures, failed_size=size)
    carried, pending = await _candidates(session, key, progress, limits, None if afresh else begun)
    check_scope(base, [*carried, *pending])
    costs = costs_of([*carried, *pending], session.deps.tokenizer, limits.tokens)
    batch = choose(carried, pending, costs, limits, overdue=is_overdue(waiting.carried_at, pace, now))
    if batch is None and begun is None:
        return None
    return Selected(
        key=key,
        channel=channel,
        base=base,
        progress=progress,
        batch=batch or NOTHING,
        limits=limits,
    )


def check_scope(base: KnowledgeBase, messages: Sequence[Source]) -> None:
    """Refuse a prompt that would hold what was said in another base (KN-54, DR-15).

    Raises:
        OperationRejected: ``SCOPE_FORBIDDEN``.
    """
    if any(message.pool != base.id for message in messages):
        raise OperationRejected("SCOPE_FORBIDDEN", "a prompt of Stage A holds messages of one knowledge base only")


def _place(channel: Channel, base: KnowledgeBase) -> ConversationFacts:
    """Return a conversation of the channel as the rules of scope see it: who reads in it reads for this base."""
    return ConversationFacts(
        id=channel.id, workspace=channel.workspace, channel=channel_facts(channel), memory_scope=MemoryScope(base.kind)
    )


async def _begun(session: Session, progress: Progress) -> DreamBatch | None:
    """Return the batch of a run that was begun from this progress and has not ended."""
    found = await _batch(session, progress, progress.version)
    return found if found is not None and found.state == RunState.RUNNING else None


async def _batch(session: Session, progress: Progress, version: int) -> DreamBatch | None:
    id_ = batch_id(progress, version)
    found = (await session.reader.get(COUNTING, [id_])).get(id_)
    return found if isinstance(found, DreamBatch) else None


async def _candidates(
    session: Session, key: StageAKey, progress: Progress, limits: Limits, begun: DreamBatch | None
) -> tuple[list[Source], list[Source]]:
    """Return carried and pending messages in order of arrival; those of a batch that was begun, if all are there."""
    carried = await _shown(session, progress.carried)
    again = await _shown(session, progress.returned)
    query = Find(kind=Source, where=unread(key, progress.cursor), order=By("seq"), first=limits.messages)
    pending = [*again, *(await session.page(query)).nodes]
    items = frozenset(begun.item_ids) if begun else frozenset()
    if items and items <= {message.id for message in (*carried, *pending)}:
        return [m for m in carried if m.id in items], [m for m in pending if m.id in items]
    return carried, pending


async def _shown(session: Session, ids: Sequence[str]) -> list[Source]:
    found = (await session.open([NodeId(id_) for id_ in ids])).values()
    there = [node for node in found if isinstance(node, Source) and is_readable(node)]
    return sorted(there, key=lambda message: (message.seq, message.id))
