"""Random worlds of knowledge, and what every kind of reader may see of them by the naive law.

Sources in all knowledge bases (some withdrawn, some only named), entries whose names, summaries, blocks and relations
rest on anything, also on each other in a circle; histories, deletions, relations taken back; audit records. The same
seed gives the same ids and times on every store.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from graph.model.access import Audience, Guard, Rule, RuleKind, Viewer
from graph.model.edges import LAW_EDGES, Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId, hosted_id
from graph.model.nodes.evidence import Channel, ChannelKind, Source
from graph.model.nodes.knowledge import BlockVersion, Entry, FacetField, KbKind, Relation, RelationVersion
from graph.model.nodes.people import Principal, PrincipalKind
from graph.rules.guarding import guard_of, own_audience
from graph.services.access.caller import Caller
from graph.services.access.session import Session, open_session
from graph.services.audience import law_edge
from graph.services.deps import Deps
from graph.store.port import Row, Store, Writer
from graph.store.query import TextRow
from tests.reference.law import naive_law
from tests.support.clock import FakeClock
from tests.support.entry_writer import EntryWriter
from tests.support.world import TeamWorld

IDLE_HOURS = 24.0 * 365


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Someone who reads, an agent in one of its conversations."""

    name: str
    caller: Caller
    conversation: NodeId | None = None

    @asynccontextmanager
    async def session(self, deps: Deps) -> AsyncIterator[Session]:
        """Give a session of this reader."""
        async with open_session(deps, self.caller) as session:
            if self.conversation is not None:
                await session.speak_in(self.conversation, idle_hours=IDLE_HOURS)
            yield session


@dataclass(kw_only=True)
class RandomLibrary:
    """What was written, as far as tests ask for it.

    Attributes:
        words: the word that only this text has, by the facet or block version whose audience guards the text.
        items: the entry of each such text.
        borealis: an agent that was granted the shared knowledge of Atlas.
    """

    world: TeamWorld
    clock: FakeClock
    pools: tuple[NodeId, ...]
    askers: tuple[Asker, ...]
    borealis: NodeId
    entries: list[Entry] = field(default_factory=list)
    deleted: set[NodeId] = field(default_factory=set)
    blocks: list[BlockVersion] = field(default_factory=list)
    relations: list[tuple[Relation, RelationVersion]] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    words: dict[NodeId, str] = field(default_factory=dict)
    items: dict[NodeId, NodeId] = field(default_factory=dict)


@dataclass(kw_only=True)
class Truth:
    """All rows of a store, and what the naive law says of them."""

    rows: list[Row]

    @classmethod
    async def of(cls, store: Store) -> Truth:
        """Read everything."""
        return cls(rows=[row async for row in store.export_rows()])

    @property
    def nodes(self) -> dict[NodeId, Node]:
        return {row.id: row for row in self.rows if isinstance(row, Node)}

    @property
    def edges(self) -> list[Edge]:
        return [row for row in self.rows if isinstance(row, Edge)]

    def visible(self, viewer: Viewer) -> set[NodeId]:
        """Return the ids that the naive law shows; only of nodes that exist."""
        guards = [row for row in self.rows if isinstance(row, Guard)]
        law = [law_edge(edge) for edge in self.edges if edge.type in LAW_EDGES]
        return {NodeId(id_) for id_ in naive_law(guards, law, viewer)} & self.nodes.keys()

    def without(self, hidden: set[NodeId]) -> list[Row]:
        """Return the rows of a store that never held these nodes."""
        return [row for row in self.rows if not any(id_ in hidden for id_ in _ids_in(row))]


async def random_library(deps: Deps, clock: FakeClock, seed: int, *, entries: int = 12) -> RandomLibrary:
    """Write a random world."""
    rng = random.Random(seed)
    world = await TeamWorld(deps=deps, name=f"w{seed}").make()
    return await _Growing(rng=rng, deps=deps, clock=clock, world=world).grow(entries)


async def copy_of(rows: Iterable[Row], store: Store) -> Store:
    """Fill an empty store with rows."""

    async def stream() -> AsyncIterator[Row]:
        for row in rows:
            yield row

    await store.import_rows(stream())
    return store


def _ids_in(row: Row) -> tuple[NodeId, ...]:
    match row:
        case Edge():
            return row.source, row.target
        case Guard() | Audience():
            return (row.node,)
        case TextRow():
            return (row.guard,)
        case _:
            return (row.id,)


@dataclass(kw_only=True)
class _Growing:
    rng: random.Random
    deps: Deps
    clock: FakeClock
    world: TeamWorld
    words: int = 0

    async def grow(self, entries: int) -> RandomLibrary:
        self.write = EntryWriter(
            deps=self.deps, workspace=self.world.workspace, owner=self.world.atlas, actor=self.world.atlas
        )
        pools = (
            await self.write.base(KbKind.SHARED),
            await self.write.base(KbKind.AGENT),
            await self.write.base(KbKind.CHANNEL, self.world.ops),
            await self.write.base(KbKind.PRIVATE, self.world.chat),
        )
        borealis = await self._second_agent(pools[0])
        self.library = RandomLibrary(
            world=self.world, clock=self.clock, pools=pools, askers=await self._askers(borealis), borealis=borealis
        )
        await self._sources()
        for _ in range(entries):
            await self._entry()
        for _ in range(entries):
            await self._change()
        for _ in range(entries + entries // 2):
            await self._relation()
        for _ in range(entries // 3):
            await self._circle()
        for entry in self.rng.sample(self.library.entries, max(1, entries // 6)):
            await self._delete(entry)
        await self._withdraw_some()
        return self.library

    async def _second_agent(self, shared: NodeId) -> NodeId:
        name, now = self.world.name, self.deps.now()
        agent = hosted_id(Principal.PREFIX, name, "borealis", container="agent")
        channel = hosted_id(Channel.PREFIX, name, "north", container="borealis")
        place = {"workspace": self.world.workspace, "created_at": now}
        nodes: list[Node] = [
            Principal(id=agent, kind=PrincipalKind.AGENT, display_name="Borealis", **place),  # type: ignore[arg-type]
            Channel(id=channel, kind=ChannelKind.SHARED_CHANNEL, owner_id=agent, **place),  # type: ignore[arg-type]
        ]
        rule = frozenset({Rule(RuleKind.WORKSPACE, self.world.workspace)})

        async def work(writer: Writer) -> None:
            await writer.put(nodes)
            guards = [guard_of(node, rule) for node in nodes]
            await writer.guard(guards)
            await writer.admit([own_audience(guard) for guard in guards])
            await writer.link([Edge(type=EdgeType.READS_SHARED, source=agent, target=shared)])

        await self.deps.store.transact(work)
        self.north = channel
        return agent

    async def _askers(self, borealis: NodeId) -> tuple[Asker, ...]:
        world = self.world
        people = {"ana": world.ana, "ben": world.ben, "cleo": world.cleo, "dan": world.dan, "eve": world.eve}
        askers = [Asker(name=name, caller=world.caller(id_)) for name, id_ in people.items()]
        for agent, channel in ((world.atlas, world.ops), (world.atlas, world.chat), (borealis, self.north)):
            conversation = (await world.open(channel)).id
            caller = Caller(workspace=world.workspace, principal=agent, kind=PrincipalKind.AGENT)
            askers.append(Asker(name=f"agent in {channel}", caller=caller, conversation=conversation))
        return tuple(askers)

    async def _sources(self) -> None:
        for pool in self.library.pools:
            for _ in range(5):
                state = "withdrawn" if self.rng.random() < 0.1 else "live"
                self.library.sources.append(self.write.source(pool, "words of a source", state=state))
            await self.write.save(pool)
            self._tick()

    async def _entry(self) -> None:
        pool = self.rng.choice(self.library.pools)
        made = self.write.entry(pool, self._word(), rests_on=self._some(), type=self.rng.choice(["person", "project"]))
        for _ in range(self.rng.randrange(3)):
            self.write.facet(made, FacetField.ALIAS, self._word(), self._some())
        fresh = []
        for position in range(self.rng.randrange(4)):
            basis = self.rng.choice([[b.id for b in self.library.blocks[-6:]], None])
            rests_on = self.rng.sample(basis, 1) if basis and self.rng.random() < 0.4 else self._some()
            fresh.append(self.write.block(made, self._word(), rests_on, position=position))
        if fresh:
            self.write.facet(made, FacetField.SUMMARY, self._word(), [b.id for b in fresh[:2]])
        for key in ("city", "size"):
            if self.rng.random() < 0.5:
                self.write.attribute(made, key, self._word(), self._some())
        self._note(made)
        await self._save(pool)
        self.library.entries.append(made)
        self.library.blocks += fresh

    async def _change(self) -> None:
        if not self.library.blocks:
            return
        place = self.rng.randrange(len(self.library.blocks))
        old = self.library.blocks[place]
        if self.rng.random() < 0.25:
            self.write.end(old)
            del self.library.blocks[place]
        else:
            made = self.write.edit(old, self._word(), self._some())
            self.library.blocks[place] = made
            self._note_version(made)
        self._forget(old.id)
        await self._save(_pool(old))

    async def _relation(self) -> None:
        subject, object_ = self.rng.sample(self.library.entries, 2)
        type_ = self.rng.choice(["knows", "leads", "part_of"])
        relation, version = self.write.relate(subject, type_, object_, self._some())
        await self._save(_pool(subject))
        self.library.relations.append((relation, version))
        if self.rng.random() < 0.2:
            self.write.retract(relation, version)
            await self._save(_pool(subject))

    async def _circle(self) -> None:
        """Let two statements rest on each other beside their own evidence."""
        if len(self.library.blocks) < 2:
            return
        one, other = self.rng.sample(self.library.blocks, 2)
        for start, end in ((one, other), (other, one)):
            self.write.rest(start.id, [end.id])
            self.write.changes.touched.add(start.id)
        await self._save(_pool(one))

    async def _delete(self, entry: Entry) -> None:
        if entry.id in self.library.deleted:
            return
        own = [block for block in self.library.blocks if block.entry_id == entry.id]
        self.write.delete(entry, own)
        for id_, item in list(self.library.items.items()):
            if item == entry.id:
                self.write.changes.untexts += [f"{id_}#{part}" for part in ("name", "alias", "summary", "block")]
                self._forget(id_)
        self.library.deleted.add(entry.id)
        self.library.blocks = [block for block in self.library.blocks if block.entry_id != entry.id]
        for relation, version in self.library.relations:
            if entry.id in (relation.subject_id, relation.object_id):
                self.write.changes.patch(relation.id, current=False)
                self.write.changes.patch(version.id, invalidated_at=self.deps.now())
        await self._save(_pool(entry))

    async def _withdraw_some(self) -> None:
        for source in self.rng.sample(self.library.sources, 2):
            self.write.changes.patch(source.id, state="withdrawn")
            self.write.changes.reguard.add(source.id)
            await self._save(_pool(source))

    def _some(self) -> list[NodeId]:
        """Return one or two pieces of evidence, now and then one that does not exist."""
        ids = [source.id for source in self.library.sources]
        missing = NodeId(f"src_missing{self.rng.randrange(3)}")
        if self.rng.random() < 0.04:
            return [self.rng.choice(ids), missing]
        return self.rng.sample(ids, self.rng.choice((1, 1, 2)))

    def _word(self) -> str:
        self.words += 1
        return f"zq{self.words:04}x"

    def _note(self, entry: Entry) -> None:
        for text in self.write.changes.texts:
            self.library.words[text.guard], self.library.items[text.guard] = text.text, entry.id

    def _note_version(self, version: BlockVersion) -> None:
        self.library.words[version.id], self.library.items[version.id] = version.text, version.entry_id

    def _forget(self, id_: NodeId) -> None:
        self.library.words.pop(id_, None)
        self.library.items.pop(id_, None)

    async def _save(self, pool: NodeId) -> None:
        await self.write.save(pool)
        self._tick()

    def _tick(self) -> None:
        self.clock.advance(timedelta(seconds=self.rng.choice((0, 1, 60))))


def _pool(node: Node) -> NodeId:
    assert node.pool is not None
    return node.pool


Ask = Callable[[Session], Awaitable[object]]


async def ask_all(deps: Deps, asker: Asker, asks: Sequence[Ask]) -> list[object]:
    """Return what a reader gets to every question, an error as its kind."""
    answers: list[object] = []
    async with asker.session(deps) as session:
        for ask in asks:
            try:
                answers.append(await ask(session))
            except Exception as error:
                answers.append((type(error).__name__, str(error)))
    return answers
