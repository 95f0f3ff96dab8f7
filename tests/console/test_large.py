"""Much of everything: a long trace, and an entry with thousands of relations, stay in parts that one can take in."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from playwright.async_api import Page, expect

from tests.acceptance.stage import Stage, made
from tests.console.visiting import Console, picture
from tests.support.operations import Json, block, cite, create, deduction, relate

IN_ONE_GO = 100
SPOKES = 100
TYPES = 20
PARTS = 20
SOURCES_EACH = 24
NODES = 500
"""The statement, 20 that it is derived from, and all messages that these cite: as many as one answer holds."""


async def in_parts(stage: Stage, operations: Sequence[Json]) -> list[str]:
    """Write operations, some at a time; return what each of them made first."""
    made_ids: list[str] = []
    for start in range(0, len(operations), IN_ONE_GO):
        payload = await stage.write(*operations[start : start + IN_ONE_GO])
        made_ids += [result["createdIds"][0] for result in payload["results"]]
    return made_ids


async def hub(stage: Stage) -> str:
    """Let Hub have 2,000 relations, 20 to each of 100 others; return it."""
    names = [f"Spoke {number:03}" for number in range(SPOKES)]
    lines = [f"Hub supplies {name}." for name in names]
    words = await stage.talk(lines)
    hub = made(await stage.write(create("Hub", block("Hub supplies all.", cite(words[0], "Hub supplies")))))
    content = [block(line, cite(said, line)) for line, said in zip(lines, words, strict=True)]
    spokes = await in_parts(stage, [create(name, one) for name, one in zip(names, content, strict=True)])
    told = list(zip(spokes, words, lines, strict=True))
    await in_parts(stage, [relate(hub, f"kind_{kind:02}", *one) for kind in range(TYPES) for one in told])
    return hub


@pytest.mark.req("CO-7", "CO-14", "CO-15")
async def test_two_thousand_relations_are_shown_in_parts(console: Console, stage: Stage) -> None:
    entry = await hub(stage)
    page = await console.open(stage.ana, "/knowledge/{owner}/entries/{entry}", entry=entry)
    listed = page.get_by_role("region", name="Relations")
    await expect(listed.get_by_text("20 of 2000")).to_be_visible()
    await listed.get_by_role("button", name="Show more").click()
    await expect(listed.get_by_text("40 of 2000")).to_be_visible()
    await expect(listed.get_by_role("article")).to_have_count(40)

    await page.get_by_role("tab", name="Relations", exact=True).click()
    await expect(page.get_by_text("101 entries, 2000 relations")).to_be_visible()
    table = page.get_by_role("table", name="Relations")
    await expect(table.get_by_role("row")).to_have_count(21)
    await expect(page.get_by_text("The picture shows the nearest 50 entries and 200 relations")).to_be_visible()
    await expect(page.get_by_role("img", name="50 entries related to Hub")).to_be_visible()

    await picture(page, "many-relations")
    await page.get_by_role("button", name="Show more").click()
    await expect(table.get_by_role("row")).to_have_count(41)
    await table.get_by_role("button", name="Show quotes").last.click()
    rests_on = page.get_by_role("region", name="What it rests on")
    await expect(rests_on).to_contain_text("Hub supplies")
    await expect(rests_on).to_be_in_viewport()
    await page.get_by_role("combobox", name="Types").click()
    await page.get_by_role("option", name="kind_07").click()
    await expect(page.get_by_text("101 entries, 100 relations")).to_be_visible()
    await page.get_by_role("button", name="Draw all").click()
    await expect(page.get_by_role("img", name="101 entries related to Hub")).to_be_visible()


async def conclusion(stage: Stage) -> str:
    """Let a statement rest on 20 others, each of which cites 24 messages; return the statement."""
    lines = [f"Helio paid bill {number} on a Friday." for number in range(NODES - PARTS - 1)]
    words = await stage.talk(lines)
    cited = [cite(said, line) for said, line in zip(words, lines, strict=True)]
    blocks = [
        block(
            f"Helio pays its bills of week {part} on Fridays.", *cited[part * SOURCES_EACH : (part + 1) * SOURCES_EACH]
        )
        for part in range(PARTS)
    ]
    seen = made(await stage.write(create("Bills of Helio", *blocks)))
    basis = [one["id"] for one in (await stage.entry(seen))["blocks"]]
    derived = deduction("A bill of Helio is due.", "It is paid on the next Friday.", *basis)
    entry = made(await stage.write(create("Helio", derived)))
    return str((await stage.entry(entry))["blocks"][0]["current"]["id"])


async def shown(page: Page) -> int:
    """Return how many nodes the page says that it shows."""
    told = await page.get_by_role("status").filter(has_text="Nodes:").inner_text()
    found = re.search(r"Nodes: (\d+)", told)
    assert found, told
    return int(found[1])


@pytest.mark.req("CO-16")
async def test_a_trace_of_five_hundred_nodes_begins_with_few_and_grows_where_one_asks(
    console: Console, stage: Stage
) -> None:
    statement = await conclusion(stage)
    page = await console.open(stage.ana, "/knowledge/{owner}/trace/{node}?view=list", node=statement)
    lines = page.locator(".trace-line")
    await expect(lines.first).to_be_visible()
    first = await shown(page)
    assert PARTS < first <= 50
    await expect(lines).to_have_count(first)

    # A closed statement says how much is behind it, and a click shows just that.
    await expect(page.get_by_text("More is known than one answer holds")).to_have_count(0)
    closed = lines.filter(has_text=f"+{SOURCES_EACH} hidden")
    count = await closed.count()
    assert count >= PARTS - 2
    await closed.last.click()
    await page.get_by_role("button", name=f"Expand ({SOURCES_EACH} hidden)").click()
    await expect(lines).to_have_count(first + SOURCES_EACH)
    await expect(closed).to_have_count(count - 1)
    await page.get_by_role("button", name="Shrink").click()
    await expect(lines).to_have_count(first)
    await expect(closed).to_have_count(count)

    await page.get_by_text("Picture", exact=True).click()
    await expect(page.get_by_role("img", name=f"Graph of {first} nodes")).to_be_visible()
    await picture(page, "long-trace")
    # All of it, hop by hop, and back; as a picture too.
    await page.get_by_role("button", name="One hop more").click()
    await expect(page.get_by_role("img", name=f"Graph of {NODES} nodes")).to_be_visible()
    await page.get_by_role("button", name="One hop less").click()
    await expect(page.get_by_role("img", name=f"Graph of {1 + PARTS} nodes")).to_be_visible()
