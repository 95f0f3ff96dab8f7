"""Acceptance examples 1 to 8, 14 and 21 of the knowledge contract, through store, services and reads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.work import AuditRecord
from graph.model.time import parse
from graph.rules.as_of import AsOf
from graph.rules.task_results import StepOutcome, TaskResult, TaskState, TaskStep
from graph.services.access.commands import command
from graph.services.access.session import Session, read
from graph.services.knowledge.blocks import block_versions, blocks_of
from graph.services.knowledge.operations import ApplyResult
from graph.services.knowledge.projection import projection
from graph.services.knowledge.provenance import provenance
from graph.services.knowledge.relations import relations
from graph.services.knowledge.task_results import record_task_result
from graph.store.query import Find
from tests.support.clock import FakeClock
from tests.support.operations import (
    add,
    apply,
    block,
    cite,
    create,
    deduction,
    dream,
    edit,
    made,
    outcomes,
    relate,
)
from tests.support.world import TeamWorld

T = TypeVar("T")


async def ask(world: TeamWorld, question: Callable[[Session], Awaitable[T]]) -> T:
    answer, _ = await read(world.deps, world.caller(world.ana), question)
    return answer


async def texts(world: TeamWorld, entry: NodeId, as_of: AsOf | None = None) -> list[str]:
    found = await ask(world, lambda s: blocks_of(s, [entry], as_of or AsOf()))
    return [view.current.node.text for view in found[entry] if view.current]


@pytest.mark.req("KN-2", "KN-4", "DR-69", "DR-70", "KN-76")
async def test_1_diet_changes(world: TeamWorld, clock: FakeClock) -> None:
    clock.set("2023-06-01T10:00:00Z")
    m1 = await world.say(world.ops, "Lin says: I like barbecue.", speaker=world.ben)
    start = block("Likes barbecue", cite(m1, "I like barbecue"), validFrom="2023-06-01")
    first = await dream(world, create("Lin", start, type="person"))
    lin, b1 = first.verdicts[0].created[:2]
    clock.set("2025-05-10T10:00:00Z")
    m2 = await world.say(world.ops, "I went vegetarian last month", speaker=world.ben)
    vegetarian = block(
        "Vegetarian",
        cite(m2, "went vegetarian last month"),
        change="evolution",
        validFrom="2025-04-01",
        fromPrecision="month",
    )
    refused = await dream(world, add(lin, vegetarian))
    assert outcomes(refused) == ["CONFLICT_UNEXPLAINED"]
    accepted = await dream(world, add(lin, vegetarian, supersedes=[b1]))
    assert outcomes(accepted) == ["accepted"]

    text = await ask(world, lambda s: projection(s, lin))
    likes, became = (line for line in text.splitlines() if "barbecue" in line or line.startswith("Vegetarian"))
    assert "2023-06-01" in likes
    assert "2025-04" in likes
    assert "2025-04" in became
    assert await texts(world, lin, AsOf(valid=parse("2024-01-01T00:00:00Z"))) == ["Likes barbecue"]
    traced = await ask(world, lambda s: provenance(s, made(accepted, place=1), depth=4))
    assert {m1, m2} <= {node.id for node in traced.nodes}


@pytest.mark.req("DR-71")
async def test_2_explicit_correction(world: TeamWorld, clock: FakeClock) -> None:
    m1 = await world.say(world.ops, "Lin's birthday is 3 May", speaker=world.ben)
    first = await dream(world, create("Lin", block("Birthday is 3 May.", cite(m1, "birthday is 3 May")), type="person"))
    lin, block_id = first.verdicts[0].created[:2]
    clock.set("2025-05-11T10:00:00Z")
    by_agent = await world.say(world.ops, "No, it is 5 May", by_agent=True)
    by_lin = await world.say(world.ops, "No, it is 5 May!", speaker=world.ben)
    fixed = block("Birthday is 5 May.", change="correction", standing="corrected")
    refused = await dream(world, edit(block_id, 1, {**fixed, "citations": [cite(by_agent, "it is 5 May", "corrects")]}))
    assert refused.verdicts[0].is_rejected
    await dream(world, edit(block_id, 1, {**fixed, "citations": [cite(by_lin, "it is 5 May", "corrects")]}))

    versions = await ask(world, lambda s: block_versions(s, block_id, first=5))
    new, old = sorted((view.node for view in versions.items), key=lambda node: -node.version)
    assert (new.text, new.standing) == ("Birthday is 5 May.", "corrected")
    assert old.invalidated_at is not None
    assert old.valid_to is None
    for valid in ("2001-05-03", "2025-05-10", "2030-01-01"):
        assert await texts(world, lin, AsOf(valid=parse(f"{valid}T00:00:00Z"))) == ["Birthday is 5 May."]


@pytest.mark.req("DR-72")
async def test_3_sources_disagree(world: TeamWorld, clock: FakeClock) -> None:
    clock.set("2025-04-02T09:00:00Z")
    m1 = await world.say(world.ops, "Launch is 1 June")
    first = await dream(world, create("Launch", block("Launch is 1 June.", cite(m1, "Launch is 1 June"))))
    clock.set("2025-04-04T09:00:00Z")
    m2 = await world.say(world.ops, "Launch is 15 June", speaker=world.ben, name="Ben")
    dispute = block(
        "Ana said on 2 April 2025 that launch is 1 June; Ben said on 4 April 2025 that it is 15 June.",
        cite(m1, "Launch is 1 June"),
        cite(m2, "Launch is 15 June", "contradicts"),
        change="dispute",
        standing="disputed",
    )
    assert outcomes(await dream(world, add(made(first), dispute))) == ["accepted"]
    text = await ask(world, lambda s: projection(s, made(first)))
    assert "Ana said on 2 April 2025" in text
    assert "Ben said on 4 April 2025" in text
    assert "disputed" in text
    traced = await ask(world, lambda s: provenance(s, made(first), depth=4))
    assert {m1, m2} <= {node.id for node in traced.nodes}


@pytest.mark.req("DR-73")
async def test_4_rumour(world: TeamWorld) -> None:
    m1 = await world.say(world.ops, "Kai leads Atlas")
    first = await dream(world, create("Kai", block("Kai leads Atlas", cite(m1, "Kai leads Atlas")), type="person"))
    kai, block_id = first.verdicts[0].created[:2]
    m2 = await world.say(world.ops, "I heard Kai may leave Atlas", speaker=world.ben, name="Ben")
    rumour = block(
        "Ben said on 10 May 2025 that he heard Kai may leave Atlas.",
        cite(m2, "Kai may leave Atlas"),
        change="rumour",
        standing="unconfirmed",
    )
    result = await dream(world, edit(block_id, 1, rumour), add(kai, rumour))
    assert outcomes(result) == ["RUMOUR_OVERRIDE", "accepted"]
    assert "Kai leads Atlas" in await texts(world, kai)


@pytest.mark.req("DR-49", "DR-58", "DR-59")
async def test_5_inference_is_no_relation(world: TeamWorld) -> None:
    m1 = await world.say(world.ops, "Mia works in the Berlin office")
    m2 = await world.say(world.ops, "The Berlin office belongs to Orion")
    first = await dream(
        world,
        create("Mia", block("Mia works in the Berlin office", cite(m1, "Mia works in the Berlin office"))),
        create("Orion", block("The Berlin office belongs to Orion", cite(m2, "Berlin office belongs to Orion"))),
    )
    (mia, works), (orion, belongs) = (verdict.created[:2] for verdict in first.verdicts)
    judged = deduction("the office belongs to Orion", "Mia works for Orion", works, belongs)
    bare = deduction("", "Mia works for Orion", works, belongs)
    result = await dream(
        world,
        relate(mia, "member_of", orion, m1, "Mia works in the Berlin office"),
        add(mia, judged),
        add(mia, bare),
    )
    assert outcomes(result) == ["RELATION_NOT_EXPLICIT", "accepted", "NOT_CONDITIONAL"]
    assert (await ask(world, lambda s: relations(s, mia, first=5))).items == ()
    traced = await ask(world, lambda s: provenance(s, made(result, 1, 1), depth=4))
    assert {m1, m2} <= {node.id for node in traced.nodes}


@pytest.mark.req("DR-62", "DR-63", "DR-64")
async def test_6_one_event_is_no_pattern(world: TeamWorld) -> None:
    m1 = await world.say(world.ops, "The invoice of Kilnworks was late again")
    first = await dream(world, create("Kilnworks", block("Sends invoices.", cite(m1, "invoice of Kilnworks"))))
    induced = block("Bills late.", basis="induced", standing="inferred", change="inference")
    twice = [cite(m1, "was late again"), cite(m1, "The invoice of Kilnworks")]
    assert outcomes(await dream(world, add(made(first), {**induced, "citations": twice}))) == ["NOT_ENOUGH_EVIDENCE"]
    m2 = await world.say(world.ops, "Kilnworks billed us a week late in April")
    both = [cite(m1, "was late again"), cite(m2, "a week late in April")]
    assert outcomes(await dream(world, add(made(first), {**induced, "citations": both}))) == ["accepted"]


@pytest.mark.req("KN-70", "DR-54")
async def test_7_invented_quote(world: TeamWorld) -> None:
    m1 = await world.say(world.ops, "Ana joined Helio")
    joined = cite(m1, "Ana joined Helio")
    result = await dream(
        world,
        create("Ana", block("Joined Helio.", joined), ref="a"),
        create("Helio", block("Has Ana.", joined), ref="h"),
        relate("a", "member_of", "h", m1, "Ana joined Helios"),
    )
    verdict = result.verdicts[2]
    assert (verdict.index, verdict.op, verdict.code) == (2, "addRelation", "QUOTE_NOT_VERBATIM")
    assert verdict.reason
    assert [record.operation for record in result.records] == ["entry.create", "entry.create"]


@pytest.mark.req("KN-29", "KN-30")
async def test_8_duplicate_relation(world: TeamWorld) -> None:
    m1 = await world.say(world.ops, "Ana joined Helio")
    m2 = await world.say(world.ops, "Yes, Ana joined Helio in May")
    joined = cite(m1, "Ana joined Helio")
    first = await dream(
        world,
        create("Ana", block("Joined Helio.", joined), ref="a"),
        create("Helio", block("Has Ana.", joined), ref="h"),
        relate("a", "member_of", "h", m1, "Ana joined Helio"),
    )
    ana, helio = made(first, 0), made(first, 1)

    async def again() -> ApplyResult:
        return await dream(world, relate(ana, "member_of", helio, m2, "Ana joined Helio in May"))

    second, third = await again(), await again()
    assert (outcomes(second), [r.operation for r in second.records]) == (["merged"], ["relation.add_evidence"])
    assert (outcomes(third), third.records) == (["noop"], ())
    (only,) = (await ask(world, lambda s: relations(s, ana, first=5))).items
    assert {cited.source.id for cited in only.support.citations} == {m1, m2}


@pytest.mark.req("DR-78")
async def test_14_a_human_edit_between_reading_and_commit_is_not_overwritten(world: TeamWorld) -> None:
    m1 = await world.say(world.ops, "Helio builds kilns")
    m2 = await world.say(world.ops, "Helio builds kilns and ovens")
    first = await dream(world, create("Helio", block("Builds kilns.", cite(m1, "builds kilns"))))
    helio, block_id = first.verdicts[0].created[:2]
    stale = edit(block_id, 1, block("Builds kilns and ovens.", cite(m2, "kilns and ovens")))
    human = edit(block_id, 1, block("Builds glass kilns.", basis="authored"))
    await apply(world, human, by=world.ana, conversation=(await world.open(world.ops)).id, reason="more exact")
    result = await dream(world, stale)
    assert outcomes(result) == ["VERSION_CONFLICT"]
    assert result.verdicts[0].details["current"] == {"version": 2, "text": "Builds glass kilns."}
    assert await texts(world, helio) == ["Builds glass kilns."]


@pytest.mark.req("KN-82", "KN-30")
async def test_a_noop_writes_no_audit_record(world: TeamWorld) -> None:
    m1 = await world.say(world.ops, "Helio builds kilns")
    content = create("Helio", block("Builds kilns.", cite(m1, "builds kilns")))
    first = await dream(world, content)
    again = await dream(world, add(made(first), block("Builds kilns.", cite(m1, "builds kilns"))))
    assert (outcomes(again), again.records) == (["noop"], ())
    page = await ask(world, lambda s: s.reader.find(s.viewer, Find(kind=AuditRecord)))
    assert [record.operation for record in page.nodes] == ["entry.create"]


@pytest.mark.req("DR-41", "DR-48")
async def test_21_a_task_result_is_no_proof(world: TeamWorld) -> None:
    conversation = await world.open(world.ops)
    said = await world.say(world.ops, "We ask Orion's staff page, and test often.")
    first = await dream(
        world,
        create("Orion", block("Has a staff page.", cite(said, "Orion's staff page")), type="organization"),
        create("Testing", block("Done often.", cite(said, "test often")), type="practice"),
    )
    orion, testing = made(first, 0), made(first, 1)
    step = TaskStep(action="open the staff page", outcome=StepOutcome.OK, text="the page listed every team")
    result = TaskResult(task_id="t1", state=TaskState.SUCCEEDED, steps=(step,), final="Orion has 400 staff")
    receipt = await command(
        world.deps,
        world.caller(world.host),
        lambda cmd: record_task_result(cmd, result, conversation_id=conversation.id),
    )
    (task,) = receipt.source_ids
    answer = cite(task, "Orion has 400 staff")
    refused = await dream(
        world,
        add(orion, block("Has 400 staff.", answer)),
        add(testing, block("Orion has 400 staff.", answer)),
        add(testing, block("The staff page lists every team.", cite(task, "the page listed every team"))),
    )
    assert outcomes(refused) == ["TASK_RESULT_NOT_EVIDENCE", "OUTCOME_NOT_EVIDENCE", "accepted"]
