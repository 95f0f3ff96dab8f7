"""Recall into runs and record tools, with a mem0 server on loopback (record examples 10 and 11, mount example 14)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from graph.model.nodes.workspace import WorkspaceMemory
from graph.services.workspace.records import ProviderRecords
from graph.services.workspace.records_port import Record
from tests.acceptance.test_record_memory import clock, mem0, other, platform, ports, room
from tests.support.held_clock import HeldClock
from tests.support.mem0_server import Fault, Mem0Server
from tests.support.record_room import RecordRoom
from tests.support.run_client import Runtime

__all__ = ["clock", "mem0", "other", "platform", "ports", "room"]
pytestmark = pytest.mark.parametrize("engine", ["embedded"], indirect=True)


def states(given: dict[str, Any]) -> dict[str, str]:
    return {report["memory"]: report["status"] for report in given["reports"]}


@pytest.mark.req("RM-53", "RM-54", "RM-55", "RM-60")
async def test_10_recall_order_and_size(room: RecordRoom, mem0: Mem0Server) -> None:
    facts = await room.memory(namespace="alice")
    for place in range(5):
        mem0.store("alice", f"{place} ".ljust(1_983, "x") + "</memory-recall>" * (place == 0))
    thread = await Runtime(room.ana).start()
    await thread.mount("facts", facts.memory, "read")
    [block] = (await thread.run("tea"))["preamble"]
    head, _, body, last = block.split("\n")
    assert (head, last) == ('<memory-recall memory="facts" trust="untrusted">', "</memory-recall>")
    recalled = json.loads(body)["records"]
    assert len(recalled) == 3
    assert len(block.encode()) <= 8_192
    scores = [record["score"] for record in recalled]
    assert scores == sorted(scores, reverse=True)
    assert block.count("</memory-recall>") == 1


@pytest.mark.req("RM-56", "RM-57", "RM-58")
async def test_11_slow_recall(
    room: RecordRoom, mem0: Mem0Server, clock: HeldClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    never, answered = asyncio.Event(), asyncio.Event()
    mem0.fault = lambda asked: Fault(hangs=never) if "slow" in json.dumps(asked.body) else None
    search = ProviderRecords.search

    async def watched(self: ProviderRecords, memory: WorkspaceMemory, query: str, *, limit: int) -> Sequence[Record]:
        found = await search(self, memory, query, limit=limit)
        answered.set()
        return found

    monkeypatch.setattr(ProviderRecords, "search", watched)
    provider = await room.provider()
    thread = await Runtime(room.ana).start()
    for name in ("quick", "slow"):
        await thread.mount(name, (await room.memory(provider, namespace=name)).memory, "read")
    mem0.store("quick", "likes tea")
    run = await thread.accept("tea")
    attempt = asyncio.create_task(thread.attempt(run))
    await clock.somebody_sleeps()
    await answered.wait()
    assert not attempt.done()
    clock.advance(timedelta(seconds=2))
    given = await attempt
    never.set()
    assert states(given) == {"quick": "recalled", "slow": "timeout"}
    assert "likes tea" in given["preamble"][0]
    later = await thread.attempt(run)
    assert (later["preamble"], later["reports"]) == ([], [])


@pytest.mark.req("MT-51", "MT-56", "MT-58")
async def test_14_provider_disabled(room: RecordRoom, mem0: Mem0Server) -> None:
    provider = await room.provider()
    facts = await room.memory(provider, namespace="alice")
    thread = await Runtime(room.ana).start()
    await thread.mount("facts", facts.memory)
    run = await thread.accept("")
    added = await thread.call(run, "memory_record_add", memory="facts", text="likes tea")
    assert mem0.texts("alice") == ["likes tea"]
    [event] = await room.events(facts)
    assert event["details"]["run_id"] == run
    found = await thread.call(run, "memory_record_search", memory="facts", query="tea")
    assert [record["id"] for record in found["output"]["records"]] == [added["output"]["id"]]
    await room.ana.ok(
        "PATCH",
        f"//memory-providers/{provider}",
        {"enabled": False},
        tag=await room.ana.tag("GET", f"//memory-providers/{provider}"),
    )
    failed = await thread.call(run, "memory_record_search", memory="facts", query="tea")
    assert failed["error"]["error"] == "unavailable"
