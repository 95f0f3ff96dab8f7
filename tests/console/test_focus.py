"""Where the focus is after something closed or a page was left: where one was, or at the head of the page (CO-9)."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.async_api import Locator, Page, expect

from tests.acceptance.stage import Stage, made
from tests.console.test_editor import lin
from tests.console.test_frame import many
from tests.console.visiting import Console
from tests.support.operations import block, cite, create, relate

SCROLLED = "() => Math.round(window.scrollY)"

ENTRY = "/knowledge/{owner}/entries/{entry}"
DIALOGS = {
    "new entry": ("/knowledge/{owner}/entries", ["New entry"]),
    "delete": (ENTRY, ["More", "Delete"]),
    "relation": (ENTRY, ["Remove"]),
    "record": ("/knowledge/{owner}/audit", ["Entry created"]),
    "learning": ("/knowledge/{owner}/materials", ["Let the Agent learn"]),
}
"""What opens a dialog: a page, a button there, and what is chosen of its menu; the focus comes back to the button."""
FORMS = ("Edit name", "Add a block", "Add a relation")
"""Buttons that open forms within the entry."""


async def lin_at_helio(stage: Stage) -> str:
    """Write Lin, who works for Helio; return Lin."""
    entry = await lin(stage)
    said = await stage.say("Lin works for Helio.")
    helio = made(await stage.write(create("Helio", block("Lin works for Helio.", cite(said, "works for Helio")))))
    await stage.write(relate(entry, "works_for", helio, said, "Lin works for Helio"))
    return entry


async def press(page: Page, name: str, role: Literal["button", "menuitem"] = "button") -> Locator:
    """Press a control by the keyboard; return it."""
    button = page.get_by_role(role, name=name).first
    await button.focus()
    await page.keyboard.press("Enter")
    return button


@pytest.mark.req("CO-9")
@pytest.mark.parametrize("dialog", DIALOGS)
async def test_a_dialog_gives_the_focus_back(console: Console, stage: Stage, dialog: str) -> None:
    path, (first, *steps) = DIALOGS[dialog]
    page = await console.open(stage.ana, path, entry=await lin_at_helio(stage))
    opener = await press(page, first)
    for step in steps:
        await press(page, step, "menuitem")
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(opener).to_be_focused()


@pytest.mark.req("CO-9")
async def test_a_form_that_is_left_gives_the_focus_back(console: Console, stage: Stage) -> None:
    page = await console.open(stage.ana, ENTRY, entry=await lin_at_helio(stage))
    for name in FORMS:
        opener = await press(page, name)
        await press(page, "Cancel")
        await expect(opener).to_be_focused()


@pytest.mark.req("CO-6", "CO-9")
async def test_another_page_is_begun_at_its_head_and_the_way_back_too(console: Console, stage: Stage) -> None:
    await lin(stage)
    page = await console.open(stage.ana, "/knowledge/{owner}/entries")
    await page.get_by_role("link", name="Lin").focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Lin")).to_be_visible()
    await expect(page.get_by_role("main")).to_be_focused()
    await page.go_back()
    await expect(page.get_by_role("link", name="Lin")).to_be_visible()
    await expect(page.get_by_role("main")).to_be_focused()
    # Who goes on by tabs stays at them.
    audit = page.get_by_role("tab", name="Audit", exact=True)
    await audit.focus()
    await page.keyboard.press("Enter")
    await expect(page).to_have_title("Audit · Atlas · Rootward")
    await expect(audit).to_be_focused()


@pytest.mark.req("CO-6", "CO-9")
async def test_the_way_back_leads_to_where_one_was_on_a_page(console: Console, stage: Stage) -> None:
    await many(stage, 20)
    page = await console.open(stage.ana, "/knowledge/{owner}/entries")
    lamps = page.get_by_role("table").get_by_role("link")
    await expect(lamps).to_have_count(20)
    last = lamps.last
    await last.scroll_into_view_if_needed()
    where = await page.evaluate(SCROLLED)
    assert where > 200
    await last.click()
    await expect(page.get_by_role("heading", level=2, name="Lamp")).to_be_visible()
    assert await page.evaluate(SCROLLED) == 0
    await page.go_back()
    await expect(last).to_be_in_viewport()
    assert await page.evaluate(SCROLLED) == where
