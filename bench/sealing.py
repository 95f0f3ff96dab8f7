"""Sealing: what it costs by the KiB and on a write, and how long sealing everything anew takes while others read.

    python -m bench.sealing [--scale 1]

A write is a change set of a Memory Bot through the service: twenty facts on two items each, judged, logged, audited and
durable. Its reference is the same with texts that were sealed before, so that the bytes on the disk are equal.
"""

from __future__ import annotations

import asyncio
import os
import time
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

    def seal(self, place: Place, text: str) -> Sealed:
        known = self._known.get(len(text))
        return self._known.setdefault(len(text), super().seal(place, text)) if known is None else known


async def by_write(deps: Deps, rounds: int, table: Table) -> None:
    """Add what a change set takes, and what it takes without sealing; the two take turns."""
    world = await TeamWorld(deps=deps).make()
    await unlock(deps)  # gives its workspace a key
    sealing_room = await BotRoom(world=world).make()
    plain_room = BotRoom(world=replace(world, deps=replace(deps, vault=Before(deps.vault))))
    items = [await sealing_room.item("chat_61", f"i-{number}") for number in range(2 * ENTRIES)]
    drafts = [fact(TEXT, ["desk"], items[2 * n : 2 * n + 2]) for n in range(ENTRIES)]
    changes = ChangeSet(drafts=tuple(draft for draft in drafts if draft is not None))
    walls: dict[bool, list[float]] = {False: [], True: []}
    works: dict[bool, list[float]] = {False: [], True: []}
    for number in range(2 * rounds + 10):
        before = bool(number % 2)
        began, began_cpu = time.perf_counter(), time.process_time()
        await (plain_room if before else sealing_room).write(changes)
        if number >= 10:
            walls[before].append(time.perf_counter() - began)
            works[before].append(time.process_time() - began_cpu)
    what, of = f"write of {ENTRIES} sealed entries", "sealed before"
    for added, kept, goal in (("", walls, BY_WRITE), (", processor time", works, None)):
        sealing, bare = (Timing.of(kept[before], works[before]) for before in (False, True))
        table.add(f"{what}{added}", sealing, of=of, reference=bare, goal=goal)
    p95 = [sorted(walls[before])[int(0.95 * rounds)] for before in (False, True)]
    slow, slow_bare = (Timing(median=one, low=one, high=one, cpu=0) for one in p95)
    table.add(f"{what}, p95", slow, of=of, reference=slow_bare, goal=BY_WRITE)


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
