"""Record tools, lost races and memories that cannot be read: what no route shows by itself (MT-47, MT-51 to MT-62)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import pytest

from graph.model.errors import StoreUnavailable, WorkspaceRefused
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryKind
from graph.rules.memory_limits import MemoryLimits
from graph.services.access.commands import Command
from graph.services.workspace.changing import actor_of
from graph.services.workspace.files import create_file, edit_file
from graph.services.workspace.finding import hold_memory
from graph.store.port import Store, Writer
from graph.store.wrapping import WrappedStore
from tests.support.faults import FaultyStore, fail_at
from tests.support.run_room import RunRoom
from tests.support.world import TeamWorld

T = TypeVar("T")


@pytest.fixture
async def room(world: TeamWorld) -> RunRoom:
    return await RunRoom(world).make()


async def _through(operation: str, call: Callable[[], Awaitable[T]], /) -> T:
    return await call()


class Racing(WrappedStore):
    """A store on which somebody else is faster: he writes before each write."""

    def __init__(self, inner: Store, other: Callable[[], Awaitable[None]]) -> None:
        super().__init__(inner, _through)
        self.other, self.writes = other, 0

    async def transact(self, work: Callable[[Writer], Awaitable[T]], *, tx_id: str | None = None) -> T:
        self.writes += 1
        await self.other()
        return await super().transact(work, tx_id=tx_id)


async def _create(cmd: Command, memory_id: NodeId) -> None:
    memory = await hold_memory(cmd, memory_id, Right.RUN, MemoryKind.FILE)
    await create_file(cmd, memory, actor_of(cmd), "a.md", "begin\n")


async def _append(cmd: Command, memory_id: NodeId, text: str) -> None:
    memory = await hold_memory(cmd, memory_id, Right.RUN, MemoryKind.FILE)
    await edit_file(cmd, memory, actor_of(cmd), "a.md", lambda file: file.content + text)


@pytest.mark.req("MT-51", "MT-54", "MT-62")
async def test_record_tools_are_offered_and_work(room: RunRoom) -> None:
    facts, other = await room.facts(), await room.facts()
    run = await room.accept(await room.thread(a=facts, b=(other, {"access": "read"})))
    offered = {offer.tool.name: list(offer.memories) for offer in (await room.attempt(run)).tools}
    assert offered == {
        "memory_record_search": ["a", "b"],
        "memory_record_list": ["a", "b"],
        "memory_record_add": ["a"],
        "memory_record_update": ["a"],
        "memory_record_delete": ["a"],
    }
    made = await room.call(run, "record_add", memory="a", text="Likes tea.")
    assert made == {"id": "r1", "text": "Likes tea.", "score": None, "updated_at": None}
    await room.call(run, "record_update", memory="a", record_id="r1", text="Likes coffee.")
    [found] = (await room.call(run, "record_search", memory="a", query="drink"))["records"]
    assert (found["text"], found["score"]) == ("Likes coffee.", 0.5)
    assert room.records.searched[-1] == (facts.id, "drink", 5)
    await room.call(run, "record_add", memory="a", text="Second.")
    page = await room.call(run, "record_list", memory="a", limit=1)
    assert (page["records"][0]["id"], page["next_cursor"]) == ("r1", "1")
    rest = await room.call(run, "record_list", memory="a", limit=1, cursor="1")
    assert (rest["records"][0]["text"], rest["next_cursor"]) == ("Second.", None)
    assert await room.call(run, "record_delete", memory="a", record_id="r1") == {"id": "r1", "deleted": True}
    assert {actor.run_id for actor in room.records.actors} == {run}
    assert len({actor.tool_call_id for actor in room.records.actors}) == 4


@pytest.mark.req("MT-56", "MT-58", "MT-62", "RM-37")
async def test_record_tools_fail_by_code(room: RunRoom) -> None:
    facts = await room.facts()
    run = await room.accept(await room.thread(a=facts, b=(await room.facts(), {"access": "read"})))
    assert await room.call(run, "record_add", memory="b", text="x") == "forbidden"
    assert await room.call(run, "record_add", memory="c", text="x") == "unknown_memory"
    assert await room.call(run, "record_add", memory="a", text=" ") == "invalid_text"
    assert await room.call(run, "record_delete", memory="a", record_id="r9") == "record_not_found"
    assert await room.call(run, "record_list", memory="a", cursor="x") == "invalid_cursor"
    for limit in (0, 21):
        with pytest.raises(WorkspaceRefused) as refused:
            await room.call(run, "record_search", memory="a", query="x", limit=limit)
        assert refused.value.details["field"] == "arguments.limit"
    for error, code in (
        (WorkspaceRefused("disabled", "off", kind="memory_provider", id="x"), "unavailable"),
        (WorkspaceRefused("unavailable", "away", dependency="memory:mem0_oss"), "unavailable"),
        (WorkspaceRefused("conflict", "?", kind="memory", id="x", reason="write_unconfirmed"), "write_unconfirmed"),
    ):
        room.records.failing[facts.id] = error
        assert await room.call(run, "record_add", memory="a", text="x") == code
    without = replace(room.deps, records=None)
    assert await room.call(run, "record_list", without, memory="b") == "unavailable"


@pytest.mark.req("MT-61")
async def test_who_loses_a_race_retries_so_often_and_no_more(room: RunRoom) -> None:
    files = await room.files()

    await room.do(lambda cmd: _create(cmd, files.id))
    run = await room.accept(await room.thread(a=files))
    number = 0

    async def faster() -> None:
        nonlocal number
        number += 1
        await room.do(lambda cmd: _append(cmd, files.id, f"other {number}\n"))

    racing = Racing(room.deps.store, faster)
    deps = replace(room.deps, store=racing, memory_limits=MemoryLimits(write_retries=2))
    lost = await room.call(run, "file_append", deps, memory="a", path="a.md", text="mine")
    # One write begins the call; then one and two more are tried.
    assert (lost, racing.writes) == ("conflict_retries_exhausted", 4)

    async def nobody() -> None:
        if racing.writes == 6:
            await faster()

    racing.other, racing.writes = nobody, 4
    won = await room.call(run, "file_append", deps, memory="a", path="a.md", text="mine")
    assert (won["path"], racing.writes) == ("a.md", 7)
    viewed = await room.call(run, "file_view", memory="a", path="a.md")
    assert viewed["content"].endswith("other 5\nmine")


@pytest.mark.req("MT-47", "MT-44")
async def test_a_memory_that_cannot_be_read_is_skipped_and_keeps_its_cursor(room: RunRoom) -> None:
    files = await room.files()
    thread = await room.thread(a=files)
    run = await room.accept(thread)
    for call in range(1, 60):
        store = FaultyStore(room.deps.store, [fail_at(call)])
        try:
            given = await room.attempt(run, replace(room.deps, store=store))
        except StoreUnavailable:  # what every attempt needs
            continue
        if [(report.memory, report.status) for report in given.reports] == [("a", "unavailable")]:
            break
    else:
        pytest.fail("no failure was passed over")
    await room.complete(run)
    assert 'kind="full"' in (await room.attempt(await room.accept(thread))).preamble[0]


@pytest.mark.req("MT-47")
async def test_one_memory_that_cannot_be_read_keeps_no_other_from_being_told(room: RunRoom) -> None:
    run = await room.accept(await room.thread(a=await room.files(), b=await room.files()))
    seen: set[tuple[str, ...]] = set()
    for first in range(1, 30):  # what is read for both fails; then what is read for one of them
        for second in range(first + 1, first + 7):
            store = FaultyStore(room.deps.store, [fail_at(first), fail_at(second)])
            try:
                given = await room.attempt(run, replace(room.deps, store=store))
            except StoreUnavailable:  # what every attempt needs
                continue
            seen.add(tuple(report.status for report in given.reports))
    assert {("full", "full"), ("unavailable", "full"), ("full", "unavailable")} <= seen
