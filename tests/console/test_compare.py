"""What was believed at two moments, of one entry and of all that a search finds."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from playwright.async_api import Page, expect

from graph.model.nodes.knowledge import Entry
from graph.model.time import render
from tests.acceptance.stage import Stage, made
from tests.console.axe import axe
from tests.console.test_frame import many
from tests.console.visiting import Console, picture
from tests.support.clock import FakeClock
from tests.support.operations import block, cite, create, edit

BLOCKS = "query($id: ID!) { entry(id: $id) { version blocks { id current { version } } } }"
DELETE = """mutation($id: ID!, $v: Int!) {
  deleteEntry(id: $id, expectedVersion: $v, reason: "no such thing") { txId } }"""
DAY = timedelta(days=1)


async def changed(stage: Stage, clock: FakeClock) -> tuple[str, str]:
    """Let Lin like barbecue, and a day later be a vegetarian; return the moment between and the entry."""
    said = await stage.say("I like barbecue. I went vegetarian last month.")
    entry = made(await stage.write(create("Lin", block("Likes barbecue", cite(said, "like barbecue")))))
    clock.advance(DAY)
    between = render(clock.now())
    clock.advance(DAY)
    found: Any = (await stage.ana.ok(BLOCKS, id=entry))["entry"]["blocks"][0]
    correction = block(
        "Eats no meat",
        cite(said, "went vegetarian", "corrects"),
        standing="corrected",
        change="correction",
        reason="Lin said so",
    )
    await stage.write(edit(found["id"], found["current"]["version"], correction))
    return between, entry


async def compared(console: Console, stage: Stage, query: str) -> Page:
    return await console.open(stage.ana, "/knowledge/{owner}/compare?" + query)


async def test_an_entry_shows_what_was_believed_then_and_now(console: Console, stage: Stage, clock: FakeClock) -> None:
    between, entry = await changed(stage, clock)
    page = await compared(console, stage, f"entry={entry}&then={between}")
    lin = page.get_by_role("region", name="Lin")
    await expect(lin.locator("del").last).to_contain_text("barbecue")
    await expect(lin.locator("ins").last).to_contain_text("meat")
    await expect(lin).to_contain_text("Changed")
    assert await axe(page) == []
    await picture(page, "compare")


async def test_a_search_compares_all_it_finds_and_what_was_deleted_since(
    console: Console, stage: Stage, clock: FakeClock
) -> None:
    between, _ = await changed(stage, clock)
    said = await stage.say("Lin has a dog called Rex.")
    made(await stage.write(create("Rex", block("A dog of Lin", cite(said, "dog called Rex")))))
    page = await compared(console, stage, f"q=lin&then={between}")
    await expect(page.get_by_role("region", name="Rex")).to_contain_text("New")
    await expect(page.get_by_role("region", name="Lin", exact=True)).to_contain_text("Changed")
    later = render(clock.now())
    await page.get_by_label("Search").fill("dog")
    await expect(page.get_by_role("region")).to_have_count(1)
    clock.advance(DAY)
    found: Any = (
        await stage.ana.ok(
            'query($o: ID!) { entries(ownerId: $o, filter: {text: "dog"}) { edges { node { id version } } } }',
            o=console.owner,
        )
    )["entries"]["edges"][0]["node"]
    await stage.ana.ok(DELETE, id=found["id"], v=found["version"])
    gone = await compared(console, stage, f"q=dog&then={later}")
    await expect(gone.get_by_role("region", name="Rex")).to_contain_text("Gone")


async def test_only_what_differs_is_kept_in_the_address(console: Console, stage: Stage, clock: FakeClock) -> None:
    between, entry = await changed(stage, clock)
    page = await compared(console, stage, f"entry={entry}&then={render(clock.now())}")
    await expect(page.get_by_text("Nothing changed between the two moments.")).to_be_visible()
    await page.get_by_label("Only what differs").click()
    await expect(page.get_by_role("region", name="Lin")).to_have_count(0)
    await expect(page).to_have_url(re.compile("changed=1"))
    wrong = await compared(console, stage, f"entry={entry}&then={render(clock.now())}&later={between}")
    await expect(wrong.get_by_text("The first moment must be the earlier one.")).to_be_visible()


async def test_a_search_compares_more_than_one_page_of_entries(console: Console, stage: Stage) -> None:
    await many(stage, 22)
    page = await compared(console, stage, "q=lamp&then=2025-05-01T00:00:00Z")
    lamps = page.get_by_role("region", name="Lamp")
    await expect(lamps).to_have_count(20)
    await expect(page.get_by_text("20 of 22")).to_be_visible()
    await page.get_by_role("button", name="Show more").click()
    await expect(lamps).to_have_count(22)
    await expect(page.get_by_text("22 of 22 entries differ")).to_be_visible()


@pytest.mark.req("CO-6")
async def test_an_entry_that_one_may_not_see_cannot_be_compared(console: Console, stage: Stage) -> None:
    said = await stage.say("My salary is 90k.", channel=stage.world.chat)
    salary = create("Salary", block("It is 90k.", cite(said, "salary is 90k")))
    hidden = made(await stage.write(salary, channel=stage.world.chat))
    seen = []
    for entry in (hidden, stage.gid(stage.world.deps.new_id(Entry.PREFIX)), "nonsense"):
        page = await console.open(stage.ben, "/knowledge/{owner}/compare?entry={entry}", entry=entry)
        await expect(page.get_by_role("heading", name="Not found")).to_be_visible()
        seen.append(await page.get_by_role("main").inner_text())
    assert len(set(seen)) == 1
