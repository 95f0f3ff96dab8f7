"""All pages of the console over the sample: what holds for each of them is tested by walking through them."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx2
from playwright.async_api import Page, expect

from tests.console.conftest import Sample

PAGES = {
    "entries": "/knowledge/{owner}/entries",
    "entry": "/knowledge/{owner}/entries/{entry}",
    "projection": "/knowledge/{owner}/entries/{entry}/projection",
    "entry audit": "/knowledge/{owner}/entries/{entry}/audit",
    "relations": "/knowledge/{owner}/entries/{entry}/relations",
    "materials": "/knowledge/{owner}/materials",
    "material": "/knowledge/{owner}/materials/{material}",
    "skill experience": "/knowledge/{owner}/skill-experience",
    "dreaming": "/knowledge/{owner}/dreaming",
    "run": "/knowledge/{owner}/dreaming?run={run}",
    "audit": "/knowledge/{owner}/audit",
    "record": "/knowledge/{owner}/audit?record={record}",
    "status": "/knowledge/{owner}/status",
    "lint": "/knowledge/{owner}/status#lint",
    "trace": "/knowledge/{owner}/trace/{entry}",
    "compare": "/knowledge/{owner}/compare",
    "comparison": "/knowledge/{owner}/compare?entry={entry}&then=2026-08-01T00:00:00Z",
    "library": "/agents/{owner}/library",
    "settings": "/settings/memory",
    "nothing": "/knowledge/{owner}/nothing",
}
"""Each page by a name; what is in braces is an id of the sample."""
IDS = """
query($owner: ID!) {
  entries(ownerId: $owner, filter: { text: "Blue Heron Tea" }, first: 1) { edges { node { id } } }
  materials(ownerId: $owner, first: 1) { edges { node { id } } }
  dreamRuns(agentId: $owner, first: 1) { edges { node { id } } }
  auditLog(filter: { ownerId: $owner }, first: 1) { edges { node { id } } }
}
"""
FIELDS = {"entry": "entries", "material": "materials", "run": "dreamRuns", "record": "auditLog"}
FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def addresses(sample: Sample) -> dict[str, str]:
    """Return the path of each page, with ids of the sample; ``{owner}`` stays."""
    headers = {"Authorization": f"Bearer {sample.token('mei')}"}
    asked = {"query": IDS, "variables": {"owner": sample.owner}}
    answer: Any = httpx2.post(f"{sample.server.address}/graphql", json=asked, headers=headers, timeout=60).json()
    ids = {name: quote(answer["data"][of]["edges"][0]["node"]["id"], safe="") for name, of in FIELDS.items()}
    return {page: path.format(owner="{owner}", **ids) for page, path in PAGES.items()}


async def settled(page: Page) -> None:
    """Wait until a page has a heading and nothing of it loads."""
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await expect(page.locator("[aria-busy=true], [role=status][aria-label^=Loading]")).to_have_count(0)
    await page.wait_for_load_state("networkidle")
    await page.evaluate(FRAMES)
