"""Layouts beside each other, and memory that outlives its session."""

from __future__ import annotations

import shutil

import pytest

from rootward import (
    LocalSandboxSession,
    Manifest,
    MemoryLayoutConfig,
    MemorySession,
    ModelResponse,
    SandboxAgent,
    SandboxBusy,
    SandboxClosedError,
    memory,
    run,
)
from rootward.models import call
from rootward.testing import ScriptedModel
from sandbox_world import World, files_of, lines_of, merges, notes, outputs_of, prompt_of, seen_by, text_in, writes
from test_extraction import by_conversation


def layout_of(domain: str) -> MemoryLayoutConfig:
    return MemoryLayoutConfig(memories_dir=f"memories/{domain}", sessions_dir=f"sessions/{domain}")


def agent_of(world: World, layout: MemoryLayoutConfig, name: str = "agent", extra: str | None = None) -> SandboxAgent:
    return world.agent(memory(read=None, layout=layout, generate={"extra_prompt": extra}), name=name)


async def say(world: World, sandbox: LocalSandboxSession, layout: MemoryLayoutConfig, said: str, to: str) -> None:
    await run(agent_of(world, layout), said, sandbox=sandbox, conversation_id=to)


@pytest.mark.req("SB-92", "SB-93")
async def test_the_layout_and_not_the_name_tells_whose_memory_it_is(world: World) -> None:
    sandbox = await world.client.create()
    for name in ("A", "B"):
        await run(agent_of(world, MemoryLayoutConfig(), name), "Hello", sandbox=sandbox, conversation_id="c1")
    await sandbox.close()
    assert len(lines_of(sandbox, "sessions/c1.jsonl")) == 2
    assert (len(world.one.requests), len(world.two.requests)) == (1, 2)  # phase 2 writes, then ends


@pytest.mark.req("SB-92")
async def test_one_agent_with_two_layouts_has_two_memories(world: World) -> None:
    sandbox = await world.client.create()
    for domain in ("legal", "sales"):
        await run(agent_of(world, layout_of(domain), "same"), "Hello", sandbox=sandbox, conversation_id="c1")
    assert [len(lines_of(sandbox, f"sessions/{domain}/c1.jsonl")) for domain in ("legal", "sales")] == [1, 1]


@pytest.mark.req("SB-94", "SB-95")
async def test_layouts_never_mix(world: World) -> None:
    world.two = ScriptedModel(writes(("MEMORY.md", "legal")), "Done.", writes(("MEMORY.md", "sales")), "Done.")
    sandbox = await world.client.create()
    for domain in ("legal", "sales"):
        await say(world, sandbox, layout_of(domain), f"about {domain}", "q2")
    report = await sandbox.close()
    assert [one.memories_dir for one in report.layouts] == ["memories/legal", "memories/sales"]
    assert [one.phase_two.status for one in report.layouts] == ["completed", "completed"]
    legal, sales = world.one.requests
    assert "sales" not in prompt_of(legal)
    assert "legal" not in prompt_of(sales)
    assert all("sales" not in prompt_of(request) for request in world.two.requests[:2])
    assert all("legal" not in prompt_of(request) for request in world.two.requests[2:])
    assert text_in(sandbox, "memories/legal/MEMORY.md") == "legal"
    assert text_in(sandbox, "memories/sales/MEMORY.md") == "sales"


@pytest.mark.req("SB-96")
@pytest.mark.parametrize(
    ("memories", "sessions"),
    [
        ("memories", "sessions/a"),
        ("m", "sessions"),
        ("sessions", "s"),
        ("m", "memories"),
        ("memories/raw_memories", "s"),
        ("m", "memories/rollout_summaries/x"),
    ],
)
async def test_sharing_only_one_directory_is_refused(world: World, memories: str, sessions: str) -> None:
    sandbox = await world.client.create()
    await world.say_in(sandbox, "c1")
    other = MemoryLayoutConfig(memories_dir=memories, sessions_dir=sessions)
    with pytest.raises(ValueError, match="one of the two directories"):
        await run(agent_of(world, other), "Hello", sandbox=sandbox)
    assert len(world.speaker.requests) == 1


@pytest.mark.req("SB-96")
async def test_an_equal_layout_with_another_configuration_is_refused(world: World) -> None:
    sandbox = await world.client.create()
    await run(agent_of(world, MemoryLayoutConfig()), "Hello", sandbox=sandbox)
    with pytest.raises(ValueError, match="another generate configuration"):
        await run(agent_of(world, MemoryLayoutConfig(), extra="facts"), "Hello", sandbox=sandbox)
    await run(agent_of(world, MemoryLayoutConfig()), "Hello", sandbox=sandbox)


@pytest.mark.req("SB-96")
async def test_an_agent_that_generates_nothing_never_clashes(world: World) -> None:
    sandbox = await world.client.create()
    await world.say_in(sandbox, "c1")
    for layout in (MemoryLayoutConfig(sessions_dir="s"), MemoryLayoutConfig(memories_dir="m")):
        reader = world.agent(*world.agent().capabilities[:2], memory(generate=False, layout=layout))
        await run(reader, "Hello", sandbox=sandbox)
    assert len(world.speaker.requests) == 3


@pytest.mark.req("SB-97")
@pytest.mark.parametrize("inner", ["memories/sales", "memories/skills", "memories/skills/sales"])
async def test_phase_2_of_the_outer_neither_reads_nor_writes_the_inner(world: World, inner: str) -> None:
    local = inner.removeprefix("memories/")
    probes = [
        ModelResponse(output=[call("read_file", path=f"{local}/MEMORY.md")]),
        writes((f"{local}/MEMORY.md", "overwritten")),
        ModelResponse(output=[call("list_files")]),
    ]
    world.two = ScriptedModel(*probes, "Done.", writes(("MEMORY.md", "of sales")), "Done.")
    sandbox = await world.client.create()
    await say(world, sandbox, MemoryLayoutConfig(), "about all", "c1")
    await say(world, sandbox, MemoryLayoutConfig(memories_dir=inner, sessions_dir="s"), "about sales", "c2")
    report = await sandbox.close()
    assert [one.phase_two.selected for one in report.layouts] == [["c1"], ["c2"]]
    read, written, listed = outputs_of(world.two.requests[3])
    assert read.startswith("error: ")
    assert written.startswith("error: ")
    assert local not in [path.rpartition("/")[0] for path in listed.splitlines() if "c1" not in path]
    assert text_in(sandbox, f"{inner}/MEMORY.md") == "of sales"


@pytest.mark.req("SB-97")
async def test_an_inner_layout_of_an_earlier_session_is_left_alone_too(world: World) -> None:
    world.two = ScriptedModel(*merges(index="of sales"))
    sales = memory(read=None, layout={"memories_dir": "memories/sales", "sessions_dir": "s"})
    sandbox = await world.close_after("c2", agent=world.agent(sales))
    world.two = ScriptedModel(writes(("sales/MEMORY.md", "overwritten")), "Done.")
    await world.again(sandbox, "c1")
    assert outputs_of(world.two.requests[1])[0].startswith("error: ")
    assert text_in(sandbox, "memories/sales/MEMORY.md") == "of sales"


@pytest.mark.req("SB-98")
async def test_memory_is_reused_by_keeping_or_resuming_and_a_new_sandbox_has_none(world: World) -> None:
    sandbox = await world.close_after("c1")
    await world.again(sandbox, "c2")
    await world.close_after("c3")
    told = [request.instructions for request in world.speaker.requests]
    assert ["prefers tabs" in text for text in told] == [False, True, False]


@pytest.mark.req("SB-98", "SB-99")
async def test_a_session_from_a_snapshot_reads_what_was_learned(world: World) -> None:
    sandbox = await world.close_after("c1")
    snapshot = await sandbox.snapshot()
    await sandbox.files.write_text("memories/memory_summary.md", "changed since")
    entries = {name: {"type": "file", "content": "new"} for name in ("memories/MEMORY.md", "extra.txt")}
    later = await world.client.create(snapshot=snapshot.id, manifest=Manifest(entries=entries))
    await world.say_in(later, "c2")
    assert "prefers tabs" in world.speaker.requests[1].instructions
    assert text_in(later, "memories/MEMORY.md") == "# Index\n"
    assert text_in(later, "extra.txt") == "new"
    assert {name for name in files_of(sandbox) if name.startswith("sessions")} <= set(files_of(later))


async def test_a_snapshot_outlives_its_sandbox_until_it_is_deleted(world: World) -> None:
    sandbox = await world.close_after("c1")
    snapshot = await sandbox.snapshot()
    await world.client.delete(sandbox)
    assert not sandbox.root.exists()
    assert "memories/MEMORY.md" in files_of(await world.client.create(snapshot=snapshot))
    await world.client.delete_snapshot(snapshot.id)
    before = sorted(world.base.iterdir())
    with pytest.raises(Exception, match="there is no snapshot"):
        await world.client.create(snapshot=snapshot)
    assert sorted(world.base.iterdir()) == before, "nothing is left of a session that could not begin"


@pytest.mark.req("SB-101")
async def test_memory_and_messages_are_independent(world: World) -> None:
    sandbox, session = await world.client.create(), MemorySession(session_id="s1")
    await run(world.agent(), "one", sandbox=sandbox, session=session)
    before = {name: text_in(sandbox, name) for name in files_of(sandbox)}
    history = await session.get_items()
    await session.clear_session()
    assert {name: text_in(sandbox, name) for name in files_of(sandbox)} == before
    await session.add_items(history)
    shutil.rmtree(sandbox.root / "memories")
    shutil.rmtree(sandbox.root / "sessions")
    await run(world.agent(), "two", sandbox=sandbox, session=session)
    assert [item.get("content") for item in world.speaker.requests[1].input] == ["one", "Done.", "two"]


@pytest.mark.req("SB-102")
async def test_closing_again_asks_nobody_and_a_run_afterwards_is_refused(world: World) -> None:
    sandbox = await world.close_after("c1")
    asked = len(world.one.requests), len(world.two.requests)
    first, again = await sandbox.close(), await sandbox.close()
    assert first == again
    assert first.layouts[0].phase_two.selected == ["c1"]
    assert (len(world.one.requests), len(world.two.requests)) == asked
    with pytest.raises(SandboxClosedError):
        await world.say_in(sandbox, "c1")
    assert len(world.speaker.requests) == 1


@pytest.mark.req("SB-103")
async def test_closing_without_runs_asks_nobody_and_makes_no_file(world: World) -> None:
    sandbox = await world.client.create()
    report = await sandbox.close()
    assert report.as_dict() == {"layouts": []}
    assert list(sandbox.root.iterdir()) == []
    assert seen_by([world.one, world.two]) == ""


async def test_leaving_the_block_closes(world: World) -> None:
    async with await world.client.create() as sandbox:
        await world.say_in(sandbox, "c1")
        assert sandbox.status == "open"
    assert sandbox.status == "closed"
    assert "memories/raw_memories/c1.md" in files_of(sandbox)


async def test_a_session_is_open_once(world: World) -> None:
    sandbox = await world.client.create()
    with pytest.raises(SandboxBusy):
        await world.client.resume(sandbox.id)
    await sandbox.close()
    assert (await world.client.resume(sandbox.id)).status == "open"


async def test_a_directory_of_ones_own_is_used_and_kept(world: World, tmp_path: object) -> None:
    own = world.base.parent / "project"
    own.mkdir()
    (own / "README.md").write_text("mine")
    sandbox = await world.client.create(workspace=own)
    await world.say_in(sandbox, "c1")
    await sandbox.close()
    await world.client.delete(sandbox)
    assert sandbox.root == own
    assert {"README.md", "memories/MEMORY.md", "sessions/c1.jsonl"} <= set(files_of(sandbox))


async def test_what_does_not_exist_cannot_be_opened_or_removed(world: World) -> None:
    with pytest.raises(FileNotFoundError):
        await world.client.resume("sbx_none")
    for bad in ("../x", "sbx_/../x", "x"):
        with pytest.raises(ValueError, match="sbx_"):
            await world.client.resume(bad)
    sandbox = await world.client.create()
    with pytest.raises(ValueError, match="close"):
        await world.client.delete(sandbox)
    with pytest.raises(ValueError, match="not both"):
        await world.client.create(snapshot="snap_x", workspace=sandbox.root)


async def test_the_same_answers_come_for_each_layout(world: World) -> None:
    world.one = by_conversation({"a": notes("of a"), "b": notes("of b")})
    sandbox = await world.client.create()
    await say(world, sandbox, layout_of("legal"), "x", "a")
    await say(world, sandbox, layout_of("sales"), "y", "b")
    await sandbox.close()
    assert text_in(sandbox, "memories/legal/raw_memories.md").endswith("of a\n")
    assert text_in(sandbox, "memories/sales/raw_memories.md").endswith("of b\n")
