"""Runs in a sandbox and their segments, over HTTP (SB-59, SB-106 to SB-112)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from rootward.sandbox.memory import MemoryLimits
from tests.support.memory_client import MemoryClient
from tests.support.sandbox_client import COMPLETED, Sandbox, Scripted, make, segment

pytestmark = pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)


@pytest.fixture
async def sandbox(runner: MemoryClient) -> Sandbox:
    return await make(runner)


async def lines(sandbox: Sandbox, path: str = "sessions/desk.jsonl") -> list[dict[str, Any]]:
    text = await sandbox.text(path)
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.req("SB-106")
async def test_a_run_is_told_the_summary_and_what_its_agent_needs(sandbox: Sandbox) -> None:
    assert await sandbox.ok("POST", "/runs", {"memory": {}}) == {
        "developer_prompt": None,
        "capabilities_required": ["filesystem", "shell"],
    }
    await sandbox.put("memories/memory_summary.md", "- prefers tabs\n")
    begun = await sandbox.send("POST", "/runs", {"memory": {"read": {"live_update": False}}})
    assert (begun.status_code, begun.json()["capabilities_required"]) == (201, ["shell"])
    assert "- prefers tabs" in begun.json()["developer_prompt"]
    assert "Only read memory in this run" in begun.json()["developer_prompt"]
    assert await sandbox.prompt(read=None) is None
    assert await sandbox.prompt(layout={"memories_dir": "m", "sessions_dir": "s"}) is None


@pytest.mark.req("SB-107")
@pytest.mark.parametrize("off", [{"read": None, "generate": False}, {"read": False, "generate": None}])
async def test_a_memory_that_does_nothing_is_refused(sandbox: Sandbox, off: dict[str, Any]) -> None:
    status, code, details = await sandbox.refused("POST", "/runs", {"memory": off})
    assert (status, code, details["field"]) == (400, "invalid_argument", "memory")


@pytest.mark.req("SB-107")
@pytest.mark.parametrize(
    ("memory", "field"),
    [
        ({"liveUpdate": True}, "memory.liveUpdate"),
        ({"generate": {"max_raw_memories_for_consolidation": 0}}, "memory.generate"),
        ({"generate": {"phase_one_model": " "}}, "generate"),
        ({"layout": {"memoriesDir": "x"}}, "memory.layout.memoriesDir"),
    ],
)
async def test_members_have_the_names_and_bounds_of_the_library(
    sandbox: Sandbox, memory: dict[str, Any], field: str
) -> None:
    status, code, details = await sandbox.refused("POST", "/runs", {"memory": memory})
    assert (status, code) == (400, "invalid_argument")
    assert details["field"].startswith(field)


@pytest.mark.req("SB-108", "SB-53")
async def test_a_rollout_is_appended_to_the_file_of_its_conversation(sandbox: Sandbox) -> None:
    more = {"interruptions": [{"type": "function_call", "name": "x"}], "final_output": {"n": 1}}
    first = await sandbox.record("desk", said="One")
    assert first == {
        "rollout_id": "desk", "path": "sessions/desk.jsonl", "segment_count": 1, "updated_at": first["updated_at"],
    }  # fmt: skip
    body = {"conversation_id": " ", "session_id": "desk", "group_id": "g", "segment": segment("Two", **more)}
    second = await sandbox.send("POST", "/rollouts", body)
    assert (second.status_code, second.json()["segment_count"]) == (201, 2)
    one, two = await lines(sandbox)
    assert (one["input"], two["final_output"]) == ([{"role": "user", "content": "One"}], {"n": 1})
    assert list(two) == sorted(two, key=list(two).index)
    assert set(two) == {
        "updated_at", "rollout_id", "input", "generated_items", "interruptions", "terminal_metadata", "final_output",
    }  # fmt: skip
    assert one["updated_at"] == first["updated_at"]
    assert await sandbox.paths("memories/") == ["memories/MEMORY.md", "memories/memory_summary.md"]


@pytest.mark.req("SB-108", "SB-58")
async def test_a_rollout_without_any_id_gets_one(sandbox: Sandbox) -> None:
    made = await sandbox.ok("POST", "/rollouts", {"segment": segment()})
    assert made["path"] == f"sessions/{made['rollout_id']}.jsonl"
    assert made["rollout_id"].startswith("run-")


@pytest.mark.req("SB-59")
@pytest.mark.parametrize("field", ["conversation_id", "session_id", "group_id"])
@pytest.mark.parametrize("given", ["../x", "a/b", ".hidden", "a" * 129])
async def test_an_id_that_names_no_file_writes_none(sandbox: Sandbox, field: str, given: str) -> None:
    status, code, details = await sandbox.refused("POST", "/rollouts", {field: given, "segment": segment()})
    assert (status, code, details["field"]) == (400, "invalid_argument", field)
    assert await sandbox.paths() == []


@pytest.mark.req("SB-109")
async def test_without_generation_nothing_is_recorded(sandbox: Sandbox) -> None:
    for off in (False, None):
        answer = await sandbox.send("POST", "/rollouts", {"generate": off, "segment": segment()})
        assert (answer.status_code, answer.json()) == (200, {"recorded": False})
    assert await sandbox.paths() == []
    assert await sandbox.close() == {"layouts": []}


class TestSegments:
    @pytest.fixture
    def script(self) -> Scripted:
        return Scripted(limits=MemoryLimits(max_segment_bytes=2_000))

    @pytest.mark.req("SB-110")
    async def test_a_segment_over_the_limit_is_refused(self, sandbox: Sandbox) -> None:
        for size in (2_000, 100_000):
            body = {"conversation_id": "desk", "segment": segment("x" * size)}
            status, code, details = await sandbox.refused("POST", "/rollouts", body)
            assert (status, code, details) == (413, "payload_too_large", {"limit": 2_000})
        assert await sandbox.paths() == []
        assert (await sandbox.record(said="x" * 1_000))["segment_count"] == 1

    @pytest.mark.req("SB-110", "SB-108")
    async def test_a_segment_has_the_members_and_states_of_the_contract(self, sandbox: Sandbox) -> None:
        for change, field in (
            ({"terminal_metadata": {"terminal_state": "sleeping"}}, "segment.terminal_metadata.terminal_state"),
            ({"input": ["hello"]}, "segment.input"),
            ({"terminal_metadata": {**COMPLETED, "code": 1}}, "segment.terminal_metadata.code"),
            ({"history": []}, "segment.history"),
            ({"input": 3}, "segment.input"),
            ({"generated_items": [1]}, "segment.generated_items.0"),
        ):
            body = {"conversation_id": "desk", "segment": segment(**change)}
            status, code, details = await sandbox.refused("POST", "/rollouts", body)
            assert (status, code, details["field"]) == (400, "invalid_argument", field)
        assert await sandbox.paths() == []


@pytest.mark.req("SB-111")
async def test_a_session_that_is_not_open_takes_no_runs(sandbox: Sandbox) -> None:
    await sandbox.ok("POST", "/close", wait="false")
    for _ in range(2):
        for path, body in (
            ("/rollouts", {"segment": segment()}),
            ("/rollouts", {"generate": False, "segment": segment()}),
            ("/runs", {"memory": {}}),
            ("/runs", {"memory": {"generate": False}}),
        ):
            status, code, details = await sandbox.refused("POST", path, body)
            assert (status, code, details["reason"]) == (409, "conflict", "session_closed")
        await sandbox.close()


@pytest.mark.req("SB-112")
async def test_layouts_that_share_one_directory_or_differ_in_generation_clash(sandbox: Sandbox) -> None:
    await sandbox.record()
    for more in (
        {"layout": {"sessions_dir": "sessions/a"}},
        {"layout": {"memories_dir": "elsewhere"}},
        {"generate": {"extra_prompt": "Customers first."}},
    ):
        body = {"conversation_id": "desk", "segment": segment(), **more}
        status, code, details = await sandbox.refused("POST", "/rollouts", body)
        assert (status, code, details["reason"]) == (409, "conflict", "memory_layout"), more
        status, code, details = await sandbox.refused("POST", "/runs", {"memory": more})
        assert (status, code, details["reason"]) == (409, "conflict", "memory_layout"), more
    assert await sandbox.prompt(generate=False, layout={"sessions_dir": "sessions/a"}) is None
    assert len(await lines(sandbox)) == 1


@pytest.mark.req("SB-112")
async def test_a_run_reserves_its_layout(sandbox: Sandbox) -> None:
    await sandbox.prompt(layout={"memories_dir": "./m//", "sessions_dir": "s"})
    body = {"segment": segment(), "layout": {"memories_dir": "m", "sessions_dir": "other"}}
    assert (await sandbox.refused("POST", "/rollouts", body))[2]["reason"] == "memory_layout"
    assert (await sandbox.record(layout={"memories_dir": "m", "sessions_dir": "s"}))["path"] == "s/desk.jsonl"


@pytest.mark.req("SB-112")
@pytest.mark.parametrize(
    ("layout", "field"),
    [
        ({"memories_dir": "/abs"}, "memories_dir"),
        ({"memories_dir": "a/../b"}, "memories_dir"),
        ({"sessions_dir": ""}, "sessions_dir"),
        ({"sessions_dir": "a\\b"}, "sessions_dir"),
        ({"sessions_dir": "memories/"}, "sessions_dir"),
        ({"memories_dir": "m" * 2_000}, "memories_dir"),
        ({"sessions_dir": "s" * 2_000}, "sessions_dir"),
    ],
)
async def test_directories_that_cannot_hold_memory_are_refused(
    sandbox: Sandbox, layout: dict[str, str], field: str
) -> None:
    for path, body in (
        ("/runs", {"memory": {"layout": layout}}),
        ("/rollouts", {"layout": layout, "segment": segment()}),
    ):
        status, code, details = await sandbox.refused("POST", path, body)
        assert (status, code, details["field"]) == (400, "invalid_argument", f"layout.{field}")


@pytest.mark.req("SB-112", "SB-115")
async def test_directories_so_deep_that_closing_could_not_write_are_refused(sandbox: Sandbox) -> None:
    deep = "m" * 900
    for field in ("memories_dir", "sessions_dir"):
        body = {"conversation_id": "x" * 128, "layout": {field: deep}, "segment": segment()}
        status, code, details = await sandbox.refused("POST", "/rollouts", body)
        assert (status, code, details["field"]) == (400, "invalid_argument", f"layout.{field}")
    assert await sandbox.paths() == []
    await sandbox.record("x" * 128, layout={"memories_dir": "m" * 750})
    assert (await sandbox.layout())["phase_two"]["status"] == "completed"


@pytest.mark.req("SB-108", "SB-110")
async def test_a_long_segment_is_recorded_whole(sandbox: Sandbox) -> None:
    said = "茶" * 200_000
    await sandbox.record(said=said)
    (line,) = await lines(sandbox)
    assert line["input"] == [{"role": "user", "content": said}]
    body = {"conversation_id": "desk", "segment": segment(said, code=said)}
    assert (await sandbox.refused("POST", "/rollouts", body))[2]["field"] == "segment.code"


@pytest.mark.req("SB-108", "SB-49")
async def test_a_file_without_a_last_newline_gets_one_first(sandbox: Sandbox) -> None:
    await sandbox.put("sessions/desk.jsonl", '{"by": "hand"}')
    assert (await sandbox.record())["segment_count"] == 2
    text = await sandbox.text("sessions/desk.jsonl")
    assert text.startswith('{"by": "hand"}\n{"updated_at"')
    assert (await sandbox.record())["segment_count"] == 3
    assert (await sandbox.text("sessions/desk.jsonl")).startswith(text)


@pytest.mark.req("SB-108", "SB-50")
async def test_concurrent_rollouts_of_one_conversation_are_all_there(sandbox: Sandbox) -> None:
    made = await asyncio.gather(*(sandbox.record(said=f"run {number}") for number in range(12)))
    assert sorted(one["segment_count"] for one in made) == list(range(1, 13))
    said = [line["input"][0]["content"] for line in await lines(sandbox)]
    assert sorted(said) == sorted(f"run {number}" for number in range(12))


@pytest.mark.req("SB-108", "SB-44")
async def test_instructions_and_reasoning_stay_out_of_the_file(sandbox: Sandbox) -> None:
    items = [
        {"role": "system", "content": "SYS"},
        {"role": "developer", "content": "DEV"},
        {"type": "reasoning", "summary": "WHY"},
        {"role": "assistant", "content": "Done."},
    ]
    await sandbox.ok("POST", "/rollouts", {"conversation_id": "desk", "segment": segment(generated_items=items)})
    (line,) = await lines(sandbox)
    assert line["generated_items"] == items[3:]
