"""The Dreaming tab: curation by hand, its live state and result, what survives, earlier runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from playwright.async_api import expect

from graph.model.ids import NodeId
from graph.services.learning.stage_a import arrange_stage_a
from tests.acceptance.stage import Stage
from tests.acceptance.test_watching import status, what_it_learned
from tests.console.axe import axe
from tests.console.visiting import Console, picture
from tests.support.held_clock import HeldClock
from tests.support.learning import episode
from tests.support.night import Night
from tests.support.operations import Json, apply, block, cite, create, dream, edit, made
from tests.support.world import TeamWorld

TAB = "/knowledge/{owner}/dreaming"


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@asynccontextmanager
async def passing(clock: HeldClock) -> AsyncIterator[None]:
    """Let the server's time pass: it looks for news of a run once a second."""

    async def pass_on() -> None:
        while True:
            clock.advance(timedelta(seconds=1))
            await asyncio.wait({asyncio.ensure_future(asyncio.Event().wait())}, timeout=0.05)

    task = asyncio.ensure_future(pass_on())
    try:
        yield
    finally:
        task.cancel()


async def read_by_stage_a(stage: Stage, night: Night, clock: HeldClock) -> None:
    await stage.talk(["Orion ships on Friday", "Ben tests Orion"])
    clock.advance(timedelta(minutes=30))
    await arrange_stage_a(night.world.deps)
    assert await night.work() == ["done"]
    clock.advance(timedelta(minutes=1))


@pytest.mark.req("CO-45", "CO-46", "CO-47", "CO-48")
async def test_curation_is_started_followed_and_told_of(
    console: Console, stage: Stage, night: Night, clock: HeldClock
) -> None:
    """Acceptance example 11, and the life of a run as one sees it."""
    await read_by_stage_a(stage, night, clock)
    for number in range(4):
        topic = f"topic {number} was discussed"
        await episode(stage.world, f"topic {number}", await stage.world.say(stage.world.ops, topic))
    await stage.talk([f"nobody has read line {number} yet" for number in range(46)])
    night.decides(what_it_learned)
    before: Any = (await status(stage))["stageA"]
    page = await console.open(stage.ana, TAB)
    button = page.get_by_role("button", name="Run curation now")
    await button.click()
    result = page.get_by_role("region", name="Result of the run")
    await expect(result.get_by_role("status")).to_have_text("waiting")
    await expect(button).to_be_disabled()
    await expect(page.get_by_text("Waiting for a worker since")).to_be_visible()
    async with passing(clock):
        assert await night.work() == ["done"]
        await expect(result.get_by_role("definition")).to_have_text(["5", "2", "0", "1"])
    await expect(button).to_be_enabled()
    rejected = result.get_by_role("table", name="Rejected operations").get_by_role("row").nth(1)
    await expect(rejected).to_contain_text("addBlock")
    await expect(rejected).to_contain_text("QUOTE_NOT_VERBATIM")
    runs = page.get_by_role("table", name="Runs").get_by_role("row")
    await expect(runs.nth(1)).to_contain_text("B: curation")
    await expect(runs.nth(1)).to_contain_text("by hand")
    assert await axe(page) == []
    await picture(page, "dreaming")
    # It ran Stage B alone: what the channel has to read is what it was.
    assert (await status(stage))["stageA"] == before

    await result.get_by_role("link", name="Audit of this run").click()
    await expect(page.get_by_role("row").filter(has_text="Dreaming").first).to_be_visible()


@pytest.mark.req("CO-48")
async def test_a_run_without_anything_to_do_is_no_error(
    console: Console, stage: Stage, night: Night, clock: HeldClock
) -> None:
    page = await console.open(stage.ana, TAB)
    await page.get_by_role("button", name="Run curation now").click()
    result = page.get_by_role("region", name="Result of the run")
    await expect(result.get_by_role("status")).to_have_text("waiting")
    async with passing(clock):
        assert await night.work() == ["done"]
        await expect(result.get_by_text("No new material: there was nothing to do.")).to_be_visible()
    await expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.req("CO-48")
async def test_the_end_of_a_run_is_noticed_that_somebody_else_began(
    console: Console, stage: Stage, night: Night
) -> None:
    begin = "mutation($a: ID!) { runDreaming(agentId: $a) { id } }"
    await stage.ana.ok(begin, a=console.owner)
    page = await (await console.context()).new_page()
    await page.clock.install()
    await page.goto(console.url(TAB))
    assert stage.ana.token
    await console.sign_in(page, stage.ana.token)
    button = page.get_by_role("button", name="Run curation now")
    await expect(button).to_be_disabled()
    await expect(page.get_by_text("Waiting for a worker since May 10, 2025")).to_be_visible()
    assert await night.work() == ["done"]
    await page.clock.fast_forward(6_000)
    await expect(button).to_be_enabled()
    await expect(page.get_by_role("table", name="Runs").get_by_role("row").nth(1)).to_contain_text("succeeded")


@pytest.mark.req("CO-5", "CO-45")
async def test_who_may_not_curate_is_not_offered_a_run(console: Console, stage: Stage) -> None:
    page = await console.open(stage.ben, TAB)
    await expect(page.get_by_text("There was no run yet.")).to_be_visible()
    await expect(page.get_by_role("button", name="Run curation now")).to_have_count(0)


async def dreamt(world: TeamWorld, name: str) -> tuple[NodeId, str]:
    """Let Dreaming write an entry with one block; return the block and the source."""
    text = f"{name} likes tea"
    source = await world.say(world.ops, text)
    done = await dream(world, create(name, block(text, cite(source, text))))
    return made(done, 0, 1), source


async def correct(world: TeamWorld, block_id: NodeId) -> None:
    """Let Ana correct a block."""
    changed: Json = {"basis": "authored", "standing": "corrected", "change": "correction", "citations": []}
    kb = NodeId(str((await world.open(world.ops)).pool))
    await apply(world, edit(block_id, 1, {**block("it is coffee"), **changed}), by=world.ana, kb=kb)


async def rewrite(world: TeamWorld, block_id: NodeId, source: str, number: int) -> None:
    """Let Dreaming replace what it wrote itself."""
    text = f"Person {number} drinks coffee now"
    quotes = [cite(source, f"Person {number} likes tea"), cite(await world.say(world.ops, text), text)]
    done = await dream(
        world, edit(block_id, 1, block(text, *quotes, change="evolution", validFrom="2025-05-18T00:00:00Z"))
    )
    assert not done.verdicts[0].is_rejected, done.verdicts[0]


@pytest.mark.req("CO-49", "CO-50")
async def test_seven_of_eight_survived(console: Console, stage: Stage, world: TeamWorld, clock: HeldClock) -> None:
    """Acceptance example 12."""
    blocks = [await dreamt(world, f"Person {number}") for number in range(10)]
    clock.advance(timedelta(days=3))
    await correct(world, blocks[0][0])
    clock.advance(timedelta(days=5))
    for number in (1, 2):
        await rewrite(world, *blocks[number], number)
    clock.advance(timedelta(days=8))
    await correct(world, blocks[3][0])
    clock.advance(timedelta(days=2))
    await dreamt(world, "Somebody new")
    clock.advance(timedelta(days=2))
    page = await console.open(stage.ana, TAB)
    survival = page.get_by_role("region", name="Survival")
    await expect(survival).to_contain_text("87.5%")
    await expect(survival).to_contain_text("7 of 8")
    await expect(survival).to_contain_text("14 days later")
    await expect(survival).to_contain_text("neither correctness nor a score of the model")


@pytest.mark.req("CO-50")
async def test_an_empty_cohort_says_that_there_is_not_enough_data(console: Console, stage: Stage) -> None:
    page = await console.open(stage.ana, TAB)
    await expect(page.get_by_role("region", name="Survival")).to_contain_text("not enough data")
    dark = await console.open_as(stage.ana, TAB.format(owner=console.owner), color_scheme="dark")
    await expect(dark.get_by_role("region", name="Survival")).to_contain_text("not enough data")
    assert await axe(dark) == []
