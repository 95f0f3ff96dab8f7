"""Writing a file of a memory: one writer on a file of 4 KiB, and twenty who each write with the newest tag they read.

    python -m bench.files [--scale 1]

The reference is a bare durable transaction of the engine with the same rows (`bench/_same_rows.py`): the file, its
change with what was there before, a record of audit, the sums of the memory, and who may see them.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import count
from typing import Any

from bench._engines import EMBEDDED, NEO4J, Engine, engines
from bench._same_rows import RecordingStore, same_rows_neo4j, same_rows_sqlite
from bench._table import Goal, Table, Timing, arguments, scaled, timed
from graph.model.errors import WorkspaceRefused
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryFile, WorkspaceMemory
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.access.grants import grant
from graph.services.access.session import Session, read
from graph.services.deps import Deps
from graph.services.workspace.changing import actor_of
from graph.services.workspace.files import create_file, file_tag, read_file, replace_file
from graph.services.workspace.finding import hold_memory, open_memory
from graph.services.workspace.kinds import NewMemory
from graph.services.workspace.memories import create_memory
from tests.support.world import TeamWorld

BYTES, WRITERS, PATH = 4_096, 20, "notes/style.md"
GOAL = Goal(most_ratio=2)
FULL_HISTORY = 12
WARM_UP = {EMBEDDED: FULL_HISTORY, NEO4J: 100}
"""Writes that do not count: the history is to be full; a Java machine compiles what it runs after many times only."""


class Desk:
    """A file memory with one file, and who writes it."""

    def __init__(self, deps: Deps, caller: Caller, memory: NodeId) -> None:
        self.deps, self.caller, self.memory = deps, caller, memory
        self.numbers = count()

    async def create(self) -> MemoryFile:
        """Make the file."""

        async def work(cmd: Command) -> MemoryFile:
            held = await hold_memory(cmd, self.memory, Right.RUN)
            return await create_file(cmd, held, actor_of(cmd), PATH, self.text())

        return await command(self.deps, self.caller, work)

    async def newest(self) -> str:
        """Return the tag of the file now."""

        async def look(reading: Session) -> MemoryFile:
            memory = await open_memory(reading, self.memory, Right.READ)
            return await read_file(reading, memory, PATH)

        file, _ = await read(self.deps, self.caller, look)
        return file_tag(file)

    async def write(self, tag: str) -> str:
        """Replace the file that a tag names; return the new tag."""

        async def work(cmd: Command) -> MemoryFile:
            held = await hold_memory(cmd, self.memory, Right.RUN)
            return await replace_file(cmd, held, actor_of(cmd), PATH, self.text(), [tag])

        return file_tag(await command(self.deps, self.caller, work))

    async def changes(self) -> int:
        """Return how many changes the memory had."""
        memory, _ = await read(self.deps, self.caller, lambda reading: open_memory(reading, self.memory, Right.READ))
        return memory.seq

    def text(self) -> str:
        """Return another text of the full size."""
        return f"{next(self.numbers):08}\n" + "x" * (BYTES - 9)


async def opened(engine: Engine) -> Desk:
    """Return a desk in a world of its own."""
    world = await TeamWorld(engine.deps).make()
    dan = world.caller(world.dan)
    await command(engine.deps, dan, lambda cmd: grant(cmd, world.ana, Right.WRITE, world.node))
    caller = world.caller(world.ana)

    async def make(cmd: Command) -> WorkspaceMemory:
        return await create_memory(cmd, NewMemory(name="Team"))

    return Desk(engine.deps, caller, (await command(engine.deps, caller, make)).id)


async def measure(engine: Engine, scale: float, table: Table) -> None:
    """Add the rows of one engine."""
    rounds, warm_up = scaled(200, scale, least=20), scaled(WARM_UP[engine.name], scale, least=FULL_HISTORY)
    desk = await opened(engine)
    tag = file_tag(await desk.create())

    async def one() -> None:
        nonlocal tag
        tag = await desk.write(tag)

    time = await timed(one, rounds, warm_up=warm_up)
    if engine.name == EMBEDDED:
        bare = await same_rows_sqlite(engine, one, rounds)
    else:
        bare = await same_rows_neo4j(engine, await _rows(engine, desk, tag), rounds, warm_up)
    table.add(f"one write, {engine.name}", time, of="the same rows bare", reference=bare, goal=GOAL)
    await _together(engine, desk, max(2, rounds // 100), time, table)


async def _rows(engine: Engine, desk: Desk, tag: str) -> dict[str, list[Any]]:
    """Return what one more write hands to the store."""
    recording = RecordingStore(engine.store)
    await Desk(replace(desk.deps, store=recording), desk.caller, desk.memory).write(tag)
    return {name: list(given) for name, given in recording.rows.items()}


async def _together(engine: Engine, desk: Desk, rounds: int, alone: Timing, table: Table) -> None:
    """Let all writers write at once; fail if a write was lost."""
    stale = 0

    async def writer() -> None:
        nonlocal stale
        while True:
            try:
                await desk.write(await desk.newest())
                return
            except WorkspaceRefused:
                stale += 1

    async def all_of_them() -> None:
        await asyncio.gather(*(writer() for _ in range(WRITERS)))

    before = await desk.changes()
    time = (await timed(all_of_them, rounds)).per(WRITERS)
    made, asked = await desk.changes() - before, WRITERS * (rounds + 1)
    if made != asked:
        raise SystemExit(f"{engine.name}: {asked} writes were confirmed and {made} are there")
    table.add(f"a write of {WRITERS} writers on one file, {engine.name}", time, of="one write", reference=alone)
    print(
        f"{engine.name}: {1 / time.median:,.0f} writes/s by {WRITERS} writers on one file; "
        f"all {made} are there; {stale} stale tags were read and written again"
    )


async def main() -> None:
    """Measure all engines."""
    scale = arguments(__doc__).scale
    table = Table(f"Files of a memory, {BYTES} bytes", scale)
    async with engines() as found:
        for engine in found:
            await measure(engine, scale, table)
    table.print()


if __name__ == "__main__":
    asyncio.run(main())
