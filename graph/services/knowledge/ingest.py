"""Taking in chat messages (KN-65): all of a call or nothing, repeated ids without effect, edits as new versions."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from graph.model.edges import Edge, EdgeType
from graph.model.errors import BadInput, LimitExceeded, NotFound, OperationRejected
from graph.model.ids import NodeId, node_id
from graph.model.nodes.evidence import Channel, Conversation, Source, SourceKind, SourceState, Thread
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.people import Principal, PrincipalKind
from graph.model.time import Millis
from graph.rules.guarding import guard_of, own_audience
from graph.rules.ingest import Arrival, IncomingMessage, fate, links_of, message_source, superseded
from graph.rules.knowledge_settings import Settings
from graph.rules.pools import clause_of, is_over
from graph.services.access.commands import Command
from graph.services.deps import Deps
from graph.services.knowledge.conversations import conversation_of, hold_channel, may_report
from graph.services.knowledge.message_texts import lines_around, reindex
from graph.services.learning.stage_a import read_again
from graph.services.ledger import COMMIT_GUARD, hold
from graph.services.settings import load_settings
from graph.store.port import Reader, Writer
from graph.store.query import And, Eq, Find, In

MAX_MESSAGES = 1_000
MAX_TEXT_CHARACTERS = 200_000
MAX_SPEAKER_CHARACTERS = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class IngestReceipt:
    """What became of the messages of one call, in their order."""

    source_ids: tuple[NodeId, ...]
    arrivals: tuple[Arrival, ...]
    tx_id: str


@dataclass(kw_only=True, slots=True)
class _Batch:
    """The work of one call while it grows."""

    channel: Channel
    conversation: Conversation
    known: dict[str, Source]
    settings: Settings
    at: Millis
    stored: list[Source] = field(default_factory=list)
    replaced: list[Source] = field(default_factory=list)
    threads: dict[str, Thread] = field(default_factory=dict)
    links: list[Edge] = field(default_factory=list)
    ids: list[NodeId] = field(default_factory=list)
    arrivals: list[Arrival] = field(default_factory=list)


async def ingest_messages(cmd: Command, conversation_id: NodeId, messages: Sequence[IncomingMessage]) -> IngestReceipt:
    """Store messages as sources of the conversation's knowledge base.

    Raises:
        NotFound: there is no such conversation for the caller.
        OperationRejected: ``CONVERSATION_CLOSED``; open a new one and send again.
        LimitExceeded: too many messages, or a text too long; nothing was stored.
    """
    _check(messages)
    return await _ingested(cmd, await _begin(cmd, conversation_id, messages), messages)


async def ingest_into(
    cmd: Command, channel_id: NodeId, conversation: Conversation, messages: Sequence[IncomingMessage]
) -> IngestReceipt:
    """Store messages of a conversation that was held elsewhere, over or not; raises like `ingest_messages`."""
    _check(messages)
    channel = await hold_channel(cmd.writer, channel_id)
    may_report(cmd, channel)
    settings = await load_settings(cmd.writer, cmd.caller.workspace)
    known = await _known(cmd.writer, channel_id, [m.external_id for m in messages])
    batch = _Batch(channel=channel, conversation=conversation, known=known, settings=settings, at=cmd.at)
    return await _ingested(cmd, batch, messages)


async def _ingested(cmd: Command, batch: _Batch, messages: Sequence[IncomingMessage]) -> IngestReceipt:
    for message in await _with_speakers(cmd, messages):
        _take(cmd.deps, batch, message)
    await _write(cmd, batch)
    return IngestReceipt(source_ids=tuple(batch.ids), arrivals=tuple(batch.arrivals), tx_id=cmd.tx_id)


def _check(messages: Sequence[IncomingMessage]) -> None:
    if len(messages) > MAX_MESSAGES:
        raise LimitExceeded(f"send at most {MAX_MESSAGES} messages a call", field="messages", limit=MAX_MESSAGES)
    for message in messages:
        if len(message.text) > MAX_TEXT_CHARACTERS:
            raise LimitExceeded(
                f"a message has at most {MAX_TEXT_CHARACTERS} characters", field="text", limit=MAX_TEXT_CHARACTERS
            )
        if len(message.speaker) > MAX_SPEAKER_CHARACTERS:
            raise LimitExceeded(
                f"a speaker's name has at most {MAX_SPEAKER_CHARACTERS} characters",
                field="speaker",
                limit=MAX_SPEAKER_CHARACTERS,
            )
        if not 1 <= len(message.external_id) <= 512:
            raise BadInput("a message needs an external id of 1 to 512 characters", field="externalId")


async def _with_speakers(cmd: Command, messages: Sequence[IncomingMessage]) -> list[IncomingMessage]:
    """Return the messages with what is known about their speakers: who is an agent is never taken from the sender.

    Raises:
        NotFound: a speaker is unknown in this workspace.
    """
    wanted = sorted({m.speaker_id for m in messages if m.speaker_id})
    known = await cmd.writer.get(COMMIT_GUARD, wanted)
    people = {p.id: p for p in known.values() if isinstance(p, Principal) and p.workspace == cmd.caller.workspace}
    if len(people) < len(wanted):
        raise NotFound("a speaker is no principal of this workspace")
    return [_spoken_by(people[m.speaker_id], m) if m.speaker_id else m for m in messages]


def _spoken_by(principal: Principal, message: IncomingMessage) -> IncomingMessage:
    return replace(
        message,
        speaker=message.speaker or principal.display_name,
        speaker_is_agent=principal.kind == PrincipalKind.AGENT,
    )


async def _begin(cmd: Command, conversation_id: NodeId, messages: Sequence[IncomingMessage]) -> _Batch:
    channel_id = (await conversation_of(cmd.writer, conversation_id)).channel_id
    await cmd.writer.lock([channel_id, conversation_id])  # both change, and a lock brings what it locks
    channel = await hold_channel(cmd.writer, channel_id)
    may_report(cmd, channel)
    conversation = await conversation_of(cmd.writer, conversation_id)
    settings = await load_settings(cmd.writer, cmd.caller.workspace)
    if is_over(conversation, cmd.at, float(settings["conversation.idle_hours"])):
        raise OperationRejected("CONVERSATION_CLOSED", "the conversation is over: open a new one of its channel")
    known = await _known(cmd.writer, channel_id, [m.external_id for m in messages])
    return _Batch(channel=channel, conversation=conversation, known=known, settings=settings, at=cmd.at)


async def _known(writer: Writer, channel_id: NodeId, external_ids: Sequence[str]) -> dict[str, Source]:
    """Return the newest versions of those messages that are known, and hold their bases.

    A withdrawal holds the base too, so that an edit either sees it or is seen by it.
    """
    pools = {source.pool for source in (await _newest(writer, channel_id, external_ids)).values() if source.pool}
    if not pools:
        return {}
    await writer.lock(sorted(pools))
    return await _newest(writer, channel_id, external_ids)


async def _newest(reader: Reader, channel_id: NodeId, external_ids: Sequence[str]) -> dict[str, Source]:
    where = And(
        (
            Eq("channel_id", channel_id),
            In("external_id", external_ids),
            Eq("kind", SourceKind.MESSAGE),  # a task result of the channel may have the same id
            Eq("latest", True),
        )
    )
    page = await reader.find(COMMIT_GUARD, Find(kind=Source, where=where))
    return {source.external_id: source for source in page.nodes if source.external_id}


def _take(deps: Deps, batch: _Batch, message: IncomingMessage) -> None:
    known = batch.known.get(message.external_id)
    arrival = fate(message, known)
    batch.arrivals.append(arrival)
    if arrival == Arrival.UNCHANGED and known is not None:
        batch.ids.append(known.id)
        return
    source = message_source(
        message,
        batch.conversation,
        id=deps.new_id(Source.PREFIX),
        seq=batch.channel.ingest_seq + len(batch.stored) + 1,
        at=batch.at,
        thread=_thread(batch, message),
        replaces=known,
    )
    _supersede(batch, known)
    batch.stored.append(source)
    batch.links += links_of(source, replaces=known)
    batch.known[message.external_id] = source
    batch.ids.append(source.id)


def _supersede(batch: _Batch, known: Source | None) -> None:
    if known is None:
        return
    old = superseded(known, batch.at)
    fresh = [i for i, source in enumerate(batch.stored) if source.id == known.id]
    if fresh:
        batch.stored[fresh[0]] = old
    else:
        batch.replaced.append(old)


def _thread(batch: _Batch, message: IncomingMessage) -> Thread | None:
    if message.thread is None:
        return None
    if message.thread not in batch.threads:
        name = hashlib.sha256(message.thread.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        batch.threads[message.thread] = Thread(
            id=node_id(Thread.PREFIX, f"{batch.channel.id.partition('_')[2]}/{batch.conversation.memory_scope}.{name}"),
            workspace=batch.channel.workspace,
            pool=batch.conversation.pool,
            created_at=batch.at,
            channel_id=batch.channel.id,
        )
    return batch.threads[message.thread]


async def _write(cmd: Command, batch: _Batch) -> None:
    if not batch.stored:
        return
    writer = cmd.writer
    pools = {source.pool for source in batch.stored if source.pool}
    bases = {pool: await hold(writer, pool) for pool in sorted(pools)}
    threads = await _new_threads(writer, batch)
    there = [replace(old, latest=True) for old in batch.replaced]
    lines = await lines_around(writer, [*batch.stored, *batch.replaced], there=there)
    await writer.patch_many({old.id: {"latest": False, "invalidated_at": batch.at} for old in batch.replaced})
    await writer.put([*threads, *batch.stored])
    await writer.link([*batch.links, *(_in_channel(thread) for thread in threads)])
    await _admit(writer, [*batch.stored, *threads], bases)
    await reindex(writer, lines, batch.settings["search.default_language"])
    await _offer_edits(writer, batch)
    await writer.patch_many(
        {
            batch.channel.id: {"ingest_seq": batch.channel.ingest_seq + len(batch.stored)},
            batch.conversation.id: {"last_message_at": batch.at},
            **{base.id: {"version": base.version + 1} for base in bases.values()},
        }
    )


async def _offer_edits(writer: Writer, batch: _Batch) -> None:
    """Let edited messages that Stage A is past already be read once more (DR-4)."""
    if batch.replaced:
        older = {old.series: old.id for old in batch.replaced}
        live = [source for source in batch.stored if source.latest and source.state == SourceState.LIVE]
        edited = [source for source in live if source.series in older]
        await read_again(writer, edited, instead_of={source.id: older[source.series] for source in edited})


async def _new_threads(reader: Reader, batch: _Batch) -> list[Thread]:
    wanted = {thread.id: thread for thread in batch.threads.values()}
    there = await reader.get(COMMIT_GUARD, list(wanted))
    return [thread for id_, thread in wanted.items() if id_ not in there]


def _in_channel(thread: Thread) -> Edge:
    return Edge(type=EdgeType.IN_CHANNEL, source=thread.id, target=thread.channel_id)


async def _admit(writer: Writer, nodes: Sequence[Source | Thread], bases: dict[NodeId, KnowledgeBase]) -> None:
    # New ids: nothing can rest on them yet, so that their own rule is their whole audience.
    own = {pool: clause_of(base) for pool, base in bases.items()}
    guards = [guard_of(node, own[node.pool]) for node in nodes if node.pool]
    await writer.guard(guards)
    await writer.admit([own_audience(guard) for guard in guards])
