"""The acceptance examples of section 10 of the contract, on a local directory. 9 and 20 also have HTTP parts."""

from __future__ import annotations

import json
import re

import pytest

from rootward import (
    ConversationRef,
    LocalSandboxSession,
    Manifest,
    MaxTurnsExceeded,
    MemoryGenerateConfig,
    MemoryLayoutConfig,
    MemoryLimits,
    MemoryReadConfig,
    MemorySession,
    ModelResponse,
    SandboxAgent,
    SandboxClosedError,
    Segment,
    TerminalMetadata,
    TerminalState,
    filesystem,
    memory,
    run,
    shell,
)
from rootward.models import call, message
from rootward.testing import ScriptedModel
from sandbox_world import World, files_of, lines_of, merges, notes, prompt_of, text_in, text_of, writes
from test_extraction import by_conversation, metadata_of


def reviewer(world: World) -> SandboxAgent:
    return SandboxAgent(
        name="reviewer",
        model=world.speaker,
        default_manifest=Manifest(entries={"README.md": {"type": "file", "content": "# Lead desk\n"}}),
        capabilities=[filesystem(), shell(), memory()],
    )


def selected(sandbox: LocalSandboxSession) -> list[str]:
    return [one["rollout_id"] for one in json.loads(text_in(sandbox, "memories/phase_two_selection.json"))["selected"]]


async def test_1_round_trip(world: World) -> None:
    world.two = ScriptedModel("Nothing to add.")
    sandbox = await world.client.create()
    await run(reviewer(world), "Review the desk", sandbox=sandbox, conversation_id="lead-desk")
    await sandbox.close()
    assert (len(world.one.requests), len(world.two.requests)) == (1, 1)
    assert len(lines_of(sandbox, "sessions/lead-desk.jsonl")) == 1
    assert set(files_of(sandbox)) >= {
        "README.md",
        "memories/MEMORY.md",
        "memories/memory_summary.md",
        "memories/raw_memories.md",
        "memories/raw_memories/lead-desk.md",
        "memories/rollout_summaries/lead-desk_notes.md",
    }
    world.two = ScriptedModel(*merges())
    await world.again(sandbox, "lead-desk", agent=reviewer(world))
    resumed = await world.client.create(snapshot=await sandbox.snapshot())
    await run(reviewer(world), "Again", sandbox=resumed)
    assert "- prefers tabs" in world.speaker.requests[-1].instructions


async def test_2_fresh_sandbox(world: World) -> None:
    result = await run(reviewer(world), "Hello", sandbox=await world.client.create())
    assert world.speaker.requests[0].instructions == ""
    assert result.final_output == "Done."


async def test_3_missing_capability(world: World) -> None:
    sandbox = await world.client.create()
    with pytest.raises(ValueError, match=r"filesystem.*shell"):
        await run(world.agent(memory()), "Hello", sandbox=sandbox)
    with pytest.raises(ValueError, match="filesystem"):
        await run(world.agent(shell(), memory()), "Hello", sandbox=sandbox)
    await run(world.agent(shell(), memory(read=MemoryReadConfig(live_update=False))), "Hello", sandbox=sandbox)
    await run(world.agent(memory(read=None)), "Hello", sandbox=sandbox)
    assert len(world.speaker.requests) == 2


async def test_4_read_null(world: World) -> None:
    sandbox = await world.client.create()
    await sandbox.files.write_text("memories/memory_summary.md", "prefers tabs")
    await world.say_in(sandbox, "c1", agent=world.agent(memory(read=None)))
    assert "prefers tabs" not in prompt_of(world.speaker.requests[0])
    assert files_of(sandbox, "sessions/") == ["sessions/c1.jsonl"]
    report = await sandbox.close()
    assert report.layouts[0].phase_one[0].status == "extracted"
    assert report.layouts[0].phase_two.status == "completed"


async def test_5_generate_false(world: World) -> None:
    sandbox = await world.client.create()
    await sandbox.files.write_text("memories/memory_summary.md", "prefers tabs")
    await world.say_in(sandbox, "c1", agent=world.agent(filesystem(), shell(), memory(generate=False)))
    await sandbox.close()
    assert "prefers tabs" in world.speaker.requests[0].instructions
    assert files_of(sandbox, "sessions") == []
    assert world.one.requests == world.two.requests == []
    with pytest.raises(ValueError, match="neither"):
        memory(read=None, generate=False)


async def test_6_read_only_prompt(world: World) -> None:
    sandbox = await world.client.create()
    await sandbox.files.write_text("memories/memory_summary.md", "prefers tabs")
    only_reads = memory(read=MemoryReadConfig(live_update=False))
    await world.say_in(sandbox, "c1", agent=world.agent(shell(), only_reads))
    await world.say_in(sandbox, "c1")
    forbids, corrects = (request.instructions for request in world.speaker.requests)
    assert "never create, change or delete" in forbids
    assert "correct `memories/MEMORY.md`" in corrects


async def test_7_one_conversation_two_runs(world: World) -> None:
    conversation, sandbox = MemorySession(session_id="ledger-check"), await world.client.create()
    for said in ("Check the ledger", "And the other"):
        await run(world.agent(), said, session=conversation, sandbox=sandbox)
    await sandbox.close()
    assert len(lines_of(sandbox, "sessions/ledger-check.jsonl")) == 2
    (asked,) = world.one.requests
    assert "Check the ledger" in prompt_of(asked)
    assert "And the other" in prompt_of(asked)
    metadata = metadata_of(asked)
    assert isinstance(metadata, dict)
    assert metadata["segment_count"] == 2


async def test_8_identity_order(world: World) -> None:
    sandbox, session = await world.client.create(), MemorySession(session_id="s1")
    agent = world.agent()
    await run(agent, "x", sandbox=sandbox, conversation_id="c1", session=session, group_id="g1")
    await run(agent, "x", sandbox=sandbox, session=session, group_id="g1")
    await run(agent, "x", sandbox=sandbox, conversation_id="  ", group_id="g1")
    await run(agent, "x", sandbox=sandbox)
    await run(agent, "x", sandbox=sandbox)
    generated = files_of(sandbox, "sessions/run-")
    assert len(generated) == 2
    assert all(re.fullmatch(r"sessions/run-[0-9a-f]{32}\.jsonl", name) for name in generated)
    named = [name for name in files_of(sandbox, "sessions/") if name not in generated]
    assert named == ["sessions/c1.jsonl", "sessions/g1.jsonl", "sessions/s1.jsonl"]


@pytest.mark.parametrize("identifier", ["../x", "a/b", ".hidden", "x" * 129])
async def test_9_bad_id(world: World, identifier: str) -> None:
    sandbox = await world.client.create()
    given = Segment(input=[], terminal_metadata=TerminalMetadata(terminal_state=TerminalState.COMPLETED))
    with pytest.raises(ValueError, match="conversation_id"):
        await sandbox.record(memory(), ConversationRef(conversation_id=identifier), given)
    assert files_of(sandbox) == []


async def test_10_nothing_leaks(world: World) -> None:
    items = [
        *(message(role, f"of the {role}") for role in ("system", "developer", "user", "assistant")),
        {"type": "reasoning", "summary": "of the reasoning"},
        call("shell", command="ls"),
        {"type": "function_call_output", "call_id": "call_1", "output": "x"},
    ]
    world.speaker = ScriptedModel(ModelResponse(output=items[3:5]))
    sandbox = await world.client.create()
    given = Segment.from_mapping(
        {"input": items[:3], "generated_items": items, "terminal_metadata": {"terminal_state": "completed"}}
    )
    await sandbox.record(memory(), ConversationRef(conversation_id="c1"), given)
    line = lines_of(sandbox, "sessions/c1.jsonl")[0]
    assert line["input"] == [items[2]]
    assert line["generated_items"] == [items[2], items[3], items[5], items[6]]


async def test_11_head_and_tail(world: World) -> None:
    world.limits = MemoryLimits(phase_one_token_limit=1000)
    sandbox = await world.client.create()
    said = "HEAD-MARK" + "é" * 19_991 + "TAIL-MARK"
    await run(world.agent(), said, sandbox=sandbox, conversation_id="c1")
    before = text_in(sandbox, "sessions/c1.jsonl")
    await sandbox.close()
    asked = text_of(world.one.requests[0].input[0])
    rendered = asked.split("begins =====\n")[1].split("\n===== conversation ends")[0]
    assert len(rendered.encode()) <= 4_000
    assert "HEAD-MARK" in rendered
    assert "TAIL-MARK" in rendered
    assert "characters left out" in rendered
    assert f"rendered_chars={len(rendered)}" in asked
    assert text_in(sandbox, "sessions/c1.jsonl") == before


async def test_12_forgetting_by_last_update(world: World) -> None:
    agent = world.agent(memory(read=None, generate=MemoryGenerateConfig(max_raw_memories_for_consolidation=2)))
    sandbox = await world.close_after("a", agent=agent)
    for name in ("b", "c"):
        await world.again(sandbox, name, agent=agent)
    assert selected(sandbox) == ["c", "b"]  # a was forgotten when c came
    world.two = ScriptedModel(*merges())
    later = await world.client.resume(sandbox.id)
    await world.say_in(later, "a", agent=agent)
    report = await later.close()
    raw = text_in(sandbox, "memories/raw_memories.md")
    assert re.findall(r"^rollout_id: (.*)$", raw, re.MULTILINE) == ["a", "c"]
    assert (report.layouts[0].phase_two.selected, report.layouts[0].phase_two.removed) == (["a", "c"], ["b"])
    assert "- [removed] rollout_id=b " in world.two.requests[0].instructions
    assert "memories/raw_memories/b.md" not in files_of(sandbox)
    assert "sessions/b.jsonl" in files_of(sandbox)


async def test_13_layouts(world: World) -> None:
    world.two = ScriptedModel("Nothing to add.")
    sandbox = await world.client.create()
    for domain in ("legal", "sales"):
        layout = MemoryLayoutConfig(memories_dir=f"memories/{domain}", sessions_dir=f"sessions/{domain}")
        agent = world.agent(filesystem(), shell(), memory(layout=layout), name=domain)
        await run(agent, f"a {domain} matter", sandbox=sandbox, session=MemorySession(session_id="q2"))
    await sandbox.close()
    assert files_of(sandbox, "sessions/") == ["sessions/legal/q2.jsonl", "sessions/sales/q2.jsonl"]
    assert (len(world.one.requests), len(world.two.requests)) == (2, 2)
    for request in (world.one.requests[0], world.two.requests[0]):
        assert "sales" not in prompt_of(request)
    assert all("sales" not in text_in(sandbox, name) for name in files_of(sandbox) if "legal" in name)


async def test_14_same_layout_other_name(world: World) -> None:
    sandbox, session = await world.client.create(), MemorySession(session_id="s1")
    for name in ("A", "B"):
        await run(world.agent(name=name), "Hello", sandbox=sandbox, session=session)
    await sandbox.close()
    assert len(lines_of(sandbox, "sessions/s1.jsonl")) == 2
    assert [name for name in files_of(sandbox) if name.endswith("MEMORY.md")] == ["memories/MEMORY.md"]


async def test_15_layout_clash(world: World) -> None:
    sandbox = await world.client.create()
    await run(world.agent(), "Hello", sandbox=sandbox)
    other = MemoryLayoutConfig(memories_dir="memories", sessions_dir="sessions/a")
    with pytest.raises(ValueError, match="directories"):
        await run(world.agent(memory(read=None, layout=other)), "Hello", sandbox=sandbox)
    with pytest.raises(ValueError, match="configuration"):
        await run(world.agent(memory(read=None, generate={"extra_prompt": "x"})), "Hello", sandbox=sandbox)


async def test_16_nothing_to_keep(world: World) -> None:
    world.one = ScriptedModel(notes("", summary="", slug=""))
    sandbox = await world.client.create()
    await sandbox.files.write_text("memories/MEMORY.md", "as before")
    await world.say_in(sandbox, "c1")
    report = await sandbox.close()
    assert report.layouts[0].phase_one[0].status == "empty"
    assert report.layouts[0].phase_two.status == "skipped"
    assert files_of(sandbox, "memories/raw") == []
    assert text_in(sandbox, "memories/MEMORY.md") == "as before"


async def test_17_partial_failure(world: World) -> None:
    world.one = by_conversation({"bad": "{invalid", "good": notes()})
    sandbox = await world.client.create()
    await world.say_in(sandbox, "bad", "good")
    report = (await sandbox.close()).layouts[0]
    assert [(one.rollout_id, one.status) for one in report.phase_one] == [("bad", "failed"), ("good", "extracted")]
    assert (report.phase_two.status, report.phase_two.selected) == ("completed", ["good"])


async def test_18_phase_2_fails(world: World) -> None:
    world.two = ScriptedModel(writes(("MEMORY.md", "half")), RuntimeError())
    sandbox = await world.client.create()
    await world.say_in(sandbox, "x")
    report = await sandbox.close()
    assert report.layouts[0].phase_two.status == "failed"
    assert text_in(sandbox, "memories/MEMORY.md") == text_in(sandbox, "memories/memory_summary.md") == ""
    assert "memories/phase_two_selection.json" not in files_of(sandbox)
    assert "memories/raw_memories/x.md" in files_of(sandbox)
    world.two = ScriptedModel(*merges())
    await world.again(sandbox, "y")
    told = world.two.requests[0].instructions
    assert "- [added] rollout_id=y " in told
    assert "- [added] rollout_id=x " in told


async def test_19_failed_run(world: World) -> None:
    world.speaker = ScriptedModel(ModelResponse(output=[call("shell", command="true")]))
    sandbox = await world.client.create()
    with pytest.raises(MaxTurnsExceeded):
        await run(world.agent(), "Hello", sandbox=sandbox, conversation_id="c1", max_turns=2)
    line = lines_of(sandbox, "sessions/c1.jsonl")[0]
    metadata = line["terminal_metadata"]
    assert isinstance(metadata, dict)
    assert metadata["terminal_state"] == "max_turns_exceeded"
    assert metadata["has_final_output"] is False
    assert "final_output" not in line


async def test_20_close_twice(world: World) -> None:
    sandbox = await world.client.create()
    await world.say_in(sandbox, "c1")
    first = await sandbox.close()
    asked = len(world.one.requests) + len(world.two.requests)
    assert await sandbox.close() == first
    assert len(world.one.requests) + len(world.two.requests) == asked
    with pytest.raises(SandboxClosedError):
        await world.say_in(sandbox, "c1")
