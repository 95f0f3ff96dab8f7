"""GraphiQL for developers of clients: behind sign-in, off unless enabled, and nothing loaded from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from api.settings import Settings
from tests.acceptance.stage import Stage
from tests.console.axe import axe
from tests.console.visiting import Console

PLACE = "/developers"


async def run(page: Page, query: str) -> None:
    """Replace the query and run it, by keyboard."""
    await page.get_by_label("Query", exact=True).focus()
    await page.keyboard.press("Control+A")
    await page.keyboard.insert_text(query)
    await page.keyboard.press("Control+Enter")


class TestSwitchedOn:
    """A server whose operator wants it."""

    @pytest.fixture
    def settings(self, tmp_path: Path, built: Path) -> Settings:
        return Settings.model_validate(
            {"data_dir": tmp_path, "console": {"folder": str(built)}, "graphql": {"graphiql": True}}
        )

    async def test_a_query_is_asked_as_who_is_signed_in(self, console: Console, stage: Stage) -> None:
        for who, name in ((stage.ana, "Ana"), (stage.ben, "Ben")):
            page = await console.open(who, PLACE)
            await run(page, "query { viewer { displayName } }")
            await expect(page.locator(".result-window")).to_contain_text(f'"displayName": "{name}"')

    async def test_fields_are_proposed_though_the_server_tells_no_schema(self, console: Console, stage: Stage) -> None:
        page = await console.open(stage.ana, PLACE)
        await page.get_by_role("button", name="Show Documentation Explorer").click()
        await page.get_by_role("link", name="Query", exact=True).click()
        await expect(page.get_by_role("link", name="memorySearch", exact=True)).to_be_visible()
        assert await stage.ana.code("{ __schema { types { name } } }") == "BAD_INPUT"

    async def test_nobody_uses_it_who_is_not_signed_in(self, console: Console) -> None:
        page = await (await console.context()).new_page()
        await page.goto(console.url(PLACE))
        await expect(page.get_by_label("Token", exact=True)).to_be_visible()
        await expect(page.get_by_role("heading", name="GraphiQL")).to_have_count(0)

    async def test_what_was_written_is_gone_with_the_tab(self, console: Console, stage: Stage) -> None:
        page = await console.open(stage.ana, PLACE)
        await run(page, "query { viewer { displayName } }")
        await expect(page.locator(".result-window")).to_contain_text("Ana")
        kept = await page.evaluate("() => JSON.stringify({ ...localStorage })")
        assert "viewer" not in kept

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    async def test_it_can_be_used_by_everybody(self, console: Console, stage: Stage, scheme: str) -> None:
        page = await console.open_as(stage.ana, PLACE, color_scheme=scheme)
        await run(page, '# why\nquery A($n: Int = 1) { owners(first: $n) { totalCount } n: node(id: "x") { id } }')
        await expect(page.locator(".result-window")).to_contain_text("totalCount")
        assert await axe(page) == []


async def test_it_is_not_there_unless_it_is_switched_on(console: Console, stage: Stage) -> None:
    page = await console.open(stage.dan, PLACE)
    await expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    await expect(page.get_by_label("Query", exact=True)).to_have_count(0)
