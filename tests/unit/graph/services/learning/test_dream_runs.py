"""Runs of Dreaming and the state of Stage A as different people see them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.ids import NodeId, node_id
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.learning import DreamBatch, DreamRun
from graph.model.time import Millis
from graph.rules.pools import clause_of, new_base
from graph.services.access.session import Session, read
from graph.services.knowledge.bases import ensure_base
from graph.services.learning.dream_runs import RejectionView, dream_runs, rejection_page, rejections_of
from graph.services.learning.runs import put_run
from graph.services.learning.stage_a_status import StageAState, stage_a_states
from graph.store.port import Writer
from graph.store.query import After
from tests.support.channel_room import PURPOSE, QUIET, Room, answer, episode
from tests.support.held_clock import HeldClock
from tests.support.world import TeamWorld


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
async def room(world: TeamWorld, clock: HeldClock) -> Room:
    return await Room(world, clock).make()


async def runs(room: Room, who: NodeId) -> list[DreamRun]:
    async def work(session: Session) -> list[DreamRun]:
        listing = await dream_runs(session, room.world.atlas, first=10)
        assert await listing.count() == len(listing.items)
        return list(listing.items)

    return (await read(room.world.deps, room.world.caller(who), work))[0]


async def states(room: Room, who: NodeId) -> list[StageAState]:
    found, _ = await read(room.world.deps, room.world.caller(who), lambda s: stage_a_states(s, room.world.atlas))
    return list(found)


@pytest.mark.req("DR-80")
async def test_runs_are_listed_newest_first_to_who_reads_their_base(room: Room) -> None:
    await room.talk(1)
    await room.quiet()
    await room.talk(1, channel=room.world.chat)
    await room.quiet()
    ana, ben = await runs(room, room.world.ana), await runs(room, room.world.ben)
    assert [run.channel_id for run in ana] == [room.world.chat, room.world.ops]
    assert [run.channel_id for run in ben] == [room.world.ops]
    assert await runs(room, room.world.eve) == []


@pytest.mark.req("DR-54", "DR-81")
async def test_rejections_are_told_with_index_op_code_and_reason(room: Room) -> None:
    deps, world = room.world.deps, room.world
    base = new_base(world.name, world.atlas, KbKind.SHARED, deps.now())
    run = DreamRun(
        id=node_id(DreamRun.PREFIX, f"{world.name}-b"),
        workspace=world.workspace,
        pool=base.id,
        created_at=deps.now(),
        stage="b",
        agent_id=world.atlas,
        trigger="manual",
        state="running",
        started_at=deps.now(),
    )
    told = {"index": 3, "op": "addRelation", "code": "QUOTE_NOT_VERBATIM", "reason": "quote what was said"}
    batch = DreamBatch(
        id=node_id(DreamBatch.PREFIX, f"{world.name}-b"),
        workspace=world.workspace,
        pool=base.id,
        created_at=deps.now(),
        run_id=run.id,
        agent_id=world.atlas,
        state="running",
        rejections=[told],
    )

    async def write(writer: Writer) -> None:
        await ensure_base(writer, base)
        await put_run(writer, run, [batch], clause_of(base))
        await put_run(writer, run, [replace(batch, item_ids=("eps_x",))], clause_of(base))

    await deps.store.transact(write)
    found, _ = await read(deps, world.caller(world.ana), lambda s: rejections_of(s, [run.id]))
    [view] = found[run.id]
    assert (view.batch_id, view.index, view.op, view.code) == (batch.id, 3, "addRelation", "QUOTE_NOT_VERBATIM")
    hidden, _ = await read(deps, world.caller(world.eve), lambda s: rejections_of(s, [run.id]))
    assert hidden[run.id] == ()
    [stored] = await room.batches()
    assert (stored.attempts, stored.item_ids, stored.rejections) == (1, ("eps_x",), [told])


@pytest.mark.req("DR-54", "KN-113")
def test_parts_of_one_operation_are_rows_of_their_own_on_every_page() -> None:
    views = [
        RejectionView(
            batch_id=NodeId("drb_1"), batch_at=Millis(0), place=place, index=0, op=f"op {place}", code="C", reason="r"
        )
        for place in range(3)
    ]
    assert [view.op for view in rejection_page(views, first=3).items] == ["op 0", "op 1", "op 2"]
    found: list[str] = []
    after: After | None = None
    for _ in views:
        page = rejection_page(views, first=1, after=after)
        found += [view.op for view in page.items]
        after = page.places[-1]
    assert (found, page.more) == (["op 0", "op 1", "op 2"], False)


async def test_state_of_a_channel_tells_what_waits_and_what_failed(room: Room) -> None:
    began = room.clock.now()
    await room.talk(3)
    [state] = await states(room, room.world.ben)
    assert (state.scope, state.pending, state.oldest_pending_at) == ("channel", 3, began)
    assert (state.last_success_at, state.failures, state.last_error) == (None, 0, None)
    room.model.on(PURPOSE, "no", "no", answer(episode(["m1"]), skipped=["m2"], open=["m3"]))
    await room.quiet()
    [state] = await states(room, room.world.ben)
    assert (state.pending, state.failures, state.last_error) == (3, 1, "MODEL_ANSWER_NO_JSON")
    assert state.next_try_at == room.clock.now() + 60_000
    await room.quiet()
    [state] = await states(room, room.world.ben)
    assert (state.pending, state.carried, state.failures, state.last_error) == (0, 1, 0, None)
    assert (state.last_success_at, state.oldest_pending_at) == (began + 2 * 1_000 * QUIET.seconds, None)


async def test_state_of_a_private_chat_is_told_to_its_people_only(room: Room) -> None:
    await room.talk(1, channel=room.world.chat)
    assert await states(room, room.world.ben) == []
    assert [state.key for state in await states(room, room.world.ana)] == [room.key(KbKind.PRIVATE, room.world.chat)]
