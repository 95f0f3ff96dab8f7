"""The context of a run: an attempt of a run with 8 file memories of 1,000 files each, told in full.

    python -m bench.context [--scale 1]

The reference reads the paths and descriptions of as many rows in a bare engine. Every file has 1 KiB, a description,
and one of 40 directories; 2 files of each memory are always loaded.
"""

from __future__ import annotations

import asyncio

from bench._engines import EMBEDDED, Engine, engines
from bench._table import Goal, Table, Timing, arguments, at_once, scaled, timed
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryFile, WorkspaceMemory
from graph.rules.run_mounts import Mount
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.access.grants import grant
from graph.services.deps import Deps
from graph.services.workspace.agents import create_agent
from graph.services.workspace.attempts import start_attempt
from graph.services.workspace.changing import put_in
from graph.services.workspace.finding import hold_memory
from graph.services.workspace.kinds import NewMemory
from graph.services.workspace.memories import create_memory
from graph.services.workspace.runs import accept_run
from graph.services.workspace.threads import create_thread
from tests.support.world import TeamWorld

MEMORIES, FILES, FOLDERS, BYTES = 8, 1_000, 40, 1_024
GOAL = Goal(most_ms=50)
TEXT = "x" * BYTES
LOADED = ("d00/f00000.md", "d01/f00001.md")


def path_of(number: int) -> str:
    """Return the path of a file."""
    return f"d{number % FOLDERS:02}/f{number:05}.md"


def description_of(number: int) -> str:
    """Return what the index says of a file."""
    return f"what was decided about subject {number}"


async def run_with_memories(deps: Deps, caller: Caller, files: int) -> NodeId:
    """Return an accepted run whose thread mounts all memories."""
    mounts = [Mount(name=f"m{n}", memory_id=await memory_of(deps, caller, files)) for n in range(MEMORIES)]

    async def accept(cmd: Command) -> NodeId:
        agent = await create_agent(cmd, "Scout", [], {})
        thread = await create_thread(cmd, mounts)
        return (await accept_run(cmd, thread.thread.id, agent.id, "Go on.")).id

    return await command(deps, caller, accept)


async def memory_of(deps: Deps, caller: Caller, files: int) -> NodeId:
    """Make a memory with that many files, as they would be after as many changes."""
    new = NewMemory(name="Team", always_load=LOADED)
    memory = await command(deps, caller, lambda cmd: create_memory(cmd, new))

    async def fill(cmd: Command) -> None:
        held = await hold_memory(cmd, memory.id, Right.RUN)
        await put_in(cmd, held, [file_of(cmd, held, number) for number in range(files)])
        fields = {"seq": files, "file_count": files, "content_bytes": files * BYTES}
        await cmd.writer.patch_many({held.id: fields})

    await command(deps, caller, fill)
    return memory.id


def file_of(cmd: Command, memory: WorkspaceMemory, number: int) -> MemoryFile:
    """Return one file."""
    return MemoryFile(
        id=cmd.deps.new_id(MemoryFile.PREFIX),
        workspace=memory.workspace,
        pool=memory.id,
        created_at=cmd.at,
        memory_id=memory.id,
        path=path_of(number),
        content=TEXT,
        size=BYTES,
        version=number + 1,
        description=description_of(number),
        updated_by=cmd.facts.principal,
        updated_at=cmd.at,
    )


async def measure(engine: Engine, files: int, rounds: int, table: Table) -> None:
    """Add the row of one engine."""
    world = await TeamWorld(engine.deps).make()
    await command(engine.deps, world.caller(world.dan), lambda cmd: grant(cmd, world.ana, Right.WRITE, world.node))
    caller = world.caller(world.ana)
    run = await run_with_memories(engine.deps, caller, files)
    attempt = await start_attempt(engine.deps, caller, run)
    assert [report.status for report in attempt.reports] == ["full"] * MEMORIES, "each memory is told in full"
    told = sum(len(text.encode()) for text in attempt.preamble)
    time = await timed(lambda: start_attempt(engine.deps, caller, run), rounds)
    bare = await (
        _bare_sqlite(engine, files, rounds) if engine.name == EMBEDDED else _bare_neo4j(engine, files, rounds)
    )
    what = f"context of {MEMORIES} memories of {files:,} files, {engine.name}"
    table.add(what, time, of="bare read of all paths", reference=bare, goal=GOAL if engine.name == EMBEDDED else None)
    print(f"{engine.name}: {told:,} bytes are told")


async def _bare_sqlite(engine: Engine, files: int, rounds: int) -> Timing:
    db = engine.bare_sqlite("paths.db")
    db.execute("CREATE TABLE file(memory INT, path TEXT, description TEXT, PRIMARY KEY (memory, path)) WITHOUT ROWID")
    rows = [(memory, path_of(n), description_of(n)) for memory in range(MEMORIES) for n in range(files)]
    with db:
        db.executemany("INSERT INTO file VALUES (?, ?, ?)", rows)

    def read() -> int:
        query = "SELECT path, description FROM file WHERE memory = ? ORDER BY path"
        return sum(len(db.execute(query, (memory,)).fetchall()) for memory in range(MEMORIES))

    return await timed(at_once(read), rounds)


async def _bare_neo4j(engine: Engine, files: int, rounds: int) -> Timing:
    rows = [[memory, path_of(n), description_of(n)] for memory in range(MEMORIES) for n in range(files)]
    await engine.bare_query("CREATE INDEX bare_path IF NOT EXISTS FOR (f:BarePath) ON (f.memory)")
    create = "UNWIND $rows AS row CREATE (:BarePath {memory: row[0], path: row[1], description: row[2]})"
    await engine.bare_query(create, rows=rows)

    async def read() -> None:
        for memory in range(MEMORIES):
            query = "MATCH (f:BarePath {memory: $memory}) RETURN f.path, f.description ORDER BY f.path"
            await engine.bare_query(query, memory=memory)

    return await timed(read, rounds)


async def main() -> None:
    """Measure all engines."""
    scale = arguments(__doc__).scale
    table = Table("Context of a run", scale)
    async with engines() as found:
        for engine in found:
            await measure(engine, scaled(FILES, scale, least=20), scaled(50, scale, least=5), table)
    table.print()


if __name__ == "__main__":
    asyncio.run(main())
