from __future__ import annotations

import pytest

from graph.model.access import SystemScope
from graph.model.errors import LimitExceeded, NotFound
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.work import AuditRecord
from graph.rules.ingest import Arrival, IncomingMessage
from graph.rules.task_results import TaskResult, TaskState
from graph.services.access.commands import command
from graph.services.access.workspaces import add_workspace
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.entries import entry
from graph.services.knowledge.erasure import erase_source
from graph.services.knowledge.ingest import IngestReceipt, ingest_messages
from graph.services.knowledge.projection import projection
from graph.services.knowledge.relations import relations
from graph.services.knowledge.task_results import record_task_result
from graph.services.knowledge.withdrawal import message_of, return_source, withdraw_source
from graph.services.search.search import memory_search
from graph.services.search.values import SearchQuestion
from graph.store.query import Eq, Find, Match, TextIndex
from tests.support.operations import add, apply, block, cite, create, made, relate
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import ask, run, sees

SYSTEM = SystemScope(reason="test")


async def withdraw(world: TeamWorld, source: NodeId, reason: str | None = None) -> AuditRecord | None:
    return await run(world, world.host, lambda cmd: withdraw_source(cmd, source, reason))


async def give_back(world: TeamWorld, source: NodeId) -> AuditRecord | None:
    return await run(world, world.host, lambda cmd: return_source(cmd, source, None))


async def found(world: TeamWorld, words: str, who: NodeId | None = None) -> list[str]:
    """Return the texts that a search by Ben, a reader and member, brings up."""
    question = SearchQuestion(query=words, owner_id=world.atlas)
    answer = await ask(world, who or world.ben, lambda s: memory_search(s, question))
    return [item.text for item in answer.items]


async def shown_blocks(world: TeamWorld, of: NodeId) -> list[str]:
    views = (await ask(world, world.ben, lambda s: blocks_of(s, [of])))[of]
    return [view.current.node.text for view in views if view.current]


class Kyoto:
    """Two people say the same of Mei; the entry cites both where it can."""

    def __init__(self, world: TeamWorld) -> None:
        self.world = world

    async def make(self) -> Kyoto:
        world = self.world
        self.s1 = await world.say(world.ops, "Mei leads the Kyoto office.", speaker=world.ben)
        self.s2 = await world.say(world.ops, "As I said, Mei leads the Kyoto office.", speaker=world.ana)
        one, two = cite(self.s1, "Mei leads the Kyoto office"), cite(self.s2, "Mei leads the Kyoto office")
        result = await apply(
            world,
            create("Mei", block("Mei leads the Kyoto office.", one), type="person", ref="mei"),
            add("mei", block("Mei is in charge in Kyoto.", two)),
            create("Kyoto office", block("The office is led by Mei.", one), type="organization", ref="office"),
            add("office", block("Mei is its head.", two)),
            relate("mei", "leads", "office", self.s1, "Mei leads the Kyoto office"),
            relate("mei", "leads", "office", self.s2, "Mei leads the Kyoto office"),
        )
        self.mei, self.office, self.relation = made(result, 0), made(result, 2), made(result, 4)
        return self


@pytest.fixture
async def kyoto(world: TeamWorld) -> Kyoto:
    return await Kyoto(world).make()


@pytest.mark.req("KN-62", "KN-29", "KN-124")
@pytest.mark.parametrize(("gone", "left"), [("s1", "s2"), ("s2", "s1")])
async def test_a_relation_lives_on_with_one_source_and_its_blocks_are_hidden(
    world: TeamWorld, kyoto: Kyoto, gone: str, left: str
) -> None:
    """Bug case 8: the order of the sources plays no part, and no dangling id is left."""
    await withdraw(world, getattr(kyoto, gone))
    [shown] = (await ask(world, world.ben, lambda s: relations(s, kyoto.mei, first=10))).items
    assert [c.source.id for c in shown.support.citations] == [getattr(kyoto, left)]
    assert len(await shown_blocks(world, kyoto.mei)) == 1
    text = await ask(world, world.ben, lambda s: projection(s, kyoto.mei))
    assert getattr(kyoto, gone) not in text
    assert "leads" in text


@pytest.mark.req("KN-62", "KN-60", "KN-67")
async def test_after_both_are_gone_nothing_is_left_to_any_reader(world: TeamWorld, kyoto: Kyoto) -> None:
    await withdraw(world, kyoto.s1)
    await withdraw(world, kyoto.s2)
    for who in (world.ana, world.ben, world.cleo):
        assert await found(world, "Mei Kyoto office", who) == []
        assert await ask(world, who, lambda s: entry(s, kyoto.mei)) is None
        for node in (kyoto.mei, kyoto.office, kyoto.relation, kyoto.s1, kyoto.s2):
            assert not await sees(world, who, node)


@pytest.mark.req("KN-62", "MA-24")
async def test_what_comes_back_brings_everything_back(world: TeamWorld, kyoto: Kyoto) -> None:
    before = await ask(world, world.ben, lambda s: projection(s, kyoto.mei))
    hits = sorted(await found(world, "Mei Kyoto office"))
    for source in (kyoto.s1, kyoto.s2):
        await withdraw(world, source)
    for source in (kyoto.s1, kyoto.s2):
        await give_back(world, source)
    assert await ask(world, world.ben, lambda s: projection(s, kyoto.mei)) == before
    assert sorted(await found(world, "Mei Kyoto office")) == hits


@pytest.mark.req("KN-62")
async def test_a_name_on_the_other_source_is_still_found_by_search(world: TeamWorld, kyoto: Kyoto) -> None:
    await withdraw(world, kyoto.s1)
    assert await ask(world, world.ben, lambda s: entry(s, kyoto.mei)) is not None
    assert any("Mei" in text for text in await found(world, "Mei"))


@pytest.mark.req("KN-67", "KN-64")
async def test_all_versions_of_an_edited_message_are_withdrawn(world: TeamWorld) -> None:
    conversation = await world.open(world.ops)
    ids: list[NodeId] = []
    for text in ("The code is MARMALADE.", "The code is secret."):
        message = IncomingMessage(external_id="x", sent_at=world.deps.now(), text=text, speaker_id=world.ana)
        receipt = await run(world, world.host, lambda c, m=message: ingest_messages(c, conversation.id, [m]))  # type: ignore[misc]
        ids += receipt.source_ids
    await withdraw(world, ids[1])
    for source in ids:
        assert not await sees(world, world.ben, source)


async def say_as(world: TeamWorld, external_id: str, text: str) -> IngestReceipt:
    conversation = await world.open(world.ops)
    message = IncomingMessage(external_id=external_id, sent_at=world.deps.now(), text=text, speaker_id=world.ana)
    return await run(world, world.host, lambda c: ingest_messages(c, conversation.id, [message]))


@pytest.mark.req("KN-67", "KN-64")
async def test_an_edit_that_arrives_after_the_withdrawal_stays_hidden_and_returns_with_the_rest(
    world: TeamWorld,
) -> None:
    first = (await say_as(world, "x", "The code is MARMALADE.")).source_ids[0]
    await withdraw(world, first)
    late = await say_as(world, "x", "The new code is MARMALADE.")
    assert late.arrivals == (Arrival.NEW_VERSION,)
    assert not await sees(world, world.ben, late.source_ids[0])
    assert await found(world, "marmalade") == []
    await give_back(world, late.source_ids[0])
    assert await sees(world, world.ben, first)
    assert any("new code" in text for text in await found(world, "marmalade"))


@pytest.mark.req("KN-81", "KN-64")
async def test_an_edit_of_an_erased_message_brings_no_words_back(world: TeamWorld) -> None:
    first = (await say_as(world, "x", "The code is MARMALADE.")).source_ids[0]
    await run(world, world.dan, lambda cmd: erase_source(cmd, first, "asked to"))
    late = await say_as(world, "x", "The new code is MARMALADE.")
    assert (late.arrivals, late.source_ids) == ((Arrival.UNCHANGED,), (first,))
    assert await found(world, "marmalade") == []


@pytest.mark.req("KN-65", "KN-66")
async def test_a_message_and_a_task_of_one_channel_may_have_the_same_id(world: TeamWorld) -> None:
    conversation = await world.open(world.ops)
    task = TaskResult(task_id="x", state=TaskState.SUCCEEDED, final="The kiln opens again.")
    done = await run(world, world.host, lambda c: record_task_result(c, task, conversation_id=conversation.id))
    said = await say_as(world, "x", "The code is MARMALADE.")
    assert said.arrivals == (Arrival.STORED,)
    gone = await run(world, world.host, lambda c: message_of(c, world.ops, "x"))
    await withdraw(world, gone)
    assert not await sees(world, world.ben, said.source_ids[0])
    assert await sees(world, world.ben, done.source_ids[0])


@pytest.mark.req("KN-67", "RE-9")
async def test_the_windows_of_the_neighbours_forget_the_message(world: TeamWorld) -> None:
    await world.say(world.ops, "First the greeting.")
    source = await world.say(world.ops, "The code is MARMALADE.")
    await world.say(world.ops, "Then the farewell.")
    question = Match(index=TextIndex.MESSAGE, words=("marmalad", "marmalade"))
    before = await ask(world, world.ben, lambda s: s.reader.match(s.viewer, question))
    assert len(before.hits) == 4
    await withdraw(world, source)
    after = await ask(world, world.ben, lambda s: s.reader.match(s.viewer, question))
    assert after.hits == ()
    async with world.deps.store.reading() as reader:
        assert (await reader.match(SYSTEM, question)).hits == ()
    await give_back(world, source)
    again = await ask(world, world.ben, lambda s: s.reader.match(s.viewer, question))
    assert {hit.id for hit in again.hits} == {hit.id for hit in before.hits}


@pytest.mark.req("KN-82", "KN-85")
async def test_each_turn_is_audited_once(world: TeamWorld) -> None:
    source = await world.say(world.ops, "The kiln is hot.")
    record = await withdraw(world, source, "said in the wrong room")
    assert record is not None
    assert (record.operation, record.actor_id, record.reason) == (
        "source.withdraw",
        world.host,
        "said in the wrong room",
    )
    assert await withdraw(world, source) is None
    back = await give_back(world, source)
    assert back is not None
    assert back.seq == record.seq + 1
    assert await give_back(world, source) is None


@pytest.mark.req("KN-116")
async def test_a_withdrawal_moves_the_access_version_of_the_pool(world: TeamWorld) -> None:
    source = await world.say(world.ops, "The kiln is hot.")

    async def version() -> int:
        async with world.deps.store.reading() as reader:
            [base] = (await reader.find(SYSTEM, Find(kind=KnowledgeBase, where=Eq("workspace", world.workspace)))).nodes
        return base.access_version

    start = await version()
    await withdraw(world, source)
    assert await version() == start + 1
    await give_back(world, source)
    assert await version() == start + 2


@pytest.mark.req("KN-60", "AD-15")
async def test_only_hosts_and_admins_withdraw_and_for_others_the_source_does_not_exist(world: TeamWorld) -> None:
    source = await world.say(world.ops, "The kiln is hot.")
    for who in (world.ana, world.ben, world.cleo, world.eve, world.atlas):
        with pytest.raises(NotFound):
            await run(world, who, lambda cmd: withdraw_source(cmd, source, None))
    other = await add_workspace(world.deps, f"{world.name}-b")
    with pytest.raises(NotFound):
        await command(world.deps, other.caller, lambda cmd: withdraw_source(cmd, source, None))
    assert await sees(world, world.ben, source)
    assert await run(world, world.dan, lambda cmd: withdraw_source(cmd, source, None)) is not None


@pytest.mark.req("KN-63")
async def test_withdrawing_changes_nothing_of_the_source_but_its_state(world: TeamWorld) -> None:
    source = await world.say(world.ops, "The kiln is hot.")
    await withdraw(world, source)
    async with world.deps.store.reading() as reader:
        node = (await reader.get(SYSTEM, [source]))[source]
    assert isinstance(node, Source)
    assert (node.text, node.state) == ("The kiln is hot.", "withdrawn")


@pytest.mark.req("KN-82")
async def test_a_reason_without_end_is_refused_and_nothing_is_withdrawn(world: TeamWorld) -> None:
    source = await world.say(world.ops, "The code is MARMALADE.")
    with pytest.raises(LimitExceeded):
        await withdraw(world, source, "x" * 1_001)
    assert await sees(world, world.ben, source)


@pytest.mark.req("KN-65")
async def test_a_speakers_name_without_end_is_refused(world: TeamWorld) -> None:
    conversation = await world.open(world.ops)
    message = IncomingMessage(external_id="x", sent_at=world.deps.now(), text="Hello.", speaker="x" * 201)
    with pytest.raises(LimitExceeded):
        await run(world, world.host, lambda c: ingest_messages(c, conversation.id, [message]))
