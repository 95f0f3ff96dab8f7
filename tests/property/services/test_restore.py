"""Restore over random histories that the real services wrote: the preview is the effect, undoing is exact.

Source: goals C1, C2, C5 of the trust cases; KN-91 to KN-102.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from api.adapters.blobs import open_blobs
from api.adapters.extract import DocumentExtractor
from graph.model.errors import NameTaken, RestoreConflict
from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules.audit_chain import SealedAudit
from graph.rules.audit_following import verify_chain
from graph.rules.images import BLOCKS, RELATIONS, Image, without_nulls
from graph.rules.restore import RestorePlan
from graph.services.deps import Deps
from graph.store.embedded import EmbeddedStore
from graph.store.memory import MemoryStore
from graph.store.port import Store
from graph.text.tokens import DEFAULT_TOKENIZER
from tests.support.clock import FakeClock
from tests.support.history import History
from tests.support.ids import SequentialIds
from tests.support.keyring import fixed_vault
from tests.support.knowledge_state import differences, hash_of, knowledge_state
from tests.support.pages import FakeFetcher
from tests.support.profile import sized
from tests.support.randomness import SeededRandomness
from tests.support.restoring import ids_of, preview, undo
from tests.support.world import TeamWorld

HISTORIES = sized(small=12, full=5_000)
EMBEDDED_HISTORIES = sized(small=2, full=200)


class TickingClock(FakeClock):
    """Goes on by a second with every look, so that no two commits have the same time."""

    def now(self) -> Millis:
        return self.advance(timedelta(seconds=1))


async def world_on(store: Store, clock: FakeClock) -> TeamWorld:
    deps = Deps(
        store=store,
        clock=clock,
        ids=SequentialIds(),
        randomness=SeededRandomness(),
        tokenizer=DEFAULT_TOKENIZER,
        blobs=open_blobs("memory:///"),
        fetcher=FakeFetcher(clock),
        extractor=DocumentExtractor(),
        vault=fixed_vault(),
    )
    return await TeamWorld(deps=deps, name="team").make()


def expected(before: Mapping[str, Any], plan: RestorePlan) -> dict[str, Image | None]:
    """Return what the preview says that every object will be."""
    found: dict[str, Image | None] = {}
    for step in plan.steps:
        edit = step.record.draft.before is not None and step.record.draft.after is not None
        for id_, image in step.writes().items():
            fields = {key: value for key, value in (image or {}).items() if key not in (BLOCKS, RELATIONS)}
            now = found.get(id_, (before.get(id_) or {}).get("image")) or {}
            found[id_] = None if image is None else {**now, **fields} if edit else fields
    return found


async def check_batch(world: TeamWorld, ids: list[NodeId], seen: Counter[str]) -> None:
    """Restore a batch: what the preview says comes to be, or nothing does."""
    before = await knowledge_state(world.deps.store)
    shown = await preview(world, *ids)
    if not shown.restorable:
        with pytest.raises((RestoreConflict, NameTaken)):
            await undo(world, *ids, confirmed=shown.preview_hash)
        assert await knowledge_state(world.deps.store) == before
        seen["refused"] += 1
        return
    done = await undo(world, *ids, confirmed=shown.preview_hash)
    after = await knowledge_state(world.deps.store)
    for id_, image in expected(before, shown).items():
        assert (after.get(id_) or {}).get("image") == without_nulls(image), id_
    again = await undo(world, *ids_of(done.records))
    returned = await knowledge_state(world.deps.store)
    found = differences(returned, before)
    assert not found, found
    assert hash_of(returned) == hash_of(before)
    assert len(again.records) == len(done.records) == len(set(ids))
    seen["restored"] += 1


async def check_history(seed: int, world: TeamWorld, seen: Counter[str]) -> None:
    history = History(world=world, rng=random.Random(seed))
    for written in (12, 6, 6):
        await check_undo(history, written)
        every = [record.id for record in await history.trail()]
        await check_batch(world, history.rng.sample(every, history.rng.randrange(1, 6)), seen)
    chain: dict[NodeId, list[SealedAudit]] = {}
    for record in await history.trail():
        chain.setdefault(NodeId(str(record.pool)), []).append(SealedAudit.from_node(record))
    assert all(verify_chain(records).ok for records in chain.values())


async def check_undo(history: History, written: int) -> None:
    """Make so many changes and undo the last of them: everything is as before; undo that: all is back."""
    world, rng = history.world, history.rng
    history.records, states = [], [await knowledge_state(history.world.deps.store)]
    while len(history.records) < written:
        if await history.step():
            states.append(await knowledge_state(world.deps.store))
    size = rng.randrange(1, written + 1)
    last = [id_ for step in history.records[-size:] for id_ in step]
    done = await undo(world, *rng.sample(last, len(last)))
    found = differences(await knowledge_state(world.deps.store), states[-size - 1])
    assert not found, found
    await undo(world, *ids_of(done.records))
    found = differences(await knowledge_state(world.deps.store), states[-1])
    assert not found, found


@pytest.mark.req("KN-91", "KN-92", "KN-94", "KN-96", "KN-98", "KN-100", "KN-101", "KN-102")
@pytest.mark.soak
async def test_preview_is_effect_and_undo_is_exact() -> None:
    seen: Counter[str] = Counter()
    for seed in range(HISTORIES):
        clock = TickingClock()
        await check_history(seed, await world_on(MemoryStore(clock=clock), clock), seen)
    assert seen["restored"] > 0
    assert seen["refused"] > 0


@pytest.mark.req("KN-94", "KN-98", "KN-101")
@pytest.mark.soak
async def test_undo_is_exact_on_the_embedded_store(tmp_path: Path) -> None:
    for seed in range(1_000, 1_000 + EMBEDDED_HISTORIES):
        clock = TickingClock()
        store = EmbeddedStore(tmp_path / f"{seed}.db", clock=clock)
        await store.open()
        try:
            await check_history(seed, await world_on(store, clock), Counter())
        finally:
            await store.close()
