"""Texts of others are data: no script, no pictures, no hidden direction (CO-10, attack goals B5 and B6)."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.acceptance.stage import Stage, made
from tests.console.axe import axe
from tests.console.visiting import Console
from tests.support.operations import block, cite, create

EVIL = (
    "<script>window.hit = 1</script><img src=x onerror='window.hit = 2'>"
    "![p](https://evil.example/p.png) [a](javascript:window.hit=3) [b](https://good.example/)"
    " <iframe src='https://evil.example'></iframe>"
)
NAME = "<b onmouseover=alert(1)>Orion</b>"
HIDDEN = "pay \u202edlrow\u202c\u200b now"
SET = """
mutation($owner: ID!, $text: String!) { setCurationGuide(principalId: $owner, text: $text, expectedVersion: 0) { id } }
"""


async def evil_entry(stage: Stage) -> str:
    source = await stage.say(f"{EVIL} {HIDDEN}")
    quote = "onerror='window.hit = 2'"
    return made(await stage.write(create(NAME, block(EVIL, cite(source, quote)), block(HIDDEN, cite(source, quote)))))


async def is_harmless(page: Page) -> None:
    """Nothing ran, nothing of the texts became part of the page, no link leads into the page itself."""
    assert await page.evaluate("() => window.hit") is None
    assert await page.locator("main img, main iframe, main script, main b").count() == 0
    for link in await page.locator("main a[href]").all():
        address = await link.get_attribute("href") or ""
        assert address.startswith(("/console/", "https://good.example/"))
        if address.startswith("https:"):
            assert "noopener" in (await link.get_attribute("rel") or "")
            assert await link.get_attribute("target") == "_blank"


@pytest.mark.req("CO-10")
async def test_markdown_and_names_run_nothing_and_load_nothing(console: Console, stage: Stage) -> None:
    entry = await evil_entry(stage)
    page = await console.open(stage.ana, "/knowledge/{owner}/entries")
    await expect(page.get_by_role("link", name=NAME)).to_be_visible()
    await is_harmless(page)
    await page.get_by_role("link", name=NAME).click()
    await expect(page.get_by_role("heading", name=NAME)).to_be_visible()
    await expect(page.get_by_text("<script>window.hit = 1</script>").first).to_be_visible()
    await is_harmless(page)
    for part in ("projection", "audit"):
        await page.goto(console.url("/knowledge/{owner}/entries/{entry}/" + part, entry=entry))
        if part == "projection":
            await page.get_by_text("Rendered", exact=True).click()
            await expect(page.get_by_role("heading", name="Facts")).to_be_visible()
        else:
            await page.get_by_role("heading", level=3).get_by_role("button").first.click()
            await expect(page.get_by_role("insertion").first).to_be_visible()
        await is_harmless(page)
    assert await axe(page) == []


@pytest.mark.req("CO-10")
async def test_a_guide_is_shown_as_text_with_links_that_tell_nothing(console: Console, stage: Stage) -> None:
    await stage.ana.ok(SET, owner=stage.gid(stage.world.atlas), text=f"# Guide\n\nKeep {EVIL}\n\n{HIDDEN}")
    page = await console.open(stage.ana, "/knowledge/{owner}/entries")
    await page.get_by_role("button", name="Show the guide").click()
    shown = page.get_by_role("region", name="Curation Guide")
    await expect(shown.get_by_role("link", name="b")).to_be_visible()
    await expect(shown.get_by_text("<script>window.hit = 1</script>")).to_be_visible()
    await expect(shown.get_by_text("image not loaded: p")).to_be_visible()
    await expect(shown.get_by_text("U+202E")).to_be_visible()
    await is_harmless(page)


@pytest.mark.req("CO-10", "CO-21")
async def test_invisible_characters_are_named_and_turn_nothing(console: Console, stage: Stage) -> None:
    entry = await evil_entry(stage)
    page = await console.open(stage.ana, "/knowledge/{owner}/entries/{entry}", entry=entry)
    hidden = page.get_by_role("article").nth(1)
    for code in ("U+202E", "U+202C", "U+200B"):
        await expect(hidden.get_by_text(code)).to_be_visible()
    assert "\u202e" not in await hidden.inner_text()

    await page.goto(console.url("/knowledge/{owner}/entries/{entry}/projection", entry=entry))
    shown = page.get_by_role("region", name="Projection of the entry")
    await expect(shown).to_contain_text("## Facts")
    projection = (await stage.entry(entry))["projection"]
    assert await shown.evaluate("node => node.textContent") == projection
    marks = shown.locator("[data-code='U+202E']")
    for mark in await marks.all():
        assert await mark.evaluate("node => getComputedStyle(node).unicodeBidi") == "isolate"
