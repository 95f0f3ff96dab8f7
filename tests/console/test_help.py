"""The help at the foot of Status: six questions, each with an advice and the places that it leads to."""

from __future__ import annotations

import json

import pytest
from playwright.async_api import Locator, Page, Route, expect

from tests.acceptance.stage import Stage
from tests.console.axe import axe
from tests.console.visiting import Console

STATUS = "/knowledge/{owner}/status"


def to(console: Console, tab: str) -> str:
    """The address of a tab, as links have it."""
    return f"/console/knowledge/{console.owner}/{tab}"


async def opened(console: Console, stage: Stage, question: str) -> tuple[Page, Locator]:
    """Open a question; return the page and its answer."""
    page = await console.open(stage.ana, STATUS)
    await page.get_by_role("button", name=question).click()
    answer = page.get_by_role("region", name=question)
    await expect(answer).to_be_visible()
    return page, answer


@pytest.mark.req("CO-83")
async def test_six_questions_stand_at_the_foot_of_status_and_can_be_opened(console: Console, stage: Stage) -> None:
    page, _ = await opened(console, stage, "A material stays in learning")
    help_ = page.get_by_role("region", name="Help", exact=True)
    await expect(help_.get_by_role("button")).to_have_count(6)
    assert await page.get_by_role("main").get_by_role("heading", level=3).last.inner_text() == "Help"
    assert await axe(page) == []
    await help_.get_by_role("button", name="A material stays in learning").click()
    await expect(help_.get_by_role("link")).to_have_count(0)


@pytest.mark.req("CO-83")
async def test_help_is_there_also_when_the_status_cannot_be_read(console: Console, stage: Stage) -> None:
    context = await console.context()

    async def answer(route: Route) -> None:
        asked = json.loads(route.request.post_data or "{}").get("operationName")
        await (route.abort() if asked == "Status" else route.continue_())

    await context.route("**/graphql", answer)
    console.allow(r"Failed to load resource")
    page = await context.new_page()
    await page.goto(console.url(STATUS))
    assert stage.ana.token
    await console.sign_in(page, stage.ana.token)
    await expect(page.get_by_role("alert")).to_contain_text("The server did not answer")
    await expect(page.get_by_role("button", name="Something wrong was remembered")).to_be_visible()


@pytest.mark.req("CO-77")
async def test_not_found_advises_the_exact_keyword_then_the_embedding_and_its_backlog(
    console: Console, stage: Stage
) -> None:
    page, answer = await opened(console, stage, "An entry just written is not found")
    steps = answer.get_by_role("listitem")
    await expect(steps.nth(0)).to_contain_text("Search for the exact keyword first")
    await expect(steps.nth(0).get_by_role("link")).to_have_attribute("href", to(console, "entries"))
    await expect(steps.nth(1)).to_contain_text("If only semantic search fails")
    await answer.get_by_role("link", name="Embedding configuration").click()
    await expect(page.get_by_role("region", name="Embedding configuration")).to_be_in_viewport()
    await answer.get_by_role("link", name="Backlog of vectors").click()
    await expect(page.get_by_role("heading", name="Vectors")).to_be_in_viewport()


@pytest.mark.req("CO-78")
async def test_something_wrong_leads_to_the_entry_and_to_the_audit_of_the_run(console: Console, stage: Stage) -> None:
    page, answer = await opened(console, stage, "Something wrong was remembered")
    await expect(answer).to_contain_text("correct the block")
    await expect(answer).to_contain_text("To undo a whole run")
    await expect(answer.get_by_role("link", name="Entries")).to_have_attribute("href", to(console, "entries"))
    await answer.get_by_role("link", name="Audit").click()
    await expect(page.get_by_role("combobox", name="Dreaming run")).to_be_visible()


@pytest.mark.req("CO-79")
async def test_a_material_in_learning_leads_to_its_state_then_to_the_tasks_and_the_worker(
    console: Console, stage: Stage
) -> None:
    page, answer = await opened(console, stage, "A material stays in learning")
    steps = answer.get_by_role("listitem")
    await expect(steps.nth(0).get_by_role("link")).to_have_attribute("href", to(console, "materials"))
    await expect(steps.nth(1)).to_contain_text("whether a Worker is there")
    await steps.nth(1).get_by_role("link", name="Stuck tasks").click()
    await expect(page.get_by_role("heading", name="Stuck tasks")).to_be_in_viewport()
    await steps.nth(1).get_by_role("link", name="Alerts").click()
    await expect(page.get_by_role("heading", name="Alerts")).to_be_in_viewport()


@pytest.mark.req("CO-80")
async def test_one_fact_several_times_advises_to_merge_and_to_give_the_usual_aliases(
    console: Console, stage: Stage
) -> None:
    page, answer = await opened(console, stage, "One fact exists several times")
    await expect(answer).to_contain_text("Merge their bodies, and give the entry that is kept the usual names as alias")
    await expect(answer.get_by_role("link", name="Entries")).to_have_attribute("href", to(console, "entries"))
    await answer.get_by_role("link", name="Knowledge lint").click()
    await expect(page.get_by_role("heading", name="Knowledge lint")).to_be_in_viewport()


@pytest.mark.req("CO-81")
async def test_nothing_new_leads_to_the_light_profile_then_to_the_reason_and_failed_tasks(
    console: Console, stage: Stage
) -> None:
    page, answer = await opened(console, stage, "Dreaming brings nothing new for long")
    await expect(answer).to_contain_text("`light` model profile of the Agent")
    await answer.get_by_role("link", name="Stage B").click()
    reason = page.get_by_role("region", name="Stage B: curation")
    await expect(reason).to_be_in_viewport()
    await expect(reason).to_contain_text("light_profile_unavailable")
    await expect(answer.get_by_role("link", name="Stuck tasks")).to_be_visible()
    await answer.get_by_role("link", name="Model profile in the memory settings").click()
    await expect(page.get_by_role("rowheader", name="dream.model_profile")).to_be_visible()


@pytest.mark.req("CO-82")
async def test_a_wrong_scope_leads_to_the_routing_rule_of_the_channel_and_its_scope(
    console: Console, stage: Stage
) -> None:
    await stage.say("shall we have lunch")
    routed = "mutation($c: ID!) { setRoutingRule(channelId: $c, memoryScope: SHARED) { id } }"
    await stage.dan.ok(routed, c=stage.gid(stage.world.ops))
    page, answer = await opened(console, stage, "A group chat appears in the wrong scope")
    await expect(answer).to_contain_text("Look at the routing rule of the channel")
    await answer.get_by_role("link", name="Channels with rule and scope").first.click()
    row = page.get_by_role("table", name="Stage A: channels").get_by_role("row", name="ops")
    await expect(row).to_be_in_viewport()
    await expect(row).to_contain_text("Channel")
    await expect(row).to_contain_text("shared memory")
