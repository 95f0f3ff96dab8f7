"""The Memory settings: every setting of knowledge, changed by admins alone, for the workspace or for one agent."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page, expect

from graph.rules.knowledge_settings import SPECS
from tests.acceptance.stage import Stage
from tests.console.axe import axe
from tests.console.visiting import Console

SETTINGS = "/settings/memory"


def row(page: Page, name: str) -> Any:
    """The row of a setting."""
    return page.get_by_role("row").filter(has=page.get_by_role("rowheader", name=name, exact=True))


async def change(page: Page, name: str, value: str) -> None:
    """Type another value and save it."""
    await page.get_by_role("button", name=f"Change {name}").click()
    await page.get_by_role("dialog").get_by_label("Value").fill(value)
    await page.get_by_role("dialog").get_by_role("button", name="Save").click()


@pytest.mark.req("CO-76")
async def test_every_setting_is_shown_with_value_default_unit_and_range_and_no_secret(
    console: Console, stage: Stage
) -> None:
    profile = """mutation { setModelProfile(name: "light", provider: "openai", model: "small",
      credential: "env:OPENAI_API_KEY") { version } }"""
    await stage.dan.ok(profile)
    await stage.set_to(search__rrf_k=20)
    page = await console.open(stage.ben, SETTINGS)
    await expect(page.get_by_role("rowheader")).to_have_count(len(SPECS))
    for name in SPECS:
        await expect(page.get_by_role("rowheader", name=name, exact=True)).to_have_count(1)
    await expect(row(page, "search.total_tokens")).to_contain_text("4000")
    await expect(row(page, "search.total_tokens")).to_contain_text("tokens")
    await expect(row(page, "search.total_tokens")).to_contain_text("a whole number from 200 to 32000")
    cells = row(page, "search.rrf_k").get_by_role("cell")
    await expect(cells.nth(0)).to_contain_text("20")
    await expect(cells.nth(1)).to_have_text("10")
    # Who is no admin changes nothing, and nobody is shown a secret.
    await expect(page.get_by_text("only an administrator changes settings")).to_be_visible()
    await expect(page.get_by_role("button", name="Change ")).to_have_count(0)
    for secret in ("OPENAI_API_KEY", stage.ben.token):
        assert secret
        assert secret not in await page.content()
    assert await axe(page) == []


@pytest.mark.req("CO-76")
async def test_an_admin_changes_a_setting_and_sets_it_back(console: Console, stage: Stage) -> None:
    page = await console.open(stage.dan, SETTINGS)
    await change(page, "lint.similarity", "0.9")
    await expect(page.get_by_text("Saved: lint.similarity")).to_be_visible()
    await expect(row(page, "lint.similarity")).to_contain_text("0.9")
    await page.get_by_role("button", name="Change lint.similarity").click()
    await page.get_by_role("button", name="Back to the default").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(row(page, "lint.similarity").get_by_role("cell").first).to_have_text("0.85")


@pytest.mark.req("CO-76", "CO-8")
async def test_what_was_typed_stays_when_the_server_refuses_it(console: Console, stage: Stage) -> None:
    console.allow(r"status of 4\d\d")
    page = await console.open(stage.dan, SETTINGS)
    await change(page, "lint.similarity", "7")
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("alert")).to_contain_text("BAD_INPUT")
    await expect(dialog.get_by_role("alert")).to_contain_text("a number from 0 to 1")
    await expect(dialog.get_by_label("Value")).to_have_value("7")
    await dialog.get_by_label("Value").fill("much")
    await expect(dialog.get_by_role("button", name="Save")).to_be_disabled()
    assert await axe(page) == []


@pytest.mark.req("CO-76")
async def test_of_two_admins_the_second_is_told_before_he_overwrites(console: Console, stage: Stage) -> None:
    console.allow(r"status of 409")
    page = await console.open(stage.dan, SETTINGS)
    await page.get_by_role("button", name="Change memo.kb_token_budget").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Value").fill("300")
    await stage.set_to(memo__kb_token_budget=250)
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("250")
    await expect(dialog.get_by_label("Value")).to_have_value("300")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    await expect(row(page, "memo.kb_token_budget")).to_contain_text("300")


@pytest.mark.req("CO-76")
async def test_an_agent_has_values_of_its_own_where_it_may(console: Console, stage: Stage) -> None:
    page = await console.open(stage.dan, SETTINGS + "?agent={owner}")
    await expect(row(page, "lint.similarity")).to_contain_text("the same for all agents")
    await change(page, "dream.max_operations", "50")
    await expect(row(page, "dream.max_operations")).to_contain_text("this agent")
    await page.goto(console.url(SETTINGS))
    await expect(row(page, "dream.max_operations").get_by_role("cell").first).to_have_text("200")


@pytest.mark.req("CO-9")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_it_can_be_used_by_everybody(console: Console, stage: Stage, scheme: str) -> None:
    page = await console.open_as(stage.dan, SETTINGS, color_scheme=scheme, viewport={"width": 320, "height": 800})
    await expect(row(page, "survival.window_days")).to_have_count(1)
    assert await axe(page) == []
    assert await page.evaluate("() => document.documentElement.scrollWidth <= 320")
    chinese = await console.open_as(stage.dan, SETTINGS, color_scheme=scheme, locale="zh-CN")
    await expect(chinese.get_by_role("heading", name="记忆设置")).to_be_visible()
