"""Undoing from the Audit tab: a preview first, all or nothing, and never over what somebody wrote since."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from tests.acceptance.stage import Stage, made
from tests.console.axe import axe
from tests.console.undoing import Orion, preview_of_edits
from tests.console.visiting import Console
from tests.support.operations import block, cite, create, relate

ENGINES = ["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)]
on_both_stores = pytest.mark.parametrize("engine", ENGINES, indirect=True)


@on_both_stores
@pytest.mark.req("CO-56")
async def test_13_one_overtaken_record_of_a_batch_stops_all_of_it(console: Console, stage: Stage, engine: str) -> None:
    orion = await Orion.write(stage)
    for which in (0, 1, 2):
        await orion.correct(which, f"Uses Kafka {which}.")
    await orion.correct(1, "Uses Kafka heavily.")

    page, dialog = await preview_of_edits(console, stage, 1, 2, 3)

    steps = dialog.get_by_role("list", name="In the order of execution").get_by_role("listitem")
    await expect(steps).to_have_count(3)
    await expect(steps.filter(has_text="conflict")).to_have_count(1)
    await expect(steps.filter(has_text="conflict")).to_contain_text("Uses Kafka heavily.")
    await dialog.get_by_label("Reason").fill("a wrong run")
    await expect(dialog.get_by_role("button", name="Restore", exact=True)).to_be_disabled()
    await expect(dialog.get_by_role("alert")).to_contain_text("Records that were overtaken by a later change: 1")
    assert await axe(page) == []
    assert [await orion.now(which) for which in (0, 1, 2)] == [
        ("Uses Kafka 0.", 2),
        ("Uses Kafka heavily.", 3),
        ("Uses Kafka 2.", 2),
    ]


@on_both_stores
@pytest.mark.req("CO-57")
async def test_14_a_preview_that_got_stale_is_shown_anew_and_nothing_is_written(
    console: Console, stage: Stage, engine: str
) -> None:
    orion = await Orion.write(stage)
    await orion.correct(0, "Uses Kafka.")
    _, dialog = await preview_of_edits(console, stage, 0)
    restore = dialog.get_by_role("button", name="Restore", exact=True)
    await expect(dialog.get_by_text("Uses Kafka.")).to_be_visible()
    await expect(restore).to_be_disabled()  # a reason is asked for
    await dialog.get_by_label("Reason").fill("it runs on Postgres")
    await expect(restore).to_be_enabled()

    await orion.correct(0, "Uses Kafka heavily.")
    await restore.click()

    await expect(dialog.get_by_text("What the preview showed has changed")).to_be_visible()
    await expect(dialog.get_by_text("conflict", exact=True)).to_be_visible()
    await expect(dialog.get_by_text("heavily", exact=True)).to_be_visible()
    await expect(restore).to_be_disabled()
    await expect(dialog.get_by_label("Reason")).to_have_value("it runs on Postgres")
    assert await orion.now(0) == ("Uses Kafka heavily.", 3)


@on_both_stores
@pytest.mark.req("CO-59", "CO-52")
async def test_15_a_deleted_entry_comes_back_under_its_address_and_what_cannot_is_named(
    console: Console, stage: Stage, engine: str
) -> None:
    orion = await Orion.write(stage)
    helio = made(await stage.write(create("Helio", block("Owns it.", cite(orion.source, "Orion belongs to Helio")))))
    await stage.write(relate(orion.entry, "belongs_to", helio, orion.source, "Orion belongs to Helio"))
    await orion.delete()
    await orion.delete(helio)

    page = await console.open(stage.ana, "/knowledge/{owner}/audit?target={entry}", entry=orion.entry)
    await page.get_by_role("button", name="Entry deleted").click()
    await page.get_by_role("button", name="Preview: restore the whole entry").click()

    dialog = page.get_by_role("dialog", name="What restoring 1 would change")
    await expect(dialog.get_by_text("Relations that cannot return")).to_be_visible()
    await expect(dialog.get_by_text("belongs_to – Helio")).to_be_visible()
    await expect(dialog.get_by_text("Is hosted in Berlin.")).to_be_visible()
    await dialog.get_by_label("Reason").fill("it was deleted by mistake")
    await dialog.get_by_role("button", name="Restore", exact=True).click()
    await expect(page.get_by_text("Restored. New records: 1")).to_be_visible()
    await page.goto(console.url("/knowledge/{owner}/entries/{entry}", entry=orion.entry))
    await expect(page.get_by_role("heading", name="Orion")).to_be_visible()
    await page.goto(console.url("/knowledge/{owner}/entries"))
    await expect(page.get_by_role("link", name="Orion")).to_be_visible()
    assert (await stage.entry(orion.entry))["relations"]["totalCount"] == 0


@pytest.mark.req("CO-52", "CO-53", "CO-54", "CO-58")
async def test_one_record_is_restored_from_its_preview_alone_and_its_new_record_appears(
    console: Console, stage: Stage
) -> None:
    orion = await Orion.write(stage)
    record = await orion.correct(0, "Uses Kafka.")
    page = await console.open(stage.ana, "/knowledge/{owner}/audit?record={record}", record=record)
    opened = page.get_by_role("dialog", name="Audit record")
    await expect(opened.get_by_text("Uses Kafka.")).to_be_visible()
    await expect(page.get_by_role("button", name="Restore", exact=True)).to_have_count(0)

    await opened.get_by_role("button", name="Preview restore").click()
    preview = page.get_by_role("dialog", name="What restoring 1 would change")
    await expect(preview.get_by_role("listitem").first).to_contain_text("on Postgres")
    await preview.get_by_label("Reason").fill("it runs on Postgres")
    await preview.get_by_role("button", name="Restore", exact=True).click()

    written = page.get_by_role("status").filter(has_text="Restored. New records: 1")
    await expect(written.get_by_text("it runs on Postgres")).to_be_visible()
    rows = page.get_by_role("table", name="Audit records").last.get_by_role("row")
    await expect(rows.nth(1).get_by_role("button", name="Restored")).to_be_visible()
    await expect(rows.nth(2).get_by_text("restored", exact=True)).to_be_visible()
    assert await orion.now(0) == ("Runs on Postgres.", 3)

    # Each of the two leads to the other (CO-52).
    await rows.nth(1).get_by_role("button", name="Restored").click()
    await expect(opened.get_by_role("row", name="Restores")).to_contain_text("Block edited")
    await opened.get_by_role("row", name="Restores").get_by_role("button").click()
    await expect(opened.get_by_role("row", name="Restored by")).to_contain_text("May 10, 2025")


@pytest.mark.req("CO-55")
async def test_a_chain_of_edits_is_undone_in_one_action_newest_first(console: Console, stage: Stage) -> None:
    orion = await Orion.write(stage)
    await orion.correct(0, "Uses Kafka.")
    await orion.correct(0, "Uses Kafka heavily.")
    page, dialog = await preview_of_edits(console, stage, 1, 0)
    steps = dialog.get_by_role("list", name="In the order of execution").get_by_role("listitem")
    await expect(steps).to_have_count(2)
    await expect(steps.nth(0)).to_contain_text("heavily")
    await expect(steps.nth(1)).to_contain_text("on Postgres")

    await dialog.get_by_label("Reason").fill("a wrong run")
    await dialog.get_by_role("button", name="Restore", exact=True).click()

    # The filter leaves restores out; what was written is told all the same.
    await expect(page.get_by_text("Restored. New records: 2")).to_be_visible()
    assert await orion.now(0) == ("Runs on Postgres.", 5)


@pytest.mark.req("CO-5")
async def test_who_may_not_restore_is_offered_neither_selection_nor_preview(console: Console, stage: Stage) -> None:
    orion = await Orion.write(stage)
    record = await orion.correct(0, "Uses Kafka.")
    page = await console.open(stage.ben, "/knowledge/{owner}/audit?record={record}", record=record)
    await expect(page.get_by_role("dialog", name="Audit record").get_by_text("Uses Kafka.")).to_be_visible()
    await expect(page.get_by_role("checkbox")).to_have_count(0)
    await expect(page.get_by_role("button", name="Preview restore")).to_have_count(0)
