"""The state of long-term memory of one agent, as one reader sees it: the only health surface of it (CO-63 to CO-69).

It only reports, and repairs nothing (CO-67): numbers, times and codes by the index, no content, so that an auditor who
looks has read no private chat (KN-59). What the reader does not see is in no part of it; an admin is told how many
channels and tasks that he may not read are affected, and no more (CO-68).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source, SourceState
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.learning import Connector, DreamRun, MemoLine, ResidentMemo, RunState
from graph.model.nodes.people import Principal
from graph.model.nodes.work import AuditRecord
from graph.model.time import Millis
from graph.rules import alerts as rules
from graph.rules.alerts import Affected, Alert, Condition, alerts
from graph.rules.audit_operations import AuditOperation
from graph.rules.backoff import delay_s
from graph.rules.guarding import operation_tag
from graph.rules.jobs import JOB_KINDS
from graph.rules.operations.memo import memo_id, memo_text
from graph.rules.rights import may_administer
from graph.services.access.admin_log import reads_administration
from graph.services.access.session import Session
from graph.services.knowledge.chain_checks import broken_chains
from graph.services.knowledge.lint import Linted, lint_of
from graph.services.knowledge.owners import watched_bases
from graph.services.learning.embedding_status import EmbeddingState, VectorState, embedding_state, vector_states
from graph.services.learning.stage_a_status import StageAState, stage_a_states, unread_stage_a_states
from graph.services.learning.stage_b_hidden import HIDDEN, entries_with_hidden_blocks
from graph.services.learning.stage_b_status import StageBState, stage_b_state
from graph.services.learning.stuck import Stuck, StuckTask, stuck_work
from graph.services.settings import load_settings
from graph.store.query import And, Eq, Find, In, Newest, Tagged

LOST = (AuditOperation.SOURCE_WITHDRAW, AuditOperation.MIRROR_WITHDRAW, AuditOperation.SOURCE_ERASE)
EMBED = "embed"


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoState:
    """The memo of one knowledge base: tokens used and allowed; `memo` is None while none was written."""

    base: KnowledgeBase
    memo: NodeId | None
    used: int
    allowed: int
    updated_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class Unread:
    """How many channels and tasks are affected that an admin may not read."""

    failing: int
    lagging: int
    stuck: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """The state of one agent's memory at a time, in the order in which a check goes through it (CO-65).

    Attributes:
        places: the channels and knowledge bases of `stage_a`, by id, as far as they are shown.
        unread: for admins; None for all others.
    """

    agent: Principal
    at: Millis
    alerts: Sequence[Alert]
    vectors: Sequence[VectorState]
    embedding: EmbeddingState
    stage_a: Sequence[StageAState]
    places: Mapping[NodeId, Node]
    stage_b: StageBState
    memos: Sequence[MemoState]
    stuck: Sequence[StuckTask]
    lint: Linted
    unread: Unread | None


async def status_of(session: Session, owner_id: NodeId) -> Status:
    """Return the state of an agent's memory.

    Raises:
        NotFound: the caller reads nothing of this agent.
    """
    bases = await watched_bases(session, owner_id)
    agent = await session.open_one(owner_id, Principal)
    workspace, admin = session.caller.workspace, may_administer(session.facts)
    settings = await load_settings(session.reader, workspace, owner_id)
    parts = _Parts(
        agent=agent,
        bases=bases,
        vectors=await vector_states(session.reader, workspace, viewer=session.narrowed([base.id for base in bases])),
        embedding=await embedding_state(session.reader, workspace),
        stage_a=await stage_a_states(session, owner_id),
        unread_stage_a=await unread_stage_a_states(session, owner_id) if admin else (),
        stage_b=await stage_b_state(session, agent),
        memos=await _memos(session, bases, settings["memo.kb_token_budget"]),
        work=await stuck_work(session, owner_id, bases, settings["jobs.stuck_minutes"]),
        linted=await lint_of(session, owner_id),
        admin=admin,
    )
    condition = await _condition(session, parts)
    places = sorted({place for state in parts.stage_a for place in (state.key.channel, state.key.kb)})
    now = session.deps.now()
    return Status(
        agent=agent,
        at=now,
        alerts=alerts(condition, now),
        vectors=parts.vectors,
        embedding=parts.embedding,
        stage_a=parts.stage_a,
        places=await session.reader.get(session.viewer, places),
        stage_b=parts.stage_b,
        memos=parts.memos,
        stuck=parts.work.tasks,
        lint=parts.linted,
        unread=_unread(condition, len(parts.work.unseen), now) if admin else None,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Parts:
    """What was looked at, before it is judged."""

    agent: Principal
    bases: Sequence[KnowledgeBase]
    vectors: Sequence[VectorState]
    embedding: EmbeddingState
    stage_a: Sequence[StageAState]
    unread_stage_a: Sequence[StageAState]
    stage_b: StageBState
    memos: Sequence[MemoState]
    work: Stuck
    linted: Linted
    admin: bool


async def _condition(session: Session, parts: _Parts) -> Condition:
    linted = parts.linted
    whole = [session.caller.workspace_node] if reads_administration(session) else []
    chains = await broken_chains(session.reader, [*whole, *(base.id for base in parts.bases)])
    return Condition(
        embedding=_embedding(parts.vectors, parts.embedding, parts.agent),
        profile_missing_since=parts.stage_b.profile_missing_since,
        channels=[
            *[await _told(session, state, parts.agent.id) for state in parts.stage_a],
            *[_untold(state) for state in parts.unread_stage_a],
        ],
        curating=_curating(parts.stage_b, parts.agent.id),
        memos=[_use(memo, memo.memo) for memo in parts.memos if memo.memo is not None],
        stuck=[
            *(Affected(id=task.id, since=task.since) for task in parts.work.tasks),
            *(Affected(id=None, since=since) for since in parts.work.unseen if parts.admin),
        ],
        waiting=parts.work.waiting,
        connectors=await _failing_connectors(session, parts.agent.id),
        withdrawn=await _withdrawn(session, parts.bases),
        broken=[Affected(id=chain.pool, since=chain.found_at) for chain in chains],
        lint=[Affected(id=finding.entries[0], since=linted.since(finding)) for finding in linted.findings],
    )


def _use(memo: MemoState, id_: NodeId) -> rules.MemoUse:
    return rules.MemoUse(memo=id_, used=memo.used, allowed=memo.allowed, updated_at=memo.updated_at)


async def _memos(session: Session, bases: Sequence[KnowledgeBase], allowed: int) -> list[MemoState]:
    """Return the memo of each base, with the tokens of the lines that the caller sees, by id of the base."""
    ids = [memo_id(base.id) for base in bases]
    memos = await session.reader.get(session.viewer, ids)
    where = And((In("memo_id", list(memos)), Eq("invalidated_at", None)))
    lines = (await session.reader.find(session.viewer, Find(kind=MemoLine, where=where))).nodes if memos else ()
    return [
        _memo(session, base, memos.get(memo_id(base.id)), lines, allowed)
        for base in sorted(bases, key=lambda base: base.id)
    ]


def _memo(
    session: Session, base: KnowledgeBase, memo: Node | None, lines: Sequence[MemoLine], allowed: int
) -> MemoState:
    if not isinstance(memo, ResidentMemo):
        return MemoState(base=base, memo=None, used=0, allowed=allowed, updated_at=base.created_at)
    own = sorted((line for line in lines if line.memo_id == memo.id), key=lambda line: line.position)
    used = session.deps.tokenizer.count(memo_text([line.text for line in own]))
    return MemoState(base=base, memo=memo.id, used=used, allowed=allowed, updated_at=memo.updated_at)


def _embedding(vectors: Sequence[VectorState], state: EmbeddingState, agent: Principal) -> rules.Embedding:
    oldest = [one.oldest_pending_at for one in vectors if one.oldest_pending_at is not None]
    return rules.Embedding(
        configured=state.provider is not None,
        since=agent.created_at,
        failures=state.failures,
        failing_since=_third_failure(state),
        pending=sum(one.pending for one in vectors),
        oldest_pending_at=min(oldest, default=None),
    )


def _third_failure(state: EmbeddingState) -> Millis | None:
    """Return when the third failure in a row was, by the waits since then; None while there are fewer."""
    if state.failures < rules.IN_A_ROW or state.next_try_at is None:
        return None
    waits = JOB_KINDS[EMBED].backoff_s
    waited = sum(delay_s(waits, failure) for failure in range(rules.IN_A_ROW, state.failures + 1))
    return Millis(state.next_try_at - round(waited * 1_000))


async def _told(session: Session, state: StageAState, agent_id: NodeId) -> rules.Lagging:
    return rules.Lagging(
        channel=state.key.channel,
        failures=state.failures,
        failing_since=await _failing_since(session, state, agent_id) if state.failures >= rules.IN_A_ROW else None,
        oldest_pending_at=state.oldest_pending_at,
    )


def _untold(state: StageAState) -> rules.Lagging:
    return rules.Lagging(
        channel=None, failures=state.failures, failing_since=None, oldest_pending_at=state.oldest_pending_at
    )


async def _failing_since(session: Session, state: StageAState, agent_id: NodeId) -> Millis | None:
    """Return when the third failure in a row of a channel was, by its runs; of a long row one of its later failures."""
    where = And((Eq("agent_id", agent_id), Eq("channel_id", state.key.channel), Eq("pool", state.key.kb)))
    query = Find(kind=DreamRun, where=where, order=Newest(), first=100)
    runs = (await session.reader.find(session.viewer, query)).nodes
    row = rules.streak(_ended(run) for run in runs if run.ended_at is not None)
    return row[-rules.IN_A_ROW].ended_at if len(row) >= rules.IN_A_ROW else None


def _curating(state: StageBState, agent_id: NodeId) -> rules.Curating:
    ended = [_ended(run) for run in state.runs if run.state in (RunState.SUCCEEDED, RunState.FAILED)]
    return rules.Curating(agent=agent_id, ended=ended, oldest_pending_at=state.oldest_pending_at)


def _ended(run: DreamRun) -> rules.EndedRun:
    return rules.EndedRun(
        id=run.id,
        ended_at=run.ended_at or run.started_at,
        succeeded=run.state == RunState.SUCCEEDED,
        accepted=run.operations + run.skill_updates,
        rejected=run.rejected,
    )


async def _failing_connectors(session: Session, owner_id: NodeId) -> list[Affected]:
    query = Find(kind=Connector, where=Eq("owner_id", owner_id))
    found = (await session.reader.find(session.viewer, query)).nodes
    waits = JOB_KINDS["sync_connector"].backoff_s
    return [
        Affected(id=one.id, since=_third_sync(one, waits))
        for one in found
        if one.state == "active" and one.failures >= rules.IN_A_ROW
    ]


def _third_sync(connector: Connector, waits: Sequence[int]) -> Millis:
    """Return when the third failed sync in a row was, by the waits between those after it."""
    waited = sum(delay_s(waits, failure) for failure in range(rules.IN_A_ROW, connector.failures))
    return Millis((connector.last_sync_at or connector.created_at) - round(waited * 1_000))


async def _withdrawn(session: Session, bases: Sequence[KnowledgeBase]) -> list[Affected]:
    """Return the entries that the caller sees and that have blocks nobody sees any more, since their source went."""
    pools = [base.id for base in bases]
    if not await _any_gone(session, pools):
        return []
    entries = [entry for base in bases for entry in await entries_with_hidden_blocks(session.reader, base, pools)]
    shown = await session.reader.get(session.viewer, entries)
    since = await _lost_at(session, pools)
    return [Affected(id=entry, since=since or bases[0].created_at) for entry in entries if entry in shown]


async def _any_gone(session: Session, pools: Sequence[NodeId]) -> bool:
    """Return whether any source of these pools is withdrawn or erased; mostly none is."""
    gone = In("state", [str(SourceState.WITHDRAWN), str(SourceState.ERASED)])
    query = Find(kind=Source, where=And((In("pool", list(pools)), gone)), first=1)
    return bool((await session.reader.find(HIDDEN, query)).nodes)


async def _lost_at(session: Session, pools: Sequence[NodeId]) -> Millis | None:
    """Return when the newest of the sources was lost: since then at the latest something waits."""
    tags = Tagged(tuple(operation_tag(operation) for operation in LOST))
    where = And((tags, In("pool", list(pools))))
    query = Find(kind=AuditRecord, where=where, order=Newest(), first=1)
    page = await session.reader.find(session.viewer, query)
    return page.nodes[0].recorded_at if page.nodes else None


def _unread(condition: Condition, stuck: int, now: Millis) -> Unread:
    hidden = [one for one in condition.channels if one.channel is None]
    return Unread(
        failing=sum(one.failures >= rules.IN_A_ROW for one in hidden),
        lagging=sum(rules.is_lagging(one, now) for one in hidden),
        stuck=stuck,
    )
