"""What an entry stands for: one topic from many conversations, the world and experience, ids that last."""

from __future__ import annotations

from functools import partial

import pytest

from graph.model.errors import NameTaken
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import KbKind
from graph.rules.pools import base_id
from graph.rules.task_results import StepOutcome, TaskResult, TaskState, TaskStep
from graph.services.access.agents import create_agent
from graph.services.knowledge.conversations import close_conversation
from graph.services.knowledge.entries_write import delete_entry
from graph.services.knowledge.entry_list import EntryFilter, entries
from graph.services.knowledge.materials import prepare_file, submit_file
from graph.services.knowledge.projection import projection
from graph.services.knowledge.relations import relations
from graph.services.knowledge.submissions import prepare_page, submit_text, submit_url
from graph.services.knowledge.task_results import record_task_result
from tests.support.operations import add, apply, block, cite, create, edit, made, on_entry, relate
from tests.support.pages import FakeFetcher
from tests.support.restoring import undo
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import ask, run

URL = "https://kiln.example/notes"


@pytest.mark.req("KN-3", "KN-16")
async def test_facts_from_different_conversations_are_gathered_in_one_entry(world: TeamWorld) -> None:
    first = await world.open(world.ops)
    m1 = await world.say(world.ops, "Helio builds kilns.", speaker=world.ben)
    helio = made(await apply(world, create("Helio", block("Builds kilns.", cite(m1, "builds kilns")))))
    await run(world, world.host, lambda cmd: close_conversation(cmd, first.id))
    second = await world.open(world.ops)
    assert second.id != first.id
    m2 = await world.say(world.ops, "HELIO moved to Bonn.", speaker=world.ben)
    moved = block("Sits in Bonn.", cite(m2, "moved to Bonn"))
    # A second entry on the topic is refused with the id of the first; there the fact goes.
    with pytest.raises(NameTaken) as taken:
        await apply(world, create("  helio ", moved))
    assert taken.value.details["entry_id"] == helio
    await apply(world, add(helio, moved))
    page = await ask(world, world.ben, lambda s: entries(s, world.atlas, first=50))
    assert [view.id for view in page.items] == [helio]
    text = await ask(world, world.ben, lambda s: projection(s, helio))
    assert "Builds kilns." in text
    assert "Sits in Bonn." in text


@pytest.mark.req("KN-6", "KN-20", "KN-26")
async def test_the_graph_holds_the_world_and_what_work_taught(world: TeamWorld) -> None:
    said = await world.say(world.ops, "Ana works for Helio. The kiln policy affects Orion.", speaker=world.ben)
    works, affects = cite(said, "Ana works for Helio"), cite(said, "kiln policy affects Orion")
    graph = await apply(
        world,
        create("Ana", block("Works for Helio.", works), type="person", ref="ana"),
        create("Helio", block("Has Ana.", works), type="organization", ref="helio"),
        create("Kiln policy", block("Affects Orion.", affects), type="policy", ref="policy", aliases=["kiln policy"]),
        create("Orion", block("Is affected by the kiln policy.", affects), type="project", ref="orion"),
        relate("ana", "works_for", "helio", said, "Ana works for Helio"),
        relate("policy", "affects", "orion", said, "kiln policy affects Orion"),
    )
    conversation = (await world.open(world.ops)).id
    tasks: list[NodeId] = []
    for number, text in enumerate(("the first firing cracked the glaze", "a slow firing kept the glaze whole")):
        step = TaskStep(action="fire", outcome=StepOutcome.OK, text=text)
        result = TaskResult(task_id=f"t{number}", state=TaskState.SUCCEEDED, steps=(step,), final="done")
        receipt = await run(world, world.host, partial(record_task_result, result=result, conversation_id=conversation))
        tasks += receipt.source_ids
    both = [cite(tasks[0], "first firing cracked the glaze"), cite(tasks[1], "slow firing kept the glaze whole")]
    method = block("Fire slowly.", *both, basis="induced", standing="inferred", change="inference")
    practice = await apply(world, create("Firing glaze", method, type="practice"))
    # Two relations between entries of the world, the method in an entry of type practice and nowhere else.
    for subject, object_ in ((made(graph), made(graph, 1)), (made(graph, 2), made(graph, 3))):
        (only,) = (await ask(world, world.ben, partial(relations, entry_id=subject, first=5))).items
        assert (only.node.subject_id, only.node.object_id) == (subject, object_)
    page = await ask(world, world.ben, lambda s: entries(s, world.atlas, EntryFilter(types=("practice",)), first=5))
    assert [view.id for view in page.items] == [made(practice)]
    assert "Fire slowly." in await ask(world, world.ben, lambda s: projection(s, made(practice)))


@pytest.mark.req("KN-15", "KN-101")
async def test_ids_last_over_edits_deletion_and_restore_and_are_never_used_again(world: TeamWorld) -> None:
    said = await world.say(world.ops, "Helio builds kilns. Helio builds ovens.", speaker=world.ben)
    first = await apply(world, create("Helio", block("Builds kilns.", cite(said, "builds kilns"))))
    helio, block_id = made(first), made(first, place=1)
    corrected = block(
        "Builds ovens.", cite(said, "builds ovens", "corrects"), change="correction", standing="corrected"
    )
    await apply(world, edit(block_id, 1, corrected))
    await apply(world, on_entry("renameEntry", helio, 1, name="Helio Works"), by=world.ana)
    gone = await run(world, world.ana, lambda cmd: delete_entry(cmd, helio, expected_version=2, reason="twice"))
    other = await apply(world, create("Helio", block("Builds ovens.", cite(said, "builds ovens"))))
    assert {made(other), made(other, place=1)}.isdisjoint({helio, block_id})
    record = next(record.id for record in gone.records if record.operation == "entry.delete")
    await undo(world, record)
    page = await ask(world, world.ben, lambda s: entries(s, world.atlas, first=50))
    assert {view.id: view.name for view in page.items} == {helio: "Helio Works", made(other): "Helio"}
    assert "Builds ovens." in await ask(world, world.ben, lambda s: projection(s, helio))


@pytest.mark.req("MA-1", "MA-2")
async def test_a_person_chooses_agent_and_scope_for_each_kind_of_material(
    world: TeamWorld, fetcher: FakeFetcher
) -> None:
    fetcher.pages[URL] = b"<html><head><title>Notes</title></head><body><p>The kiln is hot.</p></body></html>"
    await world.say(world.ops, "hello")
    await world.say(world.chat, "hello")
    await run(world, world.dan, lambda cmd: create_agent(cmd, "Borea", local_id="borea"))
    borea = NodeId(world.atlas.replace("atlas", "borea"))
    scopes = (
        (world.ana, base_id(world.name, world.atlas, KbKind.CHANNEL, world.ops)),
        (world.ana, base_id(world.name, world.atlas, KbKind.PRIVATE, world.chat)),
        (world.dan, base_id(world.name, borea, KbKind.SHARED)),
        (world.dan, base_id(world.name, borea, KbKind.AGENT)),
    )
    for who, base in scopes:
        file = await prepare_file(world.deps, world.caller(who), base, b"The kiln is hot.", filename="a.txt")
        page = await prepare_page(world.deps, world.caller(who), base, URL)
        source: Source = await run(world, who, partial(submit_file, kb_id=base, file=file))
        text = await run(world, who, partial(submit_text, kb_id=base, text="The yard is cold.", title="Yard"))
        web = await run(world, who, partial(submit_url, kb_id=base, prepared=page))
        made_of = [source, text.source, web.source]
        assert [one.kind for one in made_of] == ["file", "text", "url"]
        assert {one.pool for one in made_of} == {base}
