"""The Curation Guide above the list: one, by people alone, with an outline and faults by line (CO-31 to CO-33)."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Locator, Page, expect

from graph.model.nodes.people import Right
from tests.acceptance.stage import Stage
from tests.console.axe import axe
from tests.console.visiting import Console

LIST = "/knowledge/{owner}/entries"
SET = """
mutation($owner: ID!, $text: String!, $version: Int!) {
  setCurationGuide(principalId: $owner, text: $text, expectedVersion: $version) { version }
}
"""
READ = "query($owner: ID!) { curationGuide(principalId: $owner) { text version } }"


def guide(page: Page) -> Locator:
    return page.get_by_role("region", name="Curation Guide")


async def written(stage: Stage, text: str = "# Guide\n\nKeep suppliers.", version: int = 0) -> None:
    await stage.ana.ok(SET, owner=stage.gid(stage.world.atlas), text=text, version=version)


async def stored(stage: Stage) -> Any:
    return (await stage.ana.ok(READ, owner=stage.gid(stage.world.atlas)))["curationGuide"]


@pytest.mark.req("CO-31", "CO-33")
async def test_an_empty_guide_begins_with_an_outline_and_shows_faults_by_line(console: Console, stage: Stage) -> None:
    page = await console.open(stage.ana, LIST)
    panel = guide(page)
    await expect(panel).to_be_visible()
    box, search = await panel.bounding_box(), await page.get_by_role("searchbox").bounding_box()
    assert box is not None
    assert search is not None
    assert box["y"] + box["height"] <= search["y"]

    await panel.get_by_role("button", name="Write the guide").click()
    text = panel.get_by_role("textbox", name="Guide")
    outline = await text.input_value()
    for part in ("Domain types", "Threshold for a new entry", "Classification", "Update rules", "minEvidence: 1"):
        assert part in outline
    assert await axe(page) == []

    await text.fill(outline.replace("minEvidence: 1", "minEvidence: many"))
    await panel.get_by_role("button", name="Save").click()
    await expect(panel.get_by_role("alert")).to_contain_text("Line 3")
    await panel.get_by_role("button", name="Go to line 3").click()
    selected = await text.evaluate("node => node.value.slice(node.selectionStart, node.selectionEnd)")
    assert selected == "minEvidence: many"
    assert await stored(stage) is None

    await text.fill(outline.replace("minEvidence: 1", "minEvidence: 2"))
    await panel.get_by_role("button", name="Save").click()
    await expect(panel.get_by_text("Version 1 by Ana")).to_be_visible()
    assert (await stored(stage))["version"] == 1


@pytest.mark.req("CO-32")
async def test_there_is_one_guide_and_only_people_write_it(console: Console, stage: Stage) -> None:
    """Acceptance example 7."""
    await written(stage)
    page = await console.open(stage.ana, LIST)
    panel = guide(page)
    await expect(panel.get_by_role("button", name="Edit guide")).to_have_count(1)
    await expect(page.get_by_role("button", name="Write the guide")).to_have_count(0)
    await panel.get_by_role("button", name="Show the guide").click()
    await expect(panel.get_by_text("Keep suppliers.")).to_be_visible()
    conversation = await stage.open()
    owner = stage.gid(stage.world.atlas)
    refused = await stage.agent(conversation).run(SET, owner=owner, text="# Mine", version=1)
    assert refused.codes == ["GUIDE_HUMAN_ONLY"]

    reader = await console.open(stage.ben, LIST)
    await expect(guide(reader).get_by_text("Version 1 by Ana")).to_be_visible()
    await expect(guide(reader).get_by_role("button", name="Edit guide")).to_have_count(0)


@pytest.mark.req("CO-33", "CO-8")
async def test_a_guide_that_was_changed_meanwhile_is_not_overwritten(console: Console, stage: Stage) -> None:
    await written(stage)
    await stage.world.grant(stage.world.ben, Right.CURATOR, stage.world.atlas)
    page = await console.open(stage.ben, LIST)
    panel = guide(page)
    await panel.get_by_role("button", name="Edit guide").click()
    text = panel.get_by_role("textbox", name="Guide")
    await text.fill("# Guide\n\nKeep customers.")
    await written(stage, "# Guide\n\nKeep partners.", version=1)
    await panel.get_by_role("button", name="Save").click()
    conflict = panel.get_by_role("alert")
    await expect(conflict.get_by_role("region", name="Your text")).to_contain_text("Keep customers.")
    await expect(conflict.get_by_role("region", name="Version 2")).to_contain_text("Keep partners.")
    assert (await stored(stage))["text"].endswith("Keep partners.")
    await conflict.get_by_role("button", name="Take theirs").click()
    await expect(text).to_have_value("# Guide\n\nKeep partners.")


@pytest.mark.req("CO-33")
async def test_types_of_the_guide_can_be_chosen_at_once(console: Console, stage: Stage) -> None:
    page = await console.open(stage.ana, LIST)
    panel = guide(page)
    await panel.get_by_role("button", name="Write the guide").click()
    await panel.get_by_role("textbox", name="Guide").fill("---\ntypes: [vendor]\n---\n# Guide")
    await panel.get_by_role("button", name="Save").click()
    await expect(panel.get_by_text("Version 1 by Ana")).to_be_visible()
    await page.get_by_role("button", name="Filters").click()
    await page.get_by_role("combobox", name="Type").click()
    await expect(page.get_by_role("option", name="vendor")).to_be_visible()
