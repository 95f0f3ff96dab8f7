from __future__ import annotations

from datetime import timedelta
from time import time

import pytest

from graph.model.errors import BadState
from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.services.admin.blobs import collect_blobs, remove_unnamed
from graph.services.knowledge.materials import prepare_file, submit_file
from tests.support.clock import FakeClock
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import run


@pytest.fixture
async def kb(world: TeamWorld) -> NodeId:
    conversation = await world.open(world.chat)
    assert conversation.pool is not None
    return conversation.pool


@pytest.fixture
def present(clock: FakeClock) -> None:
    """Set the clock to the true time: the blobs of a test are dated by the machine's."""
    clock.set(Millis(int(time() * 1_000)))


@pytest.mark.req("AD-32")
async def test_only_bytes_that_no_row_names_are_collected_after_the_grace_time(
    world: TeamWorld, kb: NodeId, clock: FakeClock, present: None
) -> None:
    kept = await prepare_file(world.deps, world.caller(world.ana), kb, b"kept")
    await run(world, world.ana, lambda cmd: submit_file(cmd, kb, kept))
    lost = await world.deps.blobs.put(b"lost")
    clock.advance(timedelta(hours=23))
    assert await collect_blobs(world.deps) == ()
    clock.advance(timedelta(hours=2))
    assert await collect_blobs(world.deps) == (lost.sha256,)
    assert await world.deps.blobs.exists(kept.blob.sha256)
    assert not await world.deps.blobs.exists(lost.sha256)


@pytest.mark.req("AD-32")
async def test_a_row_never_comes_to_name_bytes_that_were_collected(world: TeamWorld, kb: NodeId) -> None:
    file = await prepare_file(world.deps, world.caller(world.ana), kb, b"late")
    assert await remove_unnamed(world.deps, [file.blob.sha256]) == (file.blob.sha256,)
    with pytest.raises(BadState):
        await run(world, world.ana, lambda cmd: submit_file(cmd, kb, file))
    await prepare_file(world.deps, world.caller(world.ana), kb, b"late")
    await run(world, world.ana, lambda cmd: submit_file(cmd, kb, file))
    assert await remove_unnamed(world.deps, [file.blob.sha256]) == ()
