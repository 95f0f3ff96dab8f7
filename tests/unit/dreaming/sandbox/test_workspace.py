"""The files of a closing session behind the library's port: what is written is seen at once and committed later."""

from __future__ import annotations

import pytest

from dreaming.sandbox.workspace import StagedWorkspace
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.services.access.commands import Command
from graph.services.sandbox.acting import Act, change
from graph.services.sandbox.files import append_line, file_tag, find_file, put_file
from graph.services.sandbox.finding import hold_sandbox
from graph.services.sandbox.sessions import create_sandbox
from graph.services.sandbox.stored import Stored, with_bytes
from tests.support.memory_client import allow
from tests.support.world import TeamWorld

pytestmark = pytest.mark.req("SB-116")


@pytest.fixture
async def session(world: TeamWorld) -> NodeId:
    """A session with two files, one of several parts."""
    await allow(world, world.ana, Right.WRITE)
    ana = world.caller(world.ana)
    contents = {"memories/MEMORY.md": b"old", "sessions/a.jsonl": b"{}"}
    made = await with_bytes(
        world.deps,
        contents,
        lambda stored: change(world.deps, ana, lambda cmd, act: create_sandbox(cmd, act, stored)),
    )

    async def append(cmd: Command, act: Act, line: Stored) -> None:
        await append_line(act, await hold_sandbox(cmd, made.id, Right.RUN), "sessions/a.jsonl", line)

    await with_bytes(
        world.deps,
        {"": b'{"n":1}\n'},
        lambda stored: change(world.deps, ana, lambda cmd, act: append(cmd, act, stored[""])),
    )
    return made.id


@pytest.fixture
def files(world: TeamWorld, session: NodeId) -> StagedWorkspace:
    return StagedWorkspace(deps=world.deps, session_id=session)


async def test_it_reads_what_is_committed_whole(files: StagedWorkspace) -> None:
    assert await files.read("sessions/a.jsonl") == b'{}\n{"n":1}\n'
    assert await files.read("none") is None
    assert await files.paths() == ["memories/MEMORY.md", "sessions/a.jsonl"]
    assert await files.paths("memories") == ["memories/MEMORY.md"]
    assert await files.paths("mem") == []


async def test_what_is_written_lies_over_it(files: StagedWorkspace, world: TeamWorld, session: NodeId) -> None:
    await files.apply({"memories/MEMORY.md": None, "memories/new.md": b"new", "other/x": b"x"})
    assert await files.paths("memories") == ["memories/new.md"]
    assert (await files.read("memories/MEMORY.md"), await files.read("memories/new.md")) == (None, b"new")
    assert await files.create("memories/new.md", b"newer") is False
    assert await files.create("memories/MEMORY.md", b"made") is True
    assert await files.append_line("sessions/a.jsonl", b"{}\n") == 3
    assert files.take() == {
        "memories/MEMORY.md": b"made",
        "memories/new.md": b"new",
        "other/x": b"x",
        "sessions/a.jsonl": b'{}\n{"n":1}\n{}\n',
    }
    again = StagedWorkspace(deps=world.deps, session_id=session)
    assert await again.read("memories/MEMORY.md") == b"old", "nothing is real yet"


async def test_a_file_that_changes_while_it_is_read_is_read_again(
    files: StagedWorkspace, world: TeamWorld, session: NodeId
) -> None:
    ana, whole, reads = world.caller(world.ana), world.deps.blobs.read, []

    async def replace_first(sha256: str) -> bytes:
        reads.append(sha256)
        if len(reads) == 1:
            await with_bytes(
                world.deps,
                {"": b"new"},
                lambda stored: change(world.deps, ana, lambda cmd, act: put(cmd, act, stored[""])),
            )
        return await whole(sha256)

    async def put(cmd: Command, act: Act, stored: Stored) -> None:
        held = await hold_sandbox(cmd, session, Right.RUN)
        await put_file(act, held, "memories/MEMORY.md", stored, tags=await tags(cmd))

    async def tags(cmd: Command) -> list[str]:
        file = await find_file(cmd.writer, session, "memories/MEMORY.md")
        return [file_tag(file)] if file else []

    object.__setattr__(world.deps.blobs, "read", replace_first)
    assert await files.read("memories/MEMORY.md") == b"new"
    assert len(reads) == 2
