"""What a newcomer sees of the sample: the six tabs, a trace, relations, two moments.

With ``ROOTWARD_TEST_PICTURES=1`` the pictures are those of the README and `docs/images/console`.
"""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.console.axe import axe
from tests.console.conftest import Sample
from tests.console.visiting import Console, publish

SEEN = {
    "entries": "Blue Heron Tea",
    "materials": "Report HL-2026-0417 of Hansa Lab",
    "skill-experience": "Write a date with its weekday",
    "dreaming": "B: curation",
    "audit": "Block created",
    "status": "Knowledge lint",
}
"""A text of each tab that is there once it is loaded."""


@pytest.mark.req("CO-1", "CO-2")
@pytest.mark.parametrize("tab", SEEN)
async def test_a_tab_of_the_sample(sample_console: Console, sample: Sample, tab: str) -> None:
    page = await sample_console.open(sample.token("mei"), f"/knowledge/{{owner}}/{tab}")
    # Lists that no field has opened yet may hold the same words.
    await expect(page.get_by_role("main").get_by_text(SEEN[tab]).locator("visible=true").first).to_be_visible()
    await expect(page.get_by_role("status", name="Loading …")).to_have_count(0)
    assert await axe(page) == []
    await publish(page, tab)


async def test_the_trace_of_a_belief_of_the_sample(sample_console: Console, sample: Sample) -> None:
    page = await sample_console.open(sample.token("mei"), "/knowledge/{owner}/entries")
    await page.get_by_role("link", name="Nordlicht Logistics").click()
    await page.get_by_role("main").get_by_role("link", name="Trace The train takes").click()
    await expect(page.get_by_role("heading", name="Trace: Statement")).to_be_visible()
    await expect(page.get_by_role("img", name="Graph of")).to_be_visible()
    await publish(page, "trace")
    await page.get_by_role("button", name="Why can I see this?").first.click()
    await expect(page.get_by_role("region", name="Why you can see this").get_by_role("listitem").first).to_be_visible()
    assert await axe(page) == []


async def test_relations_and_two_moments_of_the_sample(sample_console: Console, sample: Sample) -> None:
    page = await sample_console.open(sample.token("mei"), "/knowledge/{owner}/entries")
    await page.get_by_role("link", name="Blue Heron Tea").click()
    await page.get_by_role("tab", name="Relations").click()
    await page.get_by_text("2", exact=True).click()
    await expect(page.get_by_role("img", name="8 entries related to Blue Heron Tea")).to_be_visible()
    await publish(page, "relations")
    page = await sample_console.open(
        sample.token("mei"), "/knowledge/{owner}/compare?q=tea&then=2026-08-01T00:00:00Z&changed=1"
    )
    await expect(page.get_by_role("region", name="Hamburg Tea Days")).to_be_visible()
    await publish(page, "compare")
