"""Saving what a run learned: changes, read position and end of the run in one transaction, by the latest state.

Source: BM-86, BM-87, BM-91 to BM-95.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from graph.model.errors import BadInput
from graph.model.ids import NodeId
from graph.model.nodes.bots import BotPool, BotRun, BotRunState
from graph.model.nodes.knowledge import ModifierKind
from graph.model.time import Millis
from graph.rules import bot_entries
from graph.rules.bot_learning import (
    Invalidate,
    Learned,
    LearnFact,
    Observe,
    Proposal,
    ReadItem,
    RenameTopic,
    Retag,
    Share,
    fact_draft,
    observation_draft,
)
from graph.services.bots.chat_access import find_chat
from graph.services.bots.learning_context import read_items
from graph.services.bots.pool import Bot, hold_pool
from graph.services.bots.readers import reads_of_chat
from graph.services.bots.reading import PoolReads, tagged
from graph.services.bots.runs import ended, find_run, set_run
from graph.services.bots.widening import may_share
from graph.services.bots.write import ChangeSet, Maker, Step, record, write_changes
from graph.services.deps import Deps
from graph.store.port import Writer


class Applied(StrEnum):
    """What became of a run's result."""

    SAVED = "saved"
    MOVED = "moved"
    """The read position moved since the run began: its result is discarded, and it begins again (BM-87)."""
    OVER = "over"
    """The run ended already, or its chat is gone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResult:
    """What a run brings back.

    Attributes:
        start, upto: the stretch of items it read.
        shown: ids of the entries that were in its context.
        proposals: well-formed changes; `malformed` counts the others.
    """

    run: NodeId
    bot: Bot
    chat: NodeId
    start: int
    upto: int
    shown: Collection[str] = ()
    proposals: Sequence[Proposal] = ()
    malformed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Saved:
    """What was saved.

    Attributes:
        made: ids of new entries.
        dropped: how many changes came to nothing.
    """

    applied: Applied
    made: tuple[NodeId, ...] = ()
    changed: int = 0
    dropped: int = 0


async def apply_learning(writer: Writer, deps: Deps, result: RunResult, *, tx_id: str, at: Millis) -> Saved:
    """Decide a result by the latest state of all it names, under the lock of the pool, and save what is left of it."""
    pool = await hold_pool(writer, result.bot, at)
    await writer.lock([result.run, result.chat])
    run, chat = await find_run(writer, result.run), await find_chat(writer, result.chat)
    if run is None or chat is None or run.state in (BotRunState.DONE, BotRunState.FAILED):
        return Saved(applied=Applied.OVER)
    if chat.read_seq != result.start:
        return Saved(applied=Applied.MOVED)
    reads = await reads_of_chat(deps, writer, result.bot, chat)
    items = await read_items(writer, chat, result.bot, result.start, result.upto)
    learned = await _decided(reads, result, items, at)
    saved = await _write(writer, deps, pool, run, learned, result.malformed, tx_id=tx_id, at=at)
    if result.upto > chat.read_seq:
        await writer.patch(chat.id, {"read_seq": result.upto})
    await set_run(writer, run, ended(at))
    return saved


async def _write(
    writer: Writer, deps: Deps, pool: BotPool, run: BotRun, learned: Learned, malformed: int, *, tx_id: str, at: Millis
) -> Saved:
    dropped = learned.dropped + malformed
    changes = ChangeSet(drafts=tuple(learned.drafts), changes=tuple(learned.changes))
    step = _step("bot.learn", pool, {"run": run.id, "dropped": dropped})
    written = await write_changes(writer, deps, pool, changes, step, tx_id=tx_id, at=at)
    if learned.refused:
        refusal = _step("bot.share_refused", pool, {"run": run.id, "refused": sorted(set(learned.refused))})
        await record(writer, deps, written.pool, refusal, (), tx_id=tx_id, at=at)
    made = tuple(entry.id for entry in written.made)
    return Saved(applied=Applied.SAVED, made=made, changed=len(written.changed), dropped=dropped)


def _step(operation: str, pool: BotPool, codes: dict[str, object]) -> Step:
    return Step(
        operation=operation,
        by=Maker.MEMORY_BOT,
        actor=pool.bot_id,
        actor_kind=ModifierKind.AGENT,
        codes=codes,
    )


async def _decided(
    reads: PoolReads, result: RunResult, items: Mapping[tuple[str, str], ReadItem], at: Millis
) -> Learned:
    learned = Learned(at=at)
    for proposal in result.proposals:
        if isinstance(proposal, LearnFact):
            learned.add_draft(fact_draft(proposal, items))
        elif isinstance(proposal, Observe):
            known = learned.now(await reads.some(proposal.sources))
            learned.add_draft(observation_draft(proposal, result.shown, known))
        elif isinstance(proposal, RenameTopic):
            await _rename(reads, learned, proposal)
        else:
            await _change(reads, learned, proposal)
    return learned


async def _change(reads: PoolReads, learned: Learned, proposal: Invalidate | Retag | Share) -> None:
    """Change one entry that the run's reader may see (BM-94)."""
    entry = learned.now(await reads.some([proposal.id])).get(proposal.id)
    if entry is None:
        learned.dropped += 1
    elif isinstance(proposal, Invalidate):
        learned.add_changes([bot_entries.invalidated(entry)])
    elif isinstance(proposal, Retag):
        learned.add_changes([bot_entries.retagged(entry, proposal.topics)])
    elif await _may_share(reads, proposal):
        learned.add_changes([bot_entries.shared(entry, proposal.tag)])
    else:
        learned.refused.append(entry.id)


async def _may_share(reads: PoolReads, proposal: Share) -> bool:
    entry = await reads.one(proposal.id)
    try:
        return entry is not None and await may_share(reads.reader, entry, proposal.tag)
    except BadInput:  # it names nobody
        return False


async def _rename(reads: PoolReads, learned: Learned, proposal: RenameTopic) -> None:
    """Rename a topic in all entries that the run's reader may see, of every status, without opening one (BM-92)."""
    found = {entry.id: entry for entry in await reads.entries(tagged([proposal.old]))}
    seen = await reads.some(list(learned.left))
    learned.rename(proposal.old, proposal.new, learned.now({**found, **seen}).values())
