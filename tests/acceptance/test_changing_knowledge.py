"""Acceptance examples 1 to 8, 14 and 21: what may change what is believed.

Atlas hands in the operation lists that Dreaming would; an Agent is bound by everything that binds Dreaming (KN-111).
"""

from __future__ import annotations

import pytest

from tests.acceptance.stage import Stage, made, operations_of, outcomes
from tests.api.conftest import ENGINES
from tests.support.operations import add, block, cite, create, deduction, edit, relate

pytestmark = pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True)

TASK_RESULT = "mutation($input: TaskResultInput!) { recordTaskResult(input: $input) { sourceIds } }"
BLOCK_VERSIONS = """
query($id: ID!) { node(id: $id) { ... on Block {
  versions { edges { node { version text standing validTo invalidatedAt } } } } } }
"""


@pytest.mark.req("KN-2", "KN-4", "DR-69", "DR-70", "KN-76")
async def test_1_diet_changes(stage: Stage) -> None:
    # Given an entry "Lin" with a block that cites m1, and m2, two years later
    stage.clock.set("2023-06-01T10:00:00Z")
    m1 = await stage.say("Lin says: I like barbecue.", speaker=stage.world.ben)
    likes = block("Likes barbecue", cite(m1, "I like barbecue"), validFrom="2023-06-01")
    lin = await stage.write(create("Lin", likes, type="person"))
    stage.clock.set("2025-05-10T10:00:00Z")
    m2 = await stage.say("I went vegetarian last month", speaker=stage.world.ben)
    became = block(
        "Vegetarian",
        cite(m2, "went vegetarian last month"),
        change="evolution",
        validFrom="2025-04-01",
        fromPrecision="month",
    )
    # When it evolves without a word about barbecue, then it is refused
    assert await stage.refused(add(made(lin), became)) == "CONFLICT_UNEXPLAINED"
    # When it supersedes the old block
    changed = await stage.write(add(made(lin), became, supersedes=[made(lin, place=1)]))
    # Then the projection shows both with their times
    text = (await stage.entry(made(lin)))["projection"]
    old, new = (line for line in text.splitlines() if "barbecue" in line or line.startswith("Vegetarian"))
    assert "2023-06-01 to 2025-04" in old
    assert "2025-04" in new
    # and a read as of 2024 gives only barbecue
    assert await stage.texts(made(lin), valid="2024-01-01T00:00:00Z") == ["Likes barbecue"]
    # and the provenance reaches both messages
    assert {m1, m2} <= await stage.sources(made(changed, place=1))


@pytest.mark.req("DR-71")
async def test_2_explicit_correction(stage: Stage) -> None:
    m1 = await stage.say("Lin's birthday is 3 May", speaker=stage.world.ben)
    first = await stage.write(create("Lin", block("Birthday is 3 May.", cite(m1, "birthday is 3 May")), type="person"))
    lin, block_id = made(first), made(first, place=1)
    stage.clock.set("2025-05-11T10:00:00Z")
    by_agent = await stage.say("No, it is 5 May", by_agent=True)
    by_lin = await stage.say("No, it is 5 May!", speaker=stage.world.ben)

    def corrected(source: str) -> dict[str, object]:
        quote = cite(source, "it is 5 May", "corrects")
        return edit(block_id, 1, block("Birthday is 5 May.", quote, change="correction", standing="corrected"))

    # When an Agent's message is the correction, then it is refused; when Lin's is, it is taken
    assert (await stage.send(corrected(by_agent))).errors
    await stage.write(corrected(by_lin))
    shown = await stage.ana.ok(BLOCK_VERSIONS, id=block_id)
    old, new = sorted((e["node"] for e in shown["node"]["versions"]["edges"]), key=lambda node: node["version"])
    assert (new["text"], new["standing"], new["invalidatedAt"]) == ("Birthday is 5 May.", "CORRECTED", None)
    assert old["invalidatedAt"] is not None
    assert old["validTo"] is None
    # and no read of what is believed now says 3 May, whatever time it is about
    for day in ("2001-05-03", "2025-05-10", "2030-01-01"):
        assert await stage.texts(lin, valid=f"{day}T00:00:00Z") == ["Birthday is 5 May."]


@pytest.mark.req("DR-72")
async def test_3_sources_disagree(stage: Stage) -> None:
    stage.clock.set("2025-04-02T09:00:00Z")
    m1 = await stage.say("Launch is 1 June")
    first = await stage.write(create("Launch", block("Launch is 1 June.", cite(m1, "Launch is 1 June"))))
    stage.clock.set("2025-04-04T09:00:00Z")
    m2 = await stage.say("Launch is 15 June", speaker=stage.world.ben)
    dispute = block(
        "Ana said on 2 April 2025 that launch is 1 June; Ben said on 4 April 2025 that it is 15 June.",
        cite(m1, "Launch is 1 June"),
        cite(m2, "Launch is 15 June", "contradicts"),
        change="dispute",
        standing="disputed",
    )
    await stage.write(add(made(first), dispute))
    text = (await stage.entry(made(first)))["projection"]
    for part in ("Ana said on 2 April 2025", "Ben said on 4 April 2025", "disputed", m1, m2):
        assert part in text
    assert {m1, m2} <= await stage.sources(made(first))


@pytest.mark.req("DR-73")
async def test_4_rumour(stage: Stage) -> None:
    m1 = await stage.say("Kai leads Atlas")
    first = await stage.write(create("Kai", block("Kai leads Atlas", cite(m1, "Kai leads Atlas")), type="person"))
    m2 = await stage.say("I heard Kai may leave Atlas", speaker=stage.world.ben)
    rumour = block(
        "Ben said on 10 May 2025 that he heard Kai may leave Atlas.",
        cite(m2, "Kai may leave Atlas"),
        change="rumour",
        standing="unconfirmed",
    )
    assert await stage.refused(edit(made(first, place=1), 1, rumour)) == "RUMOUR_OVERRIDE"
    await stage.write(add(made(first), rumour))
    assert await stage.texts(made(first)) == ["Kai leads Atlas", rumour["text"]]


@pytest.mark.req("DR-49", "DR-58", "DR-59")
async def test_5_inference_is_no_relation(stage: Stage) -> None:
    m1 = await stage.say("Mia works in the Berlin office")
    m2 = await stage.say("The Berlin office belongs to Orion")
    first = await stage.write(
        create("Mia", block("Mia works in the Berlin office", cite(m1, "Mia works in the Berlin office"))),
        create("Orion", block("The Berlin office belongs to Orion", cite(m2, "Berlin office belongs to Orion"))),
    )
    mia, orion = made(first), made(first, 1)
    basis = (made(first, 0, 1), made(first, 1, 1))
    member = relate(mia, "member_of", orion, m1, "Mia works in the Berlin office")
    assert await stage.refused(member) == "RELATION_NOT_EXPLICIT"
    bare = deduction("", "Mia works for Orion", *basis)
    assert await stage.refused(add(mia, bare)) == "NOT_CONDITIONAL"
    judged = await stage.write(add(mia, deduction("the office belongs to Orion", "Mia works for Orion", *basis)))
    shown = await stage.entry(mia)
    assert shown["relations"]["totalCount"] == 0
    assert "If the office belongs to Orion: Mia works for Orion" in shown["projection"]
    assert {m1, m2} <= await stage.sources(made(judged, place=1))


@pytest.mark.req("DR-62", "DR-63", "DR-64")
async def test_6_one_event_is_no_pattern(stage: Stage) -> None:
    m1 = await stage.say("The invoice of Kilnworks was late again", external_id="late")
    first = await stage.write(create("Kilnworks", block("Sends invoices.", cite(m1, "invoice of Kilnworks"))))
    edited = await stage.say("The invoice of Kilnworks was late again, sadly", external_id="late")
    induced = {"basis": "induced", "standing": "inferred", "change": "inference"}

    def pattern(*quotes: dict[str, str]) -> dict[str, object]:
        return add(made(first), block("Bills late.", *quotes, **induced))

    # When it cites one message twice, or it and its edited version, then that is one event
    late = cite(m1, "was late again")
    assert await stage.refused(pattern(late, cite(m1, "The invoice of Kilnworks"))) == "NOT_ENOUGH_EVIDENCE"
    assert await stage.refused(pattern(late, cite(edited, "late again, sadly"))) == "NOT_ENOUGH_EVIDENCE"
    # When a second, different message is cited, then it is taken, into the supplier's entry
    m2 = await stage.say("Kilnworks billed us a week late in April")
    await stage.write(pattern(late, cite(m2, "a week late in April")))
    assert "Bills late." in await stage.texts(made(first))


@pytest.mark.req("KN-70", "DR-54", "KN-112")
async def test_7_invented_quote(stage: Stage) -> None:
    m1 = await stage.say("Ana joined Helio")
    joined = cite(m1, "Ana joined Helio")
    good = [
        create("Ana", block("Joined Helio.", joined), ref="a"),
        create("Helio", block("Has Ana.", joined), ref="h"),
    ]
    # When the quote is not in the message, then index, op, code and reason say so and nothing is written
    answer = await stage.send(*good, relate("a", "member_of", "h", m1, "Ana joined Helios"))
    assert answer.codes == ["QUOTE_NOT_VERBATIM"]
    (rejection,) = answer.errors[0]["extensions"]["rejections"]
    assert (rejection["index"], rejection["op"], rejection["code"]) == (2, "addRelation", "QUOTE_NOT_VERBATIM")
    assert rejection["reason"]
    assert [item["kind"] for item in (await stage.search("Helio"))["items"]] == ["MESSAGE"]
    # and the verdicts of a dry run take the others, which can then be committed
    trial = await stage.send(*good, relate("a", "member_of", "h", m1, "Ana joined Helios"), dry_run=True)
    assert outcomes(trial.data["applyOperations"]) == ["ACCEPTED", "ACCEPTED", "QUOTE_NOT_VERBATIM"]
    assert operations_of(await stage.write(*good)) == ["entry.create", "entry.create"]


@pytest.mark.req("KN-29", "KN-30")
async def test_8_duplicate_relation(stage: Stage) -> None:
    m1 = await stage.say("Ana joined Helio")
    m2 = await stage.say("Yes, Ana joined Helio in May")
    joined = cite(m1, "Ana joined Helio")
    first = await stage.write(
        create("Ana", block("Joined Helio.", joined), ref="a"),
        create("Helio", block("Has Ana.", joined), ref="h"),
        relate("a", "member_of", "h", m1, "Ana joined Helio"),
    )
    again = relate(made(first), "member_of", made(first, 1), m2, "Ana joined Helio in May")
    second = await stage.write(again)
    assert (outcomes(second), operations_of(second)) == (["MERGED"], ["relation.add_evidence"])
    third = await stage.write(again)
    assert (outcomes(third), operations_of(third)) == (["NOOP"], [])
    relations = (await stage.entry(made(first)))["relations"]
    assert relations["totalCount"] == 1
    assert {one["source"]["id"] for one in relations["edges"][0]["node"]["evidence"]} == {m1, m2}


@pytest.mark.req("KN-87", "DR-78")
async def test_14_a_human_edit_during_a_run_is_not_lost(stage: Stage) -> None:
    m1 = await stage.say("Helio builds kilns")
    m2 = await stage.say("Helio builds kilns and ovens")
    first = await stage.write(create("Helio", block("Builds kilns.", cite(m1, "builds kilns"))))
    block_id = made(first, place=1)
    # Given a list that was made on version 1, and a person who saves version 2 before it is handed in
    await stage.write(edit(block_id, 1, block("Builds glass kilns.", basis="authored")), by=stage.ana)
    late = block("Builds glass kilns and ovens.", cite(m2, "kilns and ovens"), change="evolution")
    late |= {"validFrom": "2025-05-10"}
    answer = await stage.send(edit(block_id, 1, late))
    assert answer.codes == ["VERSION_CONFLICT"]
    assert answer.errors[0]["extensions"]["current"] == {"version": 2, "text": "Builds glass kilns."}
    assert await stage.texts(made(first)) == ["Builds glass kilns."]
    # When it is made anew on version 2, citing what the person's version rests on, then it is taken
    late["citations"] += await citations_of(stage, block_id)
    await stage.write(edit(block_id, 2, late))
    assert await stage.texts(made(first)) == ["Builds glass kilns and ovens."]


async def citations_of(stage: Stage, block_id: str) -> list[dict[str, str]]:
    query = "query($id: ID!) { node(id: $id) { ... on Block { current { citations { quote source { id } } } } } }"
    shown = await stage.ana.ok(query, id=block_id)
    return [cite(c["source"]["id"], c["quote"]) for c in shown["node"]["current"]["citations"]]


@pytest.mark.req("DR-41", "DR-48")
async def test_21_a_task_result_is_no_proof(stage: Stage) -> None:
    said = await stage.say("We ask Orion's staff page, and test often.")
    first = await stage.write(
        create("Orion", block("Has a staff page.", cite(said, "Orion's staff page")), type="organization"),
        create("Testing", block("Done often.", cite(said, "test often")), type="practice"),
    )
    steps = [{"action": "open the staff page", "outcome": "OK", "text": "the page listed every team"}]
    given = {"taskId": "t1", "state": "SUCCEEDED", "steps": steps, "finalAnswer": "Orion has 400 staff"}
    recorded = await stage.host.ok(TASK_RESULT, input={**given, "conversationId": await stage.open()})
    (task,) = recorded["recordTaskResult"]["sourceIds"]
    answer = cite(task, "Orion has 400 staff")
    assert await stage.refused(add(made(first), block("Has 400 staff.", answer))) == "TASK_RESULT_NOT_EVIDENCE"
    practice = made(first, 1)
    assert await stage.refused(add(practice, block("Orion has 400 staff.", answer))) == "OUTCOME_NOT_EVIDENCE"
    way = block("The staff page lists every team.", cite(task, "the page listed every team"))
    await stage.write(add(practice, way))
