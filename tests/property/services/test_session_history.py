"""The memory of every version of a session, against a naive book that keeps whole snapshots by version.

Random sequences of items, edits, learning, switches, returns and forks; after each step every session must read as the
book says, and every version must come back as it was stored (SM-70 to SM-74).
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import pytest

from api.adapters.blobs import open_blobs
from api.adapters.extract import DocumentExtractor
from graph.rules.session_memory import Switches
from graph.services.deps import Deps
from graph.services.sessions.changing import FactState
from graph.services.sessions.memory import SessionMemoryView
from graph.store.memory import MemoryStore
from graph.text.tokens import DEFAULT_TOKENIZER
from tests.support.clock import FakeClock
from tests.support.ids import SequentialIds
from tests.support.keyring import fixed_vault
from tests.support.pages import FakeFetcher
from tests.support.profile import sized
from tests.support.randomness import SeededRandomness
from tests.support.session_room import SessionRoom
from tests.support.world import TeamWorld

SEEDS = sized(small=6, full=300)
STEPS = sized(small=40, full=120)
KEYS = ("venue", "food", "date", "size")


@dataclass
class State:
    """What one version holds: ``key -> (content, status, sources)``, and what was read."""

    items: tuple[str, ...] = ()
    entries: dict[str, tuple[str, str, tuple[str, ...]]] = field(default_factory=dict)
    processed: frozenset[str] = frozenset()


@dataclass
class Book:
    """A session as the contract tells of it: a state a version, and the switches that belong to none."""

    head: str
    versions: dict[str, State]
    revision: int = 0
    overrides: dict[str, bool] = field(default_factory=dict)

    @property
    def now(self) -> State:
        return self.versions[self.head]

    def moved(self, head: str, state: State) -> None:
        self.versions[head], self.head = state, head
        self.revision += 1

    def changed(self, entries: dict[str, tuple[str, str, tuple[str, ...]]], read: frozenset[str]) -> None:
        now = self.now
        state = replace(now, entries={**now.entries, **entries}, processed=now.processed | read)
        self.moved(self.head, state)


@dataclass
class Play:
    """One random course of events."""

    room: SessionRoom
    rng: random.Random
    books: dict[str, Book] = field(default_factory=dict)
    count: int = 0

    async def step(self) -> None:
        local = self.rng.choice(sorted(self.books))
        book = self.books[local]
        deed = self.rng.choice(["say", "say", "remember", "forget", "learn", "learn", "configure", "restore", "fork"])
        self.count += 1
        await getattr(self, deed)(local, book)
        await self.check()

    async def say(self, local: str, book: Book) -> None:
        name = f"i-{self.count}"
        item = await self.room.say(name, local=local)
        book.moved(item.head, replace(book.now, items=(*book.now.items, name)))

    async def remember(self, local: str, book: Book) -> None:
        key, content = self.rng.choice(KEYS), f"content {self.count}"
        session = await self.room.remember(key, content, local=local)
        self._edited(book, session.head, await self.room.memory(local), key, content, "active")

    async def forget(self, local: str, book: Book) -> None:
        if not book.now.entries:
            return
        key = self.rng.choice(sorted(book.now.entries))
        session = await self.room.forget(key, local=local)
        content = book.now.entries[key][0]
        self._edited(book, session.head, await self.room.memory(local), key, content, "retracted")

    def _edited(self, book: Book, head: str, view: SessionMemoryView, key: str, content: str, status: str) -> None:
        [edit] = view.entries[key].sources
        now = book.now
        entries = {**now.entries, key: (content, status, (edit,))}
        book.moved(head, State(items=(*now.items, edit), entries=entries, processed=now.processed | {edit}))

    async def learn(self, local: str, book: Book) -> None:
        unread = [item for item in book.now.items if item not in book.now.processed]
        read = unread[: self.rng.randint(0, 3)]
        if not read:
            return
        key, content = self.rng.choice(KEYS), f"learned {self.count}"
        sources = tuple(item for item in book.now.items if item in {*read, self.rng.choice(book.now.items)})
        await self.room.learn(
            FactState(key=key, content=content, kind="fact", sources=sources), processed=read, local=local
        )
        book.changed({key: (content, "active", sources)}, frozenset(read))

    async def configure(self, local: str, book: Book) -> None:
        name, value = self.rng.choice(["use", "generate"]), self.rng.choice([True, False, None])
        await self.room.configure(local=local, **{name: value})
        book.overrides = {k: v for k, v in {**book.overrides, name: value}.items() if v is not None}
        book.revision += 1

    async def restore(self, local: str, book: Book) -> None:
        """Go to a version, most often one near by, and learn there: what followed it before must not change."""
        near = [h for h, s in book.versions.items() if abs(len(s.items) - len(book.now.items)) < 3]
        head = self.rng.choice(sorted(book.versions) if self.rng.random() < 0.3 else sorted(near))
        await self.room.restore(head, local=local)
        book.moved(head, book.versions[head])
        await self.learn(local, book)

    async def fork(self, local: str, book: Book) -> None:
        if len(self.books) > 4:
            return
        head, name = self.rng.choice(sorted(book.versions)), f"f{self.count}"
        await self.room.fork(name, at=head, local=local)
        # Of the versions of its source a fork has those that lead to its own.
        path = book.versions[head].items
        kept = {h: s for h, s in book.versions.items() if s.items == path[: len(s.items)]}
        self.books[name] = Book(head=head, versions=kept, overrides=dict(book.overrides))

    async def check(self) -> None:
        for local, book in self.books.items():
            view = await self.room.memory(local)
            assert (view.session.head, view.session.revision) == (book.head, book.revision)
            told = {key: (fact.content, fact.status, fact.sources) for key, fact in view.entries.items()}
            assert told == book.now.entries
            assert view.processed == tuple(item for item in book.now.items if item in book.now.processed)
            assert dict(view.overrides) == book.overrides
            assert view.settings == Switches(**book.overrides)


@pytest.fixture
async def world() -> AsyncIterator[TeamWorld]:
    """On the plain store: the law of versions is pure, and the stores are compared elsewhere."""
    clock = FakeClock()
    store = MemoryStore(clock=clock)
    deps = Deps(
        store=store,
        clock=clock,
        ids=SequentialIds(),
        randomness=SeededRandomness(),
        tokenizer=DEFAULT_TOKENIZER,
        blobs=open_blobs("memory:///"),
        fetcher=FakeFetcher(clock),
        extractor=DocumentExtractor(),
        vault=fixed_vault(),
    )
    await store.open()
    yield await TeamWorld(deps=deps).make()
    await store.close()


@pytest.mark.req("SM-10", "SM-25", "SM-70", "SM-71", "SM-72", "SM-73", "SM-74")
@pytest.mark.parametrize("seed", range(SEEDS))
async def test_every_version_is_what_was_stored_with_it(world: TeamWorld, seed: int) -> None:
    play = Play(SessionRoom(world), random.Random(seed))
    session = await play.room.make()
    play.books["ses_41"] = Book(head=session.head, versions={session.head: State()})
    for _ in range(STEPS):
        await play.step()
    assert len(play.books) > 1
    assert any(book.now.entries for book in play.books.values())
