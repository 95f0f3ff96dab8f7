"""Reads of one pool for one reader: the index proposes, the law disposes, and contents are opened last of all.

A reader is a person or a channel group, always within one organization. The same reads serve the view, the log,
editing, and the memory used in confessions and enrichments (BM-50). Nothing here returns an unchecked entry (BM-111).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph.model.access import Guard, Viewer
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.bots import BotEntry
from graph.model.nodes.people import PrincipalKind
from graph.model.nodes.sessions import EntryStatus
from graph.rules.rights import ViewerFacts
from graph.rules.scopes import group_viewer, make_viewer, narrowed
from graph.rules.visibility import visible_to
from graph.services.access.by_proof import ProvingReader, count_proved
from graph.services.access.caller import Caller
from graph.services.access.facts import load_facts
from graph.services.access.session import Session
from graph.services.audience import rests_on
from graph.services.bots.pool import Bot
from graph.services.deps import Deps
from graph.store.port import Reader
from graph.store.query import After, And, Eq, Find, Newest, Tagged, Where, both
from graph.store.sealing import Place

ACTIVE: Final[Where] = And((Eq("status", str(EntryStatus.ACTIVE)), Eq("invalidated_at", None)))
"""Entries that are "active" in the words of BM-17."""

PAGE: Final = 50

FactsOf = Callable[[Caller], Awaitable[ViewerFacts]]


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolReads:
    """What one reader sees of one pool, on one state of the store.

    Attributes:
        reader: a snapshot, or the transaction of a change.
        viewer: the reader, narrowed to the pool; made by `caller_reads`, `person_reads` or `group_reads`.
    """

    deps: Deps
    reader: Reader
    bot: Bot
    viewer: Viewer

    async def entries(
        self, where: Where | None = None, *, first: int | None = None, after: After | None = None
    ) -> tuple[BotEntry, ...]:
        """Return the entries that the reader may see, in memory order (BM-22); all of them unless `first` is given.

        Args:
            where: such as `ACTIVE` or `tagged`.
            first: at most so many.
            after: go on after this place, ``After(entry.created_at, entry.id)``.
        """
        query = Find(kind=BotEntry, where=where, order=Newest(), first=first, after=after)
        page = await self.reader.find(self.viewer, query)
        proved = await self._settle([entry.id for entry in page.nodes])
        return tuple(entry for entry in page.nodes if entry.id in proved)

    async def active(self) -> AsyncIterator[BotEntry]:
        """Yield the active entries in memory order, read a page at a time."""
        after: After | None = None
        while True:
            query = Find(kind=BotEntry, where=ACTIVE, order=Newest(), first=PAGE, after=after)
            page = await self.reader.find(self.viewer, query)
            proved = await self._settle([entry.id for entry in page.nodes])
            for entry in page.nodes:
                if entry.id in proved:
                    yield entry
            if not page.more:
                return
            after = page.places[-1]

    async def has_active(self) -> bool:
        """True if the reader may see an active entry (BM-112)."""
        async for _ in self.active():
            return True
        return False

    async def one(self, id_: str) -> BotEntry | None:
        """Return an entry that the reader may see, else None: unknown, hidden and foreign alike (BM-151)."""
        return (await self.some([id_])).get(NodeId(id_))

    async def some(self, ids: Collection[str]) -> Mapping[NodeId, BotEntry]:
        """Return those of the named entries that the reader may see."""
        wanted = [NodeId(id_) for id_ in dict.fromkeys(ids) if prefix_of(id_) == BotEntry.PREFIX]
        found = await self.reader.get(self.viewer, wanted) if wanted else {}
        proved = await self._settle(list(found))
        return {id_: node for id_, node in found.items() if id_ in proved and isinstance(node, BotEntry)}

    async def support(self, ids: Collection[str]) -> frozenset[NodeId]:
        """Return those of the named entries that are active and that the reader may see; reads no content (BM-113)."""
        wanted = [NodeId(id_) for id_ in dict.fromkeys(ids)]
        if not wanted:
            return frozenset()
        guards, shown = await self._prove(wanted)
        return frozenset(id_ for id_ in wanted if id_ in shown and self._counts(guards[id_]))

    async def topic_counts(self) -> Mapping[str, int]:
        """Return how many active entries that the reader may see have each topic, by topic (BM-90)."""
        counts: dict[str, int] = {}
        for entry in await self.entries(ACTIVE):
            for tag in entry.tags:
                if ":" not in tag:
                    counts[tag] = counts.get(tag, 0) + 1
        return dict(sorted(counts.items()))

    def open(self, entry: BotEntry) -> str:
        """Return the content of an entry that was found by these reads; the last step before an answer (BM-60)."""
        return self.deps.vault.open(content_place(entry), entry.content)

    def _counts(self, guard: Guard) -> bool:
        return guard.kind == BotEntry.__name__ and guard.pool == self.bot.pool and guard.held

    async def _settle(self, proposed: Sequence[NodeId]) -> frozenset[NodeId]:
        if not proposed:
            return frozenset()
        _, shown = await self._prove(proposed)
        proved = shown & frozenset(proposed)
        count_proved(self.deps.figures, len(proposed), len(proved))
        return proved

    async def _prove(self, ids: Sequence[NodeId]) -> tuple[Mapping[NodeId, Guard], frozenset[NodeId]]:
        """Return the guards of `ids` and of all they rest on, and which of them the law shows to the reader."""
        graph = await rests_on(self.reader, ids)
        return graph.guards, visible_to(graph, self.viewer)


def caller_reads(session: Session, bot: Bot) -> PoolReads:
    """Return the reads of who asks, in the organization he asks in (BM-136, BM-137)."""
    return PoolReads(deps=session.deps, reader=session.reader, bot=bot, viewer=session.narrowed([bot.pool]))


async def person_reads(
    deps: Deps, reader: Reader, bot: Bot, person: NodeId, organization: NodeId, facts_of: FactsOf | None = None
) -> PoolReads:
    """Return the reads of a person in an organization, for a server call about his chat (BM-109, BM-111).

    Args:
        deps: the ports.
        reader: a snapshot, or the transaction of a change.
        bot: whose pool.
        person: who reads.
        organization: where.
        facts_of: `Session.facts_of` of a read or command, which then begins anew if his rights move meanwhile. Without
            it the caller sees to that himself, as `graph.services.bots.readers.read_for_chat` does.

    Raises:
        NotFound: the person is no more.
    """
    who = Caller(workspace=bot.workspace, principal=person, kind=PrincipalKind.HUMAN, organization=organization)
    facts = await (load_facts(reader, who) if facts_of is None else facts_of(who))
    viewer = make_viewer(facts, pools=[bot.pool])
    return PoolReads(deps=deps, reader=_proving(reader, bot), bot=bot, viewer=viewer)


def group_reads(deps: Deps, reader: Reader, bot: Bot, group: NodeId, organization: NodeId) -> PoolReads:
    """Return the reads of a channel group in an organization: its own entries and those for everyone (BM-103)."""
    viewer = group_viewer(bot.workspace, group, organization, [bot.id, bot.home])
    narrow = narrowed(viewer, frozenset({bot.pool}))
    return PoolReads(deps=deps, reader=_proving(reader, bot), bot=bot, viewer=narrow)


def tagged(tags: Collection[str]) -> Where | None:
    """Return the condition of having all of these tags, which the index answers (BM-139); None without any."""
    return both(*(Tagged([tag]) for tag in dict.fromkeys(tags)))


def content_place(entry: BotEntry) -> Place:
    """Return where the content of an entry stands; it never changes, so its version is 1 (BM-20)."""
    return Place(workspace=entry.workspace, node=entry.id, field="content")


def _proving(reader: Reader, bot: Bot) -> Reader:
    return reader if isinstance(reader, ProvingReader) else ProvingReader(reader, bot.workspace)
