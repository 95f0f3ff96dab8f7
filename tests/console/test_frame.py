"""The frame of all pages: tabs, owners, addresses, states, keyboard; and when things go wrong (CO-1 to CO-9)."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from datetime import timedelta
from urllib.parse import quote, urlsplit

import pytest
from playwright.async_api import Error, Page, Request, Route, expect

from graph.model.nodes.knowledge import Entry
from graph.model.nodes.people import Right
from graph.model.time import Millis
from tests.acceptance.stage import APPLY, INGEST, OPEN, Stage, made
from tests.console.axe import axe
from tests.console.test_editor import card, lin, open_block, save
from tests.console.visiting import Console, picture
from tests.support.clock import FakeClock
from tests.support.operations import block, cite, create

LIST = "/knowledge/{owner}/entries"
ONE = "/knowledge/{owner}/entries/{entry}"
TABS = ["Entries", "Materials", "Skill experience", "Dreaming", "Audit", "Status"]
PATHS = ["entries", "materials", "skill-experience", "dreaming", "audit", "status"]
AGENT = 'mutation { createAgent(displayName: "Beacon") { id } }'
GRANT = "mutation($who: ID!, $on: ID!) { grantRight(principalId: $who, right: CURATOR, objectId: $on) }"
CHANNEL = """
mutation($agent: ID!, $members: [ID!]!) {
  createChannel(agentId: $agent, kind: SHARED_CHANNEL, displayName: "Harbour", memberIds: $members) { id }
}
"""
# Says whether something of the former owner was shown at the address of the next one, at any moment.
WATCH = """words => {
  const here = location.pathname
  window.leaks = []
  new MutationObserver(() => {
    const text = document.querySelector('main').innerText
    if (location.pathname !== here && text.includes(words)) window.leaks.push(location.pathname)
  }).observe(document.body, { subtree: true, childList: true, characterData: true })
}"""


async def beacon(stage: Stage) -> str:
    """Make a second agent with one entry, of which Ana is curator too; return its id."""
    ana = stage.gid(stage.world.ana)
    agent = str((await stage.dan.ok(AGENT))["createAgent"]["id"])
    await stage.dan.ok(GRANT, who=ana, on=agent)
    channel = (await stage.dan.ok(CHANNEL, agent=agent, members=[ana]))["createChannel"]["id"]
    conversation = (await stage.host.ok(OPEN, channel=channel))["openConversation"]["id"]
    message = {"externalId": "b1", "sentAt": "2025-05-10T08:00:00Z", "text": "The pier is closed.", "speakerId": ana}
    told = await stage.host.ok(INGEST, conversation=conversation, messages=[message])
    source = told["ingestMessages"]["sourceIds"][0]
    wanted = [create("Pier", block("It is closed.", cite(source, "pier is closed")), type="place")]
    await stage.ana.ok(APPLY, conversation=conversation, operations=wanted, reason="noted")
    return agent


async def many(stage: Stage, number: int) -> None:
    """Let Atlas know so many things."""
    source = await stage.say("There are many lamps in the store.")
    lamps = [create(f"Lamp {place:02}", block("A lamp.", cite(source, "many lamps"))) for place in range(number)]
    await stage.write(*lamps)


@pytest.mark.req("CO-1", "CO-2")
async def test_six_tabs_share_one_selector_of_the_owner(console: Console, stage: Stage) -> None:
    page = await console.open(stage.ana, "/")
    await expect(page).to_have_url(re.compile("/entries$"))
    tabs = page.get_by_role("tablist", name="Tasks").get_by_role("tab")
    await expect(tabs).to_have_text(TABS)
    for name, path in zip(TABS, PATHS, strict=True):
        await page.get_by_role("tab", name=name, exact=True).click()
        await expect(page).to_have_url(console.url(f"/knowledge/{{owner}}/{path}"))
        await expect(page.get_by_role("tab", name=name, exact=True)).to_have_attribute("aria-selected", "true")
        await expect(page.get_by_role("combobox", name="Owner")).to_have_value("Atlas")


@pytest.mark.req("CO-3")
async def test_nothing_of_the_former_owner_is_shown_after_a_switch(console: Console, stage: Stage) -> None:
    """Acceptance example 1."""
    await lin(stage)
    other = await beacon(stage)
    page = await console.open(stage.ana, f"{LIST}?type=person")
    await expect(page.get_by_role("link", name="Lin")).to_be_visible()
    late, held = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        asked = json.loads(route.request.post_data or "{}")
        if (
            asked.get("operationName") == "Entries"
            and (asked["variables"].get("filter") or {}).get("text") == "barbecue"
        ):
            held.set()
            await late.wait()
        with suppress(Error):  # the page may not want the answer any more
            await route.continue_()

    await page.route("**/graphql", hold)
    await page.get_by_role("searchbox").fill("barbecue")
    await held.wait()
    await page.evaluate(WATCH, "Lin")
    owner = page.get_by_role("combobox", name="Owner")
    await owner.fill("Bea")
    await page.get_by_role("option", name="Beacon").click()
    await expect(page).to_have_url(re.compile(f"/{re.escape(quote(other, safe=''))}/entries$"))
    await expect(page.get_by_role("link", name="Pier")).to_be_visible()
    late.set()
    await page.get_by_role("button", name="Filters").click()
    await page.get_by_role("combobox", name="Type").click()
    await expect(page.get_by_role("option", name="place")).to_be_visible()
    await expect(page.get_by_role("link", name="Lin")).to_have_count(0)
    assert await page.evaluate("() => window.leaks") == []


@pytest.mark.req("CO-3")
async def test_only_agents_on_which_the_user_has_a_role_can_be_chosen(console: Console, stage: Stage) -> None:
    await lin(stage)
    await beacon(stage)
    page = await console.open(stage.ben, LIST)
    await expect(page.get_by_role("link", name="Lin")).to_be_visible()
    await page.get_by_role("combobox", name="Owner").click()
    await expect(page.get_by_role("option")).to_have_text(["Atlas"])


@pytest.mark.req("CO-4")
async def test_everything_is_asked_at_the_public_api_with_the_users_own_token(console: Console, stage: Stage) -> None:
    entry = await lin(stage)
    page = await (await console.context()).new_page()
    asked: list[Request] = []
    page.on("request", lambda request: asked.append(request))
    await page.goto(console.url("/"))
    assert stage.ana.token
    await console.sign_in(page, stage.ana.token)
    await expect(page.get_by_role("link", name="Lin")).to_be_visible()
    await page.goto(console.url(ONE, entry=entry))
    await expect(page.get_by_role("heading", name="Lin")).to_be_visible()
    paths = {urlsplit(request.url).path for request in asked}
    assert {path for path in paths if not path.startswith("/console/")} == {"/graphql"}
    for request in asked:
        if urlsplit(request.url).path == "/graphql":
            assert (await request.all_headers())["authorization"] == f"Bearer {stage.ana.token}"


@pytest.mark.req("CO-5")
async def test_a_refusal_of_the_server_decides_and_is_shown_with_its_code(console: Console, stage: Stage) -> None:
    entry, ben = await lin(stage), stage.world.ben
    grant = await stage.world.grant(ben, Right.CURATOR, stage.world.atlas)
    page = await console.open(stage.ben, ONE, entry=entry)
    form = await open_block(page, "Lin likes barbecue very much.")
    await stage.world.revoke(grant, ben)
    await form.get_by_role("textbox", name="Text").fill("Lin likes fish.")
    await save(form)
    await expect(form.get_by_role("alert").get_by_text("SCOPE_FORBIDDEN")).to_be_visible()
    await expect(form.get_by_role("textbox", name="Text")).to_have_value("Lin likes fish.")
    await page.reload()
    await expect(card(page, "Lin likes barbecue very much.")).to_be_visible()
    await expect(page.get_by_role("button", name="Edit", exact=True)).to_have_count(0)


@pytest.mark.req("CO-6")
async def test_what_may_not_be_seen_is_like_what_is_not_there(console: Console, stage: Stage) -> None:
    said = await stage.say("My salary is 90k.", channel=stage.world.chat)
    wanted = create("Salary", block("It is 90k.", cite(said, "salary is 90k")))
    hidden = made(await stage.write(wanted, channel=stage.world.chat))
    unknown = stage.gid(stage.world.deps.new_id(Entry.PREFIX))
    shown = []
    for entry in (hidden, unknown, "nonsense"):
        page = await console.open(stage.ben, ONE, entry=entry)
        await expect(page.get_by_role("heading", name="Not found")).to_be_visible()
        shown.append(await page.get_by_role("main").inner_text())
    assert len(set(shown)) == 1
    page = await console.open(stage.ana, ONE, entry=hidden)
    await expect(page.get_by_role("heading", name="Salary")).to_be_visible()
    elsewhere = await beacon(stage)
    await page.goto(console.url(f"/knowledge/{quote(elsewhere)}/entries/{hidden}"))
    await expect(page.get_by_role("heading", name="Not found")).to_be_visible()


@pytest.mark.req("CO-6")
async def test_a_page_is_as_it_was_when_its_address_is_opened_again(console: Console, stage: Stage) -> None:
    entry = await lin(stage)
    page = await console.open(stage.ana, f"{LIST}?q=barbecue&type=person")
    await expect(page.get_by_role("searchbox")).to_have_value("barbecue")
    await page.get_by_role("link", name="Lin").click()
    await page.get_by_role("tab", name="Projection").click()
    await expect(page).to_have_url(console.url(f"{ONE}/projection", entry=entry))
    await page.reload()
    await expect(page.get_by_role("tab", name="Projection")).to_have_attribute("aria-selected", "true")
    await page.go_back()
    await page.go_back()
    await expect(page.get_by_role("searchbox")).to_have_value("barbecue")
    await expect(page.get_by_role("button", name="Filters (1)")).to_be_visible()


@pytest.mark.req("CO-7")
async def test_lists_load_twenty_rows_and_more_by_cursor(console: Console, stage: Stage) -> None:
    await many(stage, 23)
    page = await console.open(stage.ana, LIST)
    rows = page.get_by_role("row").filter(has=page.get_by_role("link"))
    await expect(rows).to_have_count(20)
    await expect(page.get_by_text("20 of 23")).to_be_visible()
    await page.get_by_role("button", name="Show more").press("Enter")
    await expect(rows).to_have_count(23)
    # The button is gone with the last rows; who pressed it by a key goes on from there (CO-9).
    await expect(page.get_by_text("23 of 23")).to_be_focused()
    await expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    names = await rows.get_by_role("link").all_inner_texts()
    assert len(set(names)) == 23


@pytest.mark.req("CO-8")
async def test_a_view_says_that_it_loads_that_it_is_empty_and_what_failed(console: Console, stage: Stage) -> None:
    page = await console.open(stage.ana, LIST)
    await expect(page.get_by_text("No entries yet")).to_be_visible()
    go, times = asyncio.Event(), 0

    async def fail_once(route: Route) -> None:
        nonlocal times
        if json.loads(route.request.post_data or "{}").get("operationName") != "Entries":
            await route.continue_()
            return
        times += 1
        await go.wait()
        if times == 1:
            refusal = {"errors": [{"message": "try again", "extensions": {"code": "STORE_UNAVAILABLE"}}]}
            await route.fulfill(json=refusal)
        else:
            await route.continue_()

    await page.route("**/graphql", fail_once)
    await page.reload()
    await expect(page.get_by_role("status", name="Loading").first).to_be_visible()
    go.set()
    await expect(page.get_by_role("alert").get_by_text("STORE_UNAVAILABLE")).to_be_visible()
    await page.get_by_role("button", name="Try again").click()
    await expect(page.get_by_text("No entries yet")).to_be_visible()


@pytest.mark.req("CO-8")
async def test_a_server_that_goes_away_and_comes_back_costs_no_typed_word(console: Console, stage: Stage) -> None:
    console.allow("Failed to load resource", "ERR_INTERNET_DISCONNECTED")
    entry = await lin(stage)
    page = await console.open(stage.ana, ONE, entry=entry)
    form = await open_block(page, "Lin likes barbecue very much.")
    text = form.get_by_role("textbox", name="Text")
    await text.fill("Lin likes fish.")
    await page.context.set_offline(True)
    await save(form)
    await expect(form.get_by_role("alert").get_by_text("UNREACHABLE")).to_be_visible()
    await expect(text).to_have_value("Lin likes fish.")
    await page.context.set_offline(False)
    await form.get_by_role("button", name="Save", exact=True).click()
    await expect(card(page, "Lin likes fish.")).to_be_visible()


@pytest.mark.req("CO-8")
async def test_a_token_that_expires_in_mid_edit_costs_no_typed_word(
    console: Console, stage: Stage, clock: FakeClock
) -> None:
    console.allow("status of 401")
    entry = await lin(stage)
    hour = timedelta(hours=1) // timedelta(milliseconds=1)
    token = await stage.world.token(stage.world.ana, expires_at=Millis(clock.now() + hour))
    page = await console.open(token, ONE, entry=entry)
    form = await open_block(page, "Lin likes barbecue very much.")
    text = form.get_by_role("textbox", name="Text")
    await text.fill("Lin likes fish.")
    clock.advance(timedelta(hours=2))
    await save(form)
    again = page.get_by_role("dialog", name="Sign in")
    await expect(again).to_contain_text("what you typed is still there")
    assert await axe(page) == []
    assert stage.ana.token
    await console.sign_in(page, stage.ana.token)
    await expect(again).to_have_count(0)
    await expect(text).to_have_value("Lin likes fish.")
    await form.get_by_role("button", name="Save", exact=True).click()
    await expect(card(page, "Lin likes fish.")).to_be_visible()


@pytest.mark.req("CO-8", "CO-29")
async def test_of_two_tabs_on_one_entry_the_second_is_told(console: Console, stage: Stage) -> None:
    entry = await lin(stage)
    one = await console.open(stage.ana, ONE, entry=entry)
    other = await console.open(stage.ana, ONE, entry=entry)
    first = await open_block(one, "Lin likes barbecue very much.")
    second = await open_block(other, "Lin likes barbecue very much.")
    await first.get_by_role("textbox", name="Text").fill("Lin likes fish.")
    await save(first)
    await expect(card(one, "Lin likes fish.")).to_be_visible()
    await second.get_by_role("textbox", name="Text").fill("Lin likes salad.")
    await save(second)
    await second.get_by_role("button", name="Take theirs").click()
    await expect(second.get_by_role("textbox", name="Text")).to_have_value("Lin likes fish.")
    await second.get_by_role("button", name="Cancel").click()
    await expect(card(other, "Lin likes fish.")).to_be_visible()


@pytest.mark.req("CO-9")
async def test_an_entry_is_found_and_corrected_by_keyboard_alone(console: Console, stage: Stage) -> None:
    await lin(stage)
    page = await console.open(stage.ana, LIST)
    await expect(page.get_by_role("link", name="Lin")).to_be_visible()
    await page.keyboard.press("Tab")
    await expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    await _tab_to(page, "Search entries")
    await page.keyboard.type("barbecue")
    await expect(page).to_have_url(re.compile("q=barbecue"))
    await expect(page.get_by_role("link", name="Lin")).to_be_visible()
    await _tab_to(page, "Lin")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", name="Lin")).to_be_visible()
    await _tab_to(page, "Trace Lin likes barbecue very much.")
    await _tab_to(page, "Edit", exact=True)
    await page.keyboard.press("Enter")
    form = page.get_by_role("form", name="Edit this block")
    await expect(form.get_by_role("textbox", name="Text")).to_be_focused()
    await page.keyboard.press("Control+A")
    await page.keyboard.type("Lin likes fish.")
    await _tab_to(page, "Reason")
    await page.keyboard.type("She said so")
    await _tab_to(page, "Save", exact=True)
    await page.keyboard.press("Enter")
    await expect(form).to_have_count(0)
    await expect(card(page, "Lin likes fish.")).to_be_focused()


FOCUSED = """() => {
  const node = document.activeElement
  return node.getAttribute('aria-label') ?? node.labels?.[0]?.innerText ?? node.innerText ?? ''
}"""
"""The name of what has the focus; past the last control it is the whole page for one step."""


async def _tab_to(page: Page, name: str, *, exact: bool = False) -> None:
    """Press Tab until something of this name has the focus."""
    for _ in range(80):
        await page.keyboard.press("Tab")
        label = await page.evaluate(FOCUSED)
        if label.strip() == name or (not exact and label.strip().startswith(name)):
            return
    raise AssertionError(f"{name} cannot be reached")


@pytest.mark.req("CO-9")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_entries_are_accessible_narrow_and_in_both_schemes(console: Console, stage: Stage, scheme: str) -> None:
    entry = await lin(stage, "Lin works in Berlin.")
    for path in (LIST, ONE, f"{ONE}/projection", f"{ONE}/audit"):
        page = await console.open_as(
            stage.ana,
            path.replace("{entry}", quote(entry, safe="")),
            color_scheme=scheme,
            viewport={"width": 320, "height": 640},
        )
        await expect(page.get_by_role("heading", level=2)).to_be_visible()
        await expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        assert await axe(page) == []
        width = await page.evaluate("() => document.documentElement.scrollWidth")
        assert width <= 320, f"{path} must be scrolled sideways"


@pytest.mark.req("CO-9")
async def test_the_list_speaks_chinese_and_is_pictured(console: Console, stage: Stage) -> None:
    await lin(stage)
    page = await console.open(stage.ana, LIST)
    await expect(page.get_by_role("link", name="Lin")).to_be_visible()
    await picture(page, "entries")
    chinese = await console.open_as(stage.ana, LIST, locale="zh-CN")
    await expect(chinese.get_by_role("tab", name="条目")).to_be_visible()
    await expect(chinese.get_by_role("searchbox", name="搜索条目")).to_be_visible()
    assert await axe(chinese) == []
