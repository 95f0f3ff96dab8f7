"""What an entry is related to: hops, types, both clocks; a picture, and a table with the same."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.async_api import expect

from tests.acceptance.stage import Stage, made
from tests.console.axe import axe
from tests.console.everywhere import FRAMES
from tests.console.visiting import Console, picture
from tests.support.clock import FakeClock
from tests.support.operations import block, cite, create, relate


async def three(stage: Stage, clock: FakeClock) -> str:
    """Lin works for Helio since 2020, and Helio supplies Nord; return Helio."""
    said = await stage.say("Lin joined Helio in 2020. Helio supplies Nord with tea.")
    helio, lin, nord = [
        made(await stage.write(create(name, block(f"{name} is known.", cite(said, "joined Helio")))))
        for name in ("Helio", "Lin", "Nord")
    ]
    clock.advance(timedelta(days=1))
    await stage.write(
        relate(lin, "works_for", helio, said, "Lin joined Helio", validFrom="2020"),
        relate(helio, "supplies", nord, said, "Helio supplies Nord"),
    )
    return helio


@pytest.mark.req("CO-15")
async def test_relations_are_drawn_and_listed_and_each_leads_to_its_quotes_and_sources(
    console: Console, stage: Stage, clock: FakeClock
) -> None:
    helio = await three(stage, clock)
    page = await console.open(stage.ana, "/knowledge/{owner}/entries/{entry}/relations", entry=helio)
    await expect(page.get_by_role("img", name="3 entries related to Helio")).to_be_visible()
    table = page.get_by_role("table", name="Relations")
    await expect(table.get_by_role("row")).to_have_count(3)
    # As exactly as it is known, and no more (KN-74).
    works_for = table.get_by_role("row", name="works_for")
    await expect(works_for.get_by_role("cell").nth(3)).to_have_text("since 2020")
    await works_for.get_by_role("button", name="Show quotes").click()
    evidence = page.get_by_role("region", name="What it rests on")
    await expect(evidence).to_contain_text("Lin joined Helio")
    assert await axe(page) == []
    await picture(page, "relations")
    await evidence.get_by_role("listitem").get_by_role("link").click()
    await expect(page.get_by_role("heading", name="Trace: Message")).to_be_visible()


# Where the middle of the line of a type is on the screen: what is drawn has no other place to be found at.
MIDDLE = """(node, type) => {
  const picture = node._cyreg.cy
  const { x, y } = picture.edges().filter((edge) => edge.data('label') === type)[0].renderedMidpoint()
  return { x, y }
}"""


@pytest.mark.req("CO-15")
async def test_a_line_of_the_picture_shows_its_quotes(console: Console, stage: Stage, clock: FakeClock) -> None:
    helio = await three(stage, clock)
    page = await console.open(stage.ana, "/knowledge/{owner}/entries/{entry}/relations", entry=helio)
    picture_ = page.get_by_role("img", name="3 entries related to Helio")
    await expect(picture_).to_be_visible()
    await picture_.scroll_into_view_if_needed()
    await page.evaluate(FRAMES)
    await picture_.click(position=await picture_.evaluate(MIDDLE, "supplies"))
    evidence = page.get_by_role("region", name="What it rests on")
    await expect(evidence).to_contain_text("Helio supplies Nord")
    await expect(evidence.get_by_role("listitem").get_by_role("link")).to_have_attribute("href", re.compile("/trace/"))


@pytest.mark.req("CO-15")
async def test_relations_are_narrowed_by_hops_and_types_in_the_address(
    console: Console, stage: Stage, clock: FakeClock
) -> None:
    helio = await three(stage, clock)
    page = await console.open(stage.ana, "/knowledge/{owner}/entries/{entry}/relations", entry=helio)
    rows = page.get_by_role("table", name="Relations").get_by_role("row")
    await expect(rows).to_have_count(3)
    await page.get_by_text("2", exact=True).click()
    await expect(page).to_have_url(re.compile("depth=2"))
    await page.get_by_role("combobox", name="Types").click()
    await page.get_by_role("option", name="supplies").click()
    await expect(rows).to_have_count(2)
    await expect(page).to_have_url(re.compile("types=supplies"))
    await page.reload()
    await expect(rows).to_have_count(2)


@pytest.mark.req("CO-15")
async def test_sliders_go_back_on_both_clocks(console: Console, stage: Stage, clock: FakeClock) -> None:
    helio = await three(stage, clock)
    page = await console.open(stage.ana, "/knowledge/{owner}/entries/{entry}/relations", entry=helio)
    rows = page.get_by_role("table", name="Relations").get_by_role("row")
    await expect(rows).to_have_count(3)
    believed = page.get_by_role("slider", name="Believed at")
    await believed.press("Home")
    await expect(page.get_by_text("No relations at this moment.")).to_be_visible()
    await page.get_by_role("button", name="Back to now").click()
    await expect(rows).to_have_count(3)
    await page.get_by_role("slider", name="True at").press("ArrowLeft")
    await expect(page).to_have_url(re.compile("valid="))
    await expect(rows).to_have_count(3)
