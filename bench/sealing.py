"""Sealing: what it costs by the KiB and on a write, and how long sealing everything anew takes while others read.

    python -m bench.sealing [--scale 1]

A write is a change set of a Memory Bot through the service: twenty facts on two items each, judged, logged, audited and
durable. Its reference is the same with texts that were sealed before, so that the bytes on the disk are equal.
"""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from api.adapters.keyring import FileKeyring
from api.adapters.root_key import RootKey
from api.adapters.system import SystemClock, SystemRandomness
from bench._engines import Engine, engines
from bench._table import Goal, Table, Timing, arguments, at_once, scaled, timed
from graph.model.access import SystemScope
from graph.model.ids import NodeId, WorkspaceId, hosted_id
from graph.model.nodes.bots import BotEntry, BotPool
from graph.model.sealed import Sealed
from graph.rules.bot_entries import fact
from graph.services.access.workspaces import add_workspace
from graph.services.admin.keys import rotate, unlock
from graph.services.admin.resealing import reseal_workspace
from graph.services.bots.write import ChangeSet
from graph.services.deps import Deps
from graph.store.query import Find
from graph.store.sealing import Place, Vault
from tests.support.bot_room import BotRoom
from tests.support.world import TeamWorld

TEXT = ("The desk by the window is mine until the end of April; after that Ben has it. " * 8)[:600]
KIB = "x" * 1_024
ENTRIES = 20
READ_AT_ONCE = 50
WARM_UP = 5
BY_KIB, BY_WRITE, ALL_ANEW = Goal(most_ms=0.015), Goal(most_ratio=1.1), Goal(most_ms=60_000)


@dataclass
class Bot:
    """A bot's pool that is written to, in a workspace of its own."""

    deps: Deps
    workspace: WorkspaceId
    numbers: count[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.bot = hosted_id("prn", self.workspace, "bot", container="agent")
        self.pool = hosted_id(BotPool.PREFIX, self.workspace, "bot")

    def place(self, id_: NodeId, name: str = "content") -> Place:
        return Place(workspace=self.workspace, node=id_, field=name)

    def entry(self) -> BotEntry:
        """Return the next entry."""
        id_, now = self.deps.new_id(BotEntry.PREFIX), self.deps.now()
        content = self.deps.vault.seal(self.place(id_), TEXT)
        return BotEntry(
            id=id_,
            workspace=self.workspace,
            pool=self.pool,
            created_at=now,
            bot_id=self.bot,
            layer="fact",
            content=content,
            chars=len(TEXT),
            tags=("from:u_1", f"topic{next(self.numbers) % 50}"),
            sources=[{"chat": "c", "item": "i"}],
            status="active",
            updated_at=now,
        )

    async def fill(self, number: int) -> None:
        """Write so many entries without guards, many at once."""
        for start in range(0, number, 1_000):
            entries = [self.entry() for _ in range(min(1_000, number - start))]
            await self.deps.store.transact(lambda writer, found=entries: writer.put(found))  # type: ignore[misc]

    async def read(self) -> None:
        """Read and open a page of entries."""
        scope = SystemScope(reason="benchmark", workspace=self.workspace)
        async with self.deps.store.reading() as reader:
            page = await reader.find(scope, Find(kind=BotEntry, first=READ_AT_ONCE))
        for entry in page.nodes:
            self.deps.vault.open(self.place(entry.id), entry.content)


def keyed(engine: Engine) -> Deps:
    """Return the ports of the core with a keyring in a file, as a server has it."""
    file = Path(engine.folder) / "keyring.json"
    keyring = FileKeyring(file, RootKey(f"file:{engine.folder / 'root.key'}", os.environ), SystemClock())
    return replace(engine.deps, vault=Vault(keyring, SystemRandomness()))


async def by_kib(bot: Bot, rounds: int, table: Table) -> None:
    """Add what sealing and opening one KiB takes."""
    vault, place = bot.deps.vault, bot.place(NodeId("mem_one"))
    sealed = vault.seal(place, KIB)
    batch = 100
    for what, question in (
        ("sealing 1 KiB", lambda: [vault.seal(place, KIB) for _ in range(batch)]),
        ("opening 1 KiB", lambda: [vault.open(place, sealed) for _ in range(batch)]),
    ):
        table.add(what, (await timed(at_once(question), rounds)).per(batch), goal=BY_KIB)


class Before(Vault):
    """A vault that seals nothing any more: it gives what it sealed before for a text of the same length."""

    def __init__(self, vault: Vault) -> None:
        super().__init__(vault.keyring, SystemRandomness())
        self._known: dict[int, Sealed] = {}

    def seal_all(self, texts: Sequence[tuple[Place, str]]) -> list[Sealed]:
        return [self._known.get(len(text)) or self._first(place, text) for place, text in texts]

    def _first(self, place: Place, text: str) -> Sealed:
        return self._known.setdefault(len(text), super().seal_all([(place, text)])[0])


class Metered(Vault):
    """A vault that tells how long it has sealed, in seconds."""

    spent_s = 0.0

    def seal_all(self, texts: Sequence[tuple[Place, str]]) -> list[Sealed]:
        began = time.perf_counter()
        try:
            return super().seal_all(texts)
        finally:
            self.spent_s += time.perf_counter() - began


@dataclass
class Writes:
    """What each of many writes took, in seconds: by the clock, by the processor, and by the clock less its sealing."""

    room: BotRoom
    vault: Metered | None = None
    walls: list[float] = field(default_factory=list)
    works: list[float] = field(default_factory=list)
    unsealed: list[float] = field(default_factory=list)

    async def write(self, changes: ChangeSet) -> None:
        sealed = self._sealed_s()
        began, began_cpu = time.perf_counter(), time.process_time()
        await self.room.write(changes)
        self.walls.append(time.perf_counter() - began)
        self.works.append(time.process_time() - began_cpu)
        self.unsealed.append(self.walls[-1] - (self._sealed_s() - sealed))

    def _sealed_s(self) -> float:
        return 0.0 if self.vault is None else self.vault.spent_s

    def by_wall(self) -> Timing:
        return Timing.of(self.walls[WARM_UP:], self.works[WARM_UP:])

    def by_work(self) -> Timing:
        return Timing.of(self.works[WARM_UP:], self.works[WARM_UP:])


async def by_write(deps: Deps, rounds: int, table: Table) -> None:
    """Add what a change set takes, and what it takes without sealing.

    The two are measured in pairs whose order turns, so that what else the machine does meets both alike. That holds for
    medians. The slowest writes are those that other programs or the disk held up, now one of a pair and now the other,
    so there a write is compared with itself, less the time in which it sealed.
    """
    world = await TeamWorld(deps=deps).make()
    await unlock(deps)  # gives its workspace a key
    room = await BotRoom(world=world).make()
    items = [await room.item("chat_61", f"i-{number}") for number in range(2 * ENTRIES)]
    drafts = [fact(TEXT, ["desk"], items[2 * n : 2 * n + 2]) for n in range(ENTRIES)]
    changes = ChangeSet(drafts=tuple(draft for draft in drafts if draft is not None))
    metered = Metered(deps.vault.keyring, SystemRandomness())
    sealing, bare = Writes(_with(world, metered), metered), Writes(_with(world, Before(deps.vault)))
    gc.collect()
    gc.freeze()  # what the rows before left is not looked through again, in the middle of a write of either
    for number in range(WARM_UP + rounds):
        for writes in (sealing, bare) if number % 2 else (bare, sealing):
            await writes.write(changes)
    what, of = f"write of {ENTRIES} sealed entries", "sealed before"
    table.add(what, sealing.by_wall(), of=of, reference=bare.by_wall(), goal=BY_WRITE)
    table.add(f"{what}, processor time", sealing.by_work(), of=of, reference=bare.by_work(), goal=BY_WRITE)
    slow, unsealed = _p95(sealing.walls[WARM_UP:]), _p95(sealing.unsealed[WARM_UP:])
    table.add(f"{what}, p95", slow, of="less their sealing", reference=unsealed, goal=BY_WRITE)


def _with(world: TeamWorld, vault: Vault) -> BotRoom:
    return BotRoom(world=replace(world, deps=replace(world.deps, vault=vault)))


def _p95(times: list[float]) -> Timing:
    found = sorted(times)[int(0.95 * len(times))]
    return Timing(median=found, low=found, high=found, cpu=0)


async def anew(bot: Bot, number: int, table: Table) -> None:
    """Add how long sealing everything anew takes, and what readers waited meanwhile."""
    await bot.fill(number)
    deps, waits = bot.deps, list[float]()
    alone = await timed(bot.read, 50)
    key_id = (await rotate(deps, bot.workspace)).key_id
    done = asyncio.Event()

    async def reads() -> None:
        while not done.is_set():
            began = time.perf_counter()
            await bot.read()
            waits.append(time.perf_counter() - began)

    reading, began, began_cpu = asyncio.create_task(reads()), time.perf_counter(), time.process_time()
    found = await reseal_workspace(deps, bot.workspace, key_id, deps.store.transact)
    wall, cpu = time.perf_counter() - began, time.process_time() - began_cpu
    done.set()
    await reading
    if found.broken or found.moved < number:
        raise SystemExit(f"{found.moved} of {number} were sealed anew, {len(found.broken)} are broken")
    table.add(f"{found.moved:,} records sealed anew", Timing(median=wall, low=wall, high=wall, cpu=cpu), goal=ALL_ANEW)
    table.add(
        f"{len(waits)} reads of {READ_AT_ONCE} meanwhile",
        Timing.of(waits, [0.0]),
        of="the same with nothing beside",
        reference=alone,
    )


async def main() -> None:
    """Measure the embedded store."""
    scale = arguments(__doc__).scale
    table = Table("Sealing, embedded store", scale)
    async with engines(heap_mb=512) as found:
        deps = keyed(found[0])
        bot = Bot(deps=deps, workspace=(await add_workspace(deps, "bench")).workspace.workspace)
        await by_kib(bot, scaled(200, scale, least=5), table)
        await anew(bot, scaled(100_000, scale, least=500), table)
        await by_write(deps, scaled(400, scale, least=10), table)
    table.print()


if __name__ == "__main__":
    asyncio.run(main())
