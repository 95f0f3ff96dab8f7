"""Whose evidence Stage B reads and where it writes: agent by agent, base by base, facts apart from methods."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Any

import pytest

from graph.model.ids import NodeId, hosted_id
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Entry, KbKind
from graph.model.nodes.learning import DreamRun, Lesson
from graph.model.nodes.people import Principal, PrincipalKind
from graph.rules.pools import base_id
from graph.rules.scopes import MemoryScope
from graph.rules.task_results import StepOutcome, TaskResult, TaskState, TaskStep
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.knowledge.conversations import close_conversation, set_routing_rule
from graph.services.knowledge.task_results import record_task_result
from graph.services.learning.dream_runs import dream_runs
from graph.services.learning.pending import pending_items
from tests.support.learning import load, provision
from tests.support.night import SELECT, Night, Shown, everything
from tests.support.operations import add, apply, block, cite, create, edit, made
from tests.unit.graph.services.search.asking import ask

FIXED = "freed the disk and deployed"


async def other_agent(night: Night) -> NodeId:
    """Give the workspace a second agent."""
    world = night.world
    vega = Principal(
        id=hosted_id(Principal.PREFIX, world.name, "vega", container="agent"),
        workspace=world.workspace,
        created_at=night.clock.now(),
        kind=PrincipalKind.AGENT,
        display_name="Vega",
    )
    await world.deps.store.transact(lambda writer: writer.put([vega]))
    return vega.id


async def task_of(night: Night, agent: NodeId, text: str = FIXED) -> None:
    """Record the result of a task that belongs to no conversation."""
    world = night.world
    steps = (
        TaskStep(action="run", outcome=StepOutcome.ERROR, text="the disk was full"),
        TaskStep(action="run", outcome=StepOutcome.OK, text=text),
    )
    result = TaskResult(task_id=text, state=TaskState.SUCCEEDED, steps=steps, final="all done")
    host = world.caller(world.host)
    await command(world.deps, host, lambda cmd: record_task_result(cmd, result, agent_id=agent))


async def waits_for(night: Night, agent: NodeId) -> int:
    async with night.world.deps.store.reading() as reader:
        return len(await pending_items(reader, agent))


@pytest.mark.req("DR-30", "DR-8")
async def test_a_run_works_for_one_agent_alone(night: Night) -> None:
    vega = await other_agent(night)
    await task_of(night, vega, "counted the stars at night")
    await night.talk("Orion ships on Friday")
    await night.by_hand()
    assert await night.work() == ["done"]
    assert "stars" not in "".join(shown.text for shown in (*night.asked(SELECT), *night.asked()))
    assert (await waits_for(night, night.world.atlas), await waits_for(night, vega)) == (0, 1)
    assert await night.later() == ["done"]
    assert [run.agent_id for run in await night.runs()] == [night.world.atlas, vega]


@pytest.mark.req("DR-34", "DR-31", "DR-41")
async def test_task_without_a_conversation_is_learned_into_the_agents_own_base(night: Night) -> None:
    await task_of(night, night.world.atlas)

    def learns(s: Shown) -> Sequence[Any]:
        words = cite(s.source(FIXED), FIXED)
        return [create("Deployments", block("Free the disk first.", words), type="practice")]

    night.decides(learns)
    assert await night.later() == ["done"]
    [entry] = await night.all(Entry)
    assert entry.pool == base_id(night.world.name, night.world.atlas, KbKind.AGENT)


@pytest.mark.req("DR-31")
async def test_notes_of_people_and_what_a_learning_task_reads_are_not_pending(night: Night) -> None:
    await night.talk("Orion ships on Friday")
    await night.later()
    chat = await night.world.open(night.world.ops)
    assert chat.pool is not None
    await apply(night.world, create("Kite", block("Flies high.")), by=night.world.ana)
    assert [s.kind for s in await night.all(Source)].count("human_note") == 1
    assert await night.pending() == []
    asked = len(night.model.asked)
    await night.by_hand()
    await night.work()
    assert len(night.model.asked) == asked


@pytest.mark.req("SK-1", "SK-8")
async def test_facts_go_to_entries_and_methods_to_the_skill(night: Night) -> None:
    await provision(night.world, "deploy")
    await night.talk("Orion runs on Debian", "No, run the migrations before you deploy")

    def learns(s: Shown) -> Sequence[Any]:
        words = cite(s.source("migrations"), "run the migrations before you deploy")
        lesson = {"op": "updateSkillOverlay", "skill": "deploy", "action": "add", "origin": "human_correction"}
        return [
            create("Orion", block("Runs on Debian.", cite(s.source("Debian"), "Orion runs on Debian")), type="system"),
            {**lesson, "text": "Run the migrations first.", "citations": [words]},
        ]

    night.decides(learns)
    assert await night.later() == ["done"]
    loaded = await load(night.world, "deploy")
    assert ("migrations first" in loaded.text, "Debian" in loaded.text) == (True, False)
    found = [item.text for item in (await ask(night.world, "Debian migrations Orion")).items if item.kind == "entry"]
    assert any("Debian" in text for text in found)
    assert not any("migrations" in text for text in found)
    assert len(await night.all(Lesson)) == 1


@pytest.mark.req("DR-53", "KN-105")
async def test_what_only_people_and_documents_may_change_stays(night: Night) -> None:
    [said] = await night.talk("Orion ships on Friday")
    first = await apply(night.world, create("Orion", block("Ships.", cite(said, "Orion ships"))))
    await night.world.deps.store.transact(lambda w: w.patch(made(first), {"read_only": True}))

    def tries(s: Shown) -> Sequence[Any]:
        entry, words = s.entry("Orion"), cite(s.source("Friday"), "Orion ships on Friday")
        assert entry["readOnly"] is True
        text = block("Ships on Friday.", words, change="evolution", validFrom="2025-05-09")
        return [
            add(entry["id"], text),
            edit(entry["blocks"][0]["id"], 1, text),
            {"op": "deleteEntry", "entry": entry["id"]},
            {"op": "mergeEntries", "kept": entry["id"], "merged": entry["id"]},
            {"op": "setCurationGuide", "text": "Obey."},
            {"op": "createSkill", "slug": "deploy"},
        ]

    night.decides(tries)
    assert await night.later() == ["failed"]
    codes = [code for _, _, code in await night.rejected()]
    assert codes == ["READ_ONLY_MIRROR"] * 2 + ["UNKNOWN_OPERATION"] * 4


@pytest.mark.req("KN-60", "DR-80")
async def test_run_over_a_private_chat_is_told_to_its_partner_alone(night: Night) -> None:
    world = night.world
    await night.talk("my salary is 90k", channel=world.chat)
    assert await night.later() == ["done"]

    async def told(who: NodeId) -> list[DreamRun]:
        page, _ = await read(world.deps, world.caller(who), lambda s: dream_runs(s, world.atlas, first=10))
        return list(page.items)

    assert await told(world.ben) == []
    assert [run.materials_processed for run in await told(world.ana)] == [1]
    await night.by_hand()
    await night.work()
    assert [run.trigger for run in await told(world.ben)] == ["manual"], "who asks for a run is no secret"


@pytest.mark.req("DR-36")
async def test_choice_of_an_entry_of_another_base_is_invalid(night: Night) -> None:
    world = night.world
    secret = await world.say(world.chat, "my salary is 90k")
    chat = (await world.open(world.chat)).id
    pay = await apply(world, create("Pay", block("Earns 90k.", cite(secret, "salary is 90k"))), conversation=chat)
    await night.talk("hello there")
    night.model.on(SELECT, lambda request: {**everything(request), "entries": [made(pay)]})
    assert await night.later() == ["failed"]
    assert night.asked() == []
    assert night.asked(SELECT)[0].lines("Entries") == []


READS = {
    "channel": {"channel", "shared", "agent"},
    "private": {"private", "shared", "agent"},
    "shared": {"shared", "agent"},
    "agent": {"shared", "agent"},
}
"""What a prompt may hold by the kind of base that it writes (KN-53, KN-54)."""


@pytest.mark.req("KN-54", "DR-15", "DR-33")
@pytest.mark.parametrize("seed", range(3))
async def test_no_prompt_of_any_night_holds_what_its_base_does_not_read(night: Night, seed: int) -> None:
    world, rng = night.world, Random(seed)
    await provision(world, "deploy")

    def learns(s: Shown) -> Sequence[Any]:
        """Write everything down that is shown, into an entry and a lesson of its own."""
        made_of = []
        for line in s.lines("Evidence"):
            text = str(line.get("text") or (line.get("steps") or [{}])[-1].get("text", ""))
            if "zebra" in text:
                words = cite(line["id"], text)
                made_of.append(create(f"Topic {text}", block(f"Seen {text}.", words), type="practice"))
        return made_of

    night.decides(learns)
    for number in range(8):
        where = rng.choice(["channel", "private", "shared", "agent"])
        text = f"zebra-{where} number{number}"
        if where == "agent":
            await task_of(night, world.atlas, text)
        else:
            scope = MemoryScope.SHARED if where == "shared" else MemoryScope.CHANNEL
            rule = partial(set_routing_rule, channel_id=world.ops, memory_scope=scope, isolated=False)
            await command(world.deps, world.caller(world.dan), rule)
            open_now = await world.open(world.ops)
            await command(
                world.deps, world.caller(world.host), partial(close_conversation, conversation_id=open_now.id)
            )
            await night.talk(text, topic=text, channel=world.chat if where == "private" else world.ops)
        if rng.random() < 0.5:
            await night.later()
    await night.later()
    assert await night.pending() == []
    prompts = [*night.asked(SELECT), *night.asked()]
    seen = [(_target(shown.text), set(re.findall(r"zebra-(\w+)", shown.text))) for shown in prompts]
    assert {target for target, _ in seen} > {"channel"}
    for target, held in seen:
        assert held <= READS[target], target
    assert any(held - {target} for target, held in seen), "wider knowledge is read"


def _target(text: str) -> str:
    found = re.search(r"Knowledge base(?: that you write)?: (\w+)", text)
    assert found is not None
    return found.group(1)
