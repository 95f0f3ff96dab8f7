"""What hosts report of sessions: inside their object alone, audited with whom they named."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from graph.model.edges import Edge, EdgeType
from graph.model.errors import AlreadyExists, BadInput, Forbidden, MissingObject, NotFound
from graph.model.ids import NodeId, hosted_id, local_part
from graph.model.nodes.people import Principal, Right
from graph.model.nodes.sessions import ItemType, SessionItem
from graph.model.nodes.work import AuditRecord
from graph.rules.audit_chain import SealedAudit
from graph.rules.audit_following import verify_chain
from graph.rules.session_memory import Seen
from graph.services.access.commands import Command, command
from graph.services.sessions.commands import configure
from graph.services.sessions.host import NewItem, append_item, create_session, fork_session, restore_version
from graph.services.sessions.state import MEMORY
from graph.services.sessions.turns import begin_turn, queue_turn
from graph.store.query import By, Eq, Find
from tests.support.session_room import SessionRoom
from tests.unit.graph.services.asking import sees

Work = Callable[[Command], Awaitable[Any]]


def host_work(room: SessionRoom, session: NodeId) -> list[Work]:
    """Return one call of each host operation on a session."""
    item = NewItem(type="agent_message", text="x", occurred_at=room.world.deps.now())
    return [
        lambda cmd: append_item(cmd, session, item),
        lambda cmd: fork_session(cmd, session, "v-0", local_id="fork"),
        lambda cmd: restore_version(cmd, session, "v-0"),
        lambda cmd: queue_turn(cmd, session, "t-1"),
        lambda cmd: begin_turn(cmd, session, "t-1"),
    ]


@pytest.mark.req("SM-123", "SM-126", "AD-2")
async def test_a_session_and_its_items_keep_the_ids_and_words_of_the_host(room: SessionRoom) -> None:
    world = room.world
    made = await room.make(model="quick", review=True)
    assert (local_part(made.id), made.agent_id, made.model, made.review) == ("ses_41", world.atlas, "quick", True)
    item = await room.say("i-1", "Hello.", type="tool_result", person_id=None)
    async with world.deps.store.reading() as reader:
        [kept] = (await reader.find(MEMORY, Find(kind=SessionItem, where=Eq("session_id", made.id)))).nodes
    assert kept == item
    assert (local_part(kept.id), kept.type, kept.person_id, kept.text) == ("i-1", "tool_result", None, "Hello.")
    assert kept.created_at == world.deps.now()


@pytest.mark.req("SM-25")
async def test_each_item_is_a_new_head_and_one_revision_more(room: SessionRoom) -> None:
    heads = [(await room.make()).head]
    for number in range(1, 4):
        item = await room.say(f"i-{number}")
        session = await room.session()
        assert (session.revision, session.head) == (number, item.head)
        heads.append(session.head)
    assert len(set(heads)) == 4


@pytest.mark.req("SM-126")
async def test_only_commands_make_edit_items_and_unknown_types_are_refused(room: SessionRoom) -> None:
    await room.make()
    for type_ in (ItemType.MEMORY_EDIT, "thought", ""):
        with pytest.raises(BadInput):
            await room.say("i-1", type=type_)
    for type_ in set(ItemType) - {ItemType.MEMORY_EDIT}:
        await room.say(f"i-{type_}".replace("_", "-"), type=str(type_))
    assert (await room.session()).revision == 5


@pytest.mark.req("AD-2")
async def test_an_id_is_taken_once_in_its_session(room: SessionRoom) -> None:
    await room.make()
    await room.make("ses_42")
    await room.say("i-1")
    await room.say("i-1", local="ses_42")
    with pytest.raises(AlreadyExists):
        await room.say("i-1")
    with pytest.raises(AlreadyExists):
        await room.make()
    for bad in ("", "a/b", "x" * 129):
        with pytest.raises(BadInput):
            await room.make(bad)
        with pytest.raises(BadInput):
            await room.say(bad)


@pytest.mark.req("AD-6", "SM-60")
async def test_its_person_needs_no_grant_and_nobody_else_gets_one(room: SessionRoom) -> None:
    world = room.world
    made = await room.make()
    item = await room.say("i-1")
    await room.remember("venue")
    fact = (await room.memory()).entries["venue"]
    for node in (made.id, item.id, fact.id):
        assert await sees(world, world.ana, node)
        for other in (world.ben, world.cleo, world.dan, world.eve, world.host, world.atlas):
            assert not await sees(world, other, node)


@pytest.mark.req("AD-15")
async def test_who_is_no_host_reports_nothing_and_learns_nothing(room: SessionRoom) -> None:
    world = room.world
    made = await room.make()
    for who in (world.ana, world.ben, world.cleo, world.atlas):
        for session in (made.id, room.id("nope")):
            for work in host_work(room, session):
                with pytest.raises(Forbidden):
                    await command(world.deps, world.caller(who), work)
        with pytest.raises(Forbidden):
            await command(world.deps, world.caller(who), lambda cmd: create_session(cmd, agent_id=world.atlas))
    assert (await room.session()).revision == 0


@pytest.mark.req("AD-15")
async def test_a_host_of_an_organization_reports_inside_it_alone(room: SessionRoom) -> None:
    world = room.world
    inside, outside = await room.organization(), await room.organization()
    await world.grant(world.eve, Right.HOST, inside.id)
    eve = world.caller(world.eve)

    async def link(*edges: Edge) -> None:
        await world.deps.store.transact(lambda writer: writer.link(edges))

    async def create(**fields: Any) -> Any:
        given = {"agent_id": world.atlas, "organization_id": inside.id, **fields}
        return await command(world.deps, eve, lambda cmd: create_session(cmd, **given))

    unknown = hosted_id(Principal.PREFIX, world.name, "nobody", container="human")
    # Nobody and nothing is inside yet: what exists outside answers like what does not exist.
    for fields in ({}, {"agent_id": unknown}, {"organization_id": outside.id}, {"organization_id": NodeId("org_w//x")}):
        with pytest.raises(NotFound):
            await create(**fields)
    await link(Edge(type=EdgeType.SERVES, source=world.atlas, target=inside.id))
    for person in (world.ana, unknown, world.atlas):
        with pytest.raises(NotFound):
            await create(person_id=person)
    await link(Edge(type=EdgeType.MEMBER_OF, source=world.ana, target=inside.id))
    made = await create(person_id=world.ana, local_id="ses_in")
    item = NewItem(type="person_message", text="x", occurred_at=world.deps.now(), person_id=world.ana)
    await command(world.deps, eve, lambda cmd: append_item(cmd, made.id, item))
    # Sessions outside, of no organization and unknown ones are all the same to him.
    await room.make("ses_out", organization_id=outside.id)
    await room.make("ses_none")
    for local in ("ses_out", "ses_none", "nope"):
        for work in host_work(room, room.id(local)):
            with pytest.raises(MissingObject) as refused:
                await command(world.deps, eve, work)
            assert refused.value.wire_code == "SessionNotFound"


@pytest.mark.req("AD-15")
async def test_agents_persons_and_organizations_must_be_there(room: SessionRoom) -> None:
    world = room.world
    for fields in (
        {"agent_id": world.ana},
        {"agent_id": NodeId("prn_w/agent/x")},
        {"person_id": world.atlas},
        {"person_id": NodeId("prn_w/human/x")},
        {"organization_id": NodeId("org_w//x")},
        {"organization_id": world.ana},
    ):
        with pytest.raises(NotFound):
            await room.make(**fields)


@pytest.mark.req("SM-70")
@pytest.mark.parametrize("head", ["v-0", "", "x" * 500])
async def test_an_unknown_version_is_not_found(room: SessionRoom, head: str) -> None:
    await room.make()
    other = await room.make("ses_42")
    for version in (head, other.head):
        for call in (room.restore(version), room.fork("f", at=version)) if version else (room.restore(version),):
            with pytest.raises(MissingObject) as refused:
                await call
            assert refused.value.wire_code == "VersionNotFound"


@pytest.mark.req("AD-16", "AD-26", "AD-27", "SM-127")
async def test_every_step_is_audited_with_host_and_person_and_without_content(room: SessionRoom) -> None:
    world = room.world
    await room.make()
    await room.say("i-1", "secret words")
    await room.remember("secretkey", "secret content")
    await room.configure(use=False)
    await room.learn(processed=["i-1"])
    await room.begin("t-1")
    await room.complete("t-1")
    await room.restore(room.heads["i-1"])
    records = await chain_of(room)
    told = [(r.operation, local_part(r.actor_id), r.on_behalf_of and local_part(r.on_behalf_of)) for r in records]
    assert told == [
        ("session.create", "chat", "ana"),
        ("session.append", "chat", "ana"),
        ("session.remember", "ana", None),
        ("session.configure", "ana", None),
        ("session.learn", "atlas", None),
        ("turn.running", "chat", "ana"),
        ("turn.completed", "chat", "ana"),
        ("session.restore", "chat", None),
    ]
    assert "secret" not in repr(records)
    assert verify_chain([SealedAudit.from_node(r) for r in records]).ok
    session = await room.session()
    assert (session.audit_seq, session.audit_head) == (records[-1].seq, records[-1].hash)
    assert [await sees(world, who, records[1].id) for who in (world.ana, world.ben, world.cleo, world.dan)] == [
        True,
        False,
        False,
        False,
    ]


async def chain_of(room: SessionRoom, local: str = "ses_41") -> list[AuditRecord]:
    """Return the audit records of a session in order."""
    async with room.world.deps.store.reading() as reader:
        query = Find(kind=AuditRecord, where=Eq("pool", room.id(local)), order=By("seq"))
        return list((await reader.find(MEMORY, query)).nodes)


@pytest.mark.req("SM-38", "SM-39")
async def test_an_edit_is_kept_as_an_item_that_is_read_already(room: SessionRoom) -> None:
    world = room.world
    await room.make()
    await room.remember("venue", "Porto.", kind="decision")
    await room.forget("venue")
    async with world.deps.store.reading() as reader:
        query = Find(kind=SessionItem, where=Eq("session_id", room.id("ses_41")), order=By("depth"))
        first, second = (await reader.find(MEMORY, query)).nodes
    assert first.edit == {"command": "Remember", "key": "venue", "content": "Porto.", "kind": "decision"}
    assert second.edit == {"command": "Forget", "key": "venue"}
    for item in (first, second):
        assert (item.type, item.person_id, item.text, item.processed) == ("memory_edit", world.ana, "", True)
        assert item.created_at == world.deps.now()


@pytest.mark.req("AD-16")
async def test_what_a_service_edits_by_a_grant_names_no_person(room: SessionRoom) -> None:
    world = room.world
    await room.make()
    await world.grant(world.host, Right.WRITE, room.id("ses_41"))
    seen = await room.seen()
    assert seen == Seen(head=seen.head, revision=0)
    await room.host(lambda cmd: configure(cmd, room.id("ses_41"), seen, {"use": False}))
    [*_, record] = await chain_of(room)
    assert (record.actor_id, record.on_behalf_of) == (world.host, None)
