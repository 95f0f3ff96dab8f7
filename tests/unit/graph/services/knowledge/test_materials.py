from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest

from graph.model.access import SystemScope
from graph.model.errors import BadInput, BadState, LimitExceeded, NotFound, OperationRejected
from graph.model.ids import NodeId
from graph.model.nodes.evidence import LearningState, Source
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.people import SettingValue
from graph.model.nodes.work import Job
from graph.rules.pools import base_id
from graph.services.access.agents import create_agent
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.materials import (
    PreparedFile,
    download,
    job_of,
    prepare_file,
    replace_material,
    retry_learning,
    submit_file,
)
from graph.services.knowledge.restore import restore
from graph.store.query import Find
from tests.support.clock import FakeClock
from tests.support.operations import apply, block, cite, create, edit, made, outcomes
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import ask, run, sees

SYSTEM = SystemScope(reason="test")
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


@pytest.fixture
async def kb(world: TeamWorld) -> NodeId:
    """The private base of Ana's chat with Atlas."""
    conversation = await world.open(world.chat)
    assert conversation.pool is not None
    return conversation.pool


async def prepare(world: TeamWorld, kb: NodeId, data: bytes, who: NodeId | None = None) -> PreparedFile:
    return await prepare_file(world.deps, world.caller(who or world.ana), kb, data, filename="plan.txt")


async def submit(world: TeamWorld, kb: NodeId, data: bytes = b"The kiln is hot.") -> Source:
    file = await prepare(world, kb, data)
    return await run(world, world.ana, lambda cmd: submit_file(cmd, kb, file))


async def job(world: TeamWorld, source: Source) -> Job:
    async with world.deps.store.reading() as reader:
        found = await job_of(reader, source.id)
    assert found is not None
    return found


async def patch(world: TeamWorld, node: NodeId, **fields: object) -> None:
    await world.deps.store.transact(lambda writer: writer.patch(node, fields))


@pytest.mark.req("MA-3", "MA-4", "MA-6")
async def test_a_file_is_kept_unchanged_and_queued_in_one_step(world: TeamWorld, kb: NodeId) -> None:
    data = b"The kiln is hot.\r\n\x00"[:-1]
    source = await submit(world, kb, data)
    assert source.learning_state == LearningState.QUEUED
    made = await job(world, source)
    assert (made.kind, made.state, made.subject_id) == ("learn_material", "queued", source.id)
    found = await ask(world, world.ana, lambda s: download(s, source.id))
    assert await world.deps.blobs.read(found.sha256) == data
    assert (found.filename, found.size_bytes) == ("plan.txt", len(data))


@pytest.mark.req("MA-3")
async def test_bytes_are_durable_before_a_row_names_them(world: TeamWorld, kb: NodeId) -> None:
    file = await prepare(world, kb, b"The kiln is hot.")
    assert await world.deps.blobs.exists(file.blob.sha256)
    await world.deps.blobs.delete(file.blob.sha256)
    with pytest.raises(BadState):
        await run(world, world.ana, lambda cmd: submit_file(cmd, kb, file))
    async with world.deps.store.reading() as reader:
        assert not (await reader.find(SYSTEM, Find(kind=Job))).nodes


@pytest.mark.req("MA-5")
async def test_equal_bytes_in_a_base_are_the_same_material(world: TeamWorld, kb: NodeId) -> None:
    first, again = await submit(world, kb), await submit(world, kb)
    assert first.id == again.id
    own = base_id(world.name, world.atlas, KbKind.AGENT)
    await world.say(world.ops, "x")
    await run(world, world.dan, lambda cmd: create_agent(cmd, "Borea", local_id="borea"))
    other = base_id(world.name, NodeId(f"prn_{world.name}/agent/borea"), KbKind.AGENT)
    assert own != other
    file = await prepare(world, other, b"The kiln is hot.", world.dan)
    elsewhere = await run(world, world.dan, lambda cmd: submit_file(cmd, other, file))
    assert elsewhere.id != first.id


@pytest.mark.req("MA-5")
async def test_an_unsupported_type_is_stored_and_its_learning_fails(world: TeamWorld, kb: NodeId) -> None:
    source = await submit(world, kb, PNG)
    assert (source.learning_state, source.learning_code) == ("failed", "UNSUPPORTED_TYPE")
    assert (await job(world, source)).state == "failed"
    found = await ask(world, world.ana, lambda s: download(s, source.id))
    assert await world.deps.blobs.read(found.sha256) == PNG


@pytest.mark.req("MA-5")
async def test_too_many_bytes_are_refused_before_they_are_kept(world: TeamWorld, kb: NodeId) -> None:
    small = SettingValue(
        id=NodeId("set_x"),
        workspace=world.workspace,
        created_at=world.deps.now(),
        scope_id=world.node,
        name="materials.max_bytes",
        value=10,
    )
    await world.deps.store.transact(lambda writer: writer.put([small]))
    await prepare(world, kb, b"x" * 10)
    with pytest.raises(LimitExceeded) as refused:
        await prepare(world, kb, b"y" * 11)
    assert refused.value.details["limit"] == 10
    assert len([sha async for sha, _ in world.deps.blobs.list()]) == 1


@pytest.mark.req("MA-14")
@pytest.mark.parametrize("kb_id", ["", " ", "*", "knb_*"])
async def test_a_submission_without_an_explicit_scope_is_refused(world: TeamWorld, kb: NodeId, kb_id: str) -> None:
    with pytest.raises(BadInput):
        await prepare(world, NodeId(kb_id), b"x")
    file = await prepare(world, kb, b"x")
    with pytest.raises(BadInput):
        await run(world, world.ana, lambda cmd: submit_file(cmd, NodeId(kb_id), file))


@pytest.mark.req("KN-58", "KN-60")
async def test_who_does_not_see_the_base_gets_the_answer_for_an_unknown_one(world: TeamWorld, kb: NodeId) -> None:
    for who in (world.ben, world.eve, world.dan):
        for named in (kb, NodeId(f"{kb}-unknown")):
            with pytest.raises(NotFound) as refused:
                await prepare(world, named, b"x", who)
            assert str(refused.value) == str(NotFound())
    assert not [sha async for sha, _ in world.deps.blobs.list()]


@pytest.mark.req("KN-58")
async def test_who_reads_but_may_not_write_is_told_so(world: TeamWorld, kb: NodeId) -> None:
    with pytest.raises(OperationRejected) as refused:
        await prepare(world, kb, b"x", world.cleo)
    assert refused.value.rule_code == "SCOPE_FORBIDDEN"


@pytest.mark.req("KN-39")
async def test_the_owner_that_was_named_must_be_the_owner(world: TeamWorld, kb: NodeId) -> None:
    file = await prepare(world, kb, b"x")
    with pytest.raises(NotFound):
        await run(world, world.ana, lambda cmd: submit_file(cmd, kb, file, owner_id=world.ana))
    await run(world, world.ana, lambda cmd: submit_file(cmd, kb, file, owner_id=world.atlas))


@pytest.mark.req("MA-10", "KN-64")
async def test_a_replaced_file_is_a_new_version_that_is_learned_instead(world: TeamWorld, kb: NodeId) -> None:
    old = await submit(world, kb)
    file = await prepare(world, kb, b"The kiln is cold.")
    new = await run(world, world.ana, lambda cmd: replace_material(cmd, old.id, file))
    assert (new.version, new.series, new.latest) == (2, old.id, True)
    before = await ask(world, world.ana, lambda s: s.open_one(old.id, Source))
    assert (before.latest, before.learning_code, before.text) == (False, "SUPERSEDED", old.text)
    assert [(await job(world, s)).state for s in (old, new)] == ["failed", "queued"]
    with pytest.raises(BadState):
        await run(world, world.ana, lambda cmd: replace_material(cmd, old.id, file))


@pytest.mark.req("MA-10")
async def test_equal_bytes_replace_nothing(world: TeamWorld, kb: NodeId) -> None:
    old = await submit(world, kb)
    file = await prepare(world, kb, b"The kiln is hot.")
    assert (await run(world, world.ana, lambda cmd: replace_material(cmd, old.id, file))).id == old.id


@pytest.mark.req("KN-60")
async def test_nobody_else_replaces_or_retries(world: TeamWorld, kb: NodeId) -> None:
    source = await submit(world, kb, PNG)
    file = await prepare(world, kb, b"x")
    for who in (world.ben, world.eve, world.dan):
        with pytest.raises(NotFound):
            await run(world, who, lambda cmd: replace_material(cmd, source.id, file))
        with pytest.raises(NotFound):
            await run(world, who, lambda cmd: retry_learning(cmd, source.id))
        assert not await sees(world, who, source.id)
        with pytest.raises(NotFound):
            await ask(world, who, lambda s: download(s, source.id))


@pytest.mark.req("MA-3", "MA-6")
async def test_a_failed_task_is_retried_without_a_new_upload(world: TeamWorld, kb: NodeId) -> None:
    source = await submit(world, kb, PNG)
    before = await job(world, source)
    again = await run(world, world.ana, lambda cmd: retry_learning(cmd, source.id))
    assert (again.learning_state, again.learning_code, again.blob_ref) == ("queued", None, source.blob_ref)
    after = await job(world, source)
    assert (after.id, after.state, after.attempts) == (before.id, "queued", 0)
    assert after.fence > before.fence


@pytest.mark.req("MA-6", "MA-26")
async def test_only_a_failed_or_stuck_task_is_retried(world: TeamWorld, kb: NodeId, clock: FakeClock) -> None:
    source = await submit(world, kb)
    running = await job(world, source)
    await patch(world, running.id, state="running", heartbeat_at=world.deps.now())
    await patch(world, source.id, learning_state="running")
    clock.advance(timedelta(minutes=29))
    with pytest.raises(BadState):
        await run(world, world.ana, lambda cmd: retry_learning(cmd, source.id))
    clock.advance(timedelta(minutes=1))
    assert (await run(world, world.ana, lambda cmd: retry_learning(cmd, source.id))).learning_state == "queued"
    await patch(world, source.id, learning_state="succeeded")
    await patch(world, running.id, state="succeeded")
    with pytest.raises(BadState):
        await run(world, world.ana, lambda cmd: retry_learning(cmd, source.id))


async def test_a_message_is_no_material(world: TeamWorld) -> None:
    message = await world.say(world.ops, "The kiln is hot.")
    with pytest.raises(NotFound):
        await run(world, world.ana, lambda cmd: retry_learning(cmd, message))
    with pytest.raises(NotFound):
        await ask(world, world.ana, lambda s: download(s, message))


@pytest.mark.req("MA-9", "MA-10", "KN-64")
async def test_what_cites_the_old_version_is_stale_until_it_cites_the_new_one(world: TeamWorld) -> None:
    kb = (await world.open(world.ops)).pool
    assert kb is not None
    old = await submit(world, kb)
    result = await apply(world, create("Kiln", block("The kiln is hot.", cite(old.id, "The kiln is hot"))))

    async def stale() -> list[bool]:
        views = (await ask(world, world.ben, lambda s: blocks_of(s, [made(result)])))[made(result)]
        return [view.current.stale for view in views if view.current]

    assert await stale() == [False]
    file = await prepare(world, kb, b"The kiln is hot. So is the yard.")
    new = await run(world, world.ana, lambda cmd: replace_material(cmd, old.id, file))
    assert await stale() == [True]
    block_id = made(result, 0, 1)
    fresh = block("The kiln is hot.", cite(old.id, "The kiln is hot"), cite(new.id, "The kiln is hot"))
    await apply(world, edit(block_id, 1, fresh))
    assert await stale() == [False]


@pytest.mark.req("MA-10", "KN-23")
async def test_what_cites_the_old_version_is_stale_until_a_person_confirms_it(
    world: TeamWorld, clock: FakeClock
) -> None:
    """He edits the block and leaves its words as they are; the next version of the file asks anew."""
    kb = (await world.open(world.ops)).pool
    assert kb is not None
    old = await submit(world, kb)
    result = await apply(world, create("Kiln", block("The kiln is hot.", cite(old.id, "The kiln is hot"))))
    entry, block_id = made(result), made(result, 0, 1)

    async def shown() -> list[tuple[bool, int]]:
        views = (await ask(world, world.ben, lambda s: blocks_of(s, [entry])))[entry]
        return [(view.current.stale, view.current.node.version) for view in views if view.current]

    same = block("The kiln is hot.")
    assert outcomes(await apply(world, edit(block_id, 1, same), by=world.ana, kb=kb)) == ["noop"]
    for number, text in enumerate((b"The kiln is warm.", b"The kiln is cold."), start=1):
        clock.advance(timedelta(minutes=1))
        replaced = partial(replace_material, material_id=old.id, file=await prepare(world, kb, text))
        old = await run(world, world.ana, replaced)
        assert await shown() == [(True, number)]
        clock.advance(timedelta(minutes=1))
        moved = edit(block_id, number, same, after=block_id)
        assert outcomes(await apply(world, moved, by=world.ana, kb=kb)) == ["noop"]
        confirmed = await apply(world, edit(block_id, number, same), by=world.ana, kb=kb, reason="still so")
        assert outcomes(confirmed) == ["accepted"]
        assert [record.operation for record in confirmed.records] == ["block.edit"]
        assert await shown() == [(False, number + 1)]
    records = [confirmed.records[0].id]
    await run(world, world.ana, lambda cmd: restore(cmd, records, reason="not any more"))
    assert await shown() == [(True, 4)]
