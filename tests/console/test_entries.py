"""The Entries tab: search and filters, what a row says, making, merging and deleting entries (CO-11 to CO-18)."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import Locator, Page, expect

from graph.model.nodes.knowledge import KbKind
from tests.acceptance.stage import Stage, made
from tests.console.axe import axe
from tests.console.visiting import Console
from tests.support.operations import Json, add, block, cite, create, on_entry, relate

LIST = "/knowledge/{owner}/entries"
ONE = "/knowledge/{owner}/entries/{entry}"
SAID = "Helio GmbH pays its invoices on Fridays."
DISPUTED: Json = {"standing": "disputed", "change": "dispute"}


async def helio(stage: Stage) -> str:
    """Let Atlas write the entry of the acceptance example; return its id."""
    source = await stage.say(SAID)
    payload = await stage.write(
        create(
            "Helio GmbH", block("Pays invoices on Fridays.", cite(source, "invoices on Fridays")), type="organization"
        )
    )
    entry = made(payload)
    await stage.write(
        on_entry("setSummary", entry, 1, summary="Supplier of lamps."),
        on_entry("setAliases", entry, 2, aliases=["HLO"]),
        by=stage.ana,
    )
    return entry


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))


async def choose(page: Page, label: str, option: str) -> None:
    """Choose an option of a select."""
    await page.get_by_role("combobox", name=label).click()
    await page.get_by_role("option", name=option, exact=True).click()


@pytest.mark.req("CO-11", "CO-12")
async def test_an_entry_is_found_by_alias_summary_and_body_and_narrowed_by_type(console: Console, stage: Stage) -> None:
    """Acceptance example 2."""
    await helio(stage)
    page = await console.open(stage.ana, LIST)
    search = page.get_by_role("searchbox", name="Search entries")
    for words in ("hlo", "lamps", "fridays", "helio"):
        await search.fill(words)
        await expect(page).to_have_url(re.compile(f"q={words}"))
        await expect(row(page, "Helio GmbH")).to_be_visible()
    await search.fill("nothing of the kind")
    await expect(page.get_by_text("No entry fits")).to_be_visible()
    await search.fill("hlo")
    await expect(row(page, "Helio GmbH")).to_be_visible()

    await page.get_by_role("button", name="Filters").click()
    await choose(page, "Type", "person")
    await page.keyboard.press("Escape")
    await expect(page.get_by_text("No entry fits")).to_be_visible()
    await expect(page).to_have_url(re.compile("type=person"))
    await page.get_by_role("button", name="Clear filters").click()
    await expect(row(page, "Helio GmbH")).to_be_visible()


@pytest.mark.req("CO-12", "CO-6")
async def test_filters_by_base_author_and_day_come_from_the_address(console: Console, stage: Stage) -> None:
    await helio(stage)
    channel = stage.kb(KbKind.CHANNEL, stage.world.ops)
    ana, ben = stage.gid(stage.world.ana), stage.gid(stage.world.ben)
    page = await console.open(stage.ana, f"{LIST}?kb={channel}&author={ana}&from=2025-05-10&to=2025-05-10")
    await expect(row(page, "Helio GmbH")).to_be_visible()
    await expect(page.get_by_role("button", name="Filters (4)")).to_have_attribute("aria-expanded", "true")
    await expect(page.get_by_label("Updated up to")).to_have_value("2025-05-10")
    for nothing in (f"author={ben}", "from=2025-05-11", f"kb={stage.kb(KbKind.AGENT)}"):
        await page.goto(console.url(f"{LIST}?{nothing}"))
        await expect(page.get_by_text("No entry fits")).to_be_visible()


@pytest.mark.req("CO-13")
async def test_a_row_says_what_lives_where_who_wrote_it_and_what_needs_a_look(console: Console, stage: Stage) -> None:
    entry = await helio(stage)
    other = await stage.say("No, Helio GmbH pays on Mondays.", speaker=stage.world.ben, external_id="later")
    source = await stage.say("Helio GmbH pays on Fridays, I am sure.", external_id="earlier")
    await stage.write(
        add(
            entry,
            block(
                "Pays on Fridays (Ana, 10 May 2025) or on Mondays (Ben, 10 May 2025).",
                cite(source, "pays on Fridays"),
                cite(other, "pays on Mondays", "contradicts"),
                **DISPUTED,
            ),
        )
    )
    await stage.say("Helio GmbH pays on Thursdays, I am sure.", external_id="earlier")
    page = await console.open(stage.ana, LIST)
    found = row(page, "Helio GmbH")
    await expect(found.get_by_role("cell").nth(1)).to_have_text("organization")
    await expect(found.get_by_role("cell").nth(2)).to_have_text(re.compile("Channel · .+"))
    await expect(found.get_by_role("cell").nth(3)).to_have_text("2")
    await expect(found.get_by_role("cell").nth(4)).to_have_text("Atlas")
    await expect(found.get_by_role("cell").nth(5)).to_contain_text("May 10, 2025")
    await expect(found.get_by_text("disputed")).to_be_visible()
    await expect(found.get_by_text("stale")).to_be_visible()
    assert await axe(page) == []


@pytest.mark.req("CO-14", "CO-16")
async def test_an_opened_entry_shows_blocks_sources_and_relations_each_with_its_trace(
    console: Console, stage: Stage
) -> None:
    entry = await helio(stage)
    source = await stage.say("Helio GmbH belongs to Orion.")
    orion = made(await stage.write(create("Orion", block("Orion owns Helio GmbH.", cite(source, "belongs to Orion")))))
    await stage.write(relate(entry, "part_of", orion, source, "Helio GmbH belongs to Orion"))
    page = await console.open(stage.ana, LIST)
    await page.get_by_role("link", name="Helio GmbH").click()
    await expect(page.get_by_role("heading", name="Helio GmbH")).to_be_visible()
    body = page.get_by_role("article", name="Block: Pays invoices on Fridays.")
    await expect(body.get_by_text("invoices on Fridays", exact=True)).to_be_visible()
    await expect(body.get_by_role("link", name="Trace Pays invoices on Fridays.")).to_have_attribute(
        "href", re.compile("/trace/")
    )
    relation = page.get_by_role("article", name="Helio GmbH part_of Orion")
    await expect(relation.get_by_role("link", name="Trace Helio GmbH part_of Orion")).to_be_visible()
    await expect(relation.get_by_text("Helio GmbH belongs to Orion")).to_be_visible()
    sources = page.get_by_role("region", name="Sources")
    await expect(sources.get_by_role("listitem").first).to_contain_text("Message of")
    assert await axe(page) == []


@pytest.mark.req("CO-17", "CO-18")
async def test_a_curator_makes_an_entry_and_is_warned_of_what_passes(console: Console, stage: Stage) -> None:
    await helio(stage)
    page = await console.open(stage.ana, LIST)
    await page.get_by_role("button", name="New entry").click()
    form = page.get_by_role("dialog", name="New entry")
    await form.get_by_label("Name").fill("Standup 2025-05-10")
    await choose(page, "Type", "project")
    await page.get_by_role("combobox", name="Knowledge base").click()
    await page.get_by_role("option", name=re.compile("Channel")).click()
    await form.get_by_label("First block").fill("The migration is 80 % done.")
    save = form.get_by_role("button", name="Save", exact=True)
    await expect(save).to_be_disabled()
    await form.get_by_label("Reason").fill("It was said")
    await save.click()
    warning = form.get_by_role("alert")
    await expect(warning).to_contain_text("The name carries a date")
    await expect(warning).to_contain_text("something that passes")
    assert await axe(page) == []
    await form.get_by_role("button", name="Save anyway").click()
    await expect(page.get_by_role("heading", name="Standup 2025-05-10")).to_be_visible()
    await expect(page.get_by_text("The migration is 80 % done.").first).to_be_visible()


@pytest.mark.req("CO-17")
async def test_deleting_asks_for_a_reason_and_a_confirmation(console: Console, stage: Stage) -> None:
    entry = await helio(stage)
    page = await console.open(stage.ana, ONE, entry=entry)
    await page.get_by_role("button", name="More").click()
    await page.get_by_role("menuitem", name="Delete entry").click()
    asked = page.get_by_role("dialog", name="Delete this entry?")
    confirm = asked.get_by_role("button", name="Delete")
    await expect(confirm).to_be_disabled()
    await asked.get_by_label("Reason").fill("It is no topic")
    await confirm.click()
    await expect(page).to_have_url(re.compile("/entries$"))
    await expect(page.get_by_text("No entries yet")).to_be_visible()
    assert await stage.entry(entry) is None


@pytest.mark.req("CO-17")
async def test_two_entries_become_one(console: Console, stage: Stage) -> None:
    kept = await helio(stage)
    source = await stage.say("Helio Lamps sells lamps.")
    gone = made(await stage.write(create("Helio Lamps", block("Sells lamps.", cite(source, "sells lamps")))))
    page = await console.open(stage.ana, ONE, entry=kept)
    await page.get_by_role("button", name="More").click()
    await page.get_by_role("menuitem", name="Merge another entry").click()
    asked = page.get_by_role("dialog", name="Merge entries")
    await asked.get_by_label("Reason").fill("One company")
    await choose(page, "Entry that goes", "Helio Lamps")
    await asked.get_by_role("button", name="Merge").click()
    await expect(page.get_by_role("article", name="Block: Sells lamps.")).to_be_visible()
    await expect(page.get_by_text("Helio Lamps").first).to_be_visible()
    assert await stage.entry(gone) is None


@pytest.mark.req("CO-5", "CO-17")
async def test_a_reader_is_offered_no_change(console: Console, stage: Stage) -> None:
    entry = await helio(stage)
    page = await console.open(stage.ben, LIST)
    await expect(row(page, "Helio GmbH")).to_be_visible()
    await expect(page.get_by_role("button", name="New entry")).to_have_count(0)
    await page.goto(console.url(ONE, entry=entry))
    await expect(page.get_by_text("read-only")).to_be_visible()
    for name in ("Edit", "Delete", "More", "Add a block", "Add a relation"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
