"""The Audit tab: narrowing it, one record opened, its chains verified, what a reviewer looks for, and 10,000 rows."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect

from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.work import AuditRecord
from graph.store.query import And, Eq, Find
from tests.acceptance.stage import Stage, made
from tests.console.axe import axe
from tests.console.undoing import Orion
from tests.console.visiting import Console, picture
from tests.support.clock import FakeClock
from tests.support.dream_runs import run_in
from tests.support.operations import add, block, cite, create, dream

LOOK = SystemScope(reason="test")
AUDIT = "/knowledge/{owner}/audit"
RULES = [
    "Something passing that was recorded as lasting.",
    "A rule out of force that still steers judgement.",
    "Entries that repeat or contradict each other.",
    "A firm claim with no source behind it.",
    "Skill experience that is out of date or stacked up.",
]


def rows(page: Page) -> Any:
    """The rows of the list, without its heads."""
    return page.get_by_role("table", name="Audit records").locator("tbody").get_by_role("row")


@pytest.mark.req("CO-51", "CO-6")
async def test_records_are_narrowed_by_each_filter_and_the_address_keeps_it(
    console: Console, stage: Stage, clock: FakeClock
) -> None:
    orion = await Orion.write(stage)
    clock.advance(timedelta(days=2))
    base = NodeId(str((await stage.world.open(stage.world.ops)).pool))
    run = await run_in(stage.world, base, stage="a")
    said = await stage.world.say(stage.world.ops, "Vega runs on Kafka.")
    content = block("Runs on Kafka.", cite(said, "runs on Kafka"))
    await dream(stage.world, create("Vega", content), run=run.id)
    await orion.correct(0, "Uses Kafka.")
    own = await stage.say("My salary is 90k.", channel=stage.world.chat)
    await stage.write(create("Salary", block("Is 90k.", cite(own, "salary is 90k"))), channel=stage.world.chat)

    page = await console.open(stage.ana, AUDIT)
    await expect(rows(page)).to_have_count(4)
    await page.get_by_role("combobox", name="Operation").click()
    await page.get_by_role("option", name="Block edited").click()
    await expect(rows(page)).to_have_count(1)
    assert "op=block.edit" in page.url
    await page.reload()
    await expect(rows(page)).to_have_count(1)
    await page.get_by_role("button", name="Clear filters").click()
    await page.get_by_role("combobox", name="Actor", exact=True).click()
    await page.get_by_role("option", name="Ana").click()
    await expect(rows(page)).to_have_count(1)
    await page.get_by_role("button", name="Clear filters").click()
    await page.get_by_role("combobox", name="Dreaming run").click()
    await page.get_by_role("option", name="Stage A").click()
    await expect(rows(page)).to_have_count(1)
    await expect(rows(page)).to_contain_text("Vega")
    await page.get_by_role("button", name="Clear filters").click()
    await page.get_by_label("To (inclusive)").fill("2025-05-10")
    await expect(rows(page)).to_have_count(1)
    await expect(rows(page)).to_contain_text("Orion")
    await page.get_by_role("button", name="Clear filters").click()
    await page.get_by_role("combobox", name="Knowledge base").click()
    await page.get_by_role("option", name="Private").click()
    await expect(rows(page)).to_have_count(1)
    await expect(rows(page)).to_contain_text("Salary")
    await page.get_by_role("combobox", name="Kind of actor").click()
    await page.get_by_role("option", name="Connector").click()
    await expect(page.get_by_text("No record matches.")).to_be_visible()


@pytest.mark.req("CO-52", "CO-10")
async def test_a_record_opens_with_its_difference_and_what_was_done_with_it(console: Console, stage: Stage) -> None:
    said = await stage.say("<b>Vega</b> runs on Kafka.")
    both = (
        create("Vega", block("Runs on Kafka.", cite(said, "runs on Kafka"))),
        create("<img src=x onerror=alert(1)>", block("Runs on Kafka.", cite(said, "runs on Kafka"))),
    )
    entry = made(await stage.write(*both))
    await (orion := await Orion.write(stage)).delete()

    page = await console.open(stage.ana, AUDIT)
    first = rows(page).first
    for cell in ("Ana", "Person", "Entry deleted", "Orion", "gone"):
        await expect(first).to_contain_text(cell)
    await page.goto(console.url(AUDIT + "?target={entry}", entry=entry))
    await page.get_by_role("button", name="Entry created").click()
    record = page.get_by_role("dialog", name="Audit record")
    await expect(record.get_by_text("Runs on Kafka.")).to_be_visible()
    other = record.get_by_role("table", name="Audit records").get_by_role("row")
    await expect(other.filter(has_text="<img src=x onerror=alert(1)>")).to_have_count(1)
    assert await axe(page) == []
    # A deleted target stays reachable.
    await page.goto(console.url(AUDIT + "?target={entry}", entry=orion.entry))
    await expect(rows(page)).to_have_count(2)


@pytest.mark.req("CO-52", "CO-6")
async def test_a_record_that_one_may_not_see_is_not_found(console: Console, stage: Stage) -> None:
    chat = stage.kb(KbKind.PRIVATE, stage.world.chat)
    said = await stage.say("My salary is 90k.", channel=stage.world.chat)
    content = create("Salary", block("Is 90k.", cite(said, "salary is 90k")))
    done = await stage.write(content, channel=stage.world.chat)
    record = done["records"][0]["id"]
    page = await console.open(stage.ben, AUDIT + "?record={record}", record=record)
    await expect(page.get_by_role("dialog").get_by_text("Not found")).to_be_visible()
    await expect(page.get_by_text("No record matches.")).to_have_count(1)
    assert chat not in await page.content()


@pytest.mark.req("CO-60")
async def test_an_auditor_verifies_the_chains(console: Console, stage: Stage) -> None:
    await (await Orion.write(stage)).correct(0, "Uses Kafka.")
    page = await console.open(stage.people[stage.world.cleo], AUDIT)
    await page.get_by_role("button", name="Verify the audit").click()
    verified = page.get_by_role("dialog", name="Verification of the audit")
    await expect(verified.get_by_text("All chains are intact.")).to_be_visible()
    await expect(verified.get_by_role("row", name="Channel · ops")).to_contain_text("chain intact up to seq 2")
    assert await axe(page) == []
    others = await console.open(stage.ana, AUDIT)
    await expect(rows(others)).to_have_count(2)
    await expect(others.get_by_role("button", name="Verify the audit")).to_have_count(0)


@pytest.mark.req("CO-60")
async def test_a_broken_chain_is_told_with_its_first_broken_number(console: Console, stage: Stage) -> None:
    orion = await Orion.write(stage)
    await orion.correct(0, "Uses Kafka.")
    world = stage.world
    base = (await world.open(world.ops)).pool
    where = And((Eq("pool", base), Eq("seq", 2)))
    async with world.deps.store.reading() as reader:
        (record,) = (await reader.find(LOOK, Find(kind=AuditRecord, where=where))).nodes
    await world.deps.store.transact(lambda writer: writer.patch(record.id, {"hash": "0" * 64}))
    page = await console.open(stage.people[world.cleo], AUDIT)
    await page.get_by_role("button", name="Verify the audit").click()
    verified = page.get_by_role("dialog")
    await expect(verified.get_by_text("A chain is broken.")).to_be_visible()
    await expect(verified.get_by_role("row", name="Channel · ops")).to_contain_text("broken at seq 2")


@pytest.mark.req("CO-61", "CO-62")
async def test_the_checklist_names_five_things_and_leads_to_their_views(
    console: Console, stage: Stage, clock: FakeClock
) -> None:
    orion = await Orion.write(stage)
    lasted = {"validFrom": "2024-01-01", "validTo": "2024-12-31"}
    old = block("Used Kafka in 2024.", cite(orion.source, "Orion uses Kafka"), **lasted)
    await stage.write(add(orion.entry, old))
    authored = block("Is our best system.", basis="authored")
    await stage.write(add(orion.entry, authored), by=stage.ana)
    bonn = await stage.say("Orion is hosted in Bonn.", speaker=stage.world.ana)
    both = cite(orion.source, "Orion is hosted in Berlin"), cite(bonn, "Orion is hosted in Bonn", "contradicts")
    said = "Hosted in Berlin (Ben, 10 May 2025) or in Bonn (Ana, 10 May 2025)."
    await stage.write(add(orion.entry, block(said, *both, change="dispute", standing="disputed")))

    page = await console.open(stage.ana, AUDIT)
    await page.get_by_role("button", name="Review checklist").click()
    for rule in RULES:
        await expect(page.get_by_text(rule)).to_be_visible()
    recent = page.get_by_role("link", name="Blocks of Dreaming of the last 7 days")
    assert "kind=DREAMING" in (await recent.get_attribute("href") or "")
    await expect(page.get_by_role("link", name="Near names in the lint")).to_have_attribute(
        "href", f"/console/knowledge/{console.owner}/status#lint"
    )
    await expect(page.get_by_role("main").get_by_role("link", name="Skill experience")).to_be_visible()
    assert await axe(page) == []
    for link, text in (
        ("Blocks that are past their validity, or stale", "Used Kafka in 2024."),
        ("Disputed blocks", said),
        ("Authored blocks with nothing but a note behind them", "Is our best system."),
    ):
        await page.get_by_role("link", name=link).click()
        await expect(page.get_by_role("heading", name=link)).to_be_visible()
        await expect(page.get_by_text(text)).to_be_visible()
        await expect(page.get_by_text("1 of 1")).to_be_visible()
        await expect(page.get_by_role("link", name="Trace Orion")).to_be_visible()
        await expect(page.get_by_role("link", name="Orion", exact=True)).to_be_visible()


@pytest.mark.req("CO-55", "CO-7")
async def test_ten_thousand_selected_rows_do_not_freeze_the_page(console: Console, stage: Stage) -> None:
    orion = await Orion.write(stage)
    record = await orion.correct(0, "Uses Kafka.")
    previewed: list[int] = []
    page = await console.open(stage.ana, AUDIT)
    await expect(rows(page)).to_have_count(2)

    async def answer(route: Route) -> None:
        asked: Any = json.loads(route.request.post_data or "{}")
        if asked.get("operationName") == "AuditMatching":
            await route.fulfill(json=_matching(int(asked["variables"].get("after") or 0)))
        elif asked.get("operationName") == "AuditRestorePreview":
            previewed.append(len(asked["variables"]["ids"]))
            await route.fulfill(json=await _preview(stage, record, len(asked["variables"]["ids"])))
        else:
            await route.continue_()

    await page.route("**/graphql", answer)
    await page.get_by_role("button", name="Select all that match").click()
    await expect(page.get_by_text("10000 selected")).to_be_visible()
    # Only what was loaded is drawn, and it answers.
    await expect(rows(page)).to_have_count(2)
    await page.get_by_role("checkbox").first.check()
    await expect(page.get_by_text("10001 selected")).to_be_visible()
    await page.get_by_role("button", name="Preview the newest 1000").click()
    steps = page.get_by_role("dialog").get_by_role("listitem")
    await expect(steps).to_have_count(20)
    assert previewed == [1_000]
    await page.get_by_role("button", name="Show more").click()
    await expect(steps).to_have_count(40)


@pytest.mark.req("CO-9")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_it_can_be_used_by_everybody(console: Console, stage: Stage, scheme: str) -> None:
    orion = await Orion.write(stage)
    for text in ("Uses Kafka.", "Uses Kafka heavily.", "Uses Kafka alone."):
        await orion.correct(0, text)
    page = await console.open_as(stage.ana, AUDIT, color_scheme=scheme, viewport={"width": 320, "height": 800})
    await expect(rows(page)).to_have_count(4)
    assert await axe(page) == []
    assert await page.evaluate("() => document.documentElement.scrollWidth <= 320")
    wide = await console.open_as(stage.ana, AUDIT, color_scheme=scheme)
    await expect(rows(wide)).to_have_count(4)
    if scheme == "light":
        await picture(wide, "audit")


def _matching(after: int) -> Any:
    """A page of 100 of 10,000 records, as the API would answer."""
    nodes = [
        {"node": {"__typename": "AuditRecord", "id": f"r{n}", "recordedAt": f"2025-05-{n:05}", "restorable": True}}
        for n in range(after, after + 100)
    ]
    more = {"hasNextPage": after + 100 < 10_000, "endCursor": str(after + 100), "__typename": "PageInfo"}
    return {"data": {"auditLog": {"__typename": "AuditConnection", "edges": nodes, "pageInfo": more}}}


async def _preview(stage: Stage, record: str, size: int) -> Any:
    """The preview of so many records: that of a real one, again and again under other ids."""
    query = """query($id: ID!) { restorePreview(auditIds: [$id]) { __typename restorable previewHash steps {
      __typename current restored conflict omittedRelations nameTakenBy record { __typename id seq recordedAt actorKind
        operation reason restorable before after targetId actor { __typename displayName }
        target { __typename } restoredBy { __typename id } } } } }"""
    found = (await stage.ana.ok(query, id=record))["restorePreview"]
    (step,) = found["steps"]
    steps = [{**step, "record": {**step["record"], "id": f"r{n}", "target": None}} for n in range(size)]
    return {"data": {"restorePreview": {**found, "steps": steps}}}
