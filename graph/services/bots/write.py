"""One committed change set of a pool: entries and links, guards and audiences, log, version and audit, all together.

The caller holds the pool (`graph.services.bots.pool.hold_pool`), has read under that lock what he decides by, and
says in drafts and changes what is to be (`graph.rules.bot_entries`). New contents are sealed here; a change of tags
or status neither opens nor seals what is there (BM-64). Source: BM-23, BM-39, BM-62, BM-141, BM-184.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from graph.model.access import Clause, Guard, Rule, RuleKind
from graph.model.edges import Edge, EdgeType
from graph.model.fields import Json
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.bots import BotEntry, BotLogRow, BotPool, Layer
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.sessions import EntryStatus
from graph.model.sealed import Sealed
from graph.model.time import Millis
from graph.rules.bot_entries import EntryChange, EntryDraft, after, source_list
from graph.rules.bot_tags import is_private, own_rules
from graph.rules.guarding import guard_of
from graph.services.audience import decide_new
from graph.services.audience_later import Change, decide_change
from graph.services.deps import Deps
from graph.services.pool_audit import PoolStep, record_step
from graph.store.port import Writer
from graph.store.sealing import Place


class Maker(StrEnum):
    """Who made a change, as the log tells it; `PROMOTION` only where an older version says so (BM-141, BM-142)."""

    MEMORY_BOT = "memory_bot"
    PERSON = "person"
    PROMOTION = "promotion"


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeSet:
    """What is committed as one version of the pool.

    Attributes:
        drafts: new entries.
        changes: of entries that are there; several of one entry add up, a later one made from what an earlier left.
    """

    drafts: tuple[EntryDraft, ...] = ()
    changes: tuple[EntryChange, ...] = ()

    @property
    def is_empty(self) -> bool:
        """True if nothing changes: then there is no version either."""
        return not self.drafts and not self.changes


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """Whose change it is, for log and audit.

    Attributes:
        operation: such as ``bot.remember``.
        actor: a person for his own step; the bot for what its Memory Bot does.
        on_behalf_of: the person that a host named (AD-16).
        codes: further ids and codes for the audit, never content.
    """

    operation: str
    by: Maker
    actor: NodeId
    actor_kind: ModifierKind
    on_behalf_of: NodeId | None = None
    codes: Json = None

    @property
    def rules(self) -> Clause:
        """Who may read the audit record: the person whose own step it is, else nobody."""
        own = self.by is Maker.PERSON and self.actor_kind is ModifierKind.HUMAN
        return frozenset({Rule(RuleKind.PERSON, self.actor)}) if own else frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """What was committed.

    Attributes:
        pool: as it is now; hand it on to a further step in the same transaction.
        made: the new entries, in the order of the drafts.
        changed: the changed ones, in order of their first change.
    """

    pool: BotPool
    made: tuple[BotEntry, ...] = ()
    changed: tuple[BotEntry, ...] = ()


async def write_changes(
    writer: Writer, deps: Deps, pool: BotPool, changes: ChangeSet, step: Step, *, tx_id: str, at: Millis
) -> Written:
    """Commit a change set to a pool that the caller holds; an empty one writes nothing.

    The version moves by one; the access version moves if an entry that was there changed (BM-62).
    """
    if changes.is_empty:
        return Written(pool=pool)
    made = _entries(deps, pool, changes.drafts, at)
    changed = _left(changes.changes, at)
    moved = replace(pool, version=pool.version + 1, access_version=pool.access_version + bool(changed))
    await _write_new(writer, made, changes.drafts)
    await _write_changed(writer, changed, changes.changes, _what(deps, pool, changed, tx_id, at))
    await writer.put(log_rows(deps, moved, [entry.id for entry in (*made, *changed)], step.by, at))
    await writer.patch_many({pool.id: {"version": moved.version, "access_version": moved.access_version}})
    moved = await record(writer, deps, moved, step, [*made, *changed], tx_id=tx_id, at=at)
    return Written(pool=moved, made=tuple(made), changed=tuple(changed))


async def record(
    writer: Writer, deps: Deps, pool: BotPool, step: Step, entries: Sequence[BotEntry], *, tx_id: str, at: Millis
) -> BotPool:
    """Write the audit record of a step in a pool that the caller holds; return the pool with its new head."""
    target = entries[0].id if len(entries) == 1 else pool.id
    codes: dict[str, Any] = {"version": pool.version, **(step.codes or {})}
    if len(entries) > 1:
        codes["entries"] = [entry.id for entry in entries]
    done = PoolStep(
        operation=step.operation,
        actor=step.actor,
        actor_kind=step.actor_kind,
        target=target,
        rules=step.rules,
        on_behalf_of=step.on_behalf_of,
        codes=codes,
    )
    made = await record_step(writer, deps, pool, done, tx_id=tx_id, at=at)
    return replace(pool, audit_seq=made.seq, audit_head=made.hash)


def log_rows(
    deps: Deps, pool: BotPool, entries: Sequence[NodeId], by: Maker, at: Millis, *, version: int | None = None
) -> list[BotLogRow]:
    """Return the row that each entry has in one version of the log, the present one of `pool` unless given."""
    ids = [deps.new_id(BotLogRow.PREFIX) for _ in entries]
    makers = deps.vault.seal_all([(by_place(pool.workspace, id_), str(by)) for id_ in ids])
    return [
        BotLogRow(
            id=id_,
            workspace=pool.workspace,
            pool=pool.id,
            created_at=at,
            entry_id=entry,
            version=pool.version if version is None else version,
            at=at,
            by=maker,
        )
        for id_, entry, maker in zip(ids, entries, makers, strict=True)
    ]


def by_place(workspace: WorkspaceId, row: NodeId) -> Place:
    """Return where a log row keeps who made the change."""
    return Place(workspace=workspace, node=row, field="by")


def entry_guard(entry: BotEntry, excluded: frozenset[NodeId] = frozenset()) -> Guard:
    """Return the guard of an entry: its own rule from its tags, and who left it (BM-35, BM-150).

    Without a `for:` tag, or with no or several organizations, it has no rule and nobody sees it; nor does anyone a
    pinned one that does not name its one owner (BM-49).
    """
    owned = entry.layer != Layer.PINNED or is_private(entry.tags)
    rules = own_rules(entry.workspace, entry.bot_id, entry.tags) if owned else None
    return replace(guard_of(entry, frozenset()), rules=rules, excluded=excluded)


def _entries(deps: Deps, pool: BotPool, drafts: Sequence[EntryDraft], at: Millis) -> list[BotEntry]:
    ids = [deps.new_id(BotEntry.PREFIX) for _ in drafts]
    texts = [
        (Place(workspace=pool.workspace, node=id_, field="content"), draft.content)
        for id_, draft in zip(ids, drafts, strict=True)
    ]
    contents = deps.vault.seal_all(texts)
    return [_entry(pool, *parts, at) for parts in zip(ids, drafts, contents, strict=True)]


def _entry(pool: BotPool, id_: NodeId, draft: EntryDraft, content: Sealed, at: Millis) -> BotEntry:
    return BotEntry(
        id=id_,
        workspace=pool.workspace,
        pool=pool.id,
        created_at=at,
        bot_id=pool.bot_id,
        layer=str(draft.layer),
        content=content,
        chars=len(draft.content),
        tags=draft.tags,
        sources=source_list(draft),
        status=str(EntryStatus.ACTIVE),
        confidence=draft.confidence,
        updated_at=at,
    )


async def _write_new(writer: Writer, made: Sequence[BotEntry], drafts: Sequence[EntryDraft]) -> None:
    if not made:
        return
    links = [edge for entry, draft in zip(made, drafts, strict=True) for edge in _links(entry.id, draft)]
    await writer.put(made)
    await writer.link(links)
    await decide_new(writer, [entry_guard(entry) for entry in made], links)


def _links(entry: NodeId, draft: EntryDraft) -> Iterable[Edge]:
    for item in draft.items:
        rule = None if item.rule is None else (item.rule.encode(),)
        yield Edge(type=EdgeType.CITES, source=entry, target=item.node, record=rule)
    for source in draft.entries:
        yield Edge(type=EdgeType.DERIVED_FROM, source=entry, target=source)


def _left(changes: Iterable[EntryChange], at: Millis) -> list[BotEntry]:
    """Return each changed entry as its changes leave it."""
    left: dict[NodeId, BotEntry] = {}
    for change in changes:
        before = left.get(change.before.id, change.before)
        left[before.id] = after(replace(change, before=before), at)
    return list(left.values())


async def _write_changed(
    writer: Writer, changed: Sequence[BotEntry], changes: Sequence[EntryChange], what: Change
) -> None:
    if not changed:
        return
    await writer.patch_many({entry.id: _stored(entry) for entry in changed})
    before = await writer.guards([entry.id for entry in changed])
    excluded = {entry.id: before[entry.id].excluded for entry in changed}
    for change in changes:
        excluded[change.before.id] |= change.excluded
    await decide_change(writer, what, [entry_guard(entry, excluded[entry.id]) for entry in changed], ())


def _what(deps: Deps, pool: BotPool, changed: Sequence[BotEntry], tx_id: str, at: Millis) -> Change:
    moved = [entry.id for entry in changed]
    return Change(workspace=pool.workspace, tx_id=tx_id, at=at, moved=moved, at_once=deps.dependents_at_once)


def _stored(entry: BotEntry) -> dict[str, Any]:
    """Return the fields that a change can move; the content is not among them."""
    names = ("tags", "removed_tags", "status", "updated_at", "invalidated_at")
    return {name: getattr(entry, name) for name in names}
