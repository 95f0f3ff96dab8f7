"""Recording the results of tasks (KN-66): repeated ids without effect, changed results as new versions."""

from __future__ import annotations

import json

from graph.model.edges import Edge, EdgeType
from graph.model.errors import BadInput, NotFound, OperationRejected
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source, SourceKind, SourceState
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.people import Principal, PrincipalKind
from graph.rules.changes import Changes
from graph.rules.ingest import Arrival, content_hash
from graph.rules.pools import is_over, new_base
from graph.rules.rights import may_host
from graph.rules.task_results import LaidOut, TaskPlace, TaskResult, check_result, lay_out
from graph.services.access.commands import Command
from graph.services.access.people import find_one
from graph.services.knowledge.bases import ensure_base
from graph.services.knowledge.conversations import (
    conversation_of,
    hold_channel,
    idle_hours,
    may_report,
)
from graph.services.knowledge.ingest import IngestReceipt
from graph.services.learning.pending import pend
from graph.services.ledger import COMMIT_GUARD, Commit, commit, hold
from graph.store.port import Reader
from graph.store.query import And, Eq, Find


async def record_task_result(
    cmd: Command, result: TaskResult, *, conversation_id: NodeId | None = None, agent_id: NodeId | None = None
) -> IngestReceipt:
    """Store what a task did as a source.

    With a conversation it belongs to that one's knowledge base, without to the agent's own (DR-34). The same task
    with the same result changes nothing, with another one makes a new version where the first one is.

    Raises:
        NotFound: no such conversation or agent for the caller.
        BadInput: neither is named, or the result cannot be taken.
        LimitExceeded: too many steps or too much text.
        OperationRejected: ``CONVERSATION_CLOSED``.
    """
    check_result(result)
    place = await _place(cmd, conversation_id, agent_id)
    await hold(cmd.writer, place.pool)
    known = await _known(cmd.writer, place, result.task_id)
    laid = lay_out(result)
    if known is not None and _unchanged(known, laid):
        return IngestReceipt(source_ids=(known.id,), arrivals=(Arrival.UNCHANGED,), tx_id=cmd.tx_id)
    source = _source(cmd, place, result, laid, known)
    await _write(cmd, place.agent, source, known)
    arrival = Arrival.STORED if known is None else Arrival.NEW_VERSION
    return IngestReceipt(source_ids=(source.id,), arrivals=(arrival,), tx_id=cmd.tx_id)


async def _place(cmd: Command, conversation_id: NodeId | None, agent_id: NodeId | None) -> TaskPlace:
    if conversation_id is not None:
        return await _in_conversation(cmd, conversation_id, agent_id)
    own = cmd.facts.principal if cmd.facts.kind is PrincipalKind.AGENT else None
    wanted = agent_id or own
    if wanted is None:
        raise BadInput("name the conversation or the agent of the task", field="agentId")
    if cmd.facts.disabled or not (wanted == own or may_host(cmd.facts)):
        raise NotFound
    agent = await find_one(cmd, wanted, Principal)
    if agent.kind != PrincipalKind.AGENT:
        raise NotFound
    base = await ensure_base(cmd.writer, new_base(agent.workspace, agent.id, KbKind.AGENT, cmd.at))
    return TaskPlace(agent=agent.id, pool=base.id)


async def _in_conversation(cmd: Command, conversation_id: NodeId, agent_id: NodeId | None) -> TaskPlace:
    found = await conversation_of(cmd.writer, conversation_id)
    channel = await hold_channel(cmd.writer, found.channel_id)
    may_report(cmd, channel)
    if agent_id not in (None, channel.owner_id):
        raise NotFound
    found = await conversation_of(cmd.writer, conversation_id)
    if is_over(found, cmd.at, await idle_hours(cmd)):
        raise OperationRejected("CONVERSATION_CLOSED", "the conversation is over: open a new one of its channel")
    assert found.pool is not None
    return TaskPlace(agent=channel.owner_id, pool=found.pool, conversation_id=found.id, channel_id=channel.id)


async def _known(reader: Reader, place: TaskPlace, task_id: str) -> Source | None:
    where = And(
        (
            Eq("external_id", task_id),
            Eq("channel_id", place.channel_id),
            Eq("pool", place.pool),
            Eq("kind", SourceKind.TASK_RESULT),
            Eq("latest", True),
        )
    )
    page = await reader.find(COMMIT_GUARD, Find(kind=Source, where=where, first=1))
    return page.nodes[0] if page.nodes else None


def _unchanged(known: Source, laid: LaidOut) -> bool:
    """True if nothing is written: an equal result, or one of a task whose result was erased (KN-81)."""
    return known.content_hash == _hash(laid) or known.state == SourceState.ERASED


def _hash(laid: LaidOut) -> str:
    """Return a hash of text and steps: the same words with another outcome are another result."""
    return content_hash(json.dumps([laid.text, laid.meta], sort_keys=True, ensure_ascii=False))


def _source(cmd: Command, place: TaskPlace, result: TaskResult, laid: LaidOut, known: Source | None) -> Source:
    own_id = cmd.deps.new_id(Source.PREFIX)
    return Source(
        id=own_id,
        workspace=cmd.caller.workspace,
        pool=place.pool,
        created_at=cmd.at,
        kind=SourceKind.TASK_RESULT,
        content_hash=_hash(laid),
        text=laid.text,
        author_id=place.agent,
        speaker_is_agent=True,
        occurred_at=cmd.at if result.ended_at is None else result.ended_at,
        recorded_at=cmd.at,
        state=SourceState.LIVE if known is None else known.state,
        version=1 if known is None else known.version + 1,
        series=own_id if known is None else known.series,
        external_id=result.task_id,
        channel_id=place.channel_id,
        conversation_id=place.conversation_id if known is None else known.conversation_id,
        meta=dict(laid.meta),
    )


async def _write(cmd: Command, agent: NodeId, source: Source, known: Source | None) -> None:
    changes = Changes(puts=[source])
    places = (
        (EdgeType.SCOPED_TO, source.pool),
        (EdgeType.IN_CHANNEL, source.channel_id),
        (EdgeType.IN_CONVERSATION, source.conversation_id),
        (EdgeType.SUPERSEDES, known.id if known else None),
    )
    changes.links += [Edge(type=type_, source=source.id, target=to) for type_, to in places if to]
    if known is not None:
        changes.patch(known.id, latest=False, invalidated_at=cmd.at)
    pend(changes, source, agent, replaces=known)
    assert source.pool is not None
    await commit(cmd.writer, cmd.deps, Commit(pool=source.pool, tx_id=cmd.tx_id, at=cmd.at), changes)
    if source.conversation_id is not None:
        await cmd.writer.patch_many({source.conversation_id: {"last_message_at": cmd.at}})
