"""Does scripted work on an embedded store in a process of its own, which a test kills or lets fail.

    python -m tests.fault.driver STORE SCRIPT [SEED]

Each step prints ``ack NAME TX`` once it was acknowledged, ``error NAME CODE`` if it was refused; each transaction,
of which a step may have two, prints ``tx``. Scripts: ``prepare`` and ``prepare-deleted`` make a store to start from,
``open`` does nothing, ``steps`` does ten kinds of writes, ``restore`` undoes twenty deletions at once, ``load`` writes
without end. Equal scripts on equal stores write equal rows, but for ``load``.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from api.adapters.blobs import open_blobs
from api.adapters.extract import DocumentExtractor
from graph.model.errors import NotFound, RootwardError
from graph.model.ids import NodeId, encode_body
from graph.model.nodes.knowledge import Block, Entry
from graph.model.nodes.work import AuditRecord
from graph.model.time import Millis
from graph.services.access.commands import Command, command
from graph.services.deps import Deps
from graph.services.knowledge.entries_write import delete_entry
from graph.services.knowledge.restore import restore
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from graph.store.embedded import EmbeddedStore
from graph.store.port import Store, Writer
from graph.store.query import And, By, Eq, Find
from graph.text.tokens import DEFAULT_TOKENIZER
from tests.support.clock import START, FakeClock
from tests.support.history import SYSTEM, History
from tests.support.ids import SequentialIds
from tests.support.keyring import fixed_vault
from tests.support.operations import add, apply, block, create, edit, relate
from tests.support.pages import FakeFetcher
from tests.support.randomness import SeededRandomness
from tests.support.world import TeamWorld

T = TypeVar("T")

ENTRIES = 20
WORLD = "team"


class TickingClock(FakeClock):
    """Goes on by a second with every look."""

    def now(self) -> Millis:
        return self.advance(timedelta(seconds=1))


class TellingStore(EmbeddedStore):
    """Tells after each transaction that it was acknowledged."""

    async def transact(self, work: Callable[[Writer], Awaitable[T]], *, tx_id: str | None = None) -> T:
        result = await super().transact(work, tx_id=tx_id)
        say("tx")
        return result


class RandomIds:
    """Ids that no run of the driver repeats."""

    def new(self) -> str:
        return encode_body(time.time_ns() // 1_000_000, os.urandom(10))


def world_on(store: Store, clock: FakeClock, ids: Any, seed: int) -> TeamWorld:
    """Return the world on an opened store; equal seeds give equal salts."""
    deps = Deps(
        store=store,
        clock=clock,
        ids=ids,
        randomness=SeededRandomness(seed),
        tokenizer=DEFAULT_TOKENIZER,
        blobs=open_blobs("memory:///"),
        fetcher=FakeFetcher(clock),
        extractor=DocumentExtractor(),
        vault=fixed_vault(),
    )
    return TeamWorld(deps=deps, name=WORLD)


class Steps:
    """Ten kinds of writes, each a transaction of its own."""

    def __init__(self, world: TeamWorld, tell: Callable[[str], None]) -> None:
        self.world = world
        self.tell = tell

    async def run(self, name: str, work: Callable[[], Awaitable[Any]]) -> bool:
        """Do one step and tell what became of it; its transaction is the last receipt."""
        try:
            result = await work()
        except RootwardError as error:
            self.tell(f"error {name} {error.wire_code}")
            return False
        self.tell(f"ack {name} {getattr(result, 'tx_id', '')}")
        return True

    async def all(self) -> None:
        source: list[NodeId] = []
        await self.run("ingest", lambda: self._say(source))
        await self.run("create", lambda: self._apply(create("Kite", block("Kite flies high."), type="system")))
        await self.run("add", self._add)
        await self.run("edit", self._edit)
        await self.run("undo edit", lambda: self._undo("block.edit"))
        await self.run("relate", lambda: self._relate(source))
        await self.run("delete", self._delete)
        await self.run("undo delete", lambda: self._undo("entry.delete"))
        await self.run("withdraw", lambda: self._move(source, withdraw_source))
        await self.run("return", lambda: self._move(source, return_source))

    async def restore_all(self) -> None:
        """Undo every deletion in one restore."""
        records = await self._records("entry.delete")
        await self.run("restore", lambda: self._restore([record.id for record in records]))

    async def _say(self, source: list[NodeId]) -> None:
        text = "Kite knows Entry 1."
        source.append(await self.world.say(self.world.ops, text, speaker=self.world.ben))

    async def _move(self, source: list[NodeId], move: Callable[[Command, NodeId, str | None], Awaitable[Any]]) -> Any:
        if not source:
            raise NotFound
        world = self.world
        return await command(world.deps, world.caller(world.dan), lambda cmd: move(cmd, source[0], "a test"))

    async def _apply(self, *operations: dict[str, Any]) -> Any:
        return await apply(self.world, *operations, by=self.world.ana)

    async def _kite(self) -> Entry:
        async with self.world.deps.store.reading() as reader:
            where = And((Eq("name", "Kite"), Eq("deleted_at", None)))
            page = await reader.find(SYSTEM, Find(kind=Entry, where=where))
        if not page.nodes:
            raise NotFound
        return page.nodes[0]

    async def _add(self) -> Any:
        return await self._apply(add((await self._kite()).id, block("Kite is light.")))

    async def _edit(self) -> Any:
        kite = await self._kite()
        async with self.world.deps.store.reading() as reader:
            page = await reader.find(SYSTEM, Find(kind=Block, where=Eq("entry_id", kite.id), order=By("position")))
        content = block("Kite flies low.", change="correction", standing="corrected")
        return await self._apply(edit(page.nodes[0].id, page.nodes[0].current_version, content))

    async def _relate(self, source: list[NodeId]) -> Any:
        other = await self._named("Entry 1")
        if not source:
            raise NotFound
        quote = "Kite knows Entry 1"
        return await self._apply(relate((await self._kite()).id, "knows", other, source[0], quote))

    async def _named(self, name: str) -> NodeId:
        async with self.world.deps.store.reading() as reader:
            page = await reader.find(SYSTEM, Find(kind=Entry, where=Eq("name", name)))
        return page.nodes[0].id

    async def _delete(self) -> Any:
        kite = await self._kite()
        return await command(
            self.world.deps,
            self.world.caller(self.world.ana),
            lambda cmd: delete_entry(cmd, kite.id, expected_version=kite.current_version, reason="a test"),
        )

    async def _records(self, operation: str) -> list[AuditRecord]:
        async with self.world.deps.store.reading() as reader:
            where = Eq("operation", operation)
            return list((await reader.find(SYSTEM, Find(kind=AuditRecord, where=where, order=By("seq")))).nodes)

    async def _undo(self, operation: str) -> Any:
        records = await self._records(operation)
        if not records:
            raise NotFound
        return await self._restore([records[-1].id])

    async def _restore(self, ids: list[NodeId]) -> Any:
        return await command(
            self.world.deps, self.world.caller(self.world.ana), lambda cmd: restore(cmd, ids, reason="a test")
        )


async def prepare(world: TeamWorld, *, deleted: bool) -> None:
    """Make a workspace with twenty entries, deleted again if `deleted`."""
    await world.make()
    for number in range(ENTRIES):
        texts = [block(f"Entry {number} says {word}.") for word in ("one", "two")]
        await apply(world, create(f"Entry {number}", *texts, type="system", aliases=[f"E{number}"]), by=world.ana)
    if not deleted:
        return
    async with world.deps.store.reading() as reader:
        entries = (await reader.find(SYSTEM, Find(kind=Entry))).nodes
    for entry in entries:
        await _deleted(world, entry)


async def _deleted(world: TeamWorld, entry: Entry) -> None:
    await command(
        world.deps,
        world.caller(world.ana),
        lambda cmd: delete_entry(cmd, entry.id, expected_version=entry.current_version, reason="a test"),
    )


async def load(world: TeamWorld, seed: int, tell: Callable[[str], None]) -> None:
    """Change things at random until killed, with readers at work beside; tell every acknowledged transaction."""
    history = History(world=world, rng=random.Random(seed))

    async def look() -> None:
        while True:
            await history.all(Entry)

    async with asyncio.TaskGroup() as group:
        group.create_task(look())
        while True:
            if await history.step():
                tell(f"ack change {(await history.trail())[-1].tx_id}")


def say(line: str) -> None:
    """Write a line to standard output at once, past any buffer."""
    os.write(1, f"{line}\n".encode())


async def main(path: Path, script: str, seed: int) -> None:
    clock = TickingClock(Millis(START + seed * 10_000_000))
    store = TellingStore(path, clock=clock)
    await store.open()
    say("open")
    ids = RandomIds() if script == "load" else SequentialIds(start=1 + seed * 1_000_000)
    world = world_on(store, clock, ids, seed)
    if script in ("prepare", "prepare-deleted"):
        await prepare(world, deleted=script == "prepare-deleted")
    elif script == "steps":
        await Steps(world, say).all()
    elif script == "restore":
        await Steps(world, say).restore_all()
    elif script == "load":
        await load(world, seed, say)
    await store.close()
    say("closed")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    asyncio.run(main(Path(arguments[0]), arguments[1], int(arguments[2]) if len(arguments) > 2 else 1))
