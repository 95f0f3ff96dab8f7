"""A session of reading: one viewer, one state of rights, one snapshot where the store has snapshots.

Every read path goes through `Session`: the index proposes (`page`, `open`), the law disposes (`prove`). A row that the
index let through and the law does not is dropped and counted as ``audience_mismatch``. Source:
docs/design.md#the-audience-index.
"""

from __future__ import annotations

from asyncio import gather
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from graph.model.access import SystemScope, Viewer
from graph.model.edges import LAW_EDGES
from graph.model.errors import NotFound, StoreUnavailable
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KnowledgeBase
from graph.rules.pools import scope_of
from graph.rules.rights import ViewerFacts
from graph.rules.scopes import ConversationFacts, make_viewer, needs_access_record
from graph.rules.visibility import Decided, SourceGraph, source_graph, visible_to
from graph.services.access.by_proof import ProvingReader, count_proved
from graph.services.access.caller import Caller
from graph.services.access.facts import base_versions, bot_pools, load_conversation, load_facts, versions_of
from graph.services.audience import law_edge, rests_on
from graph.services.deps import Deps
from graph.store.port import Isolation, Reader
from graph.store.query import Direction, Find, Page, Reached

T = TypeVar("T")
N = TypeVar("N", bound=Node)

POOLS = SystemScope(reason="which pools a read touched")
MAX_REPEATS = 20
WORTH_A_STOP = 2
"""A proof stops at what is decided, for one more round trip if it must go on, if that is so many times the asked."""
_NOTHING = Reached(depths={}, edges=(), truncated=False)


@dataclass(kw_only=True, slots=True)
class Session:
    """What a read service works with.

    Attributes:
        own_viewer: `viewer`, once it was asked for; many writes never ask.
        pools: knowledge bases seen so far in this request.
        recorded: pools of private chats that an auditor read (KN-59); a record is written before the answer.
        versions: access versions when the session was opened; None where the reader keeps one state.
        others: access versions of further people whose rights the work rests on, from when they were read first.
        watched: pools of bots whose access versions are among `versions`, if they are there; see `watch`.
        proved: what the law said to each viewer so far in this one state, so that what many statements rest on is
            walked once; None inside a write, whose state changes.
    """

    deps: Deps
    reader: Reader
    caller: Caller
    facts: ViewerFacts
    own_viewer: Viewer | None = None
    conversation: ConversationFacts | None = None
    pools: dict[NodeId, KnowledgeBase] = field(default_factory=dict)
    recorded: set[NodeId] = field(default_factory=set)
    versions: dict[NodeId, int] | None = None
    others: dict[NodeId, int] = field(default_factory=dict)
    watched: set[NodeId] = field(default_factory=set)
    proved: dict[Viewer, Decided] | None = None

    @property
    def viewer(self) -> Viewer:
        """The widest viewer of the caller (of an agent: in its conversation)."""
        if self.own_viewer is None:
            self.own_viewer = make_viewer(self.facts, conversation=self.conversation)
        return self.own_viewer

    async def moved(self) -> bool:
        """True if rights moved since the session was opened; never on a store whose readers keep one state."""
        if self.versions is None:
            return False
        watched = [self.caller.principal, *self.others, *self.watched]
        bases, others = await gather(base_versions(self.reader, self.caller), versions_of(self.reader, watched))
        return {**bases, **others} != {**self.others, **self.versions}

    async def watch(self, pools: Iterable[NodeId]) -> None:
        """Let `moved` notice what changes in the pools of these bots from here on; those that the caller reads are.

        Call it before anything of the pool is read.
        """
        fresh = sorted(set(pools) - self.watched)
        if self.versions is not None and fresh:
            self.versions |= await versions_of(self.reader, fresh)
            self.watched.update(fresh)

    async def facts_of(self, other: Caller) -> ViewerFacts:
        """Return the facts about somebody else for whom something is done, such as the person of a chat.

        His rights are watched like the caller's from here on: a read begins anew if they moved before its end, a
        command if they moved before its commit. Every reader that is not the caller must come from here (BM-62).

        Raises:
            NotFound: the principal does not exist any more.
        """
        facts = await load_facts(self.reader, other)
        if other.principal != self.caller.principal:
            self.others.setdefault(other.principal, facts.access_version)
        await self.watch(bot_pools(facts))
        return facts

    def narrowed(self, pools: Iterable[NodeId]) -> Viewer:
        """Return the viewer asking about these pools only."""
        return make_viewer(self.facts, conversation=self.conversation, pools=pools)

    async def speak_in(self, conversation_id: NodeId, *, idle_hours: float) -> ConversationFacts:
        """Let the session read as in a conversation: for an agent its read set, for others a narrower question.

        Raises:
            NotFound: unknown, another workspace's or another agent's conversation, or one the caller may not see.
        """
        _, facts = await load_conversation(self.reader, conversation_id, now=self.deps.now(), idle_hours=idle_hours)
        self.own_viewer = make_viewer(self.facts, conversation=facts)
        self.conversation = facts
        if not await self.reader.get(self.viewer, [conversation_id]):
            raise NotFound
        return facts

    async def page(self, query: Find[N], viewer: Viewer | None = None) -> Page[N]:
        """Return a page of nodes that the index proposes and the law proves."""
        page = await self.reader.find(viewer or self.viewer, query)
        proved = await self._settle([node.id for node in page.nodes])
        if len(proved) == len(page.nodes):
            await self._touch(page.nodes)
            return page
        kept = [(node, place) for node, place in zip(page.nodes, page.places, strict=True) if node.id in proved]
        await self._touch([node for node, _ in kept])
        return Page(nodes=tuple(n for n, _ in kept), places=tuple(p for _, p in kept), more=page.more)

    async def open(self, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
        """Return those of `ids` that the caller may see, proved; the others are simply not there."""
        found = await self.reader.get(self.viewer, list(dict.fromkeys(ids)))
        proved = await self._settle(list(found))
        shown = {id_: node for id_, node in found.items() if id_ in proved}
        await self._touch(shown.values())
        return shown

    async def open_one(self, id_: NodeId, kind: type[N]) -> N:
        """Return one node of a kind.

        Raises:
            NotFound: missing, hidden or of another kind, all alike.
        """
        node = (await self.open([id_])).get(id_)
        if not isinstance(node, kind):
            raise NotFound
        return node

    async def prove(self, ids: Sequence[NodeId]) -> frozenset[NodeId]:
        """Return those of `ids` that the law shows to the viewer, by walking their sources."""
        known = Decided() if self.proved is None else self.proved.setdefault(self.viewer, Decided())
        unknown = [id_ for id_ in dict.fromkeys(ids) if id_ not in known.guards]
        if unknown:
            stop = len(known.guards) > WORTH_A_STOP * len(unknown)
            graph = await self._walk(unknown, known) if stop else await self.sources(unknown)
            known.add(graph, visible_to(graph, self.viewer, known))
        return frozenset(ids) & known.shown

    async def sources(self, ids: Sequence[NodeId]) -> SourceGraph:
        """Return the graph of `ids` and of all they rest on, without any content."""
        return await rests_on(self.reader, ids)

    async def _walk(self, ids: Sequence[NodeId], known: Decided) -> SourceGraph:
        """Return the graph of `ids` down to what is decided already: one step, and on only from what is not."""
        first = await self.reader.closure(ids, LAW_EDGES, Direction.OUT, depth=1, guarded=True)
        fresh = [id_ for id_, depth in first.depths.items() if depth and id_ not in known.guards]
        below = await self.reader.closure(fresh, LAW_EDGES, Direction.OUT, guarded=True) if fresh else _NOTHING
        asked = set(ids)
        edges = [*first.edges, *(edge for edge in below.edges if edge.source not in asked)]
        # What is decided was decided on the guards that were read then.
        decided = {id_: known.guards[id_] for id_ in (*first.depths, *below.depths) if id_ in known.guards}
        return source_graph({**first.guards, **below.guards, **decided}.values(), map(law_edge, edges))

    async def base(self, pool: NodeId) -> KnowledgeBase | None:
        """Return a knowledge base (its facts, whether or not the caller reads it)."""
        await self._load_pools([pool])
        return self.pools.get(pool)

    async def _settle(self, proposed: Sequence[NodeId]) -> frozenset[NodeId]:
        proved = await self.prove(proposed)
        count_proved(self.deps.figures, len(proposed), len(proved))
        return proved

    async def _touch(self, nodes: Iterable[Node]) -> None:
        """Remember which private chats an auditor reads."""
        if not self.viewer.audits:
            return
        seen = {node.pool for node in nodes if node.pool}
        await self._load_pools(sorted(seen))
        for pool in seen & self.pools.keys():
            if needs_access_record(self.viewer, scope_of(self.pools[pool])):
                self.recorded.add(pool)

    async def _load_pools(self, pools: Sequence[NodeId]) -> None:
        missing = [pool for pool in pools if pool not in self.pools]
        if missing:
            found = await self.reader.get(POOLS, missing)
            self.pools |= {id_: node for id_, node in found.items() if isinstance(node, KnowledgeBase)}


@asynccontextmanager
async def open_session(deps: Deps, caller: Caller) -> AsyncIterator[Session]:
    """Give a session of reading; ask it at the end whether rights `moved` and, if so, read again (KN-116).

    Raises:
        NotFound: the principal does not exist any more.
    """
    async with deps.store.reading() as reader:
        # Before the facts: a right that goes between the two must be noticed at the end.
        versions = None if deps.store.isolation is Isolation.SNAPSHOT else await base_versions(reader, caller)
        facts = await load_facts(reader, caller)
        if versions is not None:
            versions[caller.principal] = facts.access_version
        session = Session(
            deps=deps,
            reader=ProvingReader(reader, caller.workspace),
            caller=caller,
            facts=facts,
            versions=versions,
            proved={},
        )
        await session.watch(bot_pools(facts))
        yield session


async def read(deps: Deps, caller: Caller, work: Callable[[Session], Awaitable[T]]) -> tuple[T, Session]:
    """Run `work` on one state of rights and return its result with the session (KN-116).

    On a store without snapshots the access versions of the viewer and of the pools are read first and compared at
    the end; if one moved, `work` runs again. It must have no effect of its own.

    Raises:
        StoreUnavailable: the rights moved during every one of many tries.
    """
    for _ in range(MAX_REPEATS):
        async with open_session(deps, caller) as session:
            result = await work(session)
            if not await session.moved():
                return result, session
            deps.figures.count("read_repeated")
    raise StoreUnavailable("rights are changing too fast to answer from one state: try again")
