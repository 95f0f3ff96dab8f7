"""Withdrawing a source and taking it back: what rests on it vanishes and reappears (KN-62, KN-67, MA-24)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graph.model.errors import BadState, NotFound
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source, SourceKind, SourceState
from graph.model.nodes.work import AuditRecord
from graph.rules.audit_chain import AuditDraft
from graph.rules.audit_operations import AuditOperation
from graph.rules.changes import Changes
from graph.rules.images import source_image
from graph.rules.rights import may_administer, may_host
from graph.services.access.commands import Command
from graph.services.audience import hold_dependents
from graph.services.knowledge.conversations import hold_channel, may_report
from graph.services.knowledge.message_texts import reindex_around
from graph.services.learning.stage_a import companions, read_again, without_episode
from graph.services.ledger import COMMIT_GUARD, Commit, commit
from graph.services.settings import load_settings
from graph.store.port import Writer
from graph.store.query import And, Eq, Find


async def withdraw_source(cmd: Command, source_id: NodeId, reason: str | None) -> AuditRecord | None:
    """Withdraw all versions of a source; None if it was withdrawn already.

    Raises:
        NotFound: no such source for the caller.
        BadState: the source was erased.
    """
    return await _set_state(cmd, source_id, SourceState.WITHDRAWN, AuditOperation.SOURCE_WITHDRAW, reason)


async def return_source(cmd: Command, source_id: NodeId, reason: str | None) -> AuditRecord | None:
    """Make all versions of a withdrawn source live again; None if it was live.

    Raises:
        NotFound: no such source for the caller.
        BadState: the source was erased; what is erased does not come back.
    """
    return await _set_state(cmd, source_id, SourceState.LIVE, AuditOperation.SOURCE_RETURN, reason)


async def versions_of(writer: Writer, cmd: Command, source_id: NodeId) -> tuple[Source, ...]:
    """Return all versions of a source that the caller may withdraw or erase, oldest first.

    Whoever reports messages may withdraw them, an admin anything (AD-15, AD-19).

    Raises:
        NotFound: to all others it does not exist.
    """
    found = (await writer.get(COMMIT_GUARD, [source_id])).get(source_id)
    if not isinstance(found, Source) or found.workspace != cmd.caller.workspace:
        raise NotFound
    if not (may_administer(cmd.facts) or may_host(cmd.facts)):
        raise NotFound
    page = await writer.find(COMMIT_GUARD, Find(kind=Source, where=Eq("series", found.series)))
    return tuple(sorted(page.nodes, key=lambda s: (s.version, s.id)))


async def message_of(cmd: Command, channel_id: NodeId, external_id: str) -> NodeId:
    """Return the newest version of a message by the id that its channel gave it.

    Raises:
        NotFound: no such channel or message for the caller.
    """
    may_report(cmd, await hold_channel(cmd.writer, channel_id))
    where = And(
        (
            Eq("channel_id", channel_id),
            Eq("external_id", external_id),
            Eq("kind", SourceKind.MESSAGE),
            Eq("latest", True),
        )
    )
    page = await cmd.writer.find(COMMIT_GUARD, Find(kind=Source, where=where, first=1))
    if not page.nodes:
        raise NotFound
    return page.nodes[0].id


async def _set_state(
    cmd: Command, source_id: NodeId, state: SourceState, operation: AuditOperation, reason: str | None
) -> AuditRecord | None:
    versions = await versions_of(cmd.writer, cmd, source_id)
    await hold_dependents(cmd.writer, [v.id for v in versions])
    versions = await versions_of(cmd.writer, cmd, source_id)
    if any(v.state == SourceState.ERASED for v in versions):
        raise BadState("the source was erased and stays so")
    moving = [v for v in versions if v.state != state]
    if not moving:
        return None
    changes = Changes(reguard={v.id for v in moving})
    for version in moving:
        changes.patch(version.id, state=str(state))
    changes.drafts.append(_draft(cmd, versions[0], operation, moving[0].state, state, reason))
    return await _commit(cmd, changes, [replace(v, state=state) for v in moving])


def _draft(
    cmd: Command, first: Source, operation: AuditOperation, before: str, after: SourceState, reason: str | None
) -> AuditDraft:
    return AuditDraft(
        operation=operation,
        actor_id=cmd.facts.principal,
        actor_kind=cmd.actor_kind,
        target_id=first.id,
        target_kind="Source",
        before=source_image(before),
        after=source_image(str(after)),
        reason=reason,
    )


async def _commit(cmd: Command, changes: Changes, moved: Sequence[Source]) -> AuditRecord:
    pool = moved[0].pool
    assert pool is not None
    language = (await load_settings(cmd.writer, cmd.caller.workspace))["search.default_language"]
    where = Commit(pool=pool, tx_id=cmd.tx_id, at=cmd.at, language=language)
    records = await commit(cmd.writer, cmd.deps, where, changes)
    await reindex_around(cmd.writer, moved, language)
    await _return_to_stage_a(cmd.writer, moved)
    await cmd.writer.increment(pool, "access_version")
    return records[0]


async def _return_to_stage_a(writer: Writer, moved: Sequence[Source]) -> None:
    """Let messages that lost their episode, or came back without one, be read again (KN-67)."""
    gone = [source.id for source in moved if source.state != SourceState.LIVE]
    back = [source for source in moved if source.latest and source.state == SourceState.LIVE]
    await read_again(writer, [*await companions(writer, gone), *await without_episode(writer, back)])
