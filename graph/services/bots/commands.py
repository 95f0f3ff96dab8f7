"""Changing one's own entries: Remember and Forget (BM-144 to BM-153).

Both hold the pool and take a person: an agent or a service has no entries of its own.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from graph.model.errors import Forbidden, SurfaceConflict
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.bots import BotPool
from graph.model.nodes.people import PrincipalKind
from graph.rules.bot_entries import (
    check_content,
    check_topics,
    forgotten,
    pinned,
    public_entry,
)
from graph.rules.rights import ViewerFacts
from graph.services.access.commands import Command
from graph.services.bots.pool import Bot, bot_of, hold_pool
from graph.services.bots.reading import caller_reads
from graph.services.bots.write import ChangeSet, Maker, Step, Written, write_changes
from graph.store.port import Reader

CONFLICT: Final = "BotMemoryConflict"
NOT_YOURS: Final = "not_yours"


@dataclass(frozen=True, kw_only=True, slots=True)
class Changed:
    """What a command left: the entry as the caller sees it, None if he does not any more, and the pool's version."""

    entry: Json
    version: int


async def remember(cmd: Command, bot_id: NodeId, content: str, tags: Collection[str] = ()) -> Changed:
    """Add a pinned entry that only the caller sees; each call makes a new one (BM-145 to BM-147).

    Raises:
        MissingObject: ``BotNotFound``.
        Forbidden: the caller is no person, or asks in no organization that he is a member of.
        InvalidRequest: content or tags.
    """
    bot = await person_bot_of(cmd.writer, cmd.facts, bot_id)
    if cmd.facts.organization is None:
        raise Forbidden("use a token of an organization that you are a member of")
    topics = check_topics(tags, path="command.tags")
    check_content(content, path="command.content")
    draft = pinned(content, topics, person=cmd.facts.principal, organization=cmd.facts.organization)
    pool = await hold_pool(cmd.writer, bot, cmd.at)
    written = await _write(cmd, pool, ChangeSet(drafts=(draft,)), "bot.remember")
    return Changed(entry=public_entry(written.made[0], content), version=written.pool.version)


async def forget(cmd: Command, bot_id: NodeId, entry_id: str) -> Changed:
    """Take back the caller's part of an entry: retract what is his alone, leave what he shares (BM-148 to BM-152).

    Raises:
        MissingObject: ``BotNotFound``.
        Forbidden: the caller is no person.
        SurfaceConflict: ``not_yours``: unknown, hidden and foreign ids alike (BM-151).
    """
    bot = await person_bot_of(cmd.writer, cmd.facts, bot_id)
    pool = await hold_pool(cmd.writer, bot, cmd.at)
    reads = caller_reads(cmd.session, bot)
    entry = await reads.one(entry_id)
    if entry is None:
        raise SurfaceConflict(CONFLICT, NOT_YOURS, "this is no entry of yours: read your entries again")
    change = forgotten(entry, cmd.facts.principal)
    if change is not None:
        written = await _write(cmd, pool, ChangeSet(changes=(change,)), "bot.forget")
        pool, entry = written.pool, written.changed[0]
    if cmd.facts.principal in (change.excluded if change else ()):
        return Changed(entry=None, version=pool.version)
    return Changed(entry=public_entry(entry, reads.open(entry)), version=pool.version)


async def person_bot_of(reader: Reader, facts: ViewerFacts, bot_id: NodeId) -> Bot:
    """Return a bot that the caller may read, if he is a person.

    Raises:
        MissingObject: ``BotNotFound``.
        Forbidden: he is an agent or a service.
    """
    bot = await bot_of(reader, facts, bot_id)
    if facts.kind is not PrincipalKind.HUMAN:
        raise Forbidden("only people have entries of their own")
    return bot


async def _write(cmd: Command, pool: BotPool, changes: ChangeSet, operation: str) -> Written:
    return await write_changes(
        cmd.writer, cmd.deps, pool, changes, own_step(cmd, operation), tx_id=cmd.tx_id, at=cmd.at
    )


def own_step(cmd: Command, operation: str, codes: Json = None) -> Step:
    """Return the caller's own step, for log and audit."""
    return Step(operation=operation, by=Maker.PERSON, actor=cmd.facts.principal, actor_kind=cmd.actor_kind, codes=codes)
