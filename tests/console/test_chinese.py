"""Who reads Chinese meets no English of the console, on no page and in nothing that unfolds on one (CO-9)."""

from __future__ import annotations

import re
from typing import Final

import pytest
from playwright.async_api import Page, expect

from tests.acceptance.stage import Stage
from tests.console.conftest import Sample
from tests.console.everywhere import addresses, settled
from tests.console.visiting import SIGN_IN, Console

# What the console itself says: all texts and names, without those of others, which stay as they are.
SAID = """() => {
  const theirs = 'bdi, code, pre, textarea, .markdown, .exact, [lang=en], script, style, noscript'
  const found = new Set()
  const take = (text) => text && text.trim() && found.add(text.trim())
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walk.nextNode(); node; node = walk.nextNode())
    if (!node.parentElement.closest(theirs) && node.parentElement.checkVisibility()) take(node.data)
  const names = ['aria-label', 'title', 'placeholder', 'alt']
  for (const node of document.querySelectorAll(names.map((name) => `[${name}]`).join()))
    if (!node.closest(theirs)) for (const name of names) take(node.getAttribute(name))
  return [...found]
}"""
UNFOLD = """() => document.querySelectorAll('main button[aria-expanded=false]').forEach((one) => one.click())"""
ENGLISH: Final = re.compile(r"[A-Za-z]{3}")
CHINESE: Final = re.compile(r"[\u4e00-\u9fff]")
NAMES: Final = re.compile(
    r"Rootward|GraphiQL|PROV-JSON|Agent|English|\d{4}-\d\d-\d\dT[\d:.]+Z"
    r"|Blue Heron Tea|Wan Garden|Keeping notes|Emre Yilmaz|Mei Lin|Jonas Berg|Aylin Demir"
)
"""Of the product, of its parts and of what the sample tells."""
IDENTIFIER: Final = re.compile(r"[a-z][a-z0-9_.]+")
"""A type, a setting, an operation: the same in every language."""


@pytest.mark.req("CO-9")
async def test_no_page_speaks_english_to_who_reads_chinese(sample_console: Console, sample: Sample) -> None:
    browser = await sample_console.context(locale="zh-CN")
    english: dict[str, list[str]] = {}
    for name, path in addresses(sample).items():
        page = await browser.new_page()
        await page.add_init_script(f"({SIGN_IN})({sample.token('mei')!r})")
        await page.goto(sample_console.url(path))
        await settled(page)
        await page.evaluate(UNFOLD)
        await settled(page)
        english[name] = await _english(page)
        await page.close()
    assert {name: texts for name, texts in english.items() if texts} == {}


@pytest.mark.req("CO-5", "CO-9")
async def test_refusals_of_the_server_are_said_in_chinese_with_their_code(console: Console, stage: Stage) -> None:
    page = await console.open_as(stage.dan, "/settings/memory?edit=lint.similarity", locale="zh-CN")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("值").fill("7")
    await dialog.get_by_role("button", name="保存").click()
    alert = dialog.get_by_role("alert")
    await expect(alert).to_contain_text("输入的内容不符合要求。")
    await expect(alert.get_by_role("code")).to_have_text("BAD_INPUT")
    # What only the server can say is there too, and is marked as English.
    await expect(alert.locator("[lang=en]")).to_contain_text("a number from 0 to 1")
    assert await _english(page) == []


async def _english(page: Page) -> list[str]:
    said: list[str] = await page.evaluate(SAID)
    return [text for text in said if _is_english(NAMES.sub("", text).strip(" ·⟨⟩"))]


def _is_english(text: str) -> bool:
    return bool(ENGLISH.search(text)) and not CHINESE.search(text) and not IDENTIFIER.fullmatch(text)
