"""What the tab of a browser and its history call a page: its kind, and what it is about (WCAG 2.4.2; CO-9, CO-10)."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.acceptance.stage import Stage, made
from tests.console.conftest import Sample
from tests.console.everywhere import addresses
from tests.console.visiting import Console
from tests.support.operations import block, cite, create

TITLES = {
    "en-US": {
        "entry": "Blue Heron Tea · Edit · Kettle",
        "projection": "Blue Heron Tea · Projection · Kettle",
        "entry audit": "Blue Heron Tea · Audit · Kettle",
        "relations": "Blue Heron Tea · Relations · Kettle",
        "trace": "Blue Heron Tea · Trace: Entry · Kettle",
        "compare": "Compare two moments · Kettle",
        "comparison": "Blue Heron Tea · Compare two moments · Kettle",
        "library": "Agent Library · Kettle",
        "settings": "Memory settings",
        "nothing": "Not found · Kettle",
        "entries": "Entries · Kettle",
    },
    "zh-CN": {
        "entry": "Blue Heron Tea · 编辑 · Kettle",
        "projection": "Blue Heron Tea · 投影 · Kettle",
        "entry audit": "Blue Heron Tea · 审计 · Kettle",
        "relations": "Blue Heron Tea · 关系 · Kettle",
        "trace": "Blue Heron Tea · 溯源: 条目 · Kettle",
        "compare": "比较两个时刻 · Kettle",
        "comparison": "Blue Heron Tea · 比较两个时刻 · Kettle",
        "library": "Agent 资料库 · Kettle",
        "settings": "记忆设置",
        "nothing": "未找到 · Kettle",
        "entries": "条目 · Kettle",
    },
}


@pytest.mark.req("CO-9")
@pytest.mark.parametrize("locale", TITLES)
async def test_each_page_is_called_by_its_kind_and_what_it_is_about(
    sample_console: Console, sample: Sample, locale: str
) -> None:
    paths = addresses(sample)
    page = await sample_console.open_as(sample.token("mei"), "/", locale=locale)
    for name, title in TITLES[locale].items():
        await page.goto(sample_console.url(paths[name]))
        await expect(page).to_have_title(f"{title} · Rootward")


@pytest.mark.req("CO-9")
async def test_titles_follow_where_one_goes_without_a_load(console: Console, stage: Stage) -> None:
    said = await stage.say("Helio pays on Fridays.")
    content = block("Helio pays on Fridays.", cite(said, "pays on Fridays"))
    made(await stage.write(create("Helio", content)))
    page = await console.open(stage.ana, "/knowledge/{owner}/entries")
    await page.get_by_role("link", name="Helio").click()
    await expect(page).to_have_title("Helio · Edit · Atlas · Rootward")
    await page.get_by_role("main").get_by_role("link", name="Trace Helio pays on Fridays.").first.click()
    # What was said is in no title: browsers keep these.
    await expect(page).to_have_title("Trace: Statement · Atlas · Rootward")
    await page.go_back()
    await expect(page).to_have_title("Helio · Edit · Atlas · Rootward")
    await page.get_by_role("tab", name="Entries", exact=True).click()
    await expect(page).to_have_title("Entries · Atlas · Rootward")
    await page.get_by_role("button", name="Menu", exact=True).click()
    await page.get_by_role("menuitem", name="Sign out").click()
    await expect(page).to_have_title("Sign in · Rootward")


@pytest.mark.req("CO-10")
async def test_a_name_hides_and_turns_nothing_in_a_title(console: Console, stage: Stage) -> None:
    said = await stage.say("Orion is a barge.")
    name = "Ori\u200bon \u202eegrab\u202c"
    entry = made(await stage.write(create(name, block("Orion is a barge.", cite(said, "is a barge")))))
    shown = "Ori⟨U+200B⟩on ⟨U+202E⟩egrab⟨U+202C⟩"
    page = await console.open(stage.ana, "/knowledge/{owner}/entries/{entry}", entry=entry)
    await expect(page).to_have_title(f"{shown} · Edit · Atlas · Rootward")
    await page.goto(console.url("/knowledge/{owner}/trace/{entry}", entry=entry))
    await expect(page).to_have_title(f"{shown} · Trace: Entry · Atlas · Rootward")
    await page.goto(console.url("/knowledge/{owner}/compare?entry={entry}", entry=entry))
    await expect(page).to_have_title(f"{shown} · Compare two moments · Atlas · Rootward")
