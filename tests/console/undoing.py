"""Knowledge that was changed several times, for tests that look at its audit and undo it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from playwright.async_api import Locator, Page

from tests.acceptance.stage import Stage, made
from tests.console.visiting import Console
from tests.support.operations import block, cite, create, edit

TEXT = "Orion runs on Postgres. Orion is hosted in Berlin. Ana leads Orion. Orion belongs to Helio. Orion uses Kafka."
VERSION = "query($id: ID!) { node(id: $id) { ... on Block { current { text version } } } }"
DELETE = """mutation($id: ID!, $version: Int!) {
  deleteEntry(id: $id, expectedVersion: $version, reason: "gone") { records { id operation } } }"""


@dataclass
class Orion:
    """An entry of three blocks, and what was done to it since."""

    stage: Stage
    source: str
    entry: str
    blocks: list[str]

    @classmethod
    async def write(cls, stage: Stage) -> Orion:
        source = await stage.say(TEXT, speaker=stage.world.ben)
        blocks = (
            block("Runs on Postgres.", cite(source, "Orion runs on Postgres")),
            block("Is hosted in Berlin.", cite(source, "Orion is hosted in Berlin")),
            block("Is led by Ana.", cite(source, "Ana leads Orion")),
        )
        done = await stage.write(create("Orion", *blocks, type="system"))
        return cls(stage, source, made(done), [made(done, place=place) for place in (1, 2, 3)])

    async def correct(self, which: int, text: str) -> str:
        """Let Ana correct a block; return the id of the record."""
        self.stage.clock.advance(timedelta(minutes=1))
        _, version = await self.now(which)
        content = block(text, cite(self.source, "Orion uses Kafka"), change="correction", standing="corrected")
        done = await self.stage.write(edit(self.blocks[which], version, content), by=self.stage.ana)
        return str(done["records"][0]["id"])

    async def delete(self, entry: str | None = None) -> str:
        """Let Ana delete the entry, or another; return the id of the record."""
        self.stage.clock.advance(timedelta(minutes=1))
        gone = entry or self.entry
        version = (await self.stage.entry(gone))["version"]
        done: Any = (await self.stage.ana.ok(DELETE, id=gone, version=version))["deleteEntry"]["records"]
        return str(next(one["id"] for one in done if one["operation"] == "entry.delete"))

    async def now(self, which: int) -> tuple[str, int]:
        """Return text and version of a block."""
        current = (await self.stage.ana.ok(VERSION, id=self.blocks[which]))["node"]["current"]
        return str(current["text"]), int(current["version"])


async def preview_of_edits(console: Console, stage: Stage, *rows: int) -> tuple[Page, Locator]:
    """Select edits of blocks by their rows, newest first from 0, and open the preview of their restore."""
    page = await console.open(stage.ana, "/knowledge/{owner}/audit?op=block.edit")
    for row in rows:
        await page.get_by_role("checkbox", name="Select record").nth(row).check()
    await page.get_by_role("button", name="Preview restore").click()
    return page, page.get_by_role("dialog")
