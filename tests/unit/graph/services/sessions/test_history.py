"""Forks and returns as they are stored: copies that stand alone, marks, links, and thousands of items."""

from __future__ import annotations

import pytest

from graph.model.edges import EdgeType
from graph.model.ids import NodeId, local_part
from graph.model.nodes.sessions import Session, SessionChange, SessionFact, SessionItem
from graph.services.sessions.changing import FactState, put_in
from graph.services.sessions.history import all_of
from graph.services.sessions.state import MEMORY, current_facts, item_id, items_of, unread_items
from graph.store.port import Writer
from graph.store.query import Direction
from tests.support.profile import sized
from tests.support.session_room import SessionRoom
from tests.unit.graph.services.asking import sees

LONG = sized(small=2_500, full=20_000)


@pytest.mark.req("SM-70", "SM-71", "AD-3")
async def test_a_fork_has_copies_of_its_own_with_the_same_item_ids(room: SessionRoom) -> None:
    world = room.world
    await room.start()
    await room.learn(FactState(key="venue", content="Porto.", kind="fact", sources=("i-01", "i-03")))
    fork = await room.fork("ses_42")
    source, copy = await room.memory(), await room.memory("ses_42")
    assert {k: f.content for k, f in copy.entries.items()} == {k: f.content for k, f in source.entries.items()}
    assert copy.processed == source.processed
    assert (fork.revision, fork.head, fork.forked_from) == (0, source.session.head, source.session.id)
    fact = copy.entries["venue"]
    assert fact.id != source.entries["venue"].id
    assert fact.updated_at == source.entries["venue"].updated_at
    async with world.deps.store.reading() as reader:
        cited = await reader.edges(MEMORY, [fact.id], [EdgeType.CITES], Direction.OUT)
    assert {edge.target for edge in cited} == {item_id(fork, "i-01"), item_id(fork, "i-03")}
    for node in (fork.id, fact.id, item_id(fork, "i-01")):
        assert await sees(world, world.ana, node)
        assert not await sees(world, world.ben, node)


@pytest.mark.req("SM-71")
async def test_after_the_fork_neither_moves_the_other(room: SessionRoom) -> None:
    await room.start()
    await room.remember("venue")
    await room.fork("ses_42")
    before = await room.memory("ses_42")
    await room.forget("venue")
    await room.say("i-11")
    await room.configure(generate=False)
    assert await room.memory("ses_42") == before
    source = await room.memory()
    await room.remember("food", "Vegan.", local="ses_42")
    await room.say("i-11", local="ses_42")
    assert await room.memory() == source


@pytest.mark.req("SM-72")
async def test_a_fork_of_an_older_version_has_the_overrides_of_now(room: SessionRoom) -> None:
    await room.start()
    await room.configure(use=False)
    older = (await room.session()).head
    await room.remember("venue")
    await room.configure(use=None, generate=False)
    await room.fork("ses_42", at=older)
    memory = await room.memory("ses_42")
    assert memory.overrides == {"generate": False}
    assert memory.entries == {}


@pytest.mark.req("SM-73", "SM-118")
async def test_after_a_return_what_followed_is_neither_read_nor_cited(room: SessionRoom) -> None:
    world = room.world
    await room.start()
    await room.say("i-11")
    await room.say("i-12")
    await room.restore(room.heads["i-11"])
    session = await room.session()
    async with world.deps.store.reading() as reader:
        assert [local_part(i.id) for i in await unread_items(reader, session.id)] == ["i-11"]
        assert [local_part(i.id) for i in await items_of(reader, session, ["i-12", "i-11", "i-01"])] == ["i-01", "i-11"]
    await room.say("i-13")
    assert (await room.session()).depth == 12
    await room.restore(room.heads["i-12"])
    async with world.deps.store.reading() as reader:
        assert [local_part(i.id) for i in await unread_items(reader, session.id)] == ["i-11", "i-12"]


@pytest.mark.req("SM-98", "SM-121")
async def test_unread_items_come_oldest_first_and_at_most_200(room: SessionRoom) -> None:
    session = await room.make()
    await write_long(room, session, 250)
    async with room.world.deps.store.reading() as reader:
        unread = await unread_items(reader, session.id)
        assert [local_part(item.id) for item in unread] == [f"i-{n}" for n in range(200)]


async def write_long(room: SessionRoom, session: Session, count: int) -> list[SessionItem]:
    """Write a long history at once, as if a host had appended item by item."""
    items = []
    head = session.root_head
    for n in range(count):
        items.append(
            SessionItem(
                id=item_id(session, f"i-{n}"),
                workspace=session.workspace,
                pool=session.id,
                created_at=session.created_at,
                session_id=session.id,
                type="person_message",
                text=f"said {n}",
                occurred_at=session.created_at,
                head=f"v-{n}",
                parent=head,
                depth=n + 1,
            )
        )
        head = items[-1].head

    async def work(writer: Writer) -> None:
        await put_in(writer, session, items)
        await writer.patch(session.id, {"head": head, "depth": count})

    await room.world.deps.store.transact(work)
    return items


@pytest.mark.req("SM-70", "SM-73")
async def test_a_long_session_forks_and_returns_whole(room: SessionRoom, engine: str) -> None:
    count = LONG if engine == "embedded" else 700
    session = await room.make()
    await write_long(room, session, count)
    read = [f"i-{n}" for n in range(count - 10)]
    await room.learn(FactState(key="k", content="c", kind="fact", sources=("i-0", "i-1")), processed=read)
    await room.fork("ses_42", at=f"v-{count - 5}")
    copy, source = await room.memory("ses_42"), await room.memory()
    # What was learned belongs to the last version, which the fork does not have.
    assert (copy.session.depth, copy.processed, copy.entries) == (count - 4, (), {})
    assert source.processed == tuple(read)
    await room.fork("ses_43")
    assert (await room.memory("ses_43")).processed == tuple(read)
    await room.restore("v-9")
    assert (await room.session()).depth == 10
    assert (await room.memory()).processed == ()
    await room.restore(f"v-{count - 1}")
    back = await room.memory()
    assert (back.processed, dict(back.entries)) == (tuple(read), dict(source.entries))


@pytest.mark.req("SM-70")
async def test_a_fork_copies_what_leads_to_its_version_alone(room: SessionRoom) -> None:
    world = room.world
    await room.start()
    older = (await room.session()).head
    await room.remember("venue", "one")
    await room.restore(older)
    await room.remember("venue", "two")
    fork = await room.fork("ses_42")
    async with world.deps.store.reading() as reader:
        items = await all_of(reader, SessionItem, fork.id)
        facts = await all_of(reader, SessionFact, fork.id)
        changes = await all_of(reader, SessionChange, fork.id)
        kept = await current_facts(reader, fork.id)
    assert len(items) == 11
    assert [fact.content for fact in facts] == ["two"]
    assert [change.facts for change in sorted(changes, key=lambda c: c.seq)] == [(), (kept["venue"].id,)]


@pytest.mark.req("AM-35")
async def test_items_of_a_fork_count_as_read_for_the_agent_if_they_were(room: SessionRoom) -> None:
    world, session = room.world, await room.make()
    read: NodeId = (await room.say("i-1")).id
    await room.say("i-2")
    await world.deps.store.transact(lambda writer: writer.patch(read, {"agent_read": True}))
    fork = await room.fork("ses_42")
    async with world.deps.store.reading() as reader:
        items = {local_part(i.id): i.agent_read for i in await all_of(reader, SessionItem, fork.id)}
    assert items == {"i-1": True, "i-2": False}
    assert session.id != fork.id
