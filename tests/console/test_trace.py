"""From a statement to its sources: as a picture and as a list, hop by hop, with quotes, reasons and downloads."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.async_api import Page, expect

from tests.acceptance.stage import Stage, made
from tests.console.axe import axe
from tests.console.visiting import Console, picture
from tests.support.operations import block, cite, create

BLOCKS = "query($id: ID!) { entry(id: $id) { blocks { current { id } } } }"
EXPLAINED = "query($id: ID!) { explainVisibility(id: $id) { visible nodes { passed } } }"
SHARED = "mutation($channel: ID!) { setRoutingRule(channelId: $channel, memoryScope: SHARED) { id } }"
ENGINES = ["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)]
SAID = "Helio pays on Fridays."


async def statement(stage: Stage) -> tuple[str, str]:
    """Let Ana write what somebody said; return the entry and the version of its block."""
    said = await stage.say(SAID)
    content = block("Helio pays on Fridays.", cite(said, "pays on Fridays"))
    entry = made(await stage.write(create("Helio GmbH", content)))
    blocks: Any = (await stage.ana.ok(BLOCKS, id=entry))["entry"]["blocks"]
    return entry, str(blocks[0]["current"]["id"])


async def trace(console: Console, stage: Stage, node: str, query: str = "") -> Page:
    return await console.open(stage.ana, "/knowledge/{owner}/trace/{node}" + query, node=node)


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.req("CO-16")
async def test_one_click_leads_from_a_block_to_the_words_that_it_rests_on(
    console: Console, stage: Stage, engine: str
) -> None:
    entry, _ = await statement(stage)
    page = await console.open(stage.ana, "/knowledge/{owner}/entries/{entry}", entry=entry)

    # One click: the trace of the block.
    await page.get_by_role("main").get_by_role("link", name="Trace Helio pays on Fridays.").first.click()

    await expect(page.get_by_role("heading", name="Trace: Statement")).to_be_visible()
    await expect(page.get_by_role("img", name="Graph of 2 nodes")).to_be_visible()
    await page.get_by_text("List", exact=True).click()
    await expect(page.get_by_text("“pays on Fridays”")).to_be_visible()
    await page.get_by_role("button", name="Message").click()
    await expect(page.get_by_role("region", name="Message").get_by_text(SAID)).to_be_visible()


@pytest.mark.req("CO-16")
async def test_who_follows_a_citation_is_shown_the_words_and_who_said_them(console: Console, stage: Stage) -> None:
    entry, _ = await statement(stage)
    page = await console.open(stage.ana, "/knowledge/{owner}/entries/{entry}", entry=entry)
    await page.get_by_role("main").get_by_role("link", name="Message of").first.click()
    told = page.get_by_role("region", name="Message")
    await expect(told.get_by_text(SAID)).to_be_visible()
    await expect(told.get_by_role("row", name="By")).to_be_visible()


@pytest.mark.req("CO-16")
async def test_a_trace_is_shown_in_both_forms_and_both_schemes_without_a_fault_for_anybody(
    console: Console, stage: Stage
) -> None:
    _, version = await statement(stage)
    page = await trace(console, stage, version, "?why=" + version)
    await expect(page.get_by_role("region", name="Why you can see this")).to_contain_text("read by members of ops")
    assert await axe(page) == []
    await picture(page, "trace")
    path = f"/knowledge/{console.owner}/trace/{version}?view=list"
    dark = await console.open_as(stage.ana, path, color_scheme="dark", viewport={"width": 320, "height": 800})
    await dark.get_by_role("button", name="Message").click()
    await expect(dark.get_by_role("region", name="Message")).to_contain_text(SAID)
    assert await axe(dark) == []


async def test_the_reason_why_somebody_sees_a_statement_is_two_clicks_away(console: Console, stage: Stage) -> None:
    entry, version = await statement(stage)
    page = await console.open(stage.ana, "/knowledge/{owner}/entries/{entry}", entry=entry)
    await page.get_by_role("main").get_by_role("link", name="Trace Helio pays on Fridays.").first.click()
    await page.get_by_role("button", name="Why can I see this?").first.click()
    why = page.get_by_role("region", name="Why you can see this")
    await expect(why.get_by_role("listitem")).to_have_count(2)
    await expect(why.get_by_role("listitem").first).to_contain_text("passed: read by members of ops")
    # The same that the API explains: each node of the path, and that it is passed.
    explained: Any = (await stage.ana.ok(EXPLAINED, id=version))["explainVisibility"]
    assert explained["visible"]
    assert [one["passed"] for one in explained["nodes"]] == [True, True]


async def test_hops_are_taken_away_and_come_back(console: Console, stage: Stage) -> None:
    entry, _ = await statement(stage)
    page = await trace(console, stage, entry, "?view=list")
    lines = page.locator(".trace-line")
    await expect(page.get_by_role("status").filter(has_text="Nodes:")).to_contain_text("Nodes: 5")
    await page.get_by_role("button", name="One hop less").click()
    await expect(lines.filter(has_text="Message")).to_have_count(0)
    await page.get_by_role("button", name="One hop more").click()
    await expect(lines.filter(has_text="Message")).to_have_count(1)
    await lines.filter(has_text="Statement").click()
    await page.get_by_role("button", name="Shrink").click()
    await page.get_by_role("button", name="Expand (1 hidden)").click()
    await expect(page.get_by_role("button", name="Shrink")).to_be_visible()


async def test_what_rests_on_a_source_is_the_same_chain_the_other_way(console: Console, stage: Stage) -> None:
    said = await stage.say(SAID)
    await stage.write(create("Helio GmbH", block("Pays on Fridays", cite(said, "pays on Fridays"))))
    page = await trace(console, stage, said, "?view=list")
    await expect(page.locator(".trace-line")).to_have_count(1)
    await page.get_by_text("What rests on it").click()
    await expect(page.locator(".trace-line").filter(has_text="Pays on Fridays").first).to_be_visible()


async def test_what_is_behind_a_node_is_counted_without_what_one_may_not_see(console: Console, stage: Stage) -> None:
    """Attack goal B5: Ana has drawn a conclusion in private from what was said to all."""
    await stage.dan.ok(SHARED, channel=stage.gid(stage.world.ops))
    said = await stage.say(SAID)
    await stage.write(create("Helio GmbH", block("Pays on Fridays", cite(said, "pays on Fridays"))))
    await stage.say("Hello.", channel=stage.world.chat)
    mine = create("My Fridays", block("Helio pays me on Fridays", cite(said, "pays on Fridays")))
    await stage.write(mine, channel=stage.world.chat)
    shown = []
    for who in (stage.ana, stage.ben):
        page = await console.open(who, f"/knowledge/{{owner}}/trace/{said}?direction=DOWNSTREAM&view=list")
        root = page.locator(".trace-line").filter(has_text="Message")
        await root.click()
        await page.get_by_role("button", name="Shrink").click()
        await expect(page.locator(".trace-line")).to_have_count(1)
        shown.append(await root.inner_text())
        assert ("Helio pays me" in await page.content()) is False
    assert [re.findall(r"\+(\d+)", text) for text in shown] == [["2"], ["1"]]


async def test_a_trace_is_downloaded_as_provenance_and_as_a_picture(console: Console, stage: Stage) -> None:
    _, version = await statement(stage)
    page = await trace(console, stage, version)
    await expect(page.get_by_role("img", name="Graph of 2 nodes")).to_be_visible()

    async def downloaded(item: str) -> bytes:
        await page.get_by_role("button", name="Download", exact=True).click()
        async with page.expect_download() as waiting:
            await page.get_by_role("menuitem", name=item).click()
        return (await (await waiting.value).path()).read_bytes()

    provenance = json.loads(await downloaded("PROV-JSON"))
    assert "wasDerivedFrom" in provenance or "used" in provenance or "entity" in provenance
    assert (await downloaded("Picture (PNG)")).startswith(b"\x89PNG")


async def test_what_one_may_not_see_and_what_is_not_there_look_the_same(console: Console, stage: Stage) -> None:
    said = await stage.say("My salary is a secret.", channel=stage.world.chat)
    pages = [
        await console.open(stage.ben, "/knowledge/{owner}/trace/{node}", node=node)
        for node in (said, stage.gid(stage.world.atlas)[:-2] + "xx")
    ]
    for page in pages:
        await expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    first, second = [await page.get_by_role("main").inner_text() for page in pages]
    assert first == second
