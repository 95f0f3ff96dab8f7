"""Closing a sandbox session over HTTP: both phases, their report, what a restart leaves (SB-113 to SB-116, SB-120)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports, Service
from dreaming.sandbox.closer import close_sandbox
from dreaming.worker import Worker
from graph.model.errors import StoreUnavailable
from graph.rules.jobs import CLOSE_SANDBOX
from graph.rules.workspace_ids import inside
from graph.services.learning.jobs import find_job
from graph.services.sandbox.closing import close_key
from graph.store.port import Store
from rootward.testing import ScriptedModel
from sandbox_world import merges, notes, outputs_of, writes
from tests.support.clock import FakeClock
from tests.support.keyring import FixedKeyring
from tests.support.memory_client import MemoryClient
from tests.support.sandbox_client import Sandbox, Scripted, make

pytestmark = pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)


class Died(BaseException):
    """The process ends here."""


@pytest.fixture
async def sandbox(runner: MemoryClient) -> Sandbox:
    return await make(runner)


@pytest.fixture
def worker(service: Service, script: Scripted) -> Callable[[], Worker]:
    """Return workers, one after another, of one process each."""

    def make_one() -> Worker:
        handlers = {CLOSE_SANDBOX: close_sandbox}
        return Worker(deps=service.deps, anchor_minutes=0, handlers=handlers, sandbox=script.rules)

    return make_one


def named(script: Scripted) -> list[str]:
    """Return the conversations that phase 1 was asked about, by what was said in them."""
    told = [str(request.input) for request in script.one.requests]
    return [next(name for name in ("in-a", "in-b", "in-c") if name in text) for text in told]


@pytest.mark.req("SB-115", "SB-81")
@pytest.mark.parametrize("name", ["x" * 2_000, "a\x85b", "a\ud800b"])
async def test_a_model_that_names_a_path_which_cannot_be_kept_is_told_and_may_go_on(
    sandbox: Sandbox, script: Scripted, name: str
) -> None:
    script.two = ScriptedModel(writes((f"skills/{name}", "how"), ("skills/e\u0301.md", "how")), *merges())
    await sandbox.record()
    assert (await sandbox.layout())["phase_two"]["status"] == "completed"
    refused, written = outputs_of(script.two.requests[1])
    assert refused.startswith("error: the path")
    assert written == "written"
    assert await sandbox.text("memories/MEMORY.md") == "# Index\n"
    assert await sandbox.paths("memories/skills/") == ["memories/skills/\u00e9.md"]


@pytest.mark.req("SB-113", "SB-114", "SB-105")
async def test_closing_makes_memory_and_tells_what_it_did(sandbox: Sandbox, script: Scripted) -> None:
    await sandbox.record("b", said="in-b")
    await sandbox.record("a", said="in-a")
    before = await sandbox.text("sessions/a.jsonl")
    report = await sandbox.close()
    assert report == {
        "layouts": [
            {
                "memories_dir": "memories",
                "sessions_dir": "sessions",
                "phase_one": [{"rollout_id": name, "status": "extracted"} for name in ("a", "b")],
                "phase_two": {"status": "completed", "selected": ["b", "a"], "removed": []},
            }
        ]
    }
    assert (script.calls, named(script)) == ((2, 2), ["in-a", "in-b"])
    assert await sandbox.text("sessions/a.jsonl") == before, "closing appends nothing"
    assert await sandbox.text("memories/MEMORY.md") == "# Index\n"
    view = await sandbox.view()
    assert (view["status"], view["report"]) == ("closed", report)
    assert view["closed_at"] is not None


@pytest.mark.req("SB-113")
async def test_nobody_has_to_wait(sandbox: Sandbox, worker: Callable[[], Worker], script: Scripted) -> None:
    await sandbox.record()
    answer = await sandbox.send("POST", "/close", wait="false")
    assert (answer.status_code, answer.json()["status"], answer.json()["report"]) == (202, "closing", None)
    assert script.calls == (0, 0)
    assert await worker().step() is True
    view = await sandbox.view()
    assert (view["status"], view["report"]["layouts"][0]["phase_two"]["status"]) == ("closed", "completed")
    assert (await sandbox.send("POST", "/close", wait="false")).status_code == 202
    assert await worker().step() is False
    assert (await sandbox.refused("POST", "/close", wait="maybe"))[2]["field"] == "wait"


@pytest.mark.req("SB-102", "SB-103", "SB-113")
async def test_closing_again_gives_the_first_report_and_nothing_recorded_asks_nobody(
    sandbox: Sandbox, script: Scripted
) -> None:
    assert await sandbox.close() == {"layouts": []}
    assert (await sandbox.paths(), script.calls) == ([], (0, 0))
    other = await make(sandbox.client)
    await other.record()
    first = await other.close()
    calls = script.calls
    assert await other.close() == first
    assert script.calls == calls


@pytest.mark.req("SB-113")
async def test_who_closes_at_once_with_others_gets_the_same_report(sandbox: Sandbox, script: Scripted) -> None:
    await sandbox.record()
    one, two, three = await asyncio.gather(*(sandbox.close() for _ in range(3)))
    assert one == two == three
    assert len(script.one.requests) == 1


@pytest.mark.req("SB-115", "SB-114", "SB-120")
async def test_failed_phases_are_reported_and_the_session_is_closed(sandbox: Sandbox, script: Scripted) -> None:
    script.one = ScriptedModel("no JSON", notes())
    script.two = ScriptedModel(RuntimeError("quotes content"))
    await sandbox.record("a")
    await sandbox.record("b")
    answer = await sandbox.send("POST", "/close")
    layout = answer.json()["layouts"][0]
    assert answer.status_code == 200
    assert layout["phase_one"] == [
        {"rollout_id": "a", "status": "failed", "error": "invalid_answer"},
        {"rollout_id": "b", "status": "extracted"},
    ]
    assert layout["phase_two"] == {"status": "failed", "selected": [], "removed": [], "error": "model_failed"}
    assert (await sandbox.view())["status"] == "closed"
    assert await sandbox.text("memories/MEMORY.md") == ""


@pytest.mark.req("SB-120")
async def test_a_name_that_no_model_has_fails_its_phase(sandbox: Sandbox, script: Scripted) -> None:
    generate = {"phase_one_model": "unknown"}
    await sandbox.record(generate=generate)
    second = {"memories_dir": "m", "sessions_dir": "s"}
    await sandbox.record(layout=second, generate={"phase_two_model": "unknown"})
    first, other = (await sandbox.close())["layouts"]
    assert first["phase_one"] == [{"rollout_id": "desk", "status": "failed", "error": "model_unavailable"}]
    assert first["phase_two"]["status"] == "skipped"
    assert other["phase_one"] == [{"rollout_id": "desk", "status": "extracted"}]
    assert (other["phase_two"]["status"], other["phase_two"]["error"]) == ("failed", "model_unavailable")
    assert script.calls == (1, 0)


@pytest.mark.req("SB-120")
async def test_each_phase_passes_a_model_what_it_needs(sandbox: Sandbox, script: Scripted) -> None:
    await sandbox.record(generate={"extra_prompt": " Customers first. "})
    await sandbox.close()
    one, two = script.one.requests[0], script.two.requests[0]
    assert one.output_schema is not None
    assert (one.tools, two.output_schema) == ((), None)
    assert [tool.name for tool in two.tools] == ["list_files", "read_file", "write_file"]
    assert "Customers first." in one.instructions
    assert "Customers first." in two.instructions


@pytest.mark.req("SB-116")
async def test_a_close_cut_off_in_phase_1_goes_on_with_the_next_conversation(
    sandbox: Sandbox, worker: Callable[[], Worker], script: Scripted, clock: FakeClock
) -> None:
    for name in ("a", "b", "c"):
        await sandbox.record(name, said=f"in-{name}")
    await sandbox.ok("POST", "/close", wait="false")
    script.one = ScriptedModel(notes("from a"), Died(), notes("from b"), notes("from c"))
    with pytest.raises(Died):
        await worker().step()
    assert "memories/raw_memories/a.md" in await sandbox.paths()
    assert (await sandbox.view())["status"] == "closing"
    assert await worker().step() is False, "the lease of the dead one still holds"
    clock.advance(timedelta(minutes=2))
    assert await worker().step() is True
    report = (await sandbox.view())["report"]["layouts"][0]
    assert [one["status"] for one in report["phase_one"]] == ["extracted"] * 3
    assert (report["phase_two"]["selected"], named(script)) == (["c", "b", "a"], ["in-a", "in-b", "in-b", "in-c"])
    assert len(script.two.requests) == 2, "one answer that writes, one that ends it"


@pytest.mark.req("SB-116")
async def test_a_close_cut_off_in_phase_2_extracts_nothing_again(
    sandbox: Sandbox, worker: Callable[[], Worker], script: Scripted, clock: FakeClock
) -> None:
    await sandbox.record()
    await sandbox.ok("POST", "/close", wait="false")
    script.two = ScriptedModel(writes(("MEMORY.md", "half")), Died(), *merges())
    with pytest.raises(Died):
        await worker().step()
    assert await sandbox.text("memories/MEMORY.md") == "", "nothing of a phase that did not end"
    clock.advance(timedelta(minutes=2))
    report = await sandbox.layout()  # who waits for it takes the job over
    assert (report["phase_two"]["status"], len(script.one.requests)) == ("completed", 1)
    assert await sandbox.text("memories/MEMORY.md") == "# Index\n"


@pytest.mark.req("SB-116", "SB-115")
async def test_a_close_after_which_everything_was_done_but_the_end_asks_nobody_again(
    sandbox: Sandbox, worker: Callable[[], Worker], script: Scripted, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sandbox.record()
    await sandbox.ok("POST", "/close", wait="false")

    def dies(*_: Any) -> Any:
        raise Died

    with monkeypatch.context() as patched:
        patched.setattr("dreaming.sandbox.closer.end_close", dies)
        with pytest.raises(Died):
            await worker().step()
    calls = script.calls
    clock.advance(timedelta(minutes=2))
    assert await worker().step() is True
    assert ((await sandbox.view())["status"], script.calls) == ("closed", calls)


@pytest.mark.req("SB-118", "SB-113")
async def test_a_session_deleted_meanwhile_is_not_brought_back(
    sandbox: Sandbox, writer: MemoryClient, worker: Callable[[], Worker], script: Scripted, service: Service
) -> None:
    owner = Sandbox(client=writer, id=sandbox.id)

    class Deletes(ScriptedModel):
        async def generate(self, request: Any) -> Any:
            await owner.ok("DELETE")
            return await super().generate(request)

    script.one = Deletes(notes())
    await sandbox.record()
    await sandbox.ok("POST", "/close", wait="false")
    assert await worker().step() is True
    assert (await sandbox.refused("GET"))[:2] == (404, "not_found")
    assert [sha256 async for sha256, _ in service.deps.blobs.list()] == []
    await _is_done(service, sandbox)


async def _is_done(service: Service, sandbox: Sandbox) -> None:
    id_ = inside("sbx", sandbox.id)
    assert id_ is not None
    async with service.deps.store.reading() as reader:
        job = await find_job(reader, close_key(id_))
    assert job is not None
    assert (job.state, job.result) == ("succeeded", {})


class TestBrokenStorage:
    """The bytes cannot be read for a while: that is no failure of a conversation."""

    @pytest.fixture
    def broken(self) -> list[bool]:
        return [False]

    @pytest.fixture
    def ports(self, store: Store, clock: FakeClock, script: Scripted, broken: list[bool]) -> Ports:
        made = open_blobs("memory:///")
        whole = made.read

        async def read(sha256: str) -> bytes:
            if broken[0]:
                raise StoreUnavailable("away")
            return await whole(sha256)

        made.read = read  # type: ignore[method-assign]
        return Ports(clock=clock, store=store, blobs=made, keyring=FixedKeyring(), sandbox=script.rules)

    @pytest.mark.req("SB-116")
    async def test_a_close_without_its_storage_is_tried_again(
        self, sandbox: Sandbox, broken: list[bool], worker: Callable[[], Worker], script: Scripted, clock: FakeClock
    ) -> None:
        await sandbox.record()
        broken[0] = True
        assert (await sandbox.refused("POST", "/close"))[:2] == (503, "unavailable")
        assert (await sandbox.view())["status"] == "closing"
        broken[0] = False
        clock.advance(timedelta(hours=1))
        assert await worker().step() is True
        report = (await sandbox.view())["report"]["layouts"][0]
        assert (report["phase_one"][0]["status"], script.calls) == ("extracted", (1, 2))
