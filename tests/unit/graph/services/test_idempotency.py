"""Idempotency keys: one effect, one answer, for each caller alone."""

from __future__ import annotations

import asyncio

import pytest

from graph.model.errors import BadInput, Conflict
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.people import Group
from graph.services.access.commands import Command, command
from graph.services.idempotency import RECEIPTS, once
from graph.store.query import Find
from tests.support.world import TeamWorld


async def send(world: TeamWorld, key: str | None, request: Json = "a", *, by: NodeId | None = None) -> NodeId:
    """Make a group under a key and return its id."""

    async def run(cmd: Command) -> NodeId:
        async def work() -> NodeId:
            id_ = cmd.deps.new_id(Group.PREFIX)
            group = Group(id=id_, workspace=world.workspace, created_at=cmd.at, display_name="g")
            await cmd.writer.put([group])
            return id_

        async def again(kept: Json) -> NodeId:
            return NodeId(kept)

        return await once(cmd, key, request, work, keep=str, again=again)

    return await command(world.deps, world.caller(by or world.ana), run)


async def groups(world: TeamWorld) -> int:
    async with world.deps.store.reading() as reader:
        return len((await reader.find(RECEIPTS, Find(kind=Group))).nodes)


@pytest.mark.req("AD-17")
async def test_a_repeated_key_returns_the_first_answer(world: TeamWorld) -> None:
    first, second = await send(world, "k"), await send(world, "k")
    assert first == second
    assert await groups(world) == 1


@pytest.mark.req("AD-17")
async def test_a_key_belongs_to_one_caller(world: TeamWorld) -> None:
    assert await send(world, "k") != await send(world, "k", by=world.ben)
    assert await send(world, "k2") != await send(world, None)
    assert await groups(world) == 4


async def test_many_at_once_with_one_key_have_one_effect(world: TeamWorld) -> None:
    answers = await asyncio.gather(*(send(world, "k") for _ in range(20)))
    assert len(set(answers)) == 1
    assert await groups(world) == 1


async def test_a_key_used_for_another_request_is_refused(world: TeamWorld) -> None:
    await send(world, "k", {"text": "a"})
    with pytest.raises(Conflict):
        await send(world, "k", {"text": "b"})
    for key in ("", "k" * 256):
        with pytest.raises(BadInput):
            await send(world, key)
