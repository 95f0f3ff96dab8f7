"""Bytes of sandboxes that somebody removes between being put and being named."""

from __future__ import annotations

import pytest

from graph.model.errors import StoreUnavailable
from graph.model.nodes.people import Right
from graph.model.nodes.sandbox import SandboxSession
from graph.services.admin.blobs import collect_blobs
from graph.services.sandbox.acting import change
from graph.services.sandbox.sessions import create_sandbox
from graph.services.sandbox.stored import TRIES, with_bytes
from tests.support.memory_client import allow
from tests.support.world import TeamWorld


class Collector:
    """Removes bytes just after they were put, so many times."""

    def __init__(self, world: TeamWorld, times: int) -> None:
        self.world, self.left, self.puts = world, times, 0
        self._put = world.deps.blobs.put
        object.__setattr__(world.deps.blobs, "put", self.put)

    async def put(self, data: bytes) -> object:
        self.puts += 1
        made = await self._put(data)
        if self.left:
            self.left -= 1
            await self.world.deps.blobs.delete(made.sha256)
        return made


async def create(world: TeamWorld) -> SandboxSession:
    await allow(world, world.ana, Right.RUN)
    ana = world.caller(world.ana)
    return await with_bytes(
        world.deps,
        {"a.md": b"one"},
        lambda stored: change(world.deps, ana, lambda cmd, act: create_sandbox(cmd, act, stored)),
    )


@pytest.mark.req("SB-104", "AD-32")
async def test_they_are_put_again(world: TeamWorld) -> None:
    collector = Collector(world, times=2)
    await create(world)
    assert collector.puts == 3
    assert len([sha async for sha, _ in world.deps.blobs.list()]) == 1


@pytest.mark.req("AD-32")
async def test_not_for_ever(world: TeamWorld) -> None:
    collector = Collector(world, times=100)
    with pytest.raises(StoreUnavailable):
        await create(world)
    assert collector.puts == TRIES


@pytest.mark.req("AD-32", "SB-100")
async def test_the_collector_leaves_what_a_sandbox_names(world: TeamWorld) -> None:
    await create(world)
    assert await collect_blobs(world.deps, grace_hours=-1_000_000) == ()
    assert len([sha async for sha, _ in world.deps.blobs.list()]) == 1
