"""Syncs and learning tasks killed between any two calls of the store: nothing is lost, nothing is there twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from api.adapters.blobs import open_blobs
from api.adapters.extract import DocumentExtractor
from dreaming.materials import learner
from dreaming.worker import Worker
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Block, Entry
from graph.model.nodes.learning import DreamRun, Mirror, PendingItem
from graph.model.nodes.work import AuditRecord
from graph.ports import BlobStore
from graph.services.deps import Deps
from graph.store.memory import MemoryStore
from graph.store.port import Store
from graph.text.tokens import DEFAULT_TOKENIZER
from tests.support.connected import Connected
from tests.support.faults import Fault, FaultyStore, PlannedFault
from tests.support.held_clock import HeldClock
from tests.support.ids import SequentialIds
from tests.support.keyring import fixed_vault
from tests.support.operations import block, cite, create
from tests.support.pages import FakeFetcher
from tests.support.profile import is_soak
from tests.support.randomness import SeededRandomness
from tests.support.study import Study, lines, name_of
from tests.support.world import TeamWorld

STRIDE = 1 if is_soak() else 5
"""Every call in a soak, every fifth on ordinary runs."""
FIRST = 1 if is_soak() else 2
pytestmark = pytest.mark.parametrize("engine", ["memory"], indirect=True)


class Killed(BaseException):
    """The process is gone: no handler may catch it."""


def _deps(store: Store, clock: HeldClock, blobs: BlobStore, ids: int) -> Deps:
    return Deps(
        store=store,
        clock=clock,
        ids=SequentialIds(ids),
        randomness=SeededRandomness(),
        tokenizer=DEFAULT_TOKENIZER,
        blobs=blobs,
        fetcher=FakeFetcher(clock),
        extractor=DocumentExtractor(),
        vault=fixed_vault(),
    )


def _dying(store: Store, fault: Fault, at: int) -> FaultyStore:
    """Return a store that is gone from the n-th call on."""
    dead = [PlannedFault(fault=Fault.FAIL, at=later, error=Killed) for later in range(at + 1, at + 20)]
    return FaultyStore(store, [PlannedFault(fault=fault, at=at, error=Killed), *dead])


async def _killed(worker: Worker) -> bool:
    try:
        await worker.step()
    except Killed:
        return True
    return False


def _count(nodes: Sequence[Any]) -> Counter[str]:
    return Counter(type(node).__name__ for node in nodes)


async def _sync_killed_at(fault: Fault, at: int) -> bool:
    """Kill the sync that replaces one document, withdraws another and brings a third; let an heir go on."""
    clock, blobs = HeldClock(), open_blobs("memory:///")
    store = MemoryStore(clock=clock)
    await store.open()
    world = await TeamWorld(deps=_deps(store, clock, blobs, 1)).make()
    connected = await Connected(world, clock).make()
    connected.place.documents = {"a.txt": "Alpha ships.", "b.txt": "Beta ships."}
    await connected.sync()
    del connected.place.documents["b.txt"]
    await connected.sync()
    connected.place.documents = {"a.txt": "Alpha ships in May.\n\nIt rests.", "c.txt": "Gamma ships."}
    clock.advance(timedelta(minutes=15))
    await _ask(connected)
    doomed = connected.worker()
    doomed.deps = replace(
        _deps(_dying(store, fault, at), clock, blobs, 1_000_000), places={"scripted": connected.place}
    )
    killed = await _killed(doomed)
    clock.advance(timedelta(seconds=600))
    heir = connected.worker()
    while await heir.step():
        pass
    mirrors = await connected.mirrors()
    assert {name: mirror.state for name, mirror in mirrors.items()} == {
        "a.txt": "live",
        "b.txt": "withdrawn",
        "c.txt": "live",
    }
    versions = {name: [s.version for s in await connected.versions(name)] for name in mirrors}
    assert versions == {"a.txt": [1, 2], "b.txt": [1], "c.txt": [1]}
    entries = [entry for entry in await connected.all(Entry) if entry.origin == "mirror"]
    assert len(entries) == 3
    blocks = [one for one in await connected.all(Block) if one.deleted_at is None]
    assert Counter(one.entry_id for one in blocks)[mirrors["a.txt"].entry_id] == 2
    records = [r.operation for r in await connected.all(AuditRecord)]
    assert Counter(records) == {"mirror.sync": 4, "mirror.withdraw": 1}
    assert _count(await connected.all(Mirror)) == {"Mirror": 3}
    assert (await connected.jobs())[-1].state == "succeeded"
    return killed


async def _ask(connected: Connected) -> None:
    from graph.services.knowledge.connectors import arrange_syncs

    await arrange_syncs(connected.deps)


@pytest.mark.soak
@pytest.mark.req("MA-22", "MA-24", "AD-33")
@pytest.mark.parametrize("fault", [Fault.FAIL, Fault.CUT])
async def test_a_killed_sync_is_finished_by_the_next_worker(fault: Fault) -> None:
    at, killed = FIRST, True
    while killed:
        killed = await _sync_killed_at(fault, at)
        at += STRIDE
    assert at > 8, "it was killed at every call"


def _each_fact(request: Any) -> dict[str, Any]:
    """Make one entry of each part, named by its number."""
    shown = next(line for line in lines(request) if line.get("kind") == "file")
    number = shown["text"].split()[2]
    content = block(f"Fact {number}.", cite(name_of(request, kind="file"), f"Fact number {number}"))
    return {"operations": [create(f"Fact {number}", content)]}


async def _learning_killed_at(fault: Fault, at: int) -> tuple[bool, int]:
    clock, blobs = HeldClock(), open_blobs("memory:///")
    store = MemoryStore(clock=clock)
    await store.open()
    study = await Study(await TeamWorld(deps=_deps(store, clock, blobs, 1)).make(), clock).make()
    source = await study.submit("Fact number 1 holds.\n\nFact number 2 holds.")
    study.on(_each_fact)
    doomed = study.worker("doomed")
    doomed.deps = _deps(_dying(store, fault, at), clock, blobs, 1_000_000)
    killed = await _killed(doomed)
    clock.advance(timedelta(seconds=600))
    heir = study.worker("heir")
    while await heir.step():
        pass
    assert (await study.source(source.id)).learning_state == "succeeded"
    assert sorted(entry.name for entry in await study.all(Entry)) == ["Fact 1", "Fact 2"]
    assert [run.state for run in await study.all(DreamRun)] == ["succeeded"]
    assert Counter(r.operation for r in await study.all(AuditRecord)) == {"entry.create": 2}
    assert (await study.job()).state == "succeeded"
    assert [row for row in await study.all(PendingItem) if row.state == "pending"] == []
    assert len(await study.all(Source)) == 1
    return killed, len(study.model.asked)


@pytest.mark.soak
@pytest.mark.req("MA-7", "AD-33", "DR-76")
@pytest.mark.parametrize("fault", [Fault.FAIL, Fault.CUT])
async def test_a_killed_learning_task_is_finished_by_the_next_worker(
    fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learner, "PART_TOKENS", 7)
    at, killed, asked = FIRST, True, []
    while killed:
        killed, calls = await _learning_killed_at(fault, at)
        asked.append(calls)
        at += STRIDE
    assert at > 12, "it was killed at every call"
    assert set(asked) <= {2, 3}, "at most the call that was under way is made again"
