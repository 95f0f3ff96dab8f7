"""Acceptance examples of sandbox memory that concern the service, over a real socket.

All of them on the embedded store; on Neo4j those in which the store decides: concurrent runs, and a close that is cut
off. 3, 8 and 19 are the library's alone.
"""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports, Service
from dreaming.sandbox.closer import close_sandbox
from dreaming.sandbox.instants import instant
from dreaming.worker import Worker
from graph.model.nodes.people import Right
from graph.rules.jobs import CLOSE_SANDBOX
from graph.store.port import Store
from rootward import (
    ConversationRef,
    Manifest,
    MemoryGenerateConfig,
    MemoryLimits,
    Segment,
    UnixLocalSandboxClient,
    memory,
)
from rootward.testing import ScriptedModel
from sandbox_world import merges, notes, prompt_of, text_of, writes
from tests.support.clock import FakeClock
from tests.support.held_clock import HeldClock
from tests.support.keyring import FixedKeyring
from tests.support.memory_client import MemoryClient, key
from tests.support.sandbox_client import Sandbox, Scripted, make, segment
from tests.support.world import TeamWorld

BOTH = pytest.mark.parametrize("engine", ["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)], indirect=True)
EMBEDDED = pytest.mark.parametrize("engine", ["embedded"], indirect=True)
README = {"README.md": "# Lead desk\n"}


class Died(BaseException):
    """The process ends here."""


@pytest.fixture
def limits() -> MemoryLimits:
    """The limits of the server."""
    return MemoryLimits()


@pytest.fixture
def script(limits: MemoryLimits) -> Scripted:
    """The models of the server."""
    return Scripted(limits=limits)


@pytest.fixture
def clock() -> FakeClock:
    return HeldClock()


@pytest.fixture
def ports(store: Store, clock: FakeClock, script: Scripted) -> Ports:
    blobs = open_blobs("memory:///")
    return Ports(clock=clock, store=store, blobs=blobs, keyring=FixedKeyring(), sandbox=script.rules)


@pytest.fixture
async def runner(http: httpx2.AsyncClient, world: TeamWorld) -> MemoryClient:
    return await key(http, world, Right.RUN)


@pytest.fixture
async def sandbox(runner: MemoryClient) -> Sandbox:
    return await make(runner, README)


async def lines(sandbox: Sandbox, path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (await sandbox.text(path)).splitlines()]


@EMBEDDED
@pytest.mark.req("SB-60", "SB-77", "SB-99", "SB-104", "SB-106", "SB-108", "SB-113", "SB-118")
async def test_01_round_trip(sandbox: Sandbox, script: Scripted) -> None:
    script.two = ScriptedModel("Nothing to add.")
    await sandbox.record("lead-desk")
    await sandbox.close()
    assert script.calls == (1, 1)
    assert len(await lines(sandbox, "sessions/lead-desk.jsonl")) == 1
    assert set(await sandbox.paths()) >= {
        "README.md",
        "memories/MEMORY.md",
        "memories/memory_summary.md",
        "memories/raw_memories.md",
        "memories/raw_memories/lead-desk.md",
        "memories/rollout_summaries/lead-desk_notes.md",
    }
    script.two = ScriptedModel(*merges())
    later = await sandbox.later()
    await later.record("lead-desk")
    await later.close()
    assert "- prefers tabs" in (await (await later.later()).prompt() or "")


@EMBEDDED
@pytest.mark.req("SB-106", "SB-107", "SB-109")
async def test_02_04_05_06_what_a_run_is_told(sandbox: Sandbox, script: Scripted) -> None:
    assert await sandbox.prompt() is None
    await sandbox.put("memories/memory_summary.md", "prefers tabs")
    # 4: read null
    assert await sandbox.prompt(read=None) is None
    await sandbox.record()
    # 6: what it may change
    assert "correct `memories/MEMORY.md` in this same run" in (await sandbox.prompt() or "")
    assert "never create, change or delete" in (await sandbox.prompt(read={"live_update": False}) or "")
    await sandbox.close()
    assert script.calls == (1, 2)
    # 5: generate false
    later = await sandbox.later()
    assert "prefers tabs" in (await later.prompt(generate=False) or "")
    body = {"generate": False, "conversation_id": "other", "segment": segment()}
    assert await later.ok("POST", "/rollouts", body) == {"recorded": False}
    assert await later.close() == {"layouts": []}
    assert (script.calls, await later.paths("sessions/")) == ((1, 2), ["sessions/desk.jsonl"])


@EMBEDDED
@pytest.mark.req("SB-108", "SB-62", "SB-68")
async def test_07_one_conversation_two_runs(sandbox: Sandbox, script: Scripted) -> None:
    for said in ("first", "second"):
        await sandbox.ok("POST", "/rollouts", {"session_id": "ledger-check", "segment": segment(said)})
    await sandbox.close()
    assert len(await lines(sandbox, "sessions/ledger-check.jsonl")) == 2
    (request,) = script.one.requests
    assert '"segment_count":2' in prompt_of(request)
    assert "first" in prompt_of(request)
    assert "second" in prompt_of(request)


@EMBEDDED
@pytest.mark.req("SB-59")
async def test_09_bad_id(sandbox: Sandbox) -> None:
    for given in ("../x", "a/b", ".hidden", "a" * 129):
        body = {"conversation_id": given, "segment": segment()}
        status, code, details = await sandbox.refused("POST", "/rollouts", body)
        assert (status, code, details["field"]) == (400, "invalid_argument", "conversation_id")
    assert await sandbox.paths() == ["README.md"]


@EMBEDDED
@pytest.mark.req("SB-108", "SB-44", "SB-64")
async def test_10_nothing_leaks(sandbox: Sandbox, script: Scripted) -> None:
    kept = [
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": "A"},
        {"type": "function_call", "call_id": "1", "name": "x", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "O"},
    ]
    hidden = [
        {"role": "system", "content": "HIDDEN"},
        {"role": "developer", "content": "HIDDEN"},
        {"type": "reasoning", "summary": "HIDDEN"},
    ]
    await sandbox.ok("POST", "/rollouts", {"segment": segment(generated_items=[*hidden, *kept]), "group_id": "g"})
    (line,) = await lines(sandbox, "sessions/g.jsonl")
    assert line["generated_items"] == kept
    await sandbox.close()
    assert "HIDDEN" not in prompt_of(script.one.requests[0])


@EMBEDDED
@pytest.mark.parametrize("limits", [MemoryLimits(phase_one_token_limit=1_000)])
@pytest.mark.req("SB-66", "SB-67", "SB-121")
async def test_11_head_and_tail(sandbox: Sandbox, script: Scripted) -> None:
    said = f"HEAD-MARK{'日本' * 7_000}TAIL-MARK"
    await sandbox.record(said=said)
    before = await sandbox.text("sessions/desk.jsonl")
    await sandbox.close()
    told = text_of(script.one.requests[0].input[0])
    shown = told.split("===== conversation begins =====\n")[1].split("\n===== conversation ends")[0]
    assert len(shown.encode()) <= 4_000
    assert "HEAD-MARK" in shown
    assert f"original_chars={len(before) - 1}" in told
    assert await sandbox.text("sessions/desk.jsonl") == before


@EMBEDDED
@pytest.mark.req("SB-86", "SB-87", "SB-89", "SB-90", "SB-114")
async def test_12_forgetting_by_last_update(runner: MemoryClient, script: Scripted, clock: HeldClock) -> None:
    sandbox, generate = await make(runner), {"max_raw_memories_for_consolidation": 2}
    for name in ("a", "b", "c", "a"):
        script.two = ScriptedModel(*merges())
        sandbox = await sandbox.later()
        clock.advance(timedelta(seconds=1))
        await sandbox.record(name, generate=generate)
        report = await sandbox.layout()
    assert (report["phase_two"]["selected"], report["phase_two"]["removed"]) == (["a", "c"], ["b"])
    raw = await sandbox.text("memories/raw_memories.md")
    assert raw.index("rollout_id: a") < raw.index("rollout_id: c")
    assert "[removed] rollout_id=b" in script.two.requests[0].instructions
    assert "memories/raw_memories/b.md" not in await sandbox.paths()
    assert "sessions/b.jsonl" in await sandbox.paths()


@EMBEDDED
@pytest.mark.req("SB-94", "SB-95", "SB-112", "SB-114")
async def test_13_and_14_layouts(sandbox: Sandbox, script: Scripted) -> None:
    script.two = ScriptedModel("Merged.")
    for domain in ("legal", "sales"):
        layout = {"memories_dir": f"memories/{domain}", "sessions_dir": f"sessions/{domain}"}
        await sandbox.ok(
            "POST", "/rollouts", {"session_id": "q2", "layout": layout, "segment": segment(f"of {domain}")}
        )
    await sandbox.record("both", said="agent A")
    await sandbox.record("both", said="agent B")
    report = await sandbox.close()
    assert [one["memories_dir"] for one in report["layouts"]] == ["memories/legal", "memories/sales", "memories"]
    assert script.calls == (3, 3)
    legal = [request for request in script.one.requests if "of legal" in prompt_of(request)]
    assert len(legal) == 1
    assert "of sales" not in prompt_of(legal[0])
    assert "of sales" not in await sandbox.text("sessions/legal/q2.jsonl")
    assert len(await lines(sandbox, "sessions/both.jsonl")) == 2


@EMBEDDED
@pytest.mark.req("SB-112")
async def test_15_layout_clash(sandbox: Sandbox) -> None:
    await sandbox.record()
    for more in ({"layout": {"sessions_dir": "sessions/a"}}, {"generate": {"extra_prompt": "Facts."}}):
        status, code, details = await sandbox.refused("POST", "/rollouts", {"segment": segment(), **more})
        assert (status, code, details["reason"]) == (409, "conflict", "memory_layout")


@EMBEDDED
@pytest.mark.req("SB-114", "SB-70", "SB-78")
async def test_16_nothing_to_keep(sandbox: Sandbox, script: Scripted) -> None:
    script.one = ScriptedModel(notes("", summary="", slug=""))
    await sandbox.record()
    report = await sandbox.layout()
    assert report["phase_one"] == [{"rollout_id": "desk", "status": "empty"}]
    assert report["phase_two"]["status"] == "skipped"
    assert await sandbox.paths("memories/") == ["memories/MEMORY.md", "memories/memory_summary.md"]
    assert await sandbox.text("memories/MEMORY.md") == ""


@EMBEDDED
@pytest.mark.req("SB-115", "SB-114", "SB-76")
async def test_17_partial_failure(sandbox: Sandbox, script: Scripted) -> None:
    script.one = ScriptedModel("{", notes())
    await sandbox.record("a")
    await sandbox.record("b")
    answer = await sandbox.send("POST", "/close")
    report = answer.json()["layouts"][0]
    assert (answer.status_code, [one["status"] for one in report["phase_one"]]) == (200, ["failed", "extracted"])
    assert report["phase_two"]["selected"] == ["b"]


@EMBEDDED
@pytest.mark.req("SB-84", "SB-115")
async def test_18_phase_2_fails(sandbox: Sandbox, script: Scripted) -> None:
    script.two = ScriptedModel(writes(("MEMORY.md", "half")), RuntimeError("away"))
    await sandbox.record("x")
    assert (await sandbox.layout())["phase_two"]["status"] == "failed"
    assert await sandbox.text("memories/MEMORY.md") == ""
    assert "memories/phase_two_selection.json" not in await sandbox.paths()
    assert "memories/raw_memories/x.md" in await sandbox.paths()
    script.two = ScriptedModel(*merges())
    later = await sandbox.later()
    await later.record("y")
    await later.close()
    told = script.two.requests[0].instructions
    assert "[added] rollout_id=x" in told
    assert "[added] rollout_id=y" in told


@EMBEDDED
@pytest.mark.req("SB-102", "SB-111", "SB-113")
async def test_20_close_twice(sandbox: Sandbox, script: Scripted) -> None:
    await sandbox.record()
    first, again = await sandbox.send("POST", "/close"), await sandbox.send("POST", "/close")
    assert (first.status_code, again.status_code, first.json()) == (200, 200, again.json())
    assert script.calls == (1, 2)
    status, code, details = await sandbox.refused("POST", "/rollouts", {"segment": segment()})
    assert (status, code, details["reason"]) == (409, "conflict", "session_closed")


@BOTH
@pytest.mark.req("SB-50", "SB-108")
async def test_concurrent_runs_lose_no_line(sandbox: Sandbox) -> None:
    made = await asyncio.gather(
        *(sandbox.record(f"c{number % 2}", said=f"run {number}") for number in range(10)),
    )
    assert sorted(one["segment_count"] for one in made) == sorted([*range(1, 6)] * 2)
    for conversation in ("c0", "c1"):
        said = [line["input"][0]["content"] for line in await lines(sandbox, f"sessions/{conversation}.jsonl")]
        assert sorted(said) == [f"run {number}" for number in range(int(conversation[1]), 10, 2)]


@BOTH
@pytest.mark.req("SB-116", "SB-113")
async def test_a_close_that_is_cut_off_goes_on(
    alone: None, sandbox: Sandbox, script: Scripted, clock: HeldClock, service: Service
) -> None:
    for name in ("a", "b"):
        await sandbox.record(name, said=f"in {name}")
    await sandbox.ok("POST", "/close", wait="false")
    script.one = ScriptedModel(notes("from a"), Died(), notes("from b"))
    worker = Worker(deps=service.deps, anchor_minutes=0, handlers={CLOSE_SANDBOX: close_sandbox}, sandbox=script.rules)
    with pytest.raises(Died):
        await worker.step()
    clock.advance(timedelta(minutes=2))
    report = await sandbox.layout()
    assert [one["status"] for one in report["phase_one"]] == ["extracted", "extracted"]
    assert (report["phase_two"]["selected"], script.calls) == (["b", "a"], (3, 2))
    assert "from a" in await sandbox.text("memories/raw_memories.md")


@EMBEDDED
@pytest.mark.req("SB-119")
async def test_a_local_directory_and_the_service_give_the_same_files(
    sandbox: Sandbox, script: Scripted, clock: HeldClock, tmp_path: Path
) -> None:
    """Two sessions with forgetting, another slug, an empty answer and a failed one."""
    models = {"gpt-5.4-mini": ScriptedModel(*_answers()), "gpt-5.4": ScriptedModel(*_merging())}
    client = UnixLocalSandboxClient(tmp_path / "local", models=models, now=lambda: instant(clock.now()))
    script.one, script.two = ScriptedModel(*_answers()), ScriptedModel(*_merging())
    entries = {path: {"type": "file", "content": content} for path, content in README.items()}
    here = await client.create(manifest=Manifest(entries=entries))
    there = sandbox
    for conversations in (("a", "b", "c"), ("b", "d")):
        for name in conversations:
            clock.advance(timedelta(seconds=1))
            said = segment(f"said in {name}")
            remembers = memory(generate=MemoryGenerateConfig(max_raw_memories_for_consolidation=2))
            await here.record(remembers, ConversationRef(conversation_id=name), Segment.from_mapping(said))
            await there.record(name, said=f"said in {name}", generate={"max_raw_memories_for_consolidation": 2})
        clock.advance(timedelta(seconds=1))
        report = (await here.close()).as_dict()
        assert await there.close() == report
        assert await _files(there) == {
            path: _without_ids((here.root / path).read_bytes().decode()) for path in await here.files.paths()
        }
        here, there = await client.create(snapshot=await here.snapshot()), await there.later()
    assert report["layouts"][0]["phase_two"]["removed"] == ["a"]  # type: ignore[index]  # JSON


def _answers() -> list[Any]:
    return [notes("from a"), "no JSON", notes("from c", slug="tea"), notes("from b"), notes("", summary="", slug="")]


def _merging() -> list[Any]:
    second = writes(("MEMORY.md", "# Index 2\n"), ("skills/tea.md", "Boil.\n"))
    return [*merges(), second, "Merged."]


async def _files(sandbox: Sandbox) -> dict[str, str]:
    return {path: _without_ids(await sandbox.text(path)) for path in await sandbox.paths()}


def _without_ids(text: str) -> str:
    return re.sub("sbx_[0-9a-z]+", "SESSION", text)
