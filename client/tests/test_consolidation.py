"""Phase 2: what the consolidating model gets, may touch and leaves."""

from __future__ import annotations

import json
from datetime import datetime

import pytest

from rootward import LocalSandboxSession, MemoryLimits, ModelRequest, ModelResponse, memory
from rootward.models import call
from rootward.testing import Says, ScriptedModel
from sandbox_world import World, files_of, merges, notes, outputs_of, text_in, writes
from test_extraction import by_conversation


def uses(name: str, /, **arguments: object) -> ModelResponse:
    return ModelResponse(output=[call(name, **arguments)])


async def answers_to(world: World, *calls: ModelResponse, layout: dict[str, str] | None = None) -> list[str]:
    """What its tools tell the consolidating model, one after another."""
    world.two = ScriptedModel(*calls, "Done.")
    await world.close_after("c1", agent=world.agent(memory(read=None, layout=layout)))
    return outputs_of(world.two.requests[-1])


@pytest.mark.req("SB-77")
async def test_it_runs_once_a_layout_after_all_extractions_and_writes_what_it_finds(world: World) -> None:
    order: list[str] = []

    def extracts(_: ModelRequest) -> Says:
        order.append("one")
        return notes()

    def consolidates(_: ModelRequest) -> Says:
        order.append("two")
        return writes(("MEMORY.md", "# Tabs\n"), ("memory_summary.md", "- tabs\n"))

    world.one, world.two = ScriptedModel(extracts), ScriptedModel(consolidates, "Done.")
    sandbox = await world.close_after("a", "b")
    assert order == ["one", "one", "two"]
    assert text_in(sandbox, "memories/MEMORY.md") == "# Tabs\n"
    assert text_in(sandbox, "memories/memory_summary.md") == "- tabs\n"


@pytest.mark.req("SB-78")
@pytest.mark.parametrize("answer", ["no JSON", notes("", summary="", slug="")])
async def test_it_is_skipped_when_nothing_was_extracted(world: World, answer: Says) -> None:
    sandbox = await world.close_after("earlier")
    world.one, world.two = ScriptedModel(answer), ScriptedModel()
    later = await world.client.resume(sandbox.id)
    await world.say_in(later, "c1")
    report = await later.close()
    assert report.layouts[0].phase_two.status == "skipped"
    assert world.two.requests == []


@pytest.mark.req("SB-79")
async def test_it_reads_notes_and_opens_summaries(world: World) -> None:
    answers = await answers_to(
        world,
        uses("list_files"),
        uses("read_file", path="raw_memories.md"),
        uses("read_file", path="raw_memories/c1.md"),
        uses("read_file", path="rollout_summaries/c1_notes.md"),
        uses("read_file", path="memories/MEMORY.md"),
    )
    assert answers[0].split("\n") == [
        "MEMORY.md",
        "memory_summary.md",
        "raw_memories.md",
        "raw_memories/c1.md",
        "rollout_summaries/c1_notes.md",
    ]
    assert answers[1] == answers[2]
    assert answers[2].endswith("\n\nprefers tabs\n")
    assert answers[3].endswith("\n\nA summary.\n")
    assert answers[4] == ""


@pytest.mark.req("SB-80")
async def test_the_notes_are_rebuilt_newest_first_before_it_starts(world: World) -> None:
    world.one = by_conversation({name: notes(f"of {name}\n\n") for name in "abc"})
    sandbox = await world.close_after("b", "c")
    seen: list[str] = []

    def looks(_: ModelRequest) -> Says:
        seen.append(text_in(sandbox, "memories/raw_memories.md"))
        return "Done."

    world.two = ScriptedModel(looks)
    await world.again(sandbox, "a", "b")
    whole = [text_in(sandbox, f"memories/raw_memories/{name}.md") for name in ("b", "a", "c")]
    assert seen == ["\n".join(whole)]
    assert "of b\n\nrollout_id: a" in seen[0]


@pytest.mark.req("SB-81")
@pytest.mark.parametrize(
    "path",
    [
        "sessions/c1.jsonl",
        "../sessions/c1.jsonl",
        "/etc/passwd",
        "memories/../README.md",
        "notes.md",
        "sales/MEMORY.md",
        "raw_memories/../../x",
        "",
        "a\0b",
        "skills/a\x85b",
        "skills/a\ud800b",
    ],
)
async def test_nothing_else_can_be_read_or_written(world: World, path: str) -> None:
    answers = await answers_to(world, uses("read_file", path=path), uses("write_file", path=path, content="x"))
    assert [answer.startswith("error: ") for answer in answers] == [True, True]


@pytest.mark.req("SB-81")
@pytest.mark.parametrize(
    "path",
    [
        "raw_memories.md",
        "raw_memories/c1.md",
        "rollout_summaries/c1_notes.md",
        "raw_memories/new.md",
        "phase_two_selection.json",
    ],
)
async def test_evidence_is_read_only(world: World, path: str) -> None:
    answers = await answers_to(world, uses("write_file", path=path, content="x"))
    assert answers == ["error: this file is read-only"]


@pytest.mark.req("SB-81")
async def test_it_sees_what_it_wrote(world: World) -> None:
    answers = await answers_to(
        world,
        uses("write_file", path="skills/deploy.md", content="Ship."),
        uses("read_file", path="skills/deploy.md"),
        uses("list_files"),
        uses("read_file", path="skills/none.md"),
    )
    assert answers[1] == "Ship."
    assert "skills/deploy.md" in answers[2]
    assert answers[3] == "error: there is no such file"


@pytest.mark.req("SB-81")
async def test_a_link_in_the_memory_directory_is_no_way_out(world: World) -> None:
    world.two = ScriptedModel(
        uses("read_file", path="skills/link.md"), uses("write_file", path="skills/link.md", content="x"), "Done."
    )
    sandbox = await world.client.create()
    await sandbox.files.write_text("README.md", "of the workspace")
    await world.say_in(sandbox, "c1")
    (sandbox.root / "memories/skills/link.md").symlink_to("../../README.md")
    await sandbox.close()
    assert outputs_of(world.two.requests[-1]) == ["error: a link stands in the way"] * 2
    assert text_in(sandbox, "README.md") == "of the workspace"


@pytest.mark.req("SB-81")
async def test_conversations_inside_the_memory_directory_cannot_be_read(world: World) -> None:
    answers = await answers_to(
        world,
        uses("read_file", path="skills/runs/c1.jsonl"),
        uses("list_files"),
        layout={"memories_dir": "m", "sessions_dir": "m/skills/runs"},
    )
    assert answers[0].startswith("error: ")
    assert "c1.jsonl" not in answers[1]


@pytest.mark.req("SB-81")
async def test_it_has_500_turns(world: World) -> None:
    world.two = ScriptedModel(uses("list_files"))
    sandbox = await world.close_after("c1")
    assert (await sandbox.close()).layouts[0].phase_two.error == "max_turns_exceeded"
    assert len(world.two.requests) == 500


@pytest.mark.parametrize(
    "wrong",
    [
        ModelResponse(output=[{"type": "function_call", "call_id": "1", "name": "read_file", "arguments": "{"}]),
        ModelResponse(output=[{"type": "function_call", "call_id": "1", "name": "read_file", "arguments": "[]"}]),
        uses("read_file"),
        uses("read_file", path=7),
        uses("write_file", path="MEMORY.md", content=None),
        uses("delete_file", path="MEMORY.md"),
    ],
)
async def test_a_call_of_another_form_is_told_and_ends_nothing(world: World, wrong: ModelResponse) -> None:
    answers = await answers_to(world, wrong)
    assert answers[0].startswith("error: ")


@pytest.mark.req("SB-82")
async def test_its_instructions_tell_what_is_added_and_what_stays(world: World) -> None:
    sandbox = await world.close_after("a", "b")
    before = {one["rollout_id"]: one["updated_at"] for one in selected_in(sandbox)}
    world.two = ScriptedModel(*merges())
    await world.again(sandbox, "b", "c")
    kept = {one["rollout_id"]: one["updated_at"] for one in selected_in(sandbox)}
    told = world.two.requests[0].instructions.split("Selected conversations, newest first:\n")[1]
    lines = [
        f"- [{mark}] rollout_id={name} rollout_summary_file=rollout_summaries/{name}_notes.md updated_at={kept[name]}"
        for mark, name in (("added", "c"), ("retained", "b"), ("retained", "a"))
    ]
    lines[1] += f" merged_as_of={before['b']}"  # it was merged, and has grown since
    assert told.split("\n") == [
        *lines,
        "",
        "Removed conversations:",
        "(none)",
    ]


def selected_in(sandbox: LocalSandboxSession) -> list[dict[str, str]]:
    selected = selection(sandbox)["selected"]
    assert isinstance(selected, list)
    return selected


def selection(sandbox: LocalSandboxSession) -> dict[str, object]:
    value = json.loads(text_in(sandbox, "memories/phase_two_selection.json"))
    assert isinstance(value, dict)
    return value


@pytest.mark.req("SB-83")
async def test_success_leaves_both_files_and_the_selection(world: World) -> None:
    world.two = ScriptedModel("Nothing to write.")
    sandbox = await world.client.create()
    await world.say_in(sandbox, "c1")
    (sandbox.root / "memories/MEMORY.md").unlink()
    await sandbox.close()
    assert text_in(sandbox, "memories/MEMORY.md") == text_in(sandbox, "memories/memory_summary.md") == ""
    kept = selection(sandbox)
    assert list(kept) == ["version", "updated_at", "selected"]
    assert kept["version"] == 1
    assert datetime.fromisoformat(str(kept["updated_at"])) == world.clock.time
    assert kept["selected"] == [
        {
            "rollout_id": "c1",
            "updated_at": json.loads(text_in(sandbox, "sessions/c1.jsonl"))["updated_at"],
            "rollout_path": "sessions/c1.jsonl",
            "rollout_summary_file": "rollout_summaries/c1_notes.md",
            "terminal_state": "completed",
        }
    ]


def waits(_: ModelRequest) -> Says:
    raise TimeoutError  # as when its time is over


@pytest.mark.req("SB-84")
@pytest.mark.parametrize(
    ("after", "turns", "error"),
    [
        (RuntimeError("a secret"), 500, "model_failed"),
        (waits, 500, "timeout"),
        (uses("list_files"), 3, "max_turns_exceeded"),
    ],
)
async def test_a_failure_leaves_everything_as_it_was(world: World, after: Says, turns: int, error: str) -> None:
    sandbox = await world.close_after("a")
    names = ("MEMORY.md", "memory_summary.md", "phase_two_selection.json", "raw_memories/a.md")
    before = [text_in(sandbox, f"memories/{name}") for name in names]
    world.limits = MemoryLimits(phase_two_max_turns=turns)
    world.two = ScriptedModel(writes(("MEMORY.md", "half"), ("skills/x.md", "half")), after)
    later = await world.client.resume(sandbox.id)
    await world.say_in(later, "b")
    report = await later.close()
    second = report.layouts[0].phase_two
    assert (second.status, second.error, second.selected) == ("failed", error, ())
    assert [text_in(sandbox, f"memories/{name}") for name in names] == before
    assert "memories/skills/x.md" not in files_of(sandbox)
    world.two = ScriptedModel(*merges())
    await world.again(sandbox, "c")
    told = world.two.requests[0].instructions
    marks = [line.split(" rollout_summary")[0] for line in told.split("\n") if line.startswith("- [")]
    assert marks == ["- [added] rollout_id=c", "- [added] rollout_id=b", "- [retained] rollout_id=a"]


@pytest.mark.req("SB-84")
async def test_a_conversation_that_grew_before_a_failure_counts_as_added(world: World) -> None:
    sandbox = await world.close_after("a")
    world.two = ScriptedModel(RuntimeError())
    await world.again(sandbox, "a")
    world.two = ScriptedModel(*merges())
    await world.again(sandbox, "b")
    assert "- [added] rollout_id=a " in world.two.requests[0].instructions
    world.two = ScriptedModel(*merges())
    await world.again(sandbox, "a")
    assert "- [retained] rollout_id=a " in world.two.requests[0].instructions


@pytest.mark.req("SB-85")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "[]",
        "{}",
        '{"version": 2, "selected": []}',
        '{"version": 1, "selected": [{"rollout_id": "a"}]}',
        '{"version": 1, "selected": 7}',
        "[" * 100_000,
    ],
)
async def test_a_selection_that_cannot_be_read_counts_as_empty(world: World, text: str) -> None:
    sandbox = await world.close_after("a")
    (sandbox.root / "memories/phase_two_selection.json").write_text(text)
    world.two = ScriptedModel(*merges())
    await world.again(sandbox, "b")
    told = world.two.requests[0].instructions
    assert "- [added] rollout_id=a " in told
    assert "[retained]" not in told
