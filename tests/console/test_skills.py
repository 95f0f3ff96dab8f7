"""The Skill experience tab: what was learned about kinds of work, only to be read (CO-42 to CO-44)."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.acceptance.stage import Stage
from tests.console.axe import axe
from tests.console.visiting import Console, picture
from tests.support.learning import enable, lesson, provision
from tests.support.operations import cite

TAB = "/knowledge/{owner}/skill-experience"
LESSONS = (
    ("Run the migrations before you deploy", "run the migrations first"),
    ("Ask Ben for the key of the vault", "the vault key is with Ben"),
    ("Watch the error rate for ten minutes", "watch the errors afterwards"),
)


async def three_lessons(stage: Stage) -> None:
    """Let Atlas learn three lessons about deploying."""
    await provision(stage.world, "deploy")
    said = await stage.say(". ".join(words for _, words in LESSONS))
    learned = [lesson("deploy", text, cite(said, words), origin="human_correction") for text, words in LESSONS]
    await stage.write(*learned)


@pytest.mark.req("CO-42", "CO-43", "CO-44")
async def test_a_disabled_skill_keeps_its_lessons_and_says_that_they_are_not_loaded(
    console: Console, stage: Stage
) -> None:
    """Acceptance example 10."""
    await three_lessons(stage)
    await enable(stage.world, "deploy", False)
    page = await console.open(stage.ana, TAB)
    card = page.get_by_role("article", name="Deploy")
    await expect(card.get_by_role("list", name="Lessons of Deploy").get_by_role("listitem")).to_have_count(3)
    await expect(card.get_by_text("its lessons are kept but not loaded")).to_be_visible()
    await expect(card.get_by_text("○ disabled")).to_be_visible()
    # Nothing is changed here: the card has no control but links.
    for control in ("button", "textbox", "checkbox", "switch"):
        await expect(card.get_by_role(control)).to_have_count(0)
    await card.get_by_role("link", name="Edit in Agent Library: Deploy").click()
    await expect(page.get_by_role("heading", name="Agent Library: Atlas")).to_be_visible()
    await expect(page.get_by_role("article").get_by_role("button", name="Edit", exact=True)).to_have_count(3)


@pytest.mark.req("CO-44")
async def test_a_card_tells_whence_a_lesson_is(console: Console, stage: Stage) -> None:
    await three_lessons(stage)
    page = await console.open(stage.ben, TAB)
    card = page.get_by_role("article", name="Deploy")
    row = card.get_by_role("listitem").filter(has_text=LESSONS[0][0])
    for told in ("a person’s correction", "Agent Atlas", "May 10, 2025", "Channel"):
        await expect(row).to_contain_text(told)
    await expect(card.get_by_text("● enabled")).to_be_visible()
    await expect(card.get_by_text("tokens used")).to_contain_text("of 1500")
    assert await axe(page) == []
    await picture(page, "skill-experience")
    await row.get_by_role("link", name="Trace Run the migrations").click()
    await page.get_by_text("List", exact=True).click()
    await expect(page.get_by_text("Message").first).to_be_visible()


@pytest.mark.req("CO-42")
async def test_nothing_learned_is_said_and_a_dark_page_can_be_read(console: Console, stage: Stage) -> None:
    page = await console.open_as(stage.ana, TAB.format(owner=console.owner), color_scheme="dark")
    await expect(page.get_by_text("Nothing was learned about any Skill yet.")).to_be_visible()
    assert await axe(page) == []
