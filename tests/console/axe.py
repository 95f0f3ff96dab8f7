"""Asks axe-core, the console's own copy, what is wrong with a page for people who use it in other ways."""

from __future__ import annotations

from functools import cache
from typing import Any

from playwright.async_api import Page

from tools.console import ROOT

SOURCE = ROOT / "console" / "node_modules" / "axe-core" / "axe.min.js"
RUN = r"""
async () => {
  const found = await axe.run(document, { resultTypes: ['violations'] })
  const shown = (node) => [node.failureSummary.replace(/\s+/g, " "), node.target.join(' '), node.html]
  return found.violations.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(shown) }))
}
"""


REST = "() => new Promise((done) => requestIdleCallback(() => requestAnimationFrame(done), { timeout: 1000 }))"
_TRIES = 5


async def axe(page: Page) -> list[str]:
    """Return what axe finds, a line for each element; empty for a page without a violation.

    A dialog that has just opened gets its name a moment later: what is found is looked at again when the page rests.
    """
    if not await page.evaluate("() => 'axe' in window"):
        await page.evaluate(_source())
    found = await _found(page)
    for _ in range(_TRIES):
        if not found:
            break
        await page.evaluate(REST)
        found = await _found(page)
    return found


async def _found(page: Page) -> list[str]:
    violations: list[dict[str, Any]] = await page.evaluate(RUN)
    return [f"{one['id']}: {one['help']}: {' '.join(node)}" for one in violations for node in one["nodes"]]


@cache
def _source() -> str:
    return SOURCE.read_text(encoding="utf-8")
