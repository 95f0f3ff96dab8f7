"""`memory()`: what it turns on, what it needs, what it refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from rootward import (
    Manifest,
    Memory,
    MemoryGenerateConfig,
    MemoryLayoutConfig,
    MemoryReadConfig,
    SandboxAgent,
    UnixLocalSandboxClient,
    filesystem,
    memory,
    run,
    shell,
)
from rootward.testing import ScriptedModel
from sandbox_world import World, files_of, text_in


@pytest.mark.req("SB-1")
async def test_an_agent_without_memory_reads_records_and_generates_nothing(world: World) -> None:
    sandbox = await world.client.create(
        manifest=Manifest(entries={"memories/memory_summary.md": {"type": "file", "content": "prefers tabs"}})
    )
    await run(world.agent(shell(), filesystem()), "Hello", sandbox=sandbox, conversation_id="c1")
    report = await sandbox.close()
    assert "prefers tabs" not in world.speaker.requests[0].instructions
    assert files_of(sandbox) == ["memories/memory_summary.md"]
    assert report.layouts == []
    assert world.one.requests == world.two.requests == []


@pytest.mark.req("SB-2")
async def test_without_arguments_it_reads_and_generates(world: World) -> None:
    first = await world.close_after("c1")
    await world.again(first, "c2")
    assert "prefers tabs" in world.speaker.requests[1].instructions
    assert len(world.one.requests) == 2


@pytest.mark.req("SB-3")
async def test_with_generation_off_it_reads_and_leaves_no_trace(world: World) -> None:
    first = await world.close_after("c1")
    before = files_of(first)
    await world.again(first, "c2", agent=world.agent(shell(), filesystem(), memory(generate=False)))
    assert "prefers tabs" in world.speaker.requests[1].instructions
    assert files_of(first) == before
    assert len(world.one.requests) == 1


@pytest.mark.req("SB-4")
async def test_with_reading_off_it_records_and_is_told_nothing(world: World) -> None:
    first = await world.close_after("c1")
    await world.again(first, "c2", agent=world.agent(memory(read=None)))
    assert "prefers tabs" not in world.speaker.requests[1].instructions
    assert "sessions/c2.jsonl" in files_of(first)


@pytest.mark.req("SB-5")
@pytest.mark.parametrize("off", [None, False])
def test_none_and_false_are_off(off: bool | None) -> None:
    assert memory(read=off).read is None
    assert memory(generate=off).generate is None


@pytest.mark.req("SB-5")
def test_true_is_the_default_and_mappings_are_configurations() -> None:
    assert memory(read=True, generate=True) == memory()
    made = memory(
        read={"live_update": False},
        generate={"extra_prompt": "facts"},
        layout={"memories_dir": "m", "sessions_dir": "s"},
    )
    assert made == Memory(
        read=MemoryReadConfig(live_update=False),
        generate=MemoryGenerateConfig(extra_prompt="facts"),
        layout=MemoryLayoutConfig(memories_dir="m", sessions_dir="s"),
    )


@pytest.mark.req("SB-6")
def test_neither_reading_nor_generating_is_refused() -> None:
    with pytest.raises(ValueError, match="neither read nor generate"):
        memory(read=None, generate=False)


@pytest.mark.req("SB-7", "SB-8", "SB-10")
@pytest.mark.parametrize(
    ("capabilities", "missing"),
    [
        ((memory(),), ("filesystem", "shell")),
        ((shell(), memory()), ("filesystem",)),
        ((filesystem(), memory()), ("shell",)),
        ((memory(read=MemoryReadConfig(live_update=False)),), ("shell",)),
        ((memory(generate=False),), ("filesystem", "shell")),
    ],
)
async def test_what_is_missing_is_named_before_any_model_is_called(
    world: World, capabilities: tuple[Memory, ...], missing: tuple[str, ...]
) -> None:
    sandbox = await world.client.create()
    with pytest.raises(ValueError, match="capabilities") as refused:
        await run(world.agent(*capabilities), "Hello", sandbox=sandbox)
    assert [name for name in ("filesystem", "shell") if name in str(refused.value)] == list(missing)
    assert world.speaker.requests == []
    assert files_of(sandbox) == []


@pytest.mark.req("SB-9")
@pytest.mark.parametrize(
    "capabilities", [(memory(read=None),), (shell(), memory(read=MemoryReadConfig(live_update=False)))]
)
async def test_reading_less_needs_less(world: World, capabilities: tuple[Memory, ...]) -> None:
    result = await run(world.agent(*capabilities), "Hello", sandbox=await world.client.create())
    assert result.final_output == "Done."


@pytest.mark.req("SB-11", "SB-12", "SB-13", "SB-14")
def test_the_defaults() -> None:
    made = memory()
    assert made.read is not None
    assert made.generate is not None
    assert made.read.live_update is True
    assert made.generate.max_raw_memories_for_consolidation == 256
    assert (made.generate.phase_one_model, made.generate.phase_two_model) == ("gpt-5.4-mini", "gpt-5.4")
    assert made.generate.extra_prompt is None


@pytest.mark.req("SB-12")
@pytest.mark.parametrize("most", [0, 4097, -1, 1.5, "7", True, None])
def test_a_number_of_memories_out_of_range_is_refused(most: object) -> None:
    make: Callable[..., object] = MemoryGenerateConfig
    with pytest.raises(ValueError, match="from 1 to 4096"):
        make(max_raw_memories_for_consolidation=most)


@pytest.mark.req("SB-12")
@pytest.mark.parametrize("most", [1, 4096])
def test_both_ends_of_the_range_are_in_it(most: int) -> None:
    made = MemoryGenerateConfig(max_raw_memories_for_consolidation=most)
    assert made.max_raw_memories_for_consolidation == most


@pytest.mark.req("SB-13")
async def test_a_model_object_stands_for_a_name(world: World) -> None:
    own = ScriptedModel({"rollout_summary": "", "rollout_slug": "", "raw_memory": ""})
    generate = MemoryGenerateConfig(phase_one_model=own)
    await world.close_after("c1", agent=world.agent(memory(read=None, generate=generate)))
    assert len(own.requests) == 1
    assert world.one.requests == []


@pytest.mark.parametrize("ref", ["", "  ", 7, None])
def test_something_that_is_no_model_is_refused(ref: object) -> None:
    make: Callable[..., object] = MemoryGenerateConfig
    with pytest.raises(ValueError, match="phase_two_model"):
        make(phase_two_model=ref)


@pytest.mark.req("SB-14", "SB-15")
async def test_the_extra_prompt_stands_trimmed_in_both_instructions(world: World) -> None:
    generate = MemoryGenerateConfig(extra_prompt="\n  Value {facts} about customers.  ")
    await world.close_after("c1", agent=world.agent(memory(read=None, generate=generate)))
    for model in (world.one, world.two):
        told = model.requests[0].instructions
        assert "\nValue {facts} about customers.\n" in told


@pytest.mark.req("SB-15")
async def test_a_blank_extra_prompt_adds_nothing(world: World) -> None:
    sandbox = await world.close_after("c1", agent=world.agent(memory(read=None)))
    blank = MemoryGenerateConfig(extra_prompt=" \n ")
    await world.again(sandbox, "c1", agent=world.agent(memory(read=None, generate=blank)))
    plain, extra = (request.instructions for request in world.one.requests)
    assert plain == extra


@pytest.mark.req("SB-16")
@pytest.mark.parametrize(
    ("make", "options", "named"),
    [
        (memory, {"phaseOneModel": "x"}, "phaseOneModel"),
        (memory, {"read": {"liveUpdate": False}}, "liveUpdate"),
        (memory, {"generate": {"maxRawMemoriesForConsolidation": 2}}, "maxRawMemoriesForConsolidation"),
        (memory, {"layout": {"memoriesDir": "m"}}, "memoriesDir"),
        (MemoryReadConfig, {"liveUpdate": False}, "liveUpdate"),
        (MemoryGenerateConfig, {"extraPrompt": "x"}, "extraPrompt"),
        (MemoryLayoutConfig, {"sessionsDir": "x"}, "sessionsDir"),
    ],
)
def test_an_unknown_name_is_refused_and_named(
    make: Callable[..., object], options: Mapping[str, object], named: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=named):
        make(**options)


@pytest.mark.parametrize(
    ("options", "named"), [({"read": 7}, "read"), ({"generate": "yes"}, "generate"), ({"layout": "m"}, "layout")]
)
def test_an_option_of_another_kind_is_refused(options: Mapping[str, object], named: str) -> None:
    make: Callable[..., object] = memory
    with pytest.raises(TypeError, match=named):
        make(**options)


@pytest.mark.req("SB-17")
async def test_the_manifest_is_there_before_the_first_run(world: World) -> None:
    entries: dict[str, dict[str, object]] = {
        "README.md": {"type": "file", "content": "# Lead desk\n"},
        "a/b.bin": {"type": "file", "content": b"\xff"},
    }
    sandbox = await world.client.create(manifest=Manifest(entries=entries))
    assert text_in(sandbox, "README.md") == "# Lead desk\n"
    assert (sandbox.root / "a/b.bin").read_bytes() == b"\xff"


@pytest.mark.req("SB-17")
async def test_without_a_manifest_the_first_agents_default_counts_once(world: World) -> None:
    manifest = Manifest(entries={"README.md": {"type": "file", "content": "# Lead desk\n"}})
    agent = SandboxAgent(
        name="reviewer", model=world.speaker, default_manifest=manifest, capabilities=[shell(), filesystem(), memory()]
    )
    sandbox = await world.client.create()
    await run(agent, "Hello", sandbox=sandbox)
    assert text_in(sandbox, "README.md") == "# Lead desk\n"
    await sandbox.files.delete("README.md")
    await run(agent, "Hello", sandbox=sandbox)
    assert "README.md" not in files_of(sandbox)


@pytest.mark.parametrize(
    "entries",
    [
        {"../x": {"type": "file", "content": ""}},
        {"/x": {"type": "file", "content": ""}},
        {"x": {"type": "link", "content": ""}},
        {"x": {"type": "file", "content": 7}},
        {"x": {"type": "file", "contents": ""}},
    ],
)
def test_an_entry_that_is_no_file_of_the_workspace_is_refused(entries: Mapping[str, Mapping[str, object]]) -> None:
    with pytest.raises(ValueError, match=r"path|entry|content"):
        Manifest(entries=entries)


def test_a_capability_is_given_once_and_is_one() -> None:
    with pytest.raises(ValueError, match="at most once"):
        SandboxAgent(name="a", capabilities=[memory(), memory(generate=False)])
    make: Callable[..., object] = SandboxAgent
    with pytest.raises(TypeError, match="memory\\(\\)"):
        make(name="a", capabilities=["memory"])


def test_a_client_without_a_directory_makes_a_private_one() -> None:
    client = UnixLocalSandboxClient()
    assert client.base_dir == client.base_dir
    assert client.base_dir.stat().st_mode & 0o077 == 0
    client.base_dir.rmdir()
