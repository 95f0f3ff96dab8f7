"""The Agent Library: Skills with their base text, and lessons where they are changed (CO-84)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from playwright.async_api import expect

from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.people import Right
from tests.acceptance.stage import Stage
from tests.console.axe import axe
from tests.console.test_skills import LESSONS, three_lessons
from tests.console.visiting import Console
from tests.support.learning import provision, replace_lesson

LIBRARY = "/agents/{owner}/library"
OVERLAYS = """query($o: ID!) { skillOverlays(ownerId: $o) { edges { node { lessons { lessonId text version } } } } }"""
APPLY = """mutation($kb: ID!, $operations: [JSON!]!) {
  applyOperations(kbId: $kb, operations: $operations, reason: "meanwhile") { applied } }"""


async def lessons(stage: Stage) -> Sequence[Any]:
    found = (await stage.ana.ok(OVERLAYS, o=stage.gid(stage.world.atlas)))["skillOverlays"]["edges"]
    return list(found[0]["node"]["lessons"])


@pytest.mark.req("CO-84")
async def test_a_lesson_is_edited_and_deleted_with_a_reason(console: Console, stage: Stage) -> None:
    await three_lessons(stage)
    await provision(stage.world, "audit", enabled=False)
    page = await console.open(stage.ana, LIBRARY)
    await expect(page.get_by_role("region", name="Audit").get_by_text("No lessons yet.")).to_be_visible()
    skill = page.get_by_role("region", name="Deploy")
    await skill.get_by_role("button", name="Base text, version 1 (read-only)").click()
    await expect(skill.get_by_text("Deploy with care.")).to_be_visible()
    assert await axe(page) == []

    card = skill.get_by_role("article", name=LESSONS[0][0])
    await card.get_by_role("button", name="Edit", exact=True).click()
    await card.get_by_role("textbox", name="Lesson", exact=True).fill("Run the migrations, then deploy")
    save = card.get_by_role("button", name="Save")
    await expect(save).to_be_disabled()
    await card.get_by_label("Reason").fill("said more shortly")
    await save.click()
    changed = skill.get_by_role("article", name="Run the migrations, then deploy")
    await expect(changed).to_contain_text("edited by a person")
    await expect(changed).to_contain_text("Person Ana")

    await changed.get_by_role("button", name="Versions and audit").click()
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("list", name="Versions").get_by_role("listitem")).to_have_count(2)
    audit = dialog.get_by_role("list", name="Audit").get_by_role("listitem")
    await expect(audit).to_have_count(2)
    await expect(audit.first).to_contain_text("said more shortly")
    await dialog.get_by_role("button", name="Close").click()

    gone = skill.get_by_role("article", name=LESSONS[1][0])
    await gone.get_by_role("button", name="Delete").click()
    confirm = page.get_by_role("dialog", name="Delete this lesson?")
    await confirm.get_by_label("Reason").fill("Ben left")
    await confirm.get_by_role("button", name="Delete").click()
    await expect(gone).to_have_count(0)
    assert {one["text"] for one in await lessons(stage)} == {"Run the migrations, then deploy", LESSONS[2][0]}


@pytest.mark.req("CO-84")
async def test_what_somebody_else_wrote_meanwhile_is_not_overwritten(console: Console, stage: Stage) -> None:
    await three_lessons(stage)
    page = await console.open(stage.ana, LIBRARY)
    card = page.get_by_role("article", name=LESSONS[0][0])
    await card.get_by_role("button", name="Edit", exact=True).click()
    await card.get_by_role("textbox", name="Lesson", exact=True).fill("mine")
    await card.get_by_label("Reason").fill("because")
    (first, *_) = [one for one in await lessons(stage) if one["text"] == LESSONS[0][0]]
    theirs = replace_lesson("deploy", first["lessonId"], "theirs", expectedVersion=1)
    await stage.ana.ok(APPLY, kb=stage.kb(KbKind.CHANNEL, stage.world.ops), operations=[theirs])
    await card.get_by_role("button", name="Save").click()
    await expect(card.get_by_role("region", name="Your text")).to_contain_text("mine")
    await expect(card.get_by_role("region", name="Version 2, as it is now")).to_contain_text("theirs")
    assert "mine" not in [one["text"] for one in await lessons(stage)]
    await card.get_by_role("button", name="Go on with my text").click()
    await card.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("article", name="Lesson: mine")).to_be_visible()


@pytest.mark.req("CO-18", "CO-84")
async def test_a_lesson_that_passes_is_warned_of(console: Console, stage: Stage) -> None:
    await three_lessons(stage)
    page = await console.open(stage.ana, LIBRARY)
    card = page.get_by_role("article", name=LESSONS[0][0])
    await card.get_by_role("button", name="Edit", exact=True).click()
    await card.get_by_role("textbox", name="Lesson", exact=True).fill("Ben is still working on the migrations")
    await card.get_by_label("Reason").fill("because")
    await card.get_by_role("button", name="Save", exact=True).click()
    await expect(card.get_by_role("alert")).to_contain_text("something that passes")
    assert LESSONS[0][0] in [one["text"] for one in await lessons(stage)]
    await card.get_by_role("button", name="Save anyway").click()
    await expect(page.get_by_role("article", name="Lesson: Ben is still working")).to_be_visible()


@pytest.mark.req("CO-84", "CO-5")
async def test_who_may_not_write_reads_lessons_and_versions(console: Console, stage: Stage) -> None:
    await three_lessons(stage)
    page = await console.open_as(stage.ben, LIBRARY.format(owner=console.owner), color_scheme="dark")
    card = page.get_by_role("article", name=LESSONS[0][0])
    await expect(card.get_by_role("button", name="Versions and audit")).to_be_visible()
    for name in ("Edit", "Delete"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    assert await axe(page) == []


@pytest.mark.req("CO-84")
async def test_an_admin_disables_a_skill(console: Console, stage: Stage) -> None:
    await three_lessons(stage)
    await stage.world.grant(stage.world.dan, Right.CURATOR, stage.world.atlas)
    page = await console.open(stage.dan, LIBRARY)
    skill = page.get_by_role("region", name="Deploy")
    await skill.get_by_role("button", name="Disable Deploy").click()
    await expect(skill.get_by_text("its lessons are kept but not loaded")).to_be_visible()
