"""Somebody who has just typed `make run` reaches the source of a belief without reading a page."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.async_api import expect

from tests.console.axe import axe
from tests.console.conftest import Sample
from tests.console.visiting import Console


async def test_a_newcomer_reaches_the_source_of_a_belief(sample: Sample, sample_console: Console) -> None:
    said = sample.server.said
    address = re.search(r"Console: (\S+)", said)
    assert address, said
    token = next(Path(word) for word in said.split() if word.endswith("jonas.token")).read_text().strip()

    page = await (await sample_console.context()).new_page()
    await page.goto(address[1])
    await sample_console.sign_in(page, token)
    await page.locator("tbody").get_by_role("link").first.click()
    await page.get_by_role("link", name=re.compile("^Trace")).first.click()
    await expect(page.get_by_role("img", name=re.compile("^Graph of"))).to_be_visible()
    assert await axe(page) == []
    await page.get_by_text("List", exact=True).click()
    source = page.locator(".trace-line").filter(has_text=re.compile("^(Source|Message|Document|File|Page)")).first
    await source.click()
    await expect(page.get_by_role("region").last).to_contain_text("Said")
