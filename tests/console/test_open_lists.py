"""The lists that fields open: each of them breaks no rule of accessibility, in both schemes (CO-9)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from playwright.async_api import Locator, Page, expect

from tests.console.axe import axe
from tests.console.conftest import Sample
from tests.console.everywhere import addresses, settled
from tests.console.visiting import Console

Steps = Sequence[tuple[str, str]]

FORMS: dict[str, tuple[str, Steps]] = {
    "entries": ("entries", [("button", "Filters")]),
    "new entry": ("entries", [("button", "New entry")]),
    "metadata": ("entry", [("button", "Edit name")]),
    "relation": ("entry", [("button", "Add a relation")]),
    "merge": ("entry", [("button", "More"), ("menuitem", "Merge")]),
    "role of a quote": (
        "entry",
        [
            ("button", "Add a block"),
            ("button", "Pick a quote"),
            (".choice", ""),
            ("button", "Use this quote"),
        ],
    ),
    "projection": ("projection", []),
    "relations": ("relations", []),
    "learning": ("materials", [("button", "Let the Agent learn")]),
    "audit": ("audit", []),
    "compare": ("compare", []),
    "settings": ("settings", []),
}
"""Where fields with lists are: a page, and what is pressed until they are there."""


@pytest.mark.req("CO-9")
@pytest.mark.parametrize("form", FORMS)
async def test_an_open_list_breaks_no_rule_in_either_scheme(sample_console: Console, sample: Sample, form: str) -> None:
    place, steps = FORMS[form]
    page = await sample_console.open(sample.token("mei"), addresses(sample)[place])
    await settled(page)
    for role, name in steps:
        await _found(page, role, name).click()
    await settled(page)
    for field in await _fields(page):
        await field.focus()
        await field.press("ArrowDown")
        options = page.get_by_role("listbox").locator("visible=true")
        await expect(options).to_have_count(1)
        await expect(options.get_by_role("option").or_(options.get_by_text("No ")).first).to_be_visible()
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            assert await axe(page) == [], scheme
        await field.blur()
        await expect(options).to_have_count(0)


def _found(page: Page, role: str, name: str) -> Locator:
    if role == "button":
        return page.get_by_role("button", name=name).last
    return page.get_by_role("menuitem", name=name) if role == "menuitem" else page.locator(role).first


async def _fields(page: Page) -> list[Locator]:
    """Return the fields with lists that are there; those under an open dialog are not."""
    dialog = page.get_by_role("dialog")
    within = dialog if await dialog.count() else page.locator("main")
    # Tags are typed, without a list to choose from.
    fields = await within.locator("[role=combobox]:visible:not(.mantine-TagsInput-inputField)").all()
    assert fields
    return fields
