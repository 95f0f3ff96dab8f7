"""Stage A's bookkeeping in the core: what waits in a channel, how far it was read, what is read once more.

Nothing here asks a model, and nothing happens when a message arrives (DR-1): a worker looks what is due and asks for a
job then. All reads are a worker's own, for counting; what a prompt shows is read under the scope of its base.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from graph.model.access import SystemScope
from graph.model.edges import EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Channel, ChannelKind, Source, SourceKind, SourceState
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.learning import PendingState, Progress, Stage
from graph.model.nodes.people import Principal
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.jobs import PARK_AFTER, JobState
from graph.rules.knowledge_settings import Settings
from graph.rules.pending import pending_id, pending_item
from graph.rules.pools import base_id
from graph.rules.stage_a import STAGE_A, Pace, StageAKey, Waiting, is_due, pace_of, set_aside
from graph.services.deps import Deps
from graph.services.learning.jobs import enqueue
from graph.services.learning.progress import find_progress, hold_progress
from graph.services.settings import load_settings
from graph.store.port import Reader, Writer
from graph.store.query import And, By, Direction, Eq, Find, In, Range, Where

COUNTING = SystemScope(reason="what waits for Stage A")


async def due_stage_a(reader: Reader, now: Millis) -> list[StageAKey]:
    """Return the pairs of channel and base for which a batch is due, in order of their ids (DR-12, DR-19).

    Agents that are disabled or do not dream have none (DR-7). It reads every channel, and of each with news a count.
    """
    channels = (await reader.find(COUNTING, Find(kind=Channel, where=Range("ingest_seq", 1, None)))).nodes
    rows = await _rows(reader)
    settings = await _settings_of(reader, channels)
    due = []
    for channel in channels:
        in_force = settings.get(channel.owner_id)
        if in_force is None:
            continue
        for key in keys_of(channel):
            waiting = await waiting_of(reader, key, rows.get(key.progress_id), channel, pace_of(in_force))
            if is_due(waiting, pace_of(in_force), now):
                due.append(key)
    return sorted(due)


async def arrange_stage_a(deps: Deps) -> list[StageAKey]:
    """Ask for a job for each pair that is due and has none under way; return those pairs.

    Asking for the job of a pair twice asks for it once; one that waits after a failure goes on waiting (DR-8, DR-27).
    """
    now = deps.now()
    async with deps.store.reading() as reader:
        due = [key for key in await due_stage_a(reader, now) if not await _is_asked_for(reader, key)]
        channels = await reader.get(COUNTING, sorted({key.channel for key in due}))
    for key in due:
        channel = channels.get(key.channel)
        if isinstance(channel, Channel):
            await deps.store.transact(lambda writer, key=key, at=channel: ask_for(writer, key, at, now))  # type: ignore[misc]
    return due


async def ask_for(writer: Writer, key: StageAKey, channel: Channel, now: Millis) -> Job:
    """Ask for the job of a pair now."""
    return await enqueue(
        writer,
        STAGE_A,
        workspace=channel.workspace,
        unique_key=key.unique_key,
        due_at=now,
        now=now,
        subject=key.channel,
        agent=channel.owner_id,
        arguments={"channel": key.channel, "kb": key.kb},
    )


def keys_of(channel: Channel) -> tuple[StageAKey, ...]:
    """Return the pairs of a channel: a shared channel's messages live in the base of its rule at the time (KN-52)."""
    kinds: Sequence[KbKind] = (KbKind.PRIVATE,)
    if channel.kind == ChannelKind.SHARED_CHANNEL:
        kinds = (KbKind.CHANNEL, KbKind.SHARED)
    own = {kind: None if kind is KbKind.SHARED else channel.id for kind in kinds}
    return tuple(
        StageAKey(channel=channel.id, kb=base_id(channel.workspace, channel.owner_id, kind, place))
        for kind, place in own.items()
    )


def unread(key: StageAKey, cursor: int, *, until: int | None = None) -> Where:
    """Return the condition of messages over the cursor (and up to `until`) that are live and not superseded."""
    return And(
        (
            Eq("channel_id", key.channel),
            Range("seq", cursor + 1, None if until is None else until + 1),
            Eq("pool", key.kb),
            Eq("kind", str(SourceKind.MESSAGE)),
            Eq("latest", True),
            Eq("state", str(SourceState.LIVE)),
        )
    )


async def waiting_of(
    reader: Reader, key: StageAKey, progress: Progress | None, channel: Channel, pace: Pace
) -> Waiting:
    """Return what waits of a pair; times are read only as far as the rules of being due need them."""
    cursor = progress.cursor if progress else 0
    again = await messages(reader, progress.returned if progress else ())
    open_ = await messages(reader, progress.carried if progress else ())
    count = 0
    if channel.ingest_seq > cursor:
        count = (await reader.aggregate(COUNTING, Source, unread(key, cursor))).get(None, 0)
    arrived = [message.recorded_at for message in again]
    if 0 < count < pace.batch_messages:
        arrived.append(await _last_arrival(reader, key, cursor))
    return Waiting(
        pending=count + len(again),
        arrived_at=max(arrived, default=None),
        carried_at=max((message.recorded_at for message in open_), default=None),
    )


async def messages(reader: Reader, ids: Iterable[str]) -> list[Source]:
    """Return those of `ids` that are live and not superseded, in order of arrival; for counting and checks only."""
    found = (await reader.get(COUNTING, [NodeId(id_) for id_ in ids])).values()
    there = [node for node in found if isinstance(node, Source) and is_readable(node)]
    return sorted(there, key=lambda message: (message.seq, message.id))


def is_readable(message: Source) -> bool:
    """True for the version of a message that Stage A reads."""
    return message.latest and message.state == SourceState.LIVE


async def pass_over(writer: Writer, key: StageAKey, channel: Channel, until: int, at: Millis) -> None:
    """Move the cursors of the channel's other pairs along, so that their lag is not counted again and again.

    Only a pair without unread messages up to `until` moves; the caller holds its row.
    """
    for other in keys_of(channel):
        if other == key:
            continue
        row = await hold_progress(writer, other, channel.workspace, at)
        if row.cursor >= until:
            continue
        news = (await writer.aggregate(COUNTING, Source, unread(other, row.cursor, until=until))).get(None, 0)
        if not news:
            await writer.patch_many({row.id: {"cursor": until}})


async def read_again(
    writer: Writer, given: Collection[Source], *, instead_of: Mapping[NodeId, NodeId] | None = None
) -> None:
    """Offer messages to Stage A once more where it is past them; call it before the job of the transaction is locked.

    Messages that no batch has read wait anyway, and so do carried ones. Source: KN-67, DR-4.

    Args:
        writer: of the transaction that hides their episode, edits them or takes them back.
        given: live and latest.
        instead_of: the older version of an edited message by the new one; it takes its place among the carried.
    """
    older = instead_of or {}
    by_key: dict[StageAKey, list[Source]] = {}
    for message in given:
        if message.kind == SourceKind.MESSAGE and message.channel_id and message.pool and is_readable(message):
            by_key.setdefault(StageAKey(channel=message.channel_id, kb=message.pool), []).append(message)
    if by_key:
        await writer.lock(sorted(key.progress_id for key in by_key))
    for key in sorted(by_key):
        row = await find_progress(writer, key)
        if row is not None:
            await _offer(writer, row, by_key[key], older)


async def _offer(writer: Writer, row: Progress, given: Sequence[Source], older: Mapping[NodeId, NodeId]) -> None:
    renamed = {older[message.id]: message.id for message in given if message.id in older}
    carried = tuple(renamed.get(NodeId(id_), id_) for id_ in row.carried)
    known = {*carried, *row.returned}
    again = [m.id for m in sorted(given, key=lambda m: (m.seq, m.id)) if m.seq <= row.cursor and m.id not in known]
    returned = (*(id_ for id_ in row.returned if id_ not in renamed), *again)
    if (carried, returned) != (row.carried, row.returned):
        await writer.patch_many({row.id: {"carried": carried, "returned": returned}})


async def companions(reader: Reader, gone: Collection[NodeId]) -> list[Source]:
    """Return the messages that lost their episode because `gone` are gone (KN-67).

    Call it when the episodes are hidden already.
    """
    episodes = {e.source for e in await reader.edges(COUNTING, sorted(gone), [EdgeType.SUMMARIZES], Direction.IN)}
    edges = await reader.edges(COUNTING, sorted(episodes), [EdgeType.SUMMARIZES], Direction.OUT)
    left = await messages(reader, sorted({edge.target for edge in edges} - set(gone)))
    return await without_episode(reader, left)


async def without_episode(reader: Reader, given: Sequence[Source]) -> list[Source]:
    """Return those of `given` that stand in no episode that anybody can see."""
    edges = await reader.edges(COUNTING, sorted(m.id for m in given), [EdgeType.SUMMARIZES], Direction.IN)
    audiences = await reader.audiences(sorted({edge.source for edge in edges}))
    told = {e.target for e in edges if e.source in audiences and audiences[e.source].live}
    return [message for message in given if message.id not in told]


async def park_message(writer: Writer, row: Progress, message: Source, agent: NodeId, at: Millis) -> None:
    """Set a message aside that no answer could be had about; it is listed among what is stuck (DR-79)."""
    await writer.patch_many({row.id: set_aside(row, message)})
    id_ = pending_id(message.id)
    parked = replace(pending_item(message, agent, at), state=str(PendingState.PARKED), failures=PARK_AFTER)
    if id_ in await writer.get(COUNTING, [id_]):
        await writer.patch_many({id_: {"state": parked.state, "failures": parked.failures}})
    else:
        await writer.put([parked])


async def _rows(reader: Reader) -> Mapping[NodeId, Progress]:
    page = await reader.find(COUNTING, Find(kind=Progress, where=Eq("stage", str(Stage.A))))
    return {row.id: row for row in page.nodes}


async def _settings_of(reader: Reader, channels: Sequence[Channel]) -> Mapping[NodeId, Settings]:
    """Return the settings of each agent that dreams."""
    owners = await reader.get(COUNTING, sorted({channel.owner_id for channel in channels}))
    agents = [node for node in owners.values() if isinstance(node, Principal) and node.disabled_at is None]
    found = {agent.id: await load_settings(reader, agent.workspace, agent.id) for agent in agents}
    return {agent: settings for agent, settings in found.items() if settings["dream.enabled"]}


async def _last_arrival(reader: Reader, key: StageAKey, cursor: int) -> Millis:
    query = Find(kind=Source, where=unread(key, cursor), order=By("recorded_at", descending=True), first=1)
    page = await reader.find(COUNTING, query)
    return page.nodes[0].recorded_at if page.nodes else Millis(0)


async def _is_asked_for(reader: Reader, key: StageAKey) -> bool:
    where = And((Eq("unique_key", key.unique_key), In("state", [str(JobState.QUEUED), str(JobState.RUNNING)])))
    return bool((await reader.find(COUNTING, Find(kind=Job, where=where, first=1))).nodes)
