"""Random lives of a bot's memory: the view is what the contract's sentences say, whatever happened before.

The model below knows nothing of guards, clauses or the law: it says section 4 of the contract in its own words.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from graph.model.errors import SurfaceConflict
from graph.rules import bot_entries
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.bots.commands import forget, remember
from graph.services.bots.purging import purge
from graph.services.bots.view import log_of, memory_of
from graph.store.embedded import EmbeddedStore
from graph.store.memory import MemoryStore
from graph.store.port import Store
from tests.support.bot_room import BotRoom
from tests.support.clock import FakeClock
from tests.support.profile import sized
from tests.support.world import TeamWorld
from tests.unit.graph.services.conftest import clock, deps, fetcher, world

__all__ = ["clock", "deps", "fetcher", "world"]

PEOPLE = ("u_1", "u_2")
STEPS = sized(small=40, full=150)
SEEDS = range(sized(small=3, full=200))


@pytest.fixture(params=["memory", "embedded"])
async def store(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    clock: FakeClock,
) -> AsyncIterator[Store]:
    made: Store = MemoryStore(clock=clock)
    if request.param == "embedded":
        made = EmbeddedStore(tmp_path / "graph.db", clock=clock)
    await made.open()
    yield made
    await made.close()


@dataclass
class Entry:
    """An entry as the model knows it: `rules` of a fact's items are a person, ``channel`` or ``bot``."""

    audience: set[str]
    rules: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    said_by: set[str] = field(default_factory=set)
    chats: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)
    counts: bool = True
    retracted: bool = False


@dataclass
class Model:
    """What is there, and who is in the channel."""

    entries: dict[str, Entry] = field(default_factory=dict)
    members: set[str] = field(default_factory=lambda: set(PEOPLE))

    def sees(self, who: str, id_: str) -> bool:
        """Say whether a person sees an entry now."""
        entry = self.entries[id_]
        admitted = any(self._is(who, tag) for tag in entry.audience)
        below = all(self.sees(who, source) and self.entries[source].counts for source in entry.sources)
        return admitted and who not in entry.left and below and all(self._is(who, rule) for rule in entry.rules)

    def seen(self, who: str) -> set[str]:
        return {id_ for id_ in self.entries if self.sees(who, id_)}

    def purged(self, tag: str) -> set[str]:
        """Return what a purge takes: what has or had the tag, and what rests on it."""
        kind, _, name = tag.partition(":")
        gone = {i for i, e in self.entries.items() if name in (e.said_by if kind == "from" else e.chats)}
        while more := {i for i, e in self.entries.items() if set(e.sources) & gone} - gone:
            gone |= more
        return gone

    def _is(self, who: str, what: str) -> bool:
        return what == "bot" or what == who or (what == "channel" and who in self.members)


@dataclass
class Life:
    """One random life; every step is done to the service and told to the model."""

    room: BotRoom
    random: Random
    model: Model = field(default_factory=Model)
    number: int = 0

    async def step(self) -> None:
        steps: list[Callable[[], Awaitable[None]]] = [
            *([self.learn] * 4),
            *([self.conclude] * 5),
            *([self.forget] * 3),
            *([self.members] * 2),
            self.remember,
            self.invalidate,
            self.purge if self.random.random() < 0.3 else self.learn,
        ]
        await self.random.choice(steps)()

    async def learn(self) -> None:
        kinds = [self.random.choice(["private", "channel", "open"]) for _ in range(self.random.randint(1, 2))]
        chat = "chat_70" if "channel" in kinds else "chat_61"
        operators = [self.random.choice(PEOPLE) if chat == "chat_70" else "u_1" for _ in kinds]
        items, rules = [], []
        for kind, operator in zip(kinds, operators, strict=True):
            self.number += 1
            rule = "bot" if kind == "open" else "channel" if chat == "chat_70" else operator
            items.append(await self.room.item(chat, f"p-{self.number}", operator, open_to_all=kind == "open"))
            rules.append(rule)
        narrow = next((rule for rule in rules if rule != "bot"), "bot")
        id_ = await self.room.fact(f"Fact {self.number}.", *items)
        self.model.entries[id_] = Entry(audience={narrow}, rules=rules, said_by=set(operators), chats={chat})

    async def conclude(self) -> None:
        counting = [id_ for id_, entry in self.model.entries.items() if entry.counts]
        if not counting:
            return
        chosen = self.random.sample(counting, min(len(counting), self.random.randint(1, 3)))
        sources = [self.model.entries[id_] for id_ in chosen]
        draft = bot_entries.observation("Concluded.", [], 0.5, [await self.room.entry(id_) for id_ in chosen])
        audience = self._common([entry.audience for entry in sources])
        assert (draft is None) == (not audience)
        if draft is not None:
            (id_,) = await self.room.learn(draft)
            said_by = set().union(*(entry.said_by for entry in sources))
            chats = set().union(*(entry.chats for entry in sources))
            self.model.entries[id_] = Entry(audience=audience, sources=chosen, said_by=said_by, chats=chats)

    async def remember(self) -> None:
        who = self.random.choice(PEOPLE)
        done = await command(
            self.room.deps, self.room.caller(who), lambda cmd: remember(cmd, self.room.bot.id, "Kept.", ["kept"])
        )
        self.model.entries[done.entry["id"]] = Entry(audience={who}, rules=[who], said_by={who})

    async def forget(self) -> None:
        if not self.model.entries:
            return
        who, id_ = self.random.choice(PEOPLE), self.random.choice(list(self.model.entries))
        entry = self.model.entries[id_]
        mine = self.model.sees(who, id_)
        try:
            await command(self.room.deps, self.room.caller(who), lambda cmd: forget(cmd, self.room.bot.id, id_))
        except SurfaceConflict:
            assert not mine
            return
        assert mine
        if entry.audience == {who}:
            entry.counts, entry.retracted = False, True
        else:
            entry.audience.discard(who)
            entry.left.add(who)

    async def members(self) -> None:
        self.model.members = {who for who in PEOPLE if self.random.random() < 0.7}
        await self.room.members(*sorted(self.model.members))

    async def invalidate(self) -> None:
        held = [id_ for id_, entry in self.model.entries.items() if entry.counts]
        if held and (change := bot_entries.invalidated(await self.room.entry(self.random.choice(held)))):
            await self.room.learn(changes=[change])
            self.model.entries[change.before.id].counts = False

    async def purge(self) -> None:
        tag = self.random.choice(["from:u_1", "from:u_2", "chat:chat_61", "chat:chat_70"])
        gone = self.model.purged(tag)
        count = await command(self.room.deps, self.room.caller("u_9"), lambda cmd: purge(cmd, self.room.bot.id, tag))
        assert count == len(gone)
        for id_ in gone:
            del self.model.entries[id_]

    async def check(self) -> None:
        for who in PEOPLE:
            view, _ = await read(
                self.room.deps, self.room.caller(who), lambda session: memory_of(session, self.room.bot.id)
            )
            rows, _ = await read(
                self.room.deps, self.room.caller(who), lambda session: log_of(session, self.room.bot.id, limit=1_000)
            )
            shown = {entry["id"] for entry in view.entries}
            assert shown == self.model.seen(who)
            assert {id_ for row in rows for id_ in row.entries} == shown

    @staticmethod
    def _common(audiences: list[set[str]]) -> set[str]:
        """Say BM-59: a tag is kept if every source has it, or is for everyone, or for a person is for a channel."""

        def grants(audience: set[str], tag: str) -> bool:
            return tag in audience or (tag != "bot" and "bot" in audience) or (tag in PEOPLE and "channel" in audience)

        return {tag for tag in set().union(*audiences) if all(grants(one, tag) for one in audiences)}


@pytest.mark.req("BM-36", "BM-41", "BM-42", "BM-43", "BM-54", "BM-58", "BM-59", "BM-150", "BM-151", "BM-155", "BM-160")
@pytest.mark.parametrize("seed", SEEDS)
async def test_the_view_is_what_the_contract_says_after_any_life(
    world: TeamWorld,
    clock: FakeClock,
    seed: int,
) -> None:
    def tick() -> None:
        clock.advance(timedelta(seconds=1))

    room = await BotRoom(world=world, tick=tick).make()
    life = Life(room=room, random=Random(seed))
    for _ in range(STEPS):
        await life.step()
        await life.check()
