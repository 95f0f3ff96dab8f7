"""Every way to read bot memory shows what the naive law shows, after every change that there is (attack goal A1).

Facts of one person, of a group, of everyone; conclusions; pinned entries; sharing, forgetting, invalidating, purging,
imported entries with gaps and cycles, deleted chats, members who come and go. For each of several readers the index,
the proof, counts, tags, the log and what goes into a prompt are compared with the law over all rows of the store.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from graph.model.access import Viewer
from graph.model.errors import MissingObject, SurfaceConflict
from graph.model.ids import NodeId
from graph.model.nodes.bots import BotEntry, BotLogRow
from graph.rules import bot_entries
from graph.rules.bot_entries import EntryChange, EntryDraft
from graph.rules.guarding import is_held
from graph.services.access.commands import command
from graph.services.access.session import Session, read
from graph.services.bots.chats import delete_chat_history
from graph.services.bots.commands import forget, remember
from graph.services.bots.context import context
from graph.services.bots.purging import purge
from graph.services.bots.reading import ACTIVE, PoolReads, caller_reads, group_reads, tagged
from graph.services.bots.view import log_of, memory_of
from graph.services.bots.widening import may_share
from graph.services.deps import Deps
from graph.services.knowledge.nodes import node_views
from graph.store.embedded import EmbeddedStore
from graph.store.memory import MemoryStore
from graph.store.port import Store
from tests.property.knowledge.conftest import deps_of
from tests.support.bot_room import BotRoom
from tests.support.clock import FakeClock
from tests.support.profile import sized
from tests.support.random_library import Truth, copy_of
from tests.support.world import TeamWorld

pytestmark = pytest.mark.req(
    "BM-36", "BM-42", "BM-43", "BM-50", "BM-54", "BM-55", "BM-138", "BM-143", "BM-150", "BM-155"
)
POOLS = sized(small=3, full=300)
STEPS = 36
PEOPLE = ("u_1", "u_2", "u_9")
TOPICS = ("trip", "rain", "salary")
FOR = ("for:person:u_1", "for:person:u_2", "for:channel:ch_5", "for:bot")


@pytest.fixture(params=["memory", "embedded"])
async def store(
    request: pytest.FixtureRequest, clock: FakeClock, tmp_path: Path
) -> AsyncIterator[Callable[[], Awaitable[Store]]]:
    """Give a function that opens one more empty store."""
    opened: list[Store] = []

    async def make() -> Store:
        name = tmp_path / f"{len(opened)}.db"
        made: Store = MemoryStore(clock=clock) if request.param == "memory" else EmbeddedStore(name, clock=clock)
        await made.open()
        opened.append(made)
        return made

    yield make
    for made in opened:
        await made.close()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@dataclass
class Life:
    """A pool to which everything happens that can happen to one."""

    room: BotRoom
    rng: random.Random
    said: int = 0
    happened: Counter[str] = field(default_factory=Counter)

    async def step(self) -> None:
        """Let one thing happen."""
        learning = (self.fact, self.fact, self.fact, self.observe, self.observe, self.observe, self.pin)
        others = (
            self.forget,
            self.invalidate,
            self.retag,
            self.share,
            self.members,
            self.purge,
            self.old,
            self.history,
        )
        what = self.rng.choice((*learning, *learning, *others))
        self.happened[what.__name__] += bool(await what())

    async def fact(self) -> bool:
        """Learn from one thing that was said, or two: by one person, in the group, or open to all."""
        items = []
        for _ in range(self.rng.choice((1, 1, 2))):
            self.said += 1
            operator = self.rng.choice(("u_1", "u_1", "u_2", None)) if self.rng.random() < 0.3 else "u_1"
            items.append(
                await self.room.item(
                    self.rng.choice(("chat_61", "chat_70")),
                    f"said-{self.said}",
                    operator,
                    open_to_all=self.rng.random() < 0.3,
                    organization="o_5" if self.rng.random() < 0.1 else "o_4",
                )
            )
        return await self._learn(bot_entries.fact(f"fact {self.said}", self._topics(), items))

    async def observe(self) -> bool:
        """Conclude from entries that are there, whether or not anybody sees them together."""
        entries = await self._some(self.rng.choice((1, 1, 2, 3)))
        return await self._learn(bot_entries.observation(f"concluded {self.said}", self._topics(), 0.5, entries))

    async def pin(self) -> bool:
        await self._command(self.rng.choice(PEOPLE), partial(remember, content="my own", tags=self._topics()))
        return True

    async def forget(self) -> bool:
        """Forget whatever it is, as anybody; what is not his is refused."""
        who = self.rng.choice(("u_1", "u_1", "u_2", "u_9"))
        return any([await self._tries(who, partial(forget, entry_id=entry.id)) for entry in await self._some(3)])

    async def invalidate(self) -> bool:
        return await self._change(bot_entries.invalidated)

    async def retag(self) -> bool:
        return await self._change(lambda entry: bot_entries.retagged(entry, self._topics()))

    async def share(self) -> bool:
        """Admit some more, as far as the sources allow it."""
        tag = self.rng.choice(FOR)
        for entry in await self._some(4):
            async with self.room.deps.store.reading() as reader:
                allowed = await may_share(reader, entry, tag)
            change = bot_entries.shared(entry, tag)
            if allowed and change is not None:
                await self.room.learn(changes=[change])
                return True
        return False

    async def members(self) -> bool:
        await self.room.members(*(who for who in ("u_1", "u_2") if self.rng.random() < 0.6))
        return True

    async def purge(self) -> bool:
        """Take away whatever has a tag that some entry has, and all that rests on it; not often, or little is left."""
        if self.rng.random() < 0.5:
            return False
        tags = [
            tag for entry in await self._some(1) for tag in entry.tags if tag.startswith(("from:", "org:", "chat:"))
        ]
        return bool(tags) and await self._tries("u_9", partial(purge, tag=self.rng.choice(tags)))

    async def old(self) -> bool:
        """Take in entries of before: one without a proof, a circle, and one above what is there and what is not."""
        self.said += 1
        names = [f"mem_old{self.said:06}{letter}0000000000" for letter in "abcd"]
        there = [entry.id for entry in await self._some(1)]
        sources = (
            [{"entry": names[1]}],
            [{"entry": names[0]}],
            [{"entry": e} for e in (*there, "mem_gone000000000000")],
        )
        tags = ["for:bot", "org:o_4", "rain"]
        lines = [
            {"kind": "entry", "id": name, "layer": "observation", "confidence": 0.5, "content": "old", "tags": tags,
             "sources": given, "createdAt": self.room.deps.now()}
            for name, given in zip(names, sources, strict=False)
        ]  # fmt: skip
        await self.room.take_in(*lines)
        return True

    async def history(self) -> bool:
        """Delete the texts of a chat; nothing that was learned goes with them."""
        if self.rng.random() < 0.5:
            return False
        host = self.room.world.caller(self.room.world.host)
        await command(self.room.deps, host, lambda c: delete_chat_history(c, self.room.chat_id("chat_61")))
        return True

    async def entries(self) -> list[BotEntry]:
        """Return all entries of the pool, whoever sees them."""
        return [node for node in (await Truth.of(self.room.deps.store)).nodes.values() if isinstance(node, BotEntry)]

    def _topics(self) -> list[str]:
        return self.rng.sample(TOPICS, self.rng.randint(0, 2))

    async def _some(self, count: int) -> list[BotEntry]:
        there = sorted(await self.entries(), key=lambda entry: entry.id)
        return self.rng.sample(there, min(count, len(there)))

    async def _learn(self, draft: EntryDraft | None) -> bool:
        if draft is not None:
            await self.room.learn(draft)
        return draft is not None

    async def _change(self, how: Callable[[BotEntry], EntryChange | None]) -> bool:
        changes = [change for entry in await self._some(2) if (change := how(entry)) is not None]
        if changes:
            await self.room.learn(changes=changes)
        return bool(changes)

    async def _command(self, who: str, work: Callable[..., Awaitable[object]]) -> None:
        bot = self.room.agent("bot_9")
        await command(self.room.deps, self.room.caller(who), lambda cmd: work(cmd, bot_id=bot))

    async def _tries(self, who: str, work: Callable[..., Awaitable[object]]) -> bool:
        try:
            await self._command(who, work)
        except SurfaceConflict:
            return False
        return True


@dataclass
class Comparison:
    """What one reader gets by every way, beside what the law says."""

    truth: Truth
    counts: Counter[str]

    async def reads(self, reads: PoolReads) -> set[NodeId]:
        """Compare the reads of one reader; return what he sees."""
        every = {id_: node for id_, node in self.truth.nodes.items() if isinstance(node, BotEntry)}
        visible = self.truth.visible(reads.viewer) & every.keys()
        active = {id_ for id_ in visible if is_held(every[id_])}
        order = sorted(visible, key=lambda id_: (-every[id_].created_at, id_))
        assert [entry.id for entry in await reads.entries()] == order
        assert [entry.id for entry in await reads.entries(first=2)] == order[:2]
        assert {entry.id for entry in await reads.entries(ACTIVE)} == active
        assert [entry.id async for entry in reads.active()] == [id_ for id_ in order if id_ in active]
        assert await reads.has_active() is bool(active)
        assert set(await reads.some([*every, "mem_none", "ent_1"])) == visible
        assert await reads.support([*every, "mem_none"]) == active
        for topic in TOPICS:
            having = {id_ for id_ in visible if topic in every[id_].tags}
            assert {entry.id for entry in await reads.entries(tagged([topic]))} == having
            assert (await reads.topic_counts()).get(topic, 0) == len(having & active)
        assert set((await context(reads, limit=10**6)).references) == active
        assert (await reads.reader.aggregate(reads.viewer, BotEntry)).get(None, 0) == len(visible)
        self.counts["triples"] += 9 * len(every)
        self.counts["shown"] += len(visible)
        self.counts["hidden"] += len(every) - len(visible)
        return visible

    async def person(self, session: Session, room: BotRoom) -> None:
        """Compare what a person asks himself."""
        bot = room.agent("bot_9")
        visible = await self.reads(caller_reads(session, room.bot))
        assert {entry["id"] for entry in (await memory_of(session, bot)).entries} == visible
        told = [id_ for change in await log_of(session, bot, limit=1_000) for id_ in change.entries]
        assert set(told) <= visible
        assert {id_ for id_ in visible if not id_.startswith("mem_old")} <= set(told)
        nodes = [id_ for id_, node in self.truth.nodes.items() if isinstance(node, BotEntry)]
        assert set(await node_views(session, nodes)) == visible
        self.counts["triples"] += 3 * len(nodes)


async def compare(room: BotRoom, counts: Counter[str]) -> None:
    """Compare all readers on one state."""
    comparison = Comparison(truth=await Truth.of(room.deps.store), counts=counts)
    for who in PEOPLE:
        for organization in ("o_4", "o_5"):
            caller = room.caller(who, organization=organization)
            await read(room.deps, caller, lambda session: comparison.person(session, room))
    for group in ("ch_5", "ch_6"):
        async with room.deps.store.reading() as reader:
            place = room.organization("o_4")
            await comparison.reads(group_reads(room.deps, reader, room.bot, room.group(group), place))
    await _nobody_else(room, comparison.truth)


async def _nobody_else(room: BotRoom, truth: Truth) -> None:
    """See that no admin and no auditor gets anything, whatever there is."""
    every = [id_ for id_, node in truth.nodes.items() if isinstance(node, BotEntry)]
    for who in (room.world.dan, room.world.cleo, room.world.host):

        async def work(session: Session) -> None:
            assert not await session.open(every)
            viewer: Viewer = session.viewer
            assert not (await session.reader.aggregate(viewer, BotEntry)).get(None, 0)
            with pytest.raises(MissingObject):
                await memory_of(session, room.agent("bot_9"))

        await read(room.deps, room.world.caller(who), work)


async def test_every_way_to_read_bot_memory_agrees_with_the_law(
    store: Callable[[], Awaitable[Store]], clock: FakeClock
) -> None:
    counts: Counter[str] = Counter()
    happened: Counter[str] = Counter()
    for seed in range(POOLS):
        deps = deps_of(await store(), clock)
        if seed == POOLS - 1:  # nothing is settled at once: whatever the index says, the pool is read by proof
            deps = replace(deps, dependents_at_once=1)
        room = await _room(deps, clock, seed)
        life = Life(room, random.Random(seed))
        for number in range(STEPS):
            await life.step()
            if number % 3 == 2:
                await compare(room, counts)
        await answers_of_a_twin(room, await store())
        happened += life.happened
    assert counts["triples"] > 4_000 * POOLS
    assert counts["shown"] > 100 * POOLS
    assert counts["hidden"] > 100 * POOLS
    assert len(+happened) == 11, f"something did not happen: {happened}"


async def answers_of_a_twin(room: BotRoom, other: Store) -> None:
    """See that a store which never held what a person may not see answers him the same (attack goal A2)."""
    truth = await Truth.of(room.deps.store)
    caller = room.caller("u_1")

    async def everything(session: Session) -> tuple[object, ...]:
        bot, reads = room.agent("bot_9"), caller_reads(session, room.bot)
        shown = await memory_of(session, bot), await memory_of(session, bot, ["rain"])
        return *shown, await log_of(session, bot), await context(reads, limit=60), await reads.topic_counts()

    answers, session = await read(room.deps, caller, everything)
    visible = truth.visible(session.viewer)
    hidden = {id_ for id_, node in truth.nodes.items() if isinstance(node, BotEntry) and id_ not in visible}
    rows = {id_ for id_, node in truth.nodes.items() if isinstance(node, BotLogRow) and node.entry_id in hidden}
    assert hidden
    await copy_of(truth.without(hidden | rows), other)
    assert (await read(replace(room.deps, store=other), caller, everything))[0] == answers


async def _room(deps: Deps, clock: FakeClock, seed: int) -> BotRoom:
    world = await TeamWorld(deps=deps, name=f"w{seed}").make()

    def tick() -> None:
        clock.advance(timedelta(seconds=1))

    return await BotRoom(world, tick=tick).make()
