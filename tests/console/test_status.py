"""The Status tab: what is told in which order, what can be done, and what is told to nobody."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from playwright.async_api import Page, expect

from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.learning import PendingItem, PendingState
from graph.model.nodes.people import Right
from graph.store.query import Eq, Find
from tests.acceptance.stage import Stage, made
from tests.console.axe import axe
from tests.console.visiting import Console, picture
from tests.support.clock import FakeClock
from tests.support.dream_runs import job_of
from tests.support.learning import episode, memo
from tests.support.operations import block, cite, create, delete

STATUS = "/knowledge/{owner}/status"
LOOK = SystemScope(reason="test")
LIGHT = """mutation { setModelProfile(name: "light", provider: "openai", model: "small",
  credential: "env:OPENAI_API_KEY") { version } }"""
ORDER = [
    "Alerts",
    "Vectors",
    "Embedding configuration",
    "Stage A: channels",
    "Stage B: curation",
    "Memo budget",
    "Stuck tasks",
    "Knowledge lint",
    "Help",
]


def section(page: Page, name: str) -> Any:
    """A section of the tab."""
    return page.get_by_role("region", name=name, exact=True)


def alerts(page: Page) -> Any:
    """The alerts that are shown."""
    return page.get_by_role("list", name="Alerts").get_by_role("listitem")


@pytest.mark.req("CO-64", "CO-65", "CO-66", "CO-69", "CO-9")
async def test_17_without_embeddings_that_is_the_only_alert_and_all_else_is_normal(
    console: Console, stage: Stage
) -> None:
    await stage.dan.ok(LIGHT)
    page = await console.open(stage.ana, STATUS)

    await expect(alerts(page)).to_have_count(1)
    await expect(alerts(page)).to_contain_text("embedding_unconfigured")
    await expect(alerts(page)).to_contain_text("Info")
    await expect(alerts(page).get_by_role("link", name="Follow it up")).to_have_attribute(
        "href", f"/console/knowledge/{console.owner}/status#embedding"
    )
    heads = page.get_by_role("main").get_by_role("heading", level=3)
    assert await heads.all_inner_texts() == ORDER
    for kind in ("Episode summaries", "Body text", "Messages"):
        await expect(section(page, "Vectors").get_by_role("row", name=kind)).to_contain_text("0")
    await expect(section(page, "Embedding configuration")).to_contain_text("No provider is configured")
    await expect(section(page, "Stage A: channels")).to_contain_text("No channel has been learned from yet.")
    await expect(section(page, "Stage B: curation").get_by_role("row", name="Pending 0", exact=True)).to_be_visible()
    await expect(section(page, "Stage B: curation")).not_to_contain_text("No run can start")
    await expect(section(page, "Stuck tasks")).to_contain_text("Nothing is stuck.")
    await expect(section(page, "Knowledge lint")).to_contain_text("Nothing was found.")
    assert await axe(page) == []


@pytest.mark.req("CO-65", "CO-67")
async def test_it_is_asked_again_every_30_seconds_and_tells_its_time_and_an_alert_clears_itself(
    console: Console, stage: Stage, clock: FakeClock
) -> None:
    page = await (await console.context()).new_page()
    await page.clock.install()
    await page.goto(console.url(STATUS))
    assert stage.ana.token
    await console.sign_in(page, stage.ana.token)
    await expect(page.get_by_text("light_profile_unavailable").first).to_be_visible()
    await expect(page.get_by_text("As of May 10, 2025, 9:00:00")).to_be_visible()
    await stage.dan.ok(LIGHT)
    clock.advance(timedelta(seconds=29))
    await page.clock.fast_forward(29_000)
    await expect(page.get_by_text("As of May 10, 2025, 9:00:00")).to_be_visible()
    clock.advance(timedelta(seconds=2))
    await page.clock.fast_forward(2_000)
    await expect(page.get_by_text("As of May 10, 2025, 9:00:31")).to_be_visible()
    await expect(page.get_by_text("light_profile_unavailable")).to_have_count(0)


@pytest.mark.req("CO-68")
async def test_18_a_private_chat_is_told_to_its_people_and_to_admins_as_a_number(
    console: Console, stage: Stage, clock: FakeClock
) -> None:
    world = stage.world
    await stage.dan.ok(LIGHT)
    await world.grant(world.eve, Right.CURATOR, world.atlas)
    eve = stage.client.as_(await world.token(world.eve))
    await world.say(world.chat, "my salary is 90k")
    clock.advance(timedelta(hours=25))

    page = await console.open(eve, STATUS)
    await expect(alerts(page)).to_have_count(1)
    await expect(section(page, "Stage A: channels")).to_contain_text("No channel has been learned from yet.")
    for word in ("ana-private", "lagging", "stage_a"):
        assert word not in await page.content()
    admins = await console.open(stage.dan, STATUS)
    await expect(section(admins, "Stage A: channels")).to_contain_text("1 private channel lagging")
    lagging = alerts(admins).filter(has_text="stage_a_lagging")
    await expect(lagging).to_contain_text("1 of them you may not read")
    assert "ana-private" not in await admins.content()
    own = await console.open(stage.ana, STATUS)
    row = section(own, "Stage A: channels").get_by_role("row").nth(1)
    for cell in ("Private", "1", "never"):
        await expect(row).to_contain_text(cell)


@pytest.mark.req("CO-66", "CO-67", "CO-5")
async def test_stuck_work_is_listed_and_released_by_a_curator_alone(
    console: Console, stage: Stage, clock: FakeClock
) -> None:
    world = stage.world
    await episode(world, "lunch", await world.say(world.ops, "shall we have lunch"))
    async with world.deps.store.reading() as reader:
        (item,) = (await reader.find(LOOK, Find(kind=PendingItem, where=Eq("workspace", world.workspace)))).nodes
    parked = {"state": str(PendingState.PARKED), "failures": 3}
    await world.deps.store.transact(lambda writer: writer.patch(item.id, parked))
    await job_of(world, "stage_b", str(world.atlas), subject=world.atlas, state="parked", attempts=3)
    clock.advance(timedelta(minutes=31))

    readers = await console.open(stage.ben, STATUS)
    await expect(section(readers, "Stuck tasks").get_by_role("row")).to_have_count(3)
    await expect(readers.get_by_role("button", name="Release")).to_have_count(0)
    page = await console.open(stage.ana, STATUS)
    stuck = section(page, "Stuck tasks")
    await expect(stuck.get_by_role("row", name="parked_item")).to_contain_text("31 minutes ago")
    await expect(stuck.get_by_role("row", name="parked_item").get_by_role("cell").nth(1)).to_have_text("3")
    await expect(alerts(page).filter(has_text="task_stuck")).to_contain_text("Affected: 2")
    await stuck.get_by_role("row", name="parked_item").get_by_role("button", name="Release").click()
    await expect(stuck.get_by_role("row")).to_have_count(2)
    await stuck.get_by_role("row", name="stage_b").get_by_role("button", name="Release").click()
    await expect(stuck).to_contain_text("Nothing is stuck.")


@pytest.mark.req("CO-16", "CO-66", "CO-69")
async def test_the_lines_of_a_memo_are_shown_each_with_its_trace(console: Console, stage: Stage) -> None:
    words = "Always answer in short sentences, whatever is asked. " * 11
    said = await stage.say(words)
    await stage.write(memo(0, (words.strip(), [cite(said, "Always answer in short sentences")])), by=stage.ana)
    page = await console.open(stage.ana, STATUS)
    await expect(alerts(page).filter(has_text="memo_near_budget")).to_contain_text("Channel · ops")
    row = section(page, "Memo budget").get_by_role("row", name="Channel · ops")
    await expect(row).to_contain_text("of 200 tokens")
    await row.get_by_role("button", name="Show the lines").click()
    lines = page.get_by_role("dialog", name="Resident memo: Channel · ops").get_by_role("list", name="Lines")
    await expect(lines).to_contain_text("Always answer in short sentences")
    assert await axe(page) == []
    await lines.get_by_role("link", name="Trace Always answer").click()
    await expect(page.get_by_role("heading", name="Trace: Memo line")).to_be_visible()
    await page.get_by_text("List", exact=True).click()
    await expect(page.locator(".trace-line").filter(has_text="Message")).to_have_count(1)


@pytest.mark.req("CO-66")
async def test_a_material_that_is_stuck_is_learned_again(console: Console, stage: Stage, clock: FakeClock) -> None:
    submit = "mutation($o: ID!, $kb: ID!, $file: Upload!) { submitFile(ownerId: $o, kbId: $kb, file: $file) { id } }"
    base = stage.gid(NodeId(str((await stage.world.open(stage.world.ops)).pool)))
    await stage.ana.upload(submit, "a.txt", b"Mia likes tea", o=console.owner, kb=base)
    clock.advance(timedelta(minutes=31))
    page = await console.open(stage.ana, STATUS)
    stuck = section(page, "Stuck tasks")
    await stuck.get_by_role("row", name="learn_material").get_by_role("button", name="Retry").click()
    await expect(stuck).to_contain_text("Nothing is stuck.")


@pytest.mark.req("CO-70", "CO-71", "CO-72", "CO-73", "CO-75", "CO-67")
async def test_16_the_lint_counts_and_leads_to_the_entries_and_changes_none(
    console: Console, stage: Stage, clock: FakeClock
) -> None:
    said = await stage.say("It is there.")
    content = block("It is there.", cite(said, "It is there"))
    names = ("Standup 2025-05-10", "Helio GmbH", "Helio Gmbh.", "Plan 2025")
    await stage.write(*(create(name, content) for name in names), by=stage.ana)
    await stage.write(create("Offsite 2025-06-01", content, type="event"), by=stage.ana)
    empty = await stage.write(create("Empty", content), by=stage.ana)
    await stage.write(delete(made(empty, place=1), 1), by=stage.ana)
    version = "query($id: ID!) { node(id: $id) { ... on KnowledgeBase { version } } }"
    base = stage.gid(NodeId(str((await stage.world.open(stage.world.ops)).pool)))
    before = await stage.ana.ok(version, id=base)

    page = await console.open(stage.ben, STATUS)

    lint = section(page, "Knowledge lint")
    counts = lint.get_by_role("list", name="Number of findings").get_by_role("listitem")
    await expect(counts).to_have_text(
        [
            "Dated names: 1",
            "Near names: 1",
            "Over-long entries: 0",
            "Without body: 1",
        ]
    )
    findings = lint.get_by_role("table", name="Findings").locator("tbody").get_by_role("row")
    await expect(findings).to_have_count(3)
    await lint.get_by_role("radiogroup", name="Rule").get_by_text("Near names").click()
    await expect(findings).to_have_count(1)
    await expect(findings).to_contain_text("may be one topic")
    assert "lint=NEAR_NAME" in page.url
    assert await axe(page) == []
    await expect(alerts(page).filter(has_text="lint_findings")).to_contain_text("Info")
    assert await stage.ana.ok(version, id=base) == before
    await findings.get_by_role("link", name="Helio GmbH", exact=True).click()
    await expect(page.get_by_role("heading", name="Helio GmbH").first).to_be_visible()


@pytest.mark.req("CO-63")
@pytest.mark.parametrize("tab", ["entries", "materials", "skill-experience", "dreaming", "audit"])
async def test_no_other_tab_shows_health_of_its_own(console: Console, stage: Stage, tab: str) -> None:
    page = await console.open(stage.ana, "/knowledge/{owner}/" + tab)
    await expect(page.get_by_role("main").get_by_role("heading", level=2).first).to_be_visible()
    await expect(page.get_by_role("status", name="Loading")).to_have_count(0)
    for text in ("embedding_unconfigured", "Alerts", "Vectors", "Stuck tasks", "Memo budget"):
        await expect(page.get_by_text(text, exact=True)).to_have_count(0)


@pytest.mark.req("CO-9")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_it_can_be_used_by_everybody(console: Console, stage: Stage, scheme: str) -> None:
    await stage.say("shall we have lunch")
    page = await console.open_as(stage.ana, STATUS, color_scheme=scheme, viewport={"width": 320, "height": 800})
    await expect(alerts(page)).to_have_count(2)
    assert await axe(page) == []
    assert await page.evaluate("() => document.documentElement.scrollWidth <= 320")
    wide = await console.open_as(stage.ana, STATUS, color_scheme=scheme)
    await expect(alerts(wide)).to_have_count(2)
    if scheme == "light":
        await picture(wide, "status")
