"""The console as the server gives it to a real browser: signing in, and what it may load."""

from __future__ import annotations

from playwright.async_api import Page, expect

from tests.acceptance.stage import Stage
from tests.console.axe import axe
from tests.console.visiting import Console


async def test_a_token_signs_in(console: Console, stage: Stage) -> None:
    page: Page = await (await console.context()).new_page()
    await page.goto(console.url("/knowledge/{owner}/entries"))
    assert stage.ana.token
    await console.sign_in(page, stage.ana.token)
    await expect(page.get_by_role("tab", name="Entries")).to_be_visible()
    assert await axe(page) == []
