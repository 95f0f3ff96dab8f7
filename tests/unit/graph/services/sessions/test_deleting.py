"""Deleting a session: nothing of it is left but its audit, and its id is never used again."""

from __future__ import annotations

import pytest

from graph.model.errors import AlreadyExists, Forbidden, MissingObject
from graph.model.nodes.learning import ModelCall
from graph.model.nodes.people import Grant, Right
from graph.model.nodes.sessions import SessionChange, SessionFact, SessionItem, Turn
from graph.model.nodes.work import AdminRecord, AuditRecord, Job
from graph.services.access.commands import command
from graph.services.learning.jobs import enqueue
from graph.services.sessions.deleting import delete_session
from graph.services.sessions.state import MEMORY, item_id
from graph.store.port import Writer
from graph.store.query import By, Eq, Find
from graph.store.sealing import Place
from tests.support.session_room import SessionRoom


@pytest.mark.req("AD-19", "SM-14", "AM-39")
async def test_nothing_of_a_deleted_session_is_left_but_its_audit(room: SessionRoom) -> None:
    world = room.world
    await room.start()
    await room.remember("venue", "secret")
    await room.begin("t-1")
    await room.fork("ses_42")
    await world.grant(world.ben, Right.READ, room.id("ses_41"))
    gone = await room.as_ana(lambda cmd: delete_session(cmd, room.id("ses_41")))
    assert (gone.items, gone.facts, gone.turns) == (11, 1, 1)
    with pytest.raises(MissingObject):
        await room.memory()
    async with world.deps.store.reading() as reader:
        for kind, field in (
            (SessionItem, "session_id"),
            (SessionFact, "session_id"),
            (SessionChange, "session_id"),
            (Turn, "place_id"),
            (Grant, "object_id"),
        ):
            assert not (await reader.find(MEMORY, Find(kind=kind, where=Eq(field, room.id("ses_41"))))).nodes
        chain = Find(kind=AuditRecord, where=Eq("pool", room.id("ses_41")), order=By("seq", descending=True), first=1)
        [last] = (await reader.find(MEMORY, chain)).nodes
        admin = (await reader.find(MEMORY, Find(kind=AdminRecord, where=Eq("target_id", room.id("ses_41"))))).nodes
    assert last.operation == "session.delete"
    assert [(r.operation, r.codes) for r in admin] == [("session.delete", {"seq": last.seq, "hash": last.hash})]
    # The fork stands alone.
    assert (await room.memory("ses_42")).entries["venue"].content == "secret"


@pytest.mark.req("AD-19", "AD-2")
async def test_the_id_of_a_deleted_session_stays_taken(room: SessionRoom) -> None:
    await room.make()
    await room.host(lambda cmd: delete_session(cmd, room.id("ses_41")))
    with pytest.raises(AlreadyExists):
        await room.make()


@pytest.mark.req("AD-19")
async def test_who_may_write_deletes_and_the_host_and_nobody_else(room: SessionRoom) -> None:
    world = room.world
    await room.make()
    await world.grant(world.ben, Right.READ, room.id("ses_41"))
    for who in (world.ben, world.cleo, world.eve, world.atlas):
        for local in ("ses_41", "nope"):
            with pytest.raises(Forbidden):
                await command(world.deps, world.caller(who), lambda cmd, s=local: delete_session(cmd, room.id(s)))  # type: ignore[misc]
    with pytest.raises(MissingObject):
        await room.host(lambda cmd: delete_session(cmd, room.id("nope")))
    await room.host(lambda cmd: delete_session(cmd, room.id("ses_41")))


@pytest.mark.req("AD-19")
async def test_learning_that_is_due_is_cancelled_and_what_models_answered_is_blanked(room: SessionRoom) -> None:
    world = room.world
    session = await room.make()
    await room.say("i-1")
    now = world.deps.now()
    id_ = world.deps.new_id("mcl")
    place = Place(workspace=session.workspace, node=id_, field="answer")
    call = ModelCall(
        id=id_,
        workspace=session.workspace,
        created_at=now,
        call_key="k",
        purpose="learn_session",
        prompt="p",
        model="m",
        state="answered",
        answer=world.deps.vault.seal(place, "secret"),
        source_ids=(item_id(session, "i-1"),),
    )

    async def work(writer: Writer) -> None:
        await writer.put([call])
        await enqueue(
            writer,
            "learn_session",
            workspace=session.workspace,
            unique_key="j",
            due_at=now,
            now=now,
            subject=session.id,
        )

    await world.deps.store.transact(work)
    await room.host(lambda cmd: delete_session(cmd, session.id))
    async with world.deps.store.reading() as reader:
        [job] = (await reader.find(MEMORY, Find(kind=Job, where=Eq("subject_id", session.id)))).nodes
        kept = (await reader.get(MEMORY, [call.id]))[call.id]
    assert (job.state, job.last_error) == ("cancelled", "SESSION_DELETED")
    assert isinstance(kept, ModelCall)
    assert (kept.answer, kept.state) == (None, "erased")
