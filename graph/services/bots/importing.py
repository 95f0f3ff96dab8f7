"""Taking in bot memory that older versions kept: everything in one transaction, or nothing (AD-21, BM-162 to BM-170).

The same checks hold for it as for new entries. What is known by its id already is passed over, so that an import may
be repeated; an id that is taken elsewhere stops it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from graph.model.edges import Edge, EdgeType
from graph.model.errors import AlreadyExists, BadInput
from graph.model.fields import Node
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.bots import BotEntry, BotPool, Layer
from graph.rules import bot_tags
from graph.rules.bot_old_memory import (
    AccessRecord,
    OldChange,
    OldEntry,
    OldMemory,
    OldSource,
    access_rule,
    item_id,
    record_of,
    record_of_all,
    record_of_entry,
)
from graph.services.access.commands import Command
from graph.services.audience import recompute
from graph.services.bots.chat_access import text_place
from graph.services.bots.commands import own_step
from graph.services.bots.old_chats import IMPORT, OldChats
from graph.services.bots.pool import find_bot, hold_pool
from graph.services.bots.write import Maker, entry_guard, log_rows, record
from graph.store.port import Writer


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportCounts:
    """What became of an import.

    Attributes:
        entries: taken in; `known`: passed over.
        version: of the pool afterwards.
    """

    entries: int
    known: int
    chats: int
    items: int
    records: int
    version: int


async def import_memory(cmd: Command, bot_id: NodeId, old: OldMemory) -> ImportCounts:
    """Take in old memory of a bot.

    Raises:
        Forbidden: only an admin does.
        MissingObject: ``BotNotFound``.
        AlreadyExists: the id of an entry or chat is taken in another pool; nothing was written.
        NotFound: a chat names an organization, person or channel that is not there.
        BadInput: it is a linked bot, or a version of the log is not beyond the version of the pool.
    """
    cmd.require_admin()
    bot = await find_bot(cmd.writer, cmd.caller.workspace, bot_id)
    if bot.is_linked:
        raise BadInput("import into the bot that this one is a link to", field="bot")
    pool = await hold_pool(cmd.writer, bot, cmd.at)
    places = OldChats(deps=cmd.deps, writer=cmd.writer, pool=pool)
    chats, items = await places.chats(old), await places.items(old)
    entries = _Entries(cmd=cmd, pool=pool, old=old)
    made, known = await entries.run()
    records = await places.records(old)
    if made or chats or items or records:
        step = own_step(cmd, "bot.import", {"entries": made})
        await record(cmd.writer, cmd.deps, entries.pool, step, (), tx_id=cmd.tx_id, at=cmd.at)
    version = entries.pool.version
    return ImportCounts(entries=made, known=known, chats=chats, items=items, records=records, version=version)


@dataclass(kw_only=True, slots=True)
class _Entries:
    """Takes in entries and their log; `pool` moves with it."""

    cmd: Command
    pool: BotPool
    old: OldMemory

    async def run(self) -> tuple[int, int]:
        """Return how many entries were new, and how many known."""
        known = await self._known()
        fresh = list({entry.id: entry for entry in self.old.entries if entry.id not in known}.values())
        await self._put(fresh, known)
        await self._log({entry.id for entry in fresh})
        return len(fresh), len(self.old.entries) - len(fresh)

    @property
    def _writer(self) -> Writer:
        return self.cmd.writer

    @property
    def _workspace(self) -> WorkspaceId:
        return self.pool.workspace

    async def _known(self) -> frozenset[str]:
        """Return which entries, and sources of entries, are in the pool already.

        Raises:
            AlreadyExists: an entry that comes has an id of another pool.
        """
        coming = {entry.id for entry in self.old.entries}
        sources = {source.entry for entry in self.old.entries for source in entry.sources if source.entry}
        named = sorted(NodeId(id_) for id_ in coming | sources)
        found = await self._writer.get(IMPORT, named)
        if any(node.pool != self.pool.id for id_, node in found.items() if id_ in coming):
            raise AlreadyExists("the id of an entry is taken elsewhere", kind=BotEntry.__name__, key_fields=("id",))
        return frozenset(id_ for id_, node in found.items() if node.pool == self.pool.id)

    async def _put(self, fresh: Sequence[OldEntry], known: frozenset[str]) -> None:
        if not fresh:
            return
        present = known | {entry.id for entry in fresh}
        links = await self._links(fresh, present)
        nodes = [self._entry(entry) for entry in fresh]
        await self._writer.put(nodes)
        await self._writer.link(links)
        leavers = {entry.id: self._people(entry.excluded) for entry in fresh}
        await self._writer.guard([entry_guard(node, leavers[node.id]) for node in nodes])
        await recompute(self._writer, [node.id for node in nodes])

    async def _links(self, fresh: Sequence[OldEntry], present: Collection[str]) -> list[Edge]:
        """Return the links with their records as of now: what is missing stays a missing proof (BM-165)."""
        items = {
            item_id(self._workspace, one.chat, one.item) for entry in fresh for one in entry.sources if not one.entry
        }
        found = await self._writer.get(IMPORT, sorted(items))
        there = {id_ for id_, node in found.items() if node.pool == self.pool.id}
        return [edge for entry in fresh for edge in self._links_of(entry, present, there)]

    def _links_of(self, entry: OldEntry, present: Collection[str], there: Collection[NodeId]) -> Iterable[Edge]:
        records: dict[tuple[EdgeType, NodeId], list[AccessRecord]] = {}
        for source in entry.sources:
            link, record = self._link(source, present, there)
            records.setdefault(link, []).append(record)
        for (kind, target), given in records.items():
            yield Edge(type=kind, source=NodeId(entry.id), target=target, record=record_of_all(given))

    def _link(
        self, source: OldSource, present: Collection[str], there: Collection[NodeId]
    ) -> tuple[tuple[EdgeType, NodeId], AccessRecord]:
        """Return where a source leads, and the access record that it brings."""
        if source.entry:
            return (EdgeType.DERIVED_FROM, NodeId(source.entry)), record_of_entry(source.entry, present)
        target = item_id(self._workspace, source.chat, source.item)
        rule = None if source.access is None else access_rule(self._workspace, self.pool.bot_id, source.access)
        return (EdgeType.CITES, target), record_of(rule, is_there=target in there)

    def _entry(self, old: OldEntry) -> BotEntry:
        id_ = NodeId(old.id)
        return BotEntry(
            id=id_,
            workspace=self._workspace,
            pool=self.pool.id,
            created_at=old.created_at,
            bot_id=self.pool.bot_id,
            layer=str(old.layer),
            content=self.cmd.deps.vault.seal(text_place(self._workspace, id_, "content"), old.content),
            chars=len(old.content),
            tags=old.tags,
            removed_tags=old.removed_tags,
            sources=[source.shown for source in old.sources],
            status=old.status,
            confidence=old.confidence if old.layer is Layer.OBSERVATION else None,
            updated_at=old.updated_at,
            invalidated_at=old.invalidated_at,
        )

    def _people(self, locals_: Iterable[str]) -> frozenset[NodeId]:
        return frozenset(bot_tags.person_id(self._workspace, local) for local in locals_)

    async def _log(self, fresh: set[str]) -> None:
        """Take in the old log of the new entries; the pool goes on from its last version.

        Raises:
            BadInput: a version of it is not beyond that of the pool.
        """
        if not fresh:
            return
        changes = [change for change in self.old.log if fresh & set(change.entries)]
        if any(change.version <= self.pool.version for change in changes):
            raise BadInput("the old log must go on from the version of the pool", field="version")
        version = max([self.pool.version + 1, *(change.version for change in changes)])
        rows = [row for change in changes for row in self._rows(change, fresh)]
        await self._writer.put(rows)
        await self._writer.patch_many({self.pool.id: {"version": version}})
        self.pool = replace(self.pool, version=version)

    def _rows(self, change: OldChange, fresh: Collection[str]) -> Iterable[Node]:
        entries = [NodeId(entry) for entry in dict.fromkeys(change.entries) if entry in fresh]
        by = Maker(change.by)
        return log_rows(self.cmd.deps, self.pool, entries, by, change.at, version=change.version)
