"""A rotation under the memory of a bot: all that was sealed there goes over to the new key, and reads as before."""

from __future__ import annotations

from datetime import timedelta

import httpx2
import pytest

from dreaming.resealing import reseal
from dreaming.worker import Worker
from graph.model.access import SystemScope
from graph.services.admin.keys import retire, rotate, rotation
from graph.services.admin.resealing import sealed_fields, sealing_kinds
from graph.services.deps import Deps
from graph.store.query import Find
from graph.store.sealing import key_id_of
from tests.support.bot_room import BotRoom, Rest
from tests.support.bot_talk import REWRITE, BotTalk, fact, rewriting
from tests.support.clock import FakeClock
from tests.support.held_clock import HeldClock
from tests.support.world import TeamWorld

SYSTEM = SystemScope(reason="looking in a test")


@pytest.fixture
def clock() -> FakeClock:
    return HeldClock()


@pytest.fixture
async def room(world: TeamWorld, clock: HeldClock) -> BotRoom:
    return await BotRoom(world=world, tick=lambda: _tick(clock)).make()


@pytest.fixture
async def talk(room: BotRoom) -> BotTalk:
    return await BotTalk(room=room).make()


def _tick(clock: HeldClock) -> None:
    clock.advance(timedelta(seconds=1))


async def keys_by_kind(deps: Deps) -> dict[str, set[str]]:
    """Return the ids of the keys that seal something, by the kinds of nodes that hold it."""
    found: dict[str, set[str]] = {}
    for spec in sealing_kinds():
        async with deps.store.reading() as reader:
            nodes = (await reader.find(SYSTEM, Find(kind=spec.node))).nodes
        for node in nodes:
            for _, sealed in sealed_fields(spec, node):
                found.setdefault(spec.name, set()).add(key_id_of(sealed))
    return found


@pytest.mark.parametrize("engine", ["embedded"], indirect=True)
@pytest.mark.req("AD-30", "AD-31", "BM-184")
async def test_everything_that_bot_memory_sealed_is_read_as_before_with_the_new_key_alone(
    talk: BotTalk, room: BotRoom, http: httpx2.AsyncClient, clock: HeldClock
) -> None:
    deps, space = talk.deps, room.world.workspace
    u_1, u_9 = [Rest(http=http, token=await room.token(name)) for name in ("u_1", "u_9")]
    await u_9.send("PATCH", "/bot", {"expected": 0, "instructions": "Keep it short"})
    await room.fact("Write the changelog before tagging a release.")
    talk.model.on(REWRITE, rewriting("Plan release 4.2 with its changelog."))
    talk.learns(fact("A new fact of u_1.", "t1-said"))
    await talk.begin("t1", "Plan release 4.2")
    await talk.say("t1-said", "It is due on Friday.")
    await talk.confide("t1", "I tagged too early.")
    await talk.end("t1")
    await talk.learn()

    async def shown() -> list[object]:
        headers = {"Authorization": f"Bearer {u_1.token}"}
        records = [
            await http.get(f"/v1/chats/chat_61/{what}", headers=headers) for what in ("confessions", "enrichments")
        ]
        return [await u_1.memory(), *(answer.json() for answer in records)]

    before = await shown()
    assert "I tagged too early." in str(before)
    await rotate(deps, space)
    await Worker(deps=deps, anchor_minutes=0, handlers={"reseal": reseal}).step()
    told = await rotation(deps, space)
    assert (told.state, told.broken) == ("succeeded", 0)
    clock.advance(timedelta(hours=1))
    assert (await retire(deps, space)).dropped == ("e1",)
    found = await keys_by_kind(deps)
    assert {
        "BotPool",
        "BotEntry",
        "BotLogRow",
        "BotCall",
        "ChatItem",
        "Turn",
        "Confession",
        "Enrichment",
    } <= found.keys()
    assert set().union(*found.values()) == {"e2"}
    assert await shown() == before
