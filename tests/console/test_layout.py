"""Every page, wide and at 400 % zoom: nothing moves while it loads, nothing is cut off, no rule is broken (CO-9)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from playwright.async_api import Error, Page, Route, expect

from tests.console.axe import axe
from tests.console.conftest import Sample
from tests.console.everywhere import FRAMES, addresses, settled
from tests.console.visiting import SIGN_IN, Console

# What moved without a person's doing, by how much, for a reader of a failed test.
SHIFTS = """() => {
  window.shifts = []
  const told = ({ node, previousRect: from, currentRect: to }) =>
    `${node?.nodeName} ${node?.textContent?.slice(0, 40)}: ${from.y}+${from.height} to ${to.y}+${to.height}`
  new PerformanceObserver((list) => list.getEntries().forEach((one) =>
    one.hadRecentInput || window.shifts.push([one.value, ...one.sources.map(told)]),
  )).observe({ type: 'layout-shift', buffered: true })
}"""
MOST = 0.01
"""A tenth of what is called good: more than a word that gets its second line moves something else."""
WIDE, ZOOMED = {"width": 1280, "height": 800}, {"width": 320, "height": 640}


class LateAnswers:
    """Lets answers arrive one by one, what was asked last first: so the lower parts of a page are there first."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.held: list[Route] = []
        self.arrived = asyncio.Event()

    async def hold(self, route: Route) -> None:
        self.held.append(route)
        self.arrived.set()

    async def let_go(self) -> None:
        """Answer for ever."""
        with suppress(Error):  # the page was closed
            while True:
                await self.arrived.wait()
                await self.page.evaluate(FRAMES)
                route = self.held.pop()
                if not self.held:
                    self.arrived.clear()
                await route.fulfill(response=await route.fetch())


@pytest.mark.req("CO-9")
@pytest.mark.parametrize(
    ("viewport", "scheme"), [(WIDE, "light"), (ZOOMED, "dark")], ids=["wide and light", "zoomed and dark"]
)
async def test_no_page_moves_while_it_loads_or_is_wider_than_the_window_or_breaks_a_rule(
    sample_console: Console, sample: Sample, viewport: dict[str, int], scheme: str
) -> None:
    browser = await sample_console.context(viewport=viewport, color_scheme=scheme)
    moved: dict[str, Any] = {}
    found: dict[str, list[str]] = {}
    for name, path in addresses(sample).items():
        page = await browser.new_page()
        await page.add_init_script(f"({SHIFTS})();({SIGN_IN})({sample.token('mei')!r})")
        late = LateAnswers(page)
        await page.route("**/graphql", late.hold)
        answering = asyncio.create_task(late.let_go())
        await page.goto(sample_console.url(path))
        await settled(page)
        shifts = await page.evaluate("() => window.shifts")
        if sum(value for value, *_ in shifts) >= MOST:
            moved[name] = shifts
        found[name] = await axe(page)
        if await page.evaluate("() => document.documentElement.scrollWidth") > viewport["width"]:
            found[name].append("must be scrolled sideways")
        await page.close()
        answering.cancel()
    assert moved == {}
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.req("CO-9")
@pytest.mark.parametrize("path", ["/", "/knowledge/{owner}/status", "/agents/{owner}/library", "/settings/memory"])
async def test_a_page_has_its_head_before_anything_is_known(sample_console: Console, sample: Sample, path: str) -> None:
    page = await (await sample_console.context()).new_page()
    asked, go = asyncio.Event(), asyncio.Event()

    async def hold(route: Route) -> None:
        asked.set()
        await go.wait()
        with suppress(Error):
            await route.continue_()

    await page.add_init_script(f"({SIGN_IN})({sample.token('mei')!r})")
    await page.route("**/graphql", hold)
    await page.goto(sample_console.url(path))
    await asked.wait()
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await expect(page.get_by_role("status", name="Loading").first).to_be_visible()
    go.set()
    await settled(page)
