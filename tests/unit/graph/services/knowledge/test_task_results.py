from __future__ import annotations

import pytest

from graph.model.errors import BadInput, LimitExceeded, NotFound, OperationRejected
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import KbKind
from graph.rules.ingest import Arrival
from graph.rules.pools import base_id
from graph.rules.task_results import StepOutcome, TaskResult, TaskState, TaskStep
from graph.services.access.session import Session, read
from graph.services.knowledge.conversations import close_conversation
from graph.services.knowledge.erasure import erase_source
from graph.services.knowledge.ingest import IngestReceipt
from graph.services.knowledge.task_results import record_task_result
from graph.services.knowledge.withdrawal import withdraw_source
from graph.text.quotes import normalise_source
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import ask, run, sees

STEPS = (
    TaskStep(action="open the kiln", outcome=StepOutcome.ERROR, text="The door\r\nis stuck.\r"),
    TaskStep(action="oil the hinge", outcome=StepOutcome.OK, text="Cafe\u0301 oil did it."),
)


def result(task: str = "t1", final: str = "The kiln opens again.", steps: tuple[TaskStep, ...] = STEPS) -> TaskResult:
    return TaskResult(task_id=task, state=TaskState.SUCCEEDED, steps=steps, final=final)


async def record(world: TeamWorld, who: NodeId, made: TaskResult, **where: NodeId) -> IngestReceipt:
    return await run(world, who, lambda cmd: record_task_result(cmd, made, **where))


async def source_of(world: TeamWorld, receipt: IngestReceipt, who: NodeId) -> Source:
    return await ask(world, who, lambda s: s.open_one(receipt.source_ids[0], Source))


@pytest.mark.req("KN-66")
async def test_steps_and_answer_stay_apart_by_offset(world: TeamWorld) -> None:
    conversation = await world.open(world.ops)
    source = await source_of(
        world, await record(world, world.host, result(), conversation_id=conversation.id), world.ben
    )
    text = normalise_source(source.text)
    assert source.meta["state"] == "succeeded"
    parts = [(s["action"], s["outcome"], text[s["start"] : s["end"]]) for s in source.meta["steps"]]
    assert parts == [
        ("open the kiln", "error", "The door\nis stuck.\n"),
        ("oil the hinge", "ok", "Caf\u00e9 oil did it."),
    ]
    assert text[source.meta["final"]["start"] : source.meta["final"]["end"]] == "The kiln opens again."


@pytest.mark.req("KN-66", "KN-52")
async def test_it_belongs_to_the_base_of_its_conversation(world: TeamWorld) -> None:
    chat = await world.open(world.chat)
    source_id = (await record(world, world.host, result(), conversation_id=chat.id)).source_ids[0]
    assert await sees(world, world.ana, source_id)
    assert not await sees(world, world.ben, source_id)


@pytest.mark.req("KN-66", "DR-34")
async def test_without_a_conversation_it_belongs_to_the_agents_own_base(world: TeamWorld) -> None:
    for who, named in ((world.host, {"agent_id": world.atlas}), (world.atlas, {})):
        receipt = await record(world, who, result(f"t-{who}"), **named)
        source = await source_of(world, receipt, world.ben)
        assert source.pool == base_id(world.name, world.atlas, KbKind.AGENT)
        assert source.author_id == world.atlas


@pytest.mark.req("KN-66", "KN-64")
async def test_the_same_result_twice_is_one_and_another_is_a_new_version(world: TeamWorld) -> None:
    first = await record(world, world.host, result(), agent_id=world.atlas)
    again = await record(world, world.host, result(), agent_id=world.atlas)
    assert (again.source_ids, again.arrivals) == (first.source_ids, (Arrival.UNCHANGED,))
    turned = (STEPS[0], TaskStep(action="oil the hinge", outcome=StepOutcome.ERROR, text=STEPS[1].text))
    later = await record(world, world.host, result(steps=turned), agent_id=world.atlas)
    assert later.arrivals == (Arrival.NEW_VERSION,)
    old, new = await source_of(world, first, world.ben), await source_of(world, later, world.ben)
    assert (new.version, new.series, new.latest, old.latest) == (2, old.series, True, False)


@pytest.mark.req("KN-51")
async def test_a_closed_conversation_takes_no_result(world: TeamWorld) -> None:
    conversation = await world.open(world.ops)
    await run(world, world.host, lambda cmd: close_conversation(cmd, conversation.id))
    with pytest.raises(OperationRejected) as refused:
        await record(world, world.host, result(), conversation_id=conversation.id)
    assert refused.value.rule_code == "CONVERSATION_CLOSED"


@pytest.mark.req("AD-15", "KN-60")
async def test_to_all_but_hosts_and_the_agent_the_place_does_not_exist(world: TeamWorld) -> None:
    conversation = await world.open(world.ops)
    for who in (world.ana, world.ben, world.eve, world.cleo):
        for where in ({"conversation_id": conversation.id}, {"agent_id": world.atlas}):
            with pytest.raises(NotFound):
                await record(world, who, result(), **where)
    with pytest.raises(NotFound):
        await record(world, world.host, result(), agent_id=world.ana)


@pytest.mark.req("KN-66")
async def test_a_result_without_place_task_or_bounds_is_refused(world: TeamWorld) -> None:
    with pytest.raises(BadInput):
        await record(world, world.host, result())
    with pytest.raises(BadInput):
        await record(world, world.host, result(task=" "), agent_id=world.atlas)
    with pytest.raises(LimitExceeded):
        await record(world, world.host, result(final="x" * 200_001), agent_id=world.atlas)


async def test_an_empty_result_has_empty_parts(world: TeamWorld) -> None:
    made = TaskResult(task_id="t", state=TaskState.CANCELLED)
    source = await source_of(world, await record(world, world.host, made, agent_id=world.atlas), world.ben)
    assert source.meta == {"state": "cancelled", "steps": [], "final": {"start": 0, "end": 0}}


async def test_an_auditor_reads_it_like_any_source(world: TeamWorld) -> None:
    chat = await world.open(world.chat)
    receipt = await record(world, world.host, result(), conversation_id=chat.id)

    async def work(session: Session) -> Source:
        return await session.open_one(receipt.source_ids[0], Source)

    _, session = await read(world.deps, world.caller(world.cleo), work)
    assert session.recorded == {chat.pool}


@pytest.mark.req("KN-66", "KN-62", "KN-81")
async def test_another_result_of_a_withdrawn_or_erased_task_shows_nothing(world: TeamWorld) -> None:
    first = (await record(world, world.host, result(), agent_id=world.atlas)).source_ids[0]
    await run(world, world.host, lambda cmd: withdraw_source(cmd, first, None))
    later = await record(world, world.host, result(final="It fell off."), agent_id=world.atlas)
    assert not await sees(world, world.ben, later.source_ids[0])
    await run(world, world.dan, lambda cmd: erase_source(cmd, first, "asked to"))
    last = await record(world, world.host, result(final="It is new."), agent_id=world.atlas)
    assert (last.arrivals, last.source_ids) == ((Arrival.UNCHANGED,), later.source_ids)
