"""Agents in sandboxes of a service, beside the same agents on a local directory (SB-119)."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports
from dreaming.sandbox.rules import SandboxRules
from graph.model.nodes.people import Right
from graph.model.time import to_datetime
from graph.store.port import Store
from rootward import (
    ConversationRef,
    InvalidConversationId,
    Manifest,
    MaxTurnsExceeded,
    MemoryGenerateConfig,
    MemoryLayoutClash,
    MemoryLayoutConfig,
    MemoryLimits,
    MemoryReport,
    MemorySession,
    NotThroughService,
    PathRefused,
    SandboxAgent,
    SandboxClosedError,
    Segment,
    SegmentTooLarge,
    ServiceSandboxClient,
    ServiceSandboxSession,
    TerminalMetadata,
    TerminalState,
    UnixLocalSandboxClient,
    filesystem,
    memory,
    run,
    shell,
)
from rootward.models import ModelRequest, ModelResponse, call, message
from rootward.sandbox.capabilities import Capability
from rootward.sandbox.session import SandboxSession
from rootward.service import NotFound
from rootward.testing import Says, ScriptedModel
from tests.api.conftest import http
from tests.support.clock import FakeClock
from tests.support.held_clock import HeldClock
from tests.support.keyring import FixedKeyring
from tests.support.memory_client import allow
from tests.support.world import TeamWorld

__all__ = ["http"]

NAMES = ("gpt-5.4-mini", "gpt-5.4")
DESK = Manifest(entries={"README.md": {"type": "file", "content": "# Lead desk\n"}})
ENDED = TerminalMetadata(terminal_state=TerminalState.COMPLETED)
LIMITS = MemoryLimits(max_segment_bytes=4_096)


def extracted(request: ModelRequest) -> Says:
    """Keep something of each conversation."""
    return {"rollout_summary": "Asked for tabs.", "rollout_slug": "indent", "raw_memory": "The user prefers tabs."}


def merged() -> list[Says]:
    calls = [
        call("write_file", "c1", path="MEMORY.md", content="# Style\n- tabs: rollout_summaries/\n"),
        call("write_file", "c2", path="memory_summary.md", content="- The user prefers tabs. ünï\n"),
    ]
    return [ModelResponse(output=calls), "Done."]


@dataclass
class Phases:
    """The models of both phases, with what they were asked."""

    one: ScriptedModel = field(default_factory=lambda: ScriptedModel(extracted))
    two: ScriptedModel = field(default_factory=lambda: ScriptedModel(*merged()))

    @property
    def book(self) -> Mapping[str, ScriptedModel]:
        return dict(zip(NAMES, (self.one, self.two), strict=True))

    @property
    def calls(self) -> int:
        return len(self.one.requests) + len(self.two.requests)


@pytest.fixture
def phases() -> Phases:
    return Phases()


@pytest.fixture
def clock() -> HeldClock:
    """Stands still while others sleep, so that all files have one time."""
    return HeldClock()


@pytest.fixture
def ports(store: Store, clock: FakeClock, phases: Phases) -> Ports:
    sandbox = SandboxRules(limits=LIMITS, models=phases.book)
    blobs = open_blobs("memory:///")
    return Ports(clock=clock, store=store, blobs=blobs, keyring=FixedKeyring(), sandbox=sandbox)


@pytest.fixture
async def token(world: TeamWorld) -> str:
    await allow(world, world.ana, Right.WRITE)
    return await world.token(world.ana)


@pytest.fixture
def client(http: httpx2.AsyncClient, token: str) -> ServiceSandboxClient:
    return ServiceSandboxClient("http://rootward.test", token, http=http)


@pytest.fixture
async def over_http(server: str, token: str) -> AsyncIterator[ServiceSandboxClient]:
    async with ServiceSandboxClient(server, token) as client:
        yield client


def speaker(*says: Says) -> ScriptedModel:
    return ScriptedModel(*says or ["Done."])


def agent(model: ScriptedModel | None = None, **options: Any) -> SandboxAgent:
    capabilities: list[Capability] = [filesystem(), shell(), memory(**options)]
    return SandboxAgent(name="reviewer", model=model or speaker(), default_manifest=DESK, capabilities=capabilities)


async def texts(sandbox: SandboxSession) -> dict[str, str]:
    """Return all files, ids of sandbox sessions masked."""
    paths = await sandbox.files.paths()
    found = {path: await sandbox.files.read_text(path) for path in paths}
    return {path: re.sub("sbx_[0-9a-z]+", "sbx", text or "") for path, text in found.items()}


async def scripted(sandbox: SandboxSession, model: ScriptedModel) -> MemoryReport:
    """Run agents of two layouts in a sandbox: what they say, do and fail at is the same each time; then close it."""
    reviewer = agent(model)
    seller = agent(model, layout=MemoryLayoutConfig(memories_dir="memories/sales", sessions_dir="sessions/sales"))
    talk = MemorySession(session_id="ledger-check")
    await run(reviewer, "Write it down.", sandbox=sandbox, session=talk)
    await run(
        reviewer, [message("developer", "hidden"), message("user", "Again — ünï\u2028")], sandbox=sandbox, session=talk
    )
    await run(seller, "Sell it.", sandbox=sandbox, group_id=" q2 ")
    with pytest.raises(MaxTurnsExceeded):
        await run(reviewer, "For ever.", sandbox=sandbox, conversation_id="endless", max_turns=1)
    return await sandbox.close()


def said() -> list[Says]:
    """What the agents of `scripted` say."""
    note = call("write_file", "w1", path="notes/today.md", content="Ledger checked. €\n")
    look = call("edit_file", "w2", path="notes/today.md", old="checked", new="closed")
    reasoning = {"type": "reasoning", "summary": "secret"}
    return [
        ModelResponse(output=[reasoning, note]),
        "Written.",
        ModelResponse(output=[look]),
        "Changed.",
        "Sold.",
        ModelResponse(output=[call("list_files", "w3")]),
        "Indented.",
    ]


@pytest.mark.req("SB-119", "SB-98", "SB-99")
@pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)
async def test_agents_leave_the_same_files_in_the_service_as_on_a_local_directory(
    over_http: ServiceSandboxClient, phases: Phases, clock: FakeClock, tmp_path: Path
) -> None:
    here = Phases()
    now = to_datetime(clock.now())
    local = UnixLocalSandboxClient(tmp_path / "local", models=here.book, limits=LIMITS, now=lambda: now)
    there, mine = await over_http.create(), await local.create()
    ours, theirs = speaker(*said()), speaker(*said())
    report = await scripted(there, theirs)
    assert report == await scripted(mine, ours)
    files = await texts(there)
    assert files == await texts(mine)
    assert [layout.phase_two.selected for layout in report.layouts] == [["ledger-check", "endless"], ["q2"]]
    assert {"README.md", "notes/today.md", "sessions/ledger-check.jsonl", "memories/sales/MEMORY.md"} <= set(files)
    for one, other in ((theirs, ours), (phases.one, here.one), (phases.two, here.two)):
        assert [_asked(request) for request in one.requests] == [_asked(request) for request in other.requests]
    # a session that starts from a snapshot begins with what was learned, here as there
    again, mine_again = (
        await over_http.create(snapshot=await there.snapshot()),
        await local.create(snapshot=await mine.snapshot()),
    )
    for sandbox, model in ((again, theirs), (mine_again, ours)):
        await run(agent(model), "Indent this.", sandbox=sandbox, conversation_id="next")
    assert theirs.requests[-1].instructions == ours.requests[-1].instructions
    assert "- The user prefers tabs. ünï" in theirs.requests[-1].instructions
    assert await texts(again) == await texts(mine_again)


def _asked(request: ModelRequest) -> tuple[object, ...]:
    """Return all of a request that does not hold functions."""
    tools = [(tool.name, tool.parameters) for tool in request.tools]
    return request.instructions, list(request.input), request.output_schema, tools


@pytest.mark.req("SB-119")
async def test_a_model_that_calls_the_shell_is_told_that_there_is_none(client: ServiceSandboxClient) -> None:
    model = speaker(ModelResponse(output=[call("shell", "s1", command="ls")]), "I see.")
    async with await client.create() as sandbox:
        result = await run(agent(model), "Look around.", sandbox=sandbox, conversation_id="c")
    told = next(item for item in result.new_items if item.get("type") == "function_call_output")
    assert "runs no commands" in str(told["output"])
    assert result.final_output == "I see."


@pytest.mark.req("SB-119", "SB-120")
async def test_models_of_both_phases_are_names_that_the_service_knows(
    client: ServiceSandboxClient, phases: Phases
) -> None:
    model = speaker()
    sandbox = await client.create()
    with pytest.raises(NotThroughService, match="name models"):
        await run(agent(model, generate=MemoryGenerateConfig(phase_one_model=speaker())), "Hi", sandbox=sandbox)
    assert model.requests == []
    await run(agent(model, generate={"phase_two_model": "nobody"}), "Hi", sandbox=sandbox, conversation_id="c")
    [layout] = (await sandbox.close()).layouts
    assert (layout.phase_one[0].status, layout.phase_two.error) == ("extracted", "model_unavailable")
    with pytest.raises(NotThroughService, match=r"'a\.bin' is no UTF-8"):
        await client.create(manifest=Manifest(entries={"a.bin": {"type": "file", "content": b"\xff"}}))


@pytest.mark.req("SB-119", "SB-102", "SB-103")
async def test_closing_again_calls_no_model_and_a_closed_session_takes_no_run(
    client: ServiceSandboxClient, phases: Phases
) -> None:
    sandbox = await client.create()
    assert (await sandbox.close()).as_dict() == {"layouts": []}
    assert (sandbox.status, phases.calls) == ("closed", 0)
    other = await client.create()
    await run(agent(), "Hi", sandbox=other, conversation_id="c")
    beside = await client.resume(other.id)
    report = await other.close()
    made = phases.calls
    assert (await other.close(), await beside.close(), phases.calls) == (report, report, made)
    unaware = client._session(other.id, manifest_is_due=False)
    for closed in (other, unaware):
        model = speaker()
        for one in (agent(model), SandboxAgent(name="plain", model=model)):
            with pytest.raises(SandboxClosedError):
                await run(one, "Hi", sandbox=closed)
        with pytest.raises(SandboxClosedError):
            await closed.record(
                memory(), ConversationRef(conversation_id="c"), Segment(input=[], terminal_metadata=ENDED)
            )
        assert model.requests == []


@pytest.mark.req("SB-119", "SB-96", "SB-59", "SB-110")
async def test_what_the_service_refuses_raises_what_a_local_sandbox_raises(
    client: ServiceSandboxClient, tmp_path: Path
) -> None:
    local = UnixLocalSandboxClient(tmp_path, limits=LIMITS)
    for sandbox in (await client.create(), await local.create()):
        await run(agent(), "Hi", sandbox=sandbox, conversation_id="c")
        clash = MemoryLayoutConfig(sessions_dir="sessions/a")
        for options in ({"layout": clash}, {"generate": {"extra_prompt": "Other."}}):
            with pytest.raises(MemoryLayoutClash):
                await run(agent(**options), "Hi", sandbox=sandbox)
        for bad in ("../x", "a/b", ".hidden", "a" * 129):
            with pytest.raises(InvalidConversationId):
                await _record(sandbox, conversation_id=bad)
        with pytest.raises(SegmentTooLarge) as large:
            await _record(sandbox, "x" * 5_000)
        assert large.value.limit == 4_096
        assert await sandbox.record(memory(generate=False), ConversationRef(), _segment("x")) is None
        for path in ("../up", "/abs", "a\\b", ""):
            with pytest.raises(PathRefused):
                await sandbox.files.write_text(path, "x")
        assert await sandbox.files.paths("sessions") == ["sessions/c.jsonl"]


def _segment(text: str) -> Segment:
    return Segment(input=[message("user", text)], terminal_metadata=ENDED)


async def _record(sandbox: Any, text: str = "x", **names: str) -> None:
    await sandbox.record(memory(), ConversationRef(**names), _segment(text))


@pytest.mark.req("SB-119", "SB-98")
async def test_a_session_is_resumed_open_or_over_a_copy_of_its_workspace(client: ServiceSandboxClient) -> None:
    sandbox = await client.create()
    resumed = await client.resume(sandbox.id)
    await run(agent(), "Hi", sandbox=resumed, conversation_id="c")
    assert "README.md" in await sandbox.files.paths()  # the default manifest still counted
    await sandbox.files.delete("README.md")
    assert "README.md" not in await _after_a_run(await client.resume(sandbox.id))
    await sandbox.close()
    again = await client.resume(sandbox.id)
    assert again.id != sandbox.id
    assert again.status == "open"
    model = speaker()
    await run(agent(model), "Hi", sandbox=again, conversation_id="c")
    assert "- The user prefers tabs." in model.requests[0].instructions
    [layout] = (await again.close()).layouts
    assert layout.phase_two.selected == ["c"]
    with pytest.raises(NotFound):
        await client.resume("sbx_01h00000000000000000000000")
    with pytest.raises(ValueError, match="sbx_"):
        await client.resume("x")


async def _after_a_run(sandbox: ServiceSandboxSession) -> list[str]:
    await run(agent(), "Hi", sandbox=sandbox, conversation_id="c")
    return await sandbox.files.paths()


@pytest.mark.req("SB-119")
async def test_a_file_is_written_over_whoever_wrote_it_meanwhile(client: ServiceSandboxClient) -> None:
    sandbox = await client.create(manifest=DESK)
    files, others = sandbox.files, (await client.resume(sandbox.id)).files
    assert await files.read_text("./README.md") == "# Lead desk\n"
    assert await files.read_text("none.md") is None
    await others.write_text("README.md", "theirs")
    await files.write_text("README.md", "mine \ud800")
    assert await others.read_text("README.md") == "mine ?"
    await others.delete("README.md")
    await files.write_text("README.md", "new")
    await files.write_text("notes/a b#?.md", "odd")
    assert await files.paths() == ["README.md", "notes/a b#?.md"]
    assert await files.paths("notes") == ["notes/a b#?.md"]
    await files.delete("none.md")
    await others.delete("README.md")
    assert await files.read_text("README.md") is None


@pytest.mark.req("SB-119")
async def test_sessions_and_snapshots_are_deleted_by_who_may(client: ServiceSandboxClient) -> None:
    sandbox = await client.create(manifest=DESK)
    with pytest.raises(ValueError, match="close"):
        await client.delete(sandbox)
    await sandbox.close()
    copy = await sandbox.snapshot()
    await client.delete(sandbox)
    with pytest.raises(NotFound):
        await sandbox.files.read_text("README.md")
    later = await client.create(snapshot=copy.id)
    assert await later.files.paths() == ["README.md"]
    await client.delete_snapshot(copy)
    with pytest.raises(NotFound):
        await client.create(snapshot=copy)


class Cut(httpx2.AsyncBaseTransport):
    """Passes requests on and loses the answers of some."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, lost: Callable[[httpx2.Request], bool]) -> None:
        self.inner, self.lost, self.asked = inner, lost, 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        answer = await self.inner.handle_async_request(request)
        if self.lost(request):
            self.asked += 1
            raise httpx2.ReadTimeout("lost", request=request)
        return answer


@pytest.mark.req("SB-119", "SB-102")
async def test_a_close_whose_answers_are_lost_ends_with_the_report_all_the_same(
    http: httpx2.AsyncClient, token: str, phases: Phases
) -> None:
    cut = Cut(http._transport, lambda request: request.url.path.endswith("/close"))
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with httpx2.AsyncClient(transport=cut) as losing:
        client = ServiceSandboxClient("http://rootward.test", token, http=losing, sleep=sleep)
        sandbox = await client.create()
        await run(agent(), "Hi", sandbox=sandbox, conversation_id="c")
        report = await sandbox.close()
    assert report.layouts[0].phase_two.selected == ["c"]
    assert (cut.asked, slept, len(phases.one.requests)) == (3, [0.5, 1.0], 1)
