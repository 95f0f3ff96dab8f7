"""What goes wrong around a person at work: tokens, rights, other tabs, the way back (CO-5, CO-6, CO-8)."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from playwright.async_api import expect

from graph.model.time import Millis
from tests.acceptance.stage import Stage
from tests.console.axe import axe
from tests.console.test_editor import ONE, card, lin, open_block, save
from tests.console.visiting import SIGN_IN, Console
from tests.support.clock import FakeClock

TOKENS = "{ tokens { id } }"
REVOKE = "mutation($id: ID!) { revokeToken(id: $id) { id } }"


@pytest.mark.req("CO-8")
async def test_a_token_that_is_revoked_in_mid_edit_costs_no_typed_word(console: Console, stage: Stage) -> None:
    console.allow("status of 401")
    entry = await lin(stage)
    before = {one["id"] for one in (await stage.ana.ok(TOKENS))["tokens"]}
    token = await stage.world.token(stage.world.ana)
    (made,) = {one["id"] for one in (await stage.ana.ok(TOKENS))["tokens"]} - before
    page = await console.open(token, ONE, entry=entry)
    form = await open_block(page, "Lin likes barbecue very much.")
    text = form.get_by_role("textbox", name="Text")
    await text.fill("Lin likes fish.")
    await stage.ana.ok(REVOKE, id=made)
    await save(form)
    again = page.get_by_role("dialog", name="Sign in")
    await expect(again).to_be_visible()
    assert stage.ana.token
    await console.sign_in(page, stage.ana.token)
    await expect(again).to_have_count(0)
    await expect(text).to_have_value("Lin likes fish.")
    await expect(form.get_by_label("Reason")).to_have_value("As Lin said")
    await form.get_by_role("button", name="Save", exact=True).click()
    await expect(card(page, "Lin likes fish.")).to_be_visible()


@pytest.mark.req("CO-8")
async def test_a_token_that_ends_under_an_open_dialog_costs_no_typed_word(
    console: Console, stage: Stage, clock: FakeClock
) -> None:
    console.allow("status of 401")
    await lin(stage)
    token = await stage.world.token(stage.world.ana, expires_at=Millis(clock.now() + 3_600_000))
    page = await console.open(token, "/knowledge/{owner}/entries")
    await page.get_by_role("button", name="New entry").click()
    form = page.get_by_role("dialog", name="New entry")
    await form.get_by_label("Name").fill("Helio")
    await form.get_by_role("combobox", name="Knowledge base").click()
    await page.get_by_role("option", name=re.compile("Channel")).click()
    await form.get_by_label("First block").fill("Sells lamps.")
    await form.get_by_label("Reason").fill("It was said")
    clock.advance(timedelta(hours=2))
    await form.get_by_role("button", name="Save", exact=True).click()
    assert stage.ana.token
    await console.sign_in(page, stage.ana.token)
    await expect(page.get_by_role("dialog", name="Sign in")).to_have_count(0)
    await expect(form.get_by_label("Name")).to_have_value("Helio")
    # Two presses, one entry.
    await form.get_by_role("button", name="Save", exact=True).dblclick()
    await expect(page.get_by_role("heading", name="Helio")).to_be_visible()
    await page.get_by_role("tab", name="Entries", exact=True).click()
    await expect(page.get_by_text("2 of 2")).to_be_visible()


@pytest.mark.req("CO-3", "CO-5")
async def test_somebody_without_a_role_is_told_what_to_do(console: Console, stage: Stage) -> None:
    await lin(stage)
    token = await stage.world.token(stage.world.eve)
    page = await console.open(token, "/")
    await expect(page.get_by_role("heading", level=1, name="Knowledge")).to_be_visible()
    await expect(page.get_by_text("Ask an administrator")).to_be_visible()
    assert await axe(page) == []


@pytest.mark.req("CO-3", "CO-6")
@pytest.mark.parametrize(
    "path", ["/knowledge/{agent}/entries", "/knowledge/{agent}/compare", "/agents/{agent}/library"]
)
async def test_an_agent_of_whom_one_reads_nothing_looks_like_one_that_is_not_there(
    console: Console, stage: Stage, path: str
) -> None:
    await lin(stage)
    token = await stage.world.token(stage.world.eve)
    seen = []
    for agent in (console.owner, stage.gid(stage.world.person("nobody"))):
        page = await console.open(token, path, agent=agent)
        await expect(page.get_by_role("heading", level=1, name="Not found")).to_be_visible()
        await expect(page).to_have_title("Not found · Rootward")
        seen.append(await page.locator("body").inner_text())
    assert seen[0] == seen[1]
    assert "Atlas" not in seen[0]


@pytest.mark.req("CO-3", "CO-6")
async def test_who_reads_something_of_an_agent_is_led_to_its_pages(console: Console, stage: Stage) -> None:
    await lin(stage)
    # A reader of Atlas; an auditor and an admin of the workspace.
    tokens = [await stage.world.token(one) for one in (stage.world.ben, stage.world.cleo, stage.world.dan)]
    for token in tokens:
        page = await console.open(token, "/knowledge/{owner}/entries")
        await expect(page.get_by_role("combobox", name="Owner")).to_have_value("Atlas")


@pytest.mark.req("CO-5")
async def test_two_tabs_of_one_browser_are_two_people(console: Console, stage: Stage) -> None:
    entry = await lin(stage)
    browser = await console.context()
    pages = []
    for who in (stage.ana, stage.ben):
        page = await browser.new_page()
        await page.add_init_script(f"({SIGN_IN})({who.token!r})")
        await page.goto(console.url(ONE, entry=entry))
        await expect(card(page, "Lin likes barbecue very much.")).to_be_visible()
        pages.append(page)
    curator, reader = pages
    await expect(curator.get_by_role("button", name="Add a block")).to_be_visible()
    await expect(reader.get_by_role("button", name="Add a block")).to_have_count(0)
    form = await open_block(curator, "Lin likes barbecue very much.")
    await form.get_by_role("textbox", name="Text").fill("Lin likes fish.")
    await save(form)
    await expect(card(curator, "Lin likes fish.").get_by_text("Ana").first).to_be_visible()


@pytest.mark.req("CO-6")
async def test_the_way_back_and_forth_has_names_and_what_was_open(console: Console, stage: Stage) -> None:
    await lin(stage)
    page = await console.open(stage.ana, "/knowledge/{owner}/entries?q=barbecue")
    await expect(page).to_have_title("Entries · Atlas · Rootward")
    await page.get_by_role("tab", name="Audit", exact=True).click()
    await expect(page).to_have_title("Audit · Atlas · Rootward")
    await page.get_by_role("table").get_by_role("button").first.click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.goto(console.url("/settings/memory"))
    await expect(page).to_have_title("Memory settings · Rootward")
    await page.go_back()
    await expect(page).to_have_url(re.compile("record="))
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.go_back()
    await expect(page.get_by_role("searchbox")).to_have_value("barbecue")
    await expect(page).to_have_title("Entries · Atlas · Rootward")
    await page.go_forward()
    await expect(page.get_by_role("dialog")).to_be_visible()
