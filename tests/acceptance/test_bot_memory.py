"""Bot memory: the acceptance examples 1 to 4, 12 to 14 and 18, over a real port, on both stores."""

from __future__ import annotations

from datetime import timedelta

import httpx2
import pytest

from graph.services.bots.context import context, validate_references
from graph.services.bots.learning_context import learning_context
from tests.support.bot_room import BotRoom, Rest
from tests.support.clock import FakeClock
from tests.support.world import TeamWorld

pytestmark = [
    pytest.mark.parametrize("engine", ["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)], indirect=True),
]


@pytest.fixture
async def room(world: TeamWorld, clock: FakeClock) -> BotRoom:
    return await BotRoom(world=world, tick=lambda: _advance(clock)).make()


class Story:
    """Example 2: F1 and F3 of a private chat, F2 of the channel, O1 from F1 and F2, O2 from O1 and F3."""

    def __init__(self, room: BotRoom) -> None:
        self.room = room
        self.f1 = self.f2 = self.f3 = self.o1 = self.o2 = ""

    async def tell(self) -> Story:
        self.f1 = await self.room.fact("Write the changelog before tagging a release.", topics=["releases"])
        self.f2 = await self.room.group_fact("The channel deploys on Tuesdays.")
        self.o1 = await self.room.observe("Changelogs are due on Mondays.", self.f1, self.f2)
        self.f3 = await self.room.fact("Reviews take a day.")
        self.o2 = await self.room.observe("Reviews begin on Fridays.", self.o1, self.f3)
        return self

    @property
    def all(self) -> set[str]:
        return {self.f1, self.f2, self.f3, self.o1, self.o2}


@pytest.fixture
async def story(room: BotRoom) -> Story:
    return await Story(room).tell()


@pytest.mark.req("BM-37", "BM-136", "BM-137", "BM-140", "BM-175", "BM-176")
async def test_example_1_own_entries_only(
    room: BotRoom, http: httpx2.AsyncClient, u_1: Rest, u_2: Rest, u_9: Rest
) -> None:
    f1 = await room.fact("Write the changelog before tagging a release.", topics=["releases"])

    (entry,) = await u_1.memory()
    assert entry["id"] == f1
    assert entry["tags"] == ["from:u_1", "for:person:u_1", "org:o_4", "chat:chat_61", "releases"]
    assert await u_2.ids() == []
    assert await u_9.ids() == []
    elsewhere = Rest(http=http, token=await room.token("u_1", organization="o_5"))
    assert await elsewhere.ids() == []
    nobody = await Rest(http=http).send("GET")
    assert (nobody.status, nobody.headers["WWW-Authenticate"]) == (401, "Bearer")
    unknown = await Rest(http=http, token=u_1.token, bot="bot_nope").send("GET")
    assert (unknown.status, unknown.tag) == (404, "BotNotFound")


@pytest.mark.req("BM-41", "BM-42", "BM-43", "BM-44", "BM-45", "BM-50", "BM-141", "BM-151")
async def test_example_2_several_levels(room: BotRoom, story: Story, u_1: Rest, u_2: Rest) -> None:
    assert set(await u_1.ids()) == story.all
    assert await u_2.ids() == [story.f2]

    await room.members("u_2")

    assert set(await u_1.ids()) == {story.f1, story.f3}
    assert {id_ for change in await u_1.log() for id_ in change["entries"]} == {story.f1, story.f3}
    async with room.reads("u_1") as reads:
        assert set((await context(reads)).references) == {story.f1, story.f3}
    refused = await u_1.forget(story.o1)
    assert (refused.status, refused.body["reason"]) == (409, "not_yours")
    assert await u_2.ids() == [story.f2]

    await room.members("u_1", "u_2")

    assert set(await u_1.ids()) == story.all
    assert await u_2.ids() == [story.f2]


@pytest.mark.req("BM-47", "AD-21")
async def test_example_3_cycle_and_diamond(room: BotRoom, u_1: Rest) -> None:
    f1 = await room.fact("The kettle is descaled in May.")
    await room.take_in(
        old_observation("mem_o3", "mem_o4"),
        old_observation("mem_o4", "mem_o3"),
        old_observation("mem_o5", "mem_o3", f1),
        old_observation("mem_self", "mem_self"),
    )
    assert await u_1.ids() == [f1]

    o6, o7 = await room.observe("One way.", f1), await room.observe("Another way.", f1)
    o8 = await room.observe("Both ways lead here.", o6, o7)

    assert set(await u_1.ids()) == {f1, o6, o7, o8}


@pytest.mark.req("BM-46", "BM-48", "BM-162", "BM-163", "BM-164", "BM-166", "BM-167")
async def test_example_4_missing_source_and_missing_proof(room: BotRoom, u_1: Rest) -> None:
    await room.take_in(
        old_observation("mem_o9", "mem_gone"),
        {
            **old_entry("mem_f4", "fact"),
            "sources": [{"chat": "chat_61", "item": "i-old"}],
        },
        old_observation("mem_o10", "mem_f4"),
        old_entry("mem_pinned", "pinned"),
        {"kind": "item", "chat": "chat_61", "id": "i-old", "type": "person_message", "occurredAt": 1},
        {"kind": "log", "version": 1, "at": 1, "by": "promotion", "entries": ["mem_f4", "mem_o9", "mem_pinned"]},
    )

    await _check_that_only_the_pinned_one_shows(room, u_1)
    await room.deps.store.close()
    await room.deps.store.open()  # and whatever a newer version does to the store
    await _check_that_only_the_pinned_one_shows(room, u_1)


async def _check_that_only_the_pinned_one_shows(room: BotRoom, u_1: Rest) -> None:
    assert await u_1.ids() == ["mem_pinned"]
    (change,) = await u_1.log()
    assert (change["by"], change["entries"]) == ("promotion", ["mem_pinned"])
    async with room.reads("u_1") as reads:
        assert (await context(reads)).references == ("mem_pinned",)
        known = await learning_context(reads)
        assert [one.entry.id for one in known.entries] == ["mem_pinned"]
    assert (await u_1.forget("mem_f4")).status == 409


@pytest.mark.req("BM-148", "BM-149", "BM-150", "BM-151", "BM-152")
async def test_example_12_forget(story: Story, u_1: Rest, u_2: Rest) -> None:
    foreign = await u_2.forget(story.f1)
    assert (foreign.status, foreign.tag) == (409, "BotMemoryConflict")

    first = await u_1.forget(story.f1)
    assert (first.status, first.body["entry"]["status"]) == (200, "retracted")
    assert set(await u_1.ids()) == {story.f1, story.f2, story.f3}
    again = await u_1.forget(story.f1)
    assert (again.status, again.body) == (200, first.body)

    shared = await u_1.forget(story.f2)
    assert (shared.status, shared.body["entry"]) == (200, None)
    assert set(await u_1.ids()) == {story.f1, story.f3}
    (left,) = await u_2.memory()
    assert left["id"] == story.f2
    assert "from:u_1" not in left["tags"]
    assert (await u_1.forget(story.f2)).status == 409


@pytest.mark.req("BM-13", "BM-139", "BM-145", "BM-146", "BM-147", "BM-49")
async def test_example_13_remember_and_filter(room: BotRoom, u_1: Rest, u_9: Rest) -> None:
    kept = await u_1.remember("My desk phone is off on Fridays.", "availability")

    assert kept.status == 200
    assert (kept.body["entry"]["layer"], kept.body["entry"]["sources"]) == ("pinned", [])
    assert await u_1.ids("tags=availability,from:u_1") == [kept.body["entry"]["id"]]
    assert await u_1.ids("tags=availability,trip") == []
    assert await u_9.ids() == []
    async with room.reads() as group:
        assert not (await context(group)).has_entries
    for tag in ("for:bot", "Trip"):
        assert (await u_1.remember("No.", tag)).status == 400
    assert (await u_1.remember("x" * 4_001)).status == 400
    assert len(await u_1.ids()) == 1


@pytest.mark.req("BM-154", "BM-155", "BM-156", "BM-157", "BM-158", "BM-161", "BM-57")
async def test_example_14_purge(room: BotRoom, http: httpx2.AsyncClient, story: Story, u_1: Rest, u_9: Rest) -> None:
    opened = room.deps.vault.openings

    assert (await u_1.purge("chat:chat_61")).status == 403
    first = await u_9.purge("chat:chat_61")

    assert (first.status, first.body) == (200, {"deleted": 4})
    assert room.deps.vault.openings == opened
    assert await u_1.ids() == [story.f2]
    assert (await u_9.purge("chat:chat_61")).body == {"deleted": 0}
    linked = await Rest(http=http, token=u_9.token, bot="bot_link").purge("chat:chat_61")
    assert (linked.status, linked.body["reason"]) == (403, "linked_bot")
    for tag in ("for:bot", "chat:"):
        assert (await u_9.purge(tag)).status == 400


@pytest.mark.req("BM-109", "BM-110", "BM-112", "BM-113", "BM-114")
async def test_example_18_limit_and_references(room: BotRoom, u_1: Rest) -> None:
    short = await room.fact("x" * 10)
    await room.take_in({**old_entry("mem_long", "pinned"), "content": "y" * 6_000, "createdAt": after_all(room)})
    room.tick()
    long = await room.fact("z" * 3_000)
    opened = room.deps.vault.openings

    async with room.reads("u_1") as reads:
        found = await context(reads, 8_000)
        assert (found.text, found.references, found.has_entries) == ("z" * 3_000, (long,), True)
        assert room.deps.vault.openings == opened + 1
        small = await context(reads, 100)
        assert (small.text, small.references, small.has_entries) == ("", (), True)
        assert await validate_references(reads, [short])
    async with room.reads("u_2") as nobody:
        assert not (await context(nobody)).has_entries

    for number in range(10):
        await room.fact(f"Newer entry {number}.")
    async with room.reads("u_1") as reads:
        opened = room.deps.vault.openings
        assert await validate_references(reads, [short])
        assert room.deps.vault.openings == opened
    await u_1.forget(short)
    async with room.reads("u_1") as reads:
        assert not await validate_references(reads, [short])


def old_entry(id_: str, layer: str) -> dict[str, object]:
    return {
        "kind": "entry",
        "id": id_,
        "layer": layer,
        "content": f"Old text of {id_}.",
        "tags": ["from:u_1", "for:person:u_1", "org:o_4"],
        "createdAt": 1_700_000_000_000,
    }


def old_observation(id_: str, *sources: str) -> dict[str, object]:
    return {**old_entry(id_, "observation"), "confidence": 0.5, "sources": [{"entry": source} for source in sources]}


def after_all(room: BotRoom) -> int:
    room.tick()
    return room.deps.now()


def _advance(clock: FakeClock) -> None:
    clock.advance(timedelta(seconds=1))
