"""Addresses that somebody typed, cut or sent: none of them breaks a page (CO-6, CO-9)."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.acceptance.stage import Stage, made
from tests.console.axe import axe
from tests.console.visiting import Console
from tests.support.operations import block, cite, create

SHIFTS = """() => {
  window.shifts = 0
  new PerformanceObserver((list) => list.getEntries().forEach((one) => { window.shifts += one.value }))
    .observe({ type: 'layout-shift', buffered: true })
}"""


async def orion(stage: Stage, name: str = "Orion") -> str:
    said = await stage.say("Orion is a barge.")
    return made(await stage.write(create(name, block("Orion is a barge.", cite(said, "is a barge")))))


@pytest.mark.req("CO-6", "CO-9")
@pytest.mark.parametrize("path", ["/nothing", "/knowledge/zzz/entries", "/agents/zzz/library", "/developers"])
async def test_the_page_of_what_is_not_there_has_one_head(console: Console, stage: Stage, path: str) -> None:
    page = await console.open(stage.ana, path)
    await expect(page.get_by_role("heading", level=1, name="Not found")).to_be_visible()
    assert await axe(page) == []


@pytest.mark.req("CO-6")
async def test_an_owner_without_a_tab_and_a_sign_in_that_nobody_began_lead_to_the_entries(
    console: Console, stage: Stage
) -> None:
    page = await console.open(stage.ana, "/knowledge/{owner}")
    await expect(page).to_have_url(console.url("/knowledge/{owner}/entries"))
    await page.goto(console.url("/signed-in?code=x&state=y"))
    await expect(page).to_have_url(console.url("/knowledge/{owner}/entries"))


@pytest.mark.req("CO-6", "CO-15")
@pytest.mark.parametrize("moment", ["zzz", "2025-99-99T00:00Z", "%2B275760-09-13T00:00:00.000Z"])
async def test_moments_that_are_none_are_as_if_not_given(console: Console, stage: Stage, moment: str) -> None:
    entry = await orion(stage)
    page = await console.open(stage.ana, f"/knowledge/{{owner}}/compare?entry={entry}&then={moment}&later={moment}")
    await expect(page.get_by_text("Nothing changed between the two moments.")).to_be_visible()
    await page.goto(
        console.url(
            "/knowledge/{owner}/entries/{entry}/relations?depth=99&recorded={moment}&valid={moment}",
            entry=entry,
            moment=moment,
        )
    )
    await expect(page.get_by_role("radio", name="1", exact=True)).to_be_checked()
    await expect(page.get_by_text("Orion").first).to_be_visible()
    await expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.req("CO-9")
async def test_open_menus_break_no_rule(console: Console, stage: Stage) -> None:
    entry = await orion(stage)
    page = await console.open(stage.ana, "/knowledge/{owner}/entries/{entry}", entry=entry)
    for name in ("Menu", "More"):
        await page.get_by_role("button", name=name, exact=True).click()
        await expect(page.get_by_role("menuitem").first).to_be_visible()
        assert await axe(page) == []
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("menuitem")).to_have_count(0)


@pytest.mark.req("CO-10")
async def test_names_in_options_hide_and_turn_nothing(console: Console, stage: Stage) -> None:
    await orion(stage, "Orion \u202eegrab\u202c")
    page = await console.open(stage.ana, "/knowledge/{owner}/compare")
    await page.get_by_role("combobox", name="Entry").fill("Orion")
    option = page.get_by_role("option", name="Orion")
    await expect(option).to_contain_text("Orion ⟨U+202E⟩egrab")
    await option.click()
    await expect(page.get_by_text("Nothing changed between the two moments.")).to_be_visible()
    assert "\u202e" not in await page.get_by_role("combobox", name="Entry").input_value()


@pytest.mark.req("CO-16")
async def test_the_reason_for_seeing_a_node_moves_nothing_when_it_arrives(console: Console, stage: Stage) -> None:
    entry = await orion(stage)
    page = await (await console.context()).new_page()
    await page.add_init_script(f"({SHIFTS})()")
    await page.goto(console.url("/"))
    token = stage.ana.token
    assert token
    await console.sign_in(page, token)
    await expect(page.get_by_role("link", name="Orion")).to_be_visible()
    await page.goto(console.url("/knowledge/{owner}/trace/{entry}?why={entry}", entry=entry))
    await expect(page.get_by_text("Every node down to the source").first).to_be_visible()
    assert await page.evaluate("() => window.shifts") < 0.005
