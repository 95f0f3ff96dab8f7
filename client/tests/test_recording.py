"""A finished run as a line of its conversation file."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from rootward import (
    ConversationRef,
    GuardrailTripped,
    InvalidSegment,
    MaxTurnsExceeded,
    MemoryLimits,
    MemorySession,
    ModelResponse,
    SandboxClosedError,
    Segment,
    SegmentTooLarge,
    TerminalMetadata,
    TerminalState,
    filesystem,
    memory,
    run,
    shell,
)
from rootward.models import Item, call, message
from rootward.testing import ScriptedModel
from sandbox_world import SilentModel, World, files_of, lines_of

_CALLS = (
    "function_call custom_tool_call computer_call local_shell_call shell_call apply_patch_call tool_search_call "
    "web_search_call mcp_call mcp_approval_request mcp_approval_response program hosted_tool_call"
)
_RESULTS = (
    "function_call_output function_call_result custom_tool_call_output computer_call_output local_shell_call_output "
    "shell_call_output apply_patch_call_output tool_search_output program_output"
)
_ENDED = TerminalMetadata(terminal_state=TerminalState.COMPLETED)


def segment(*generated: Item, said: str = "Hello", output: object = None) -> Segment:
    return Segment(
        input=[message("user", said)], generated_items=generated, terminal_metadata=_ENDED, final_output=output
    )


async def recorded(world: World, given: Segment) -> dict[str, object]:
    sandbox = await world.client.create()
    await sandbox.record(memory(read=None), ConversationRef(conversation_id="c1"), given)
    return lines_of(sandbox, "sessions/c1.jsonl")[0]


@pytest.mark.req("SB-40", "SB-41", "SB-46", "SB-48")
async def test_a_run_is_one_line_with_its_members_in_order(world: World) -> None:
    sandbox = await world.client.create()
    await world.say_in(sandbox, "c1")
    data = (sandbox.root / "sessions/c1.jsonl").read_bytes()
    assert data.count(b"\n") == 1
    assert data.endswith(b"}\n")
    line = json.loads(data)
    assert list(line) == ["updated_at", "rollout_id", "input", "generated_items", "terminal_metadata", "final_output"]
    assert line["rollout_id"] == "c1"
    assert line["updated_at"].endswith("+00:00")
    assert datetime.fromisoformat(line["updated_at"]).utcoffset() == timedelta(0)
    assert line["terminal_metadata"] == {
        "terminal_state": "completed",
        "exception_type": None,
        "exception_message": None,
        "has_final_output": True,
    }


@pytest.mark.req("SB-41", "SB-43")
async def test_interruptions_stand_before_the_end_and_only_if_there_are_any(world: World) -> None:
    world.speaker = ScriptedModel(ModelResponse(output=[message("assistant", "May I?"), call("shell", command="rm x")]))
    sandbox = await world.client.create()
    agent = world.agent(filesystem(), shell(needs_approval=True), memory())
    await run(agent, "Tidy up", sandbox=sandbox, conversation_id="c1")
    line = lines_of(sandbox, "sessions/c1.jsonl")[0]
    assert list(line) == [
        "updated_at",
        "rollout_id",
        "input",
        "generated_items",
        "interruptions",
        "terminal_metadata",
    ]
    assert line["interruptions"] == [call("shell", command="rm x")]
    assert line["generated_items"] == [message("assistant", "May I?"), call("shell", command="rm x")]


@pytest.mark.req("SB-42")
async def test_the_input_is_that_of_this_run_alone(world: World) -> None:
    sandbox, session = await world.client.create(), MemorySession(session_id="s1")
    await run(world.agent(), "one", sandbox=sandbox, session=session)
    await run(world.agent(), "two", sandbox=sandbox, session=session)
    assert [item.get("content") for item in world.speaker.requests[1].input] == ["one", "Done.", "two"]
    assert [line["input"] for line in lines_of(sandbox, "sessions/s1.jsonl")] == [
        [message("user", "one")],
        [message("user", "two")],
    ]


@pytest.mark.req("SB-43")
async def test_what_the_agent_did_and_said_is_recorded(world: World) -> None:
    world.speaker = ScriptedModel(ModelResponse(output=[call("shell", command="echo tea")]), "Tea.")
    sandbox = await world.client.create()
    await world.say_in(sandbox, "c1")
    line = lines_of(sandbox, "sessions/c1.jsonl")[0]
    result = {"type": "function_call_output", "call_id": "call_1", "output": "tea\n\n[exit code 0]"}
    assert line["generated_items"] == [call("shell", command="echo tea"), result, message("assistant", "Tea.")]
    assert line["final_output"] == "Tea."


@pytest.mark.req("SB-44", "SB-45")
async def test_nothing_leaks(world: World) -> None:
    kept: list[Item] = [
        message("user", "u"),
        message("assistant", "a"),
        {"role": "tool", "content": "t"},
        *({"type": kind, "call_id": "1"} for kind in (*_CALLS.split(), *_RESULTS.split())),
    ]
    dropped: list[Item] = [
        message("system", "a secret"),
        message("developer", "a secret"),
        message("critic", "a secret"),
        {"type": "reasoning", "summary": "a secret"},
        {"type": "reasoning", "role": "assistant", "content": "a secret"},
        {"type": "compaction", "encrypted_content": "a secret"},
        {"type": "image_generation_call", "result": "a secret"},
        {"type": "message", "content": "a secret"},
        {"type": "something_new", "content": "a secret"},
        {"content": "a secret"},
        {"type": ["reasoning"], "content": "a secret"},
        {"role": {"user": 1}, "content": "a secret"},
    ]
    mixed = [item for pair in zip(kept, dropped * 3, strict=False) for item in pair]
    given = Segment(input=mixed, generated_items=mixed, interruptions=dropped[:7], terminal_metadata=_ENDED)
    line = await recorded(world, given)
    assert line["input"] == line["generated_items"] == kept
    assert "interruptions" not in line


@pytest.mark.req("SB-44")
async def test_reasoning_inside_a_message_is_left_out(world: World) -> None:
    parts = [{"type": "thinking", "thinking": "a secret"}, {"type": "output_text", "text": "Tea."}]
    line = await recorded(world, segment({"role": "assistant", "content": parts}))
    assert line["generated_items"] == [{"role": "assistant", "content": parts[1:]}]


def raising(error: BaseException) -> ScriptedModel:
    return ScriptedModel(ModelResponse(output=[call("shell", command="true")]), error)


@pytest.mark.req("SB-46", "SB-47")
@pytest.mark.parametrize(
    ("error", "state"),
    [
        (KeyError("no such key"), "failed"),
        (GuardrailTripped("not about tea"), "guardrail_tripped"),
        (asyncio.CancelledError(), "cancelled"),
    ],
)
async def test_a_run_that_does_not_end_well_is_recorded(world: World, error: BaseException, state: str) -> None:
    world.speaker = raising(error)
    sandbox = await world.client.create()
    with pytest.raises(type(error)):
        await world.say_in(sandbox, "c1")
    line = lines_of(sandbox, "sessions/c1.jsonl")[0]
    assert line["terminal_metadata"] == {
        "terminal_state": state,
        "exception_type": type(error).__name__,
        "exception_message": str(error) or None,
        "has_final_output": False,
    }
    assert "final_output" not in line
    assert line["generated_items"] != []


@pytest.mark.req("SB-47")
async def test_a_run_cancelled_from_outside_is_recorded(world: World) -> None:
    world.speaker = silent = SilentModel()
    sandbox = await world.client.create()
    running = asyncio.create_task(world.say_in(sandbox, "c1"))
    await silent.asked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    line = lines_of(sandbox, "sessions/c1.jsonl")[0]
    assert line["terminal_metadata"]["terminal_state"] == "cancelled"  # type: ignore[index]


@pytest.mark.req("SB-46", "SB-47")
async def test_an_interrupted_run_is_recorded_and_goes_on_when_approved(world: World) -> None:
    world.speaker = ScriptedModel(ModelResponse(output=[call("shell", command="echo tea")]), "Tea.")
    sandbox, session = await world.client.create(), MemorySession(session_id="s1")
    agent = world.agent(filesystem(), shell(needs_approval=True), memory())
    waiting = await run(agent, "What?", sandbox=sandbox, session=session)
    assert waiting.final_output is None
    assert waiting.state is not None
    with pytest.raises(ValueError, match="approve or reject"):
        waiting.state.is_approved(waiting.interruptions[0])
    waiting.state.approve(waiting.interruptions[0])
    result = await run(agent, waiting.state, sandbox=sandbox, session=session)
    first, second = lines_of(sandbox, "sessions/s1.jsonl")
    assert first["terminal_metadata"]["terminal_state"] == "interrupted"  # type: ignore[index]
    assert second["input"] == []
    assert result.final_output == "Tea."
    kinds = [item.get("type") or item.get("role") for item in await session.get_items()]
    assert kinds == ["user", "function_call", "function_call_output", "assistant"]


async def test_a_refused_call_is_told_to_the_model(world: World) -> None:
    world.speaker = ScriptedModel(ModelResponse(output=[call("delete_file", path="x")]), "Well.")
    sandbox = await world.client.create()
    await sandbox.files.write_text("x", "kept")
    agent = world.agent(filesystem(needs_approval=True), shell(), memory())
    waiting = await run(agent, "Tidy up", sandbox=sandbox)
    assert waiting.state is not None
    waiting.state.reject(waiting.interruptions[0])
    result = await run(agent, waiting.state, sandbox=sandbox)
    assert result.new_items[0].get("output") == "error: the call was refused"
    assert await sandbox.files.read_text("x") == "kept"


@pytest.mark.req("SB-49")
@pytest.mark.parametrize("earlier", [b'{"a":1}\n{"b":2}', b'{"a":1}\n{"b":2}\n', b'{"cut off by a cra'])
async def test_appending_changes_no_earlier_byte(world: World, earlier: bytes) -> None:
    sandbox = await world.client.create()
    file = sandbox.root / "sessions/c1.jsonl"
    file.parent.mkdir()
    file.write_bytes(earlier)
    await world.say_in(sandbox, "c1")
    data = file.read_bytes()
    assert data.startswith(earlier.removesuffix(b"\n") + b"\n{")
    assert data.count(b"\n") == earlier.removesuffix(b"\n").count(b"\n") + 2


@pytest.mark.req("SB-50")
async def test_concurrent_runs_of_one_conversation_append_whole_lines(world: World) -> None:
    sandbox = await world.client.create()
    said = [f"{n} " + "x" * (400_000 if n % 4 == 0 else 10) for n in range(24)]
    runs = [run(world.agent(), text, sandbox=sandbox, conversation_id="c1") for text in said]
    await asyncio.gather(*runs)
    lines = lines_of(sandbox, "sessions/c1.jsonl")
    contents = [item["content"] for line in lines for item in line["input"]]  # type: ignore[attr-defined]
    assert sorted(contents) == sorted(said)
    stamps = [str(line["updated_at"]) for line in lines]
    assert stamps == sorted(stamps)


@pytest.mark.req("SB-51")
async def test_a_failing_append_is_logged_and_changes_no_result(world: World, caplog: pytest.LogCaptureFixture) -> None:
    sandbox = await world.client.create()
    (sandbox.root / "sessions").write_text("a file where a directory should be")
    with caplog.at_level(logging.ERROR, "rootward"):
        result = await world.say_in(sandbox, "c1")
    assert result is not None
    assert (result.final_output, result.recorded) == ("Done.", None)
    assert "a run was not recorded" in caplog.text
    assert "said in c1" not in caplog.text


@pytest.mark.req("SB-51")
async def test_a_failing_append_does_not_hide_why_a_run_failed(world: World) -> None:
    sandbox = await world.client.create()
    (sandbox.root / "sessions").write_text("a file where a directory should be")
    world.speaker = ScriptedModel(KeyError("no such key"))
    with pytest.raises(KeyError, match="no such key"):
        await world.say_in(sandbox, "c1")


@pytest.mark.req("SB-52")
async def test_no_memory_is_made_while_the_session_is_open(world: World) -> None:
    sandbox = await world.client.create()
    await world.say_in(sandbox, "c1", "c2", "c1")
    assert world.one.requests == world.two.requests == []
    await sandbox.close()
    assert len(world.one.requests) == 2


async def test_a_segment_of_eight_mebibytes_is_recorded_and_one_byte_more_is_not(world: World) -> None:
    sandbox = await world.client.create()
    where = ConversationRef(conversation_id="c1")
    await sandbox.record(memory(read=None), where, segment(said=""))
    room = 8_388_608 - (sandbox.root / "sessions/c1.jsonl").stat().st_size + 1  # the newline does not count
    await sandbox.record(memory(read=None), where, segment(said="x" * room))
    with pytest.raises(SegmentTooLarge) as refused:
        await sandbox.record(memory(read=None), where, segment(said="x" * (room + 1)))
    assert refused.value.limit == 8_388_608
    assert len(lines_of(sandbox, "sessions/c1.jsonl")) == 2


async def test_a_run_over_the_limit_keeps_its_result(world: World) -> None:
    world.limits = MemoryLimits(max_segment_bytes=10)
    sandbox = await world.client.create()
    result = await world.say_in(sandbox, "c1")
    assert result is not None
    assert result.final_output == "Done."
    assert files_of(sandbox) == []


@dataclass
class Lead:
    name: str
    score: float


@pytest.mark.parametrize(
    ("output", "written"),
    [
        (Lead("Ana", 0.5), {"name": "Ana", "score": 0.5}),
        ({"set": {1}}, {"set": [1]}),
        (object, str(object)),
        ("\u2028 \x85 \ud800", "\u2028 \x85 \ufffd"),
        (0, 0),
    ],
)
async def test_any_final_output_fits_on_a_line(world: World, output: object, written: object) -> None:
    assert (await recorded(world, segment(output=output)))["final_output"] == written


async def test_what_is_no_json_is_refused_and_nothing_is_written(world: World) -> None:
    sandbox = await world.client.create()
    with pytest.raises(InvalidSegment):
        await sandbox.record(memory(read=None), ConversationRef(), segment(output=float("nan")))
    assert files_of(sandbox) == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"input": "Hi", "terminal_metadata": {"terminal_state": "exploded"}},
        {"input": "Hi", "terminal_metadata": {"terminal_state": "completed", "why": 1}},
        {"input": "Hi", "terminal_metadata": {"terminal_state": "completed", "exception_type": 1}},
        {"input": 7, "terminal_metadata": {"terminal_state": "completed"}},
        {"input": ["Hi"], "terminal_metadata": {"terminal_state": "completed"}},
        {"input": "Hi", "generated_items": None, "terminal_metadata": {"terminal_state": "completed"}},
        {"input": "Hi", "terminal_metadata": {"terminal_state": "completed"}, "secret": 1},
    ],
)
def test_a_segment_of_another_form_is_refused(body: Mapping[str, object]) -> None:
    with pytest.raises(InvalidSegment):
        Segment.from_mapping(body)


def test_a_segment_of_another_runtime_is_read() -> None:
    body = {
        "input": "Hi",
        "generated_items": [message("assistant", "Hello")],
        "terminal_metadata": {"terminal_state": "completed", "has_final_output": True},
        "final_output": "Hello",
    }
    given = Segment.from_mapping(body)
    assert given.input == [message("user", "Hi")]
    assert given.terminal_metadata == TerminalMetadata(terminal_state=TerminalState.COMPLETED, has_final_output=True)


async def test_nothing_is_recorded_after_closing(world: World) -> None:
    sandbox = await world.client.create()
    await sandbox.close()
    with pytest.raises(SandboxClosedError):
        await sandbox.record(memory(read=None), ConversationRef(), segment())
    assert files_of(sandbox) == []


@pytest.mark.req("SB-47")
async def test_too_many_turns_are_recorded(world: World) -> None:
    world.speaker = ScriptedModel(ModelResponse(output=[call("shell", command="true")]))
    sandbox = await world.client.create()
    with pytest.raises(MaxTurnsExceeded):
        await run(world.agent(), "Go on", sandbox=sandbox, conversation_id="c1", max_turns=3)
    assert len(world.speaker.requests) == 3
    line = lines_of(sandbox, "sessions/c1.jsonl")[0]
    assert isinstance(line["generated_items"], Sequence)
    assert len(line["generated_items"]) == 6
