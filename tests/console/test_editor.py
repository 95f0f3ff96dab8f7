"""The entry editor: edit with reasons and versions, projection, audit, mirrors (CO-19 to CO-30)."""

from __future__ import annotations

import re
from typing import Any, Final, Literal

import pytest
from playwright.async_api import Locator, Page, expect

from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.people import Right
from graph.rules.pools import base_id
from tests.acceptance.stage import Stage, made
from tests.console.axe import axe
from tests.console.visiting import Console, picture
from tests.support.dream_runs import run_in
from tests.support.operations import Json, block, cite, create, deduction, dream, edit
from tests.support.operations import made as made_of

ONE = "/knowledge/{owner}/entries/{entry}"
CONFLICT = re.compile("Somebody saved version")
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
VERSIONS = """
query($id: ID!) {
  entry(id: $id) { version projection blocks { id current { version text standing basis reason modifier { displayName }
    citations { role source { kind } } } } relations { edges { node { version validTo evidence { quote } } } } }
}
"""
APPLY = """
mutation($kb: ID!, $operations: [JSON!]!, $reason: String!) {
  applyOperations(kbId: $kb, operations: $operations, reason: $reason) { applied }
}
"""
PROJECTION = "query($id: ID!, $kb: ID) { entry(id: $id) { projection(kbId: $kb) } }"


async def lin(stage: Stage, *more: str) -> str:
    """Let Atlas write Lin, with a block for each thing that was said; return the id."""
    said = ["Lin likes barbecue very much.", *more]
    blocks = [block(text, cite(await stage.say(text), text)) for text in said]
    return made(await stage.write(create("Lin", *blocks, type="person")))


def card(page: Page, text: str) -> Locator:
    return page.get_by_role("article", name=f"Block: {text}")


async def state(stage: Stage, entry: str) -> Any:
    return (await stage.ana.ok(VERSIONS, id=entry))["entry"]


async def open_block(page: Page, text: str) -> Locator:
    """Open the form of a block."""
    await card(page, text).get_by_role("button", name="Edit", exact=True).click()
    return page.get_by_role("form", name="Edit this block")


async def save(form: Locator, reason: str = "As Lin said") -> None:
    await form.get_by_label("Reason").fill(reason)
    await form.get_by_role("button", name="Save", exact=True).click()


@pytest.mark.req("CO-19")
async def test_the_editor_has_pages_at_addresses_of_their_own(console: Console, stage: Stage) -> None:
    entry = await lin(stage)
    page = await console.open(stage.ana, ONE, entry=entry)
    for name, end in (("Projection", "projection"), ("Audit", "audit"), ("Edit", "edit")):
        tab = page.get_by_role("tab", name=name, exact=True).last
        await tab.click()
        await expect(tab).to_have_attribute("aria-selected", "true")
        await expect(page).to_have_url(re.compile(f"/{end}$"))
        assert await axe(page) == []


@pytest.mark.req("CO-24", "CO-25", "CO-26")
async def test_a_correction_needs_a_reason(console: Console, stage: Stage) -> None:
    """Acceptance example 4."""
    entry = await lin(stage)
    page = await console.open(stage.ana, ONE, entry=entry)
    form = await open_block(page, "Lin likes barbecue very much.")
    await form.get_by_role("textbox", name="Text").fill("Lin likes fish.")
    button = form.get_by_role("button", name="Save", exact=True)
    await expect(button).to_be_disabled()
    await form.get_by_label("Reason").fill("   ")
    await expect(button).to_be_disabled()

    current = (await state(stage, entry))["blocks"][0]
    wanted = edit(
        current["id"], 1, block("Lin likes fish.", basis="authored", standing="corrected", change="correction")
    )
    kb = stage.kb(KbKind.CHANNEL, stage.world.ops)
    refused = await stage.ana.run(APPLY, kb=kb, operations=[wanted], reason="")
    assert refused.codes == ["REASON_REQUIRED"]

    await save(form)
    changed = card(page, "Lin likes fish.")
    await expect(changed.get_by_text("Version 2")).to_be_visible()
    await expect(changed.get_by_text("Ana").first).to_be_visible()
    await expect(changed.get_by_text("As Lin said")).to_be_visible()
    now = (await state(stage, entry))["blocks"][0]["current"]
    assert now["basis"] == "AUTHORED"
    assert now["citations"] == [{"role": "CORRECTS", "source": {"kind": "HUMAN_NOTE"}}]


@pytest.mark.req("CO-25", "CO-26")
async def test_every_version_of_a_block_can_be_opened(console: Console, stage: Stage) -> None:
    """Acceptance example 5."""
    source = await stage.world.say(stage.world.ops, "Lin likes barbecue very much.")
    await stage.open()
    run = await run_in(stage.world, base_id(stage.world.name, stage.world.atlas, KbKind.CHANNEL, stage.world.ops))
    wanted = create("Lin", block("Lin likes barbecue.", cite(source, "likes barbecue")), type="person")
    result = await dream(stage.world, wanted, run=run.id)
    entry = stage.gid(made_of(result))
    page = await console.open(stage.ana, ONE, entry=entry)
    form = await open_block(page, "Lin likes barbecue.")
    await form.get_by_role("textbox", name="Text").fill("Lin is a vegetarian.")
    await save(form)
    changed = card(page, "Lin is a vegetarian.")
    await expect(changed.get_by_text("Version 2 · Person Ana")).to_be_visible()
    await changed.get_by_role("button", name="2 versions").click()
    history = page.get_by_role("dialog", name="Versions of this block")
    await history.get_by_role("button", name="Version 1 Dreaming").click()
    first = history.get_by_role("region", name="Version 1")
    await expect(first.get_by_text("Lin likes barbecue.", exact=True)).to_be_visible()
    await expect(first.get_by_text("likes barbecue", exact=True)).to_be_visible()
    await expect(first.get_by_role("link", name="Dreaming run of")).to_have_attribute(
        "href", re.compile(r"/dreaming\?run=")
    )
    await history.get_by_role("button", name="Version 2").click()
    await expect(
        history.get_by_role("region", name="Changed since version 1").get_by_role("insertion").first
    ).to_be_visible()
    assert await axe(page) == []


@pytest.mark.req("CO-29", "CO-8")
async def test_of_two_editors_the_second_sees_both_texts(console: Console, stage: Stage) -> None:
    """Acceptance example 6; also for two tabs of one person."""
    entry = await lin(stage)
    one = await console.open(stage.ana, ONE, entry=entry)
    await stage.world.grant(stage.world.ben, Right.CURATOR, stage.world.atlas)
    other = await console.open(stage.ben, ONE, entry=entry)
    first = await open_block(one, "Lin likes barbecue very much.")
    second = await open_block(other, "Lin likes barbecue very much.")
    await first.get_by_role("textbox", name="Text").fill("Lin likes fish.")
    await save(first)
    await expect(card(one, "Lin likes fish.")).to_be_visible()
    await second.get_by_role("textbox", name="Text").fill("Lin likes salad.")
    await save(second)
    conflict = second.get_by_role("alert").filter(has_text=CONFLICT)
    await expect(conflict.get_by_role("region", name="Your text")).to_contain_text("Lin likes salad.")
    await expect(conflict.get_by_role("region", name="Version 2")).to_contain_text("Lin likes fish.")
    await expect(second.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    assert await axe(other) == []
    assert (await stage.texts(entry)) == ["Lin likes fish."]

    await conflict.get_by_role("button", name="Go on with my text").click()
    await expect(second.get_by_role("textbox", name="Text")).to_have_value("Lin likes salad.")
    await second.get_by_role("button", name="Save", exact=True).click()
    await expect(card(other, "Lin likes salad.").get_by_text("Version 3")).to_be_visible()


@pytest.mark.req("CO-20", "CO-29")
async def test_metadata_are_changed_together_and_never_over_those_of_others(console: Console, stage: Stage) -> None:
    entry = await lin(stage)
    page = await console.open(stage.ana, ONE, entry=entry)
    await page.get_by_role("button", name="Edit name").click()
    form = page.get_by_role("form", name=re.compile("Edit name"))
    await form.get_by_label("Name").fill("Lin Chen")
    await form.get_by_label("Summary").fill("A colleague in Berlin.")
    await form.get_by_role("combobox", name="Aliases").or_(form.get_by_label("Aliases")).first.fill("L. C.")
    await page.keyboard.press("Enter")
    await form.get_by_role("button", name="Add an attribute").click()
    await form.get_by_label("Key").fill("floor")
    await form.get_by_label("Value of floor").fill("3")
    await stage.write({"op": "setSummary", "entry": entry, "expectedVersion": 1, "summary": "Meanwhile"}, by=stage.ana)
    await save(form)
    conflict = form.get_by_role("alert").filter(has_text=CONFLICT)
    await expect(conflict.get_by_role("region", name="Version 2")).to_contain_text("Meanwhile")
    await expect(form.get_by_label("Name")).to_have_value("Lin Chen")
    await conflict.get_by_role("button", name="Go on with my text").click()
    await form.get_by_role("button", name="Save", exact=True).click()
    await expect(page.get_by_role("heading", name="Lin Chen")).to_be_visible()
    await expect(page.get_by_text("A colleague in Berlin.")).to_be_visible()
    await expect(page.get_by_text("L. C.")).to_be_visible()
    await expect(page.get_by_role("row", name=re.compile("floor 3"))).to_be_visible()


@pytest.mark.req("CO-20", "CO-28")
async def test_a_block_is_added_with_a_quote_picked_from_a_source(console: Console, stage: Stage) -> None:
    entry = await lin(stage)
    await stage.say("Lin moved to the Berlin office in April, she told us.")
    page = await console.open(stage.ana, ONE, entry=entry)
    await page.get_by_role("button", name="Add a block").click()
    form = page.get_by_role("form", name="New block")
    await form.get_by_role("textbox", name="Text").fill("Works in Berlin.")
    await form.get_by_label("Holds from").fill("1st April")
    await expect(form.get_by_text("This is no date.")).to_be_visible()
    await form.get_by_label("Holds from").fill("2025-04")
    await expect(form.get_by_text("This is no date.")).to_have_count(0)
    await form.get_by_role("button", name="Pick a quote").click()
    picker = page.get_by_role("dialog", name="Pick a quote")
    await expect(picker.get_by_role("button", name="Lin likes barbecue")).to_be_visible()
    await picker.get_by_role("searchbox").fill("Berlin office")
    await picker.get_by_role("button", name="Lin moved to the Berlin office").click()
    text = picker.get_by_role("textbox")
    await text.press("Control+Home")
    for _ in range("Lin moved".count("") - 1):
        await text.press("Shift+ArrowRight")
    await expect(picker.get_by_role("status", name="Chosen words")).to_contain_text("Lin moved")
    assert await axe(page) == []
    await picker.get_by_role("button", name="Use this quote").click()
    await save(form)
    added = card(page, "Works in Berlin.")
    await expect(added.get_by_text("Lin moved", exact=True)).to_be_visible()
    await expect(added.get_by_text("since 2025-04")).to_be_visible()
    await expect(added.get_by_text("stated")).to_be_visible()


@pytest.mark.req("CO-20")
async def test_a_block_is_deleted_with_a_reason(console: Console, stage: Stage) -> None:
    entry = await lin(stage, "Lin works in Berlin.")
    page = await console.open(stage.ana, ONE, entry=entry)
    await card(page, "Lin works in Berlin.").get_by_role("button", name="Delete").click()
    asked = page.get_by_role("dialog", name="Delete this block?")
    await asked.get_by_label("Reason").fill("She never did")
    await asked.get_by_role("button", name="Delete").click()
    await expect(card(page, "Lin works in Berlin.")).to_have_count(0)
    assert await stage.texts(entry) == ["Lin likes barbecue very much."]


@pytest.mark.req("CO-8", "CO-29")
async def test_what_changed_before_it_was_deleted_is_shown_first(console: Console, stage: Stage) -> None:
    entry = await lin(stage, "Lin works in Berlin.")
    page = await console.open(stage.ana, ONE, entry=entry)
    await card(page, "Lin works in Berlin.").get_by_role("button", name="Delete").click()
    asked = page.get_by_role("dialog", name="Delete this block?")
    await asked.get_by_label("Reason").fill("She never did")
    blocks = (await state(stage, entry))["blocks"]
    (berlin,) = [one["id"] for one in blocks if one["current"]["text"] == "Lin works in Berlin."]
    now = block("Lin works in Hamburg.", basis="authored", standing="corrected", change="correction")
    await stage.write(edit(berlin, 1, now), by=stage.ana)
    await asked.get_by_role("button", name="Delete").click()
    await expect(asked.get_by_role("alert")).to_contain_text("VERSION_CONFLICT")
    await expect(asked.get_by_label("Reason")).to_have_value("She never did")
    await expect(asked.get_by_text("Lin works in Hamburg.")).to_be_visible()
    assert len(await stage.texts(entry)) == 2
    await asked.get_by_role("button", name="Delete").click()
    await expect(asked).to_have_count(0)
    assert await stage.texts(entry) == ["Lin likes barbecue very much."]


@pytest.mark.req("CO-5", "CO-20")
async def test_who_only_reads_a_base_is_offered_no_change_there(console: Console, stage: Stage) -> None:
    """An auditor reads private chats also where he is a curator, and writes in none of them."""
    said = await stage.say("My salary is 90k.", channel=stage.world.chat)
    salary = create("Salary", block("It is 90k.", cite(said, "salary is 90k")))
    entry = made(await stage.write(salary, channel=stage.world.chat))
    await stage.world.grant(stage.world.cleo, Right.CURATOR, stage.world.atlas)
    page = await console.open(stage.people[stage.world.cleo], ONE, entry=entry)
    await expect(card(page, "It is 90k.")).to_be_visible()
    await expect(page.get_by_text("read-only")).to_be_visible()
    for name in ("Edit", "Delete", "More", "Add a block", "Add a relation"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    await page.goto(console.url("/knowledge/{owner}/entries"))
    await page.get_by_role("button", name="New entry").click()
    await page.get_by_role("combobox", name="Knowledge base").click()
    await expect(page.get_by_role("option", name=re.compile("Private"))).to_have_count(0)


@pytest.mark.req("CO-28")
async def test_a_relation_rests_on_words_and_ends_or_was_wrong(console: Console, stage: Stage) -> None:
    said = await stage.say("Lin belongs to Helio GmbH.")
    entry = await lin(stage, "Lin belongs to Helio.")
    await stage.write(create("Helio", block("A company.", cite(said, "Helio GmbH")), type="organization"))
    page = await console.open(stage.ana, ONE, entry=entry)
    await page.get_by_role("button", name="Add a relation").click()
    form = page.get_by_role("form", name="Add a relation")
    await form.get_by_role("combobox", name="Type").fill("member_of")
    await form.get_by_role("combobox", name="Object").fill("Hel")
    await page.get_by_role("option", name="Helio").click()
    await form.get_by_label("Reason").fill("Lin says so")
    button = form.get_by_role("button", name="Save", exact=True)
    await expect(button).to_be_disabled()
    await form.get_by_role("button", name="Pick a quote").click()
    picker = page.get_by_role("dialog", name="Pick a quote")
    await picker.get_by_role("button", name="Lin belongs to Helio.").click()
    await picker.get_by_role("button", name="Use this quote").click()
    await button.click()
    relation = page.get_by_role("article", name="Lin member_of Helio")
    await expect(relation.get_by_text("Lin belongs to Helio.")).to_be_visible()

    await relation.get_by_role("button", name="Remove").click()
    asked = page.get_by_role("dialog", name="Remove this relation?")
    await asked.get_by_label("Reason").fill("She left")
    await asked.get_by_role("button", name="Remove").click()
    await expect(asked.get_by_text("Say whether it ended or was wrong.")).to_be_visible()
    await asked.get_by_label("It ended").check()
    await asked.get_by_label("Ended at").fill("in spring")
    await expect(asked.get_by_text("This is no date.")).to_be_visible()
    await expect(asked.get_by_role("button", name="Remove")).to_be_disabled()
    await asked.get_by_label("Ended at").fill("2025-03")
    assert await axe(page) == []
    await asked.get_by_role("button", name="Remove").click()
    await expect(relation.get_by_text("until 2025-03")).to_be_visible()

    await relation.get_by_role("button", name="Remove").click()
    await asked.get_by_label("Reason").fill("She never was there")
    await asked.get_by_label("It was wrong").check()
    await asked.get_by_role("button", name="Remove").click()
    await expect(page.get_by_text("No relations yet.")).to_be_visible()


@pytest.mark.req("CO-28")
async def test_a_relation_may_rest_on_a_note_of_the_user(console: Console, stage: Stage) -> None:
    entry = await lin(stage)
    said = await stage.say("Helio GmbH is a company.")
    await stage.write(create("Helio", block("A company.", cite(said, "is a company")), type="organization"))
    page = await console.open(stage.ana, ONE, entry=entry)
    await page.get_by_role("button", name="Add a relation").click()
    form = page.get_by_role("form", name="Add a relation")
    await form.get_by_role("combobox", name="Type").fill("member_of")
    await form.get_by_role("combobox", name="Object").fill("Hel")
    await page.get_by_role("option", name="Helio").click()
    await form.get_by_label("I do, in a note").check()
    await form.get_by_role("textbox", name="Note").fill("I saw her contract.")
    await save(form)
    relation = page.get_by_role("article", name="Lin member_of Helio")
    await expect(relation.get_by_text("I saw her contract.")).to_be_visible()
    await expect(relation.get_by_text("Note of")).to_be_visible()


@pytest.mark.req("CO-18")
async def test_a_block_that_passes_is_warned_of(console: Console, stage: Stage) -> None:
    entry = await lin(stage)
    page = await console.open(stage.ana, ONE, entry=entry)
    form = await open_block(page, "Lin likes barbecue very much.")
    await form.get_by_role("textbox", name="Text").fill("Lin is still working on the report.")
    await save(form)
    await expect(form.get_by_role("alert")).to_contain_text("something that passes")
    assert await stage.texts(entry) == ["Lin likes barbecue very much."]
    await form.get_by_role("button", name="Save anyway").click()
    await expect(card(page, "Lin is still working on the report.")).to_be_visible()


@pytest.mark.req("CO-27")
async def test_a_block_says_how_far_it_can_be_relied_on_and_never_by_a_number(console: Console, stage: Stage) -> None:
    entry = await lin(stage)
    bases = [one["id"] for one in (await state(stage, entry))["blocks"]]
    one, two = [await stage.say(text) for text in ("Lin ate fish on Monday.", "On Friday Lin ate fish again.")]
    induced: Json = {"basis": "induced", "standing": "inferred", "change": "inference"}
    await stage.write(
        {"op": "addBlock", "entry": entry, **deduction("there is a barbecue", "invite Lin", *bases)},
        {
            "op": "addBlock",
            "entry": entry,
            **block("Lin often eats fish.", cite(one, "Lin ate fish"), cite(two, "Lin ate fish again"), **induced),
        },
    )
    page = await console.open(stage.ana, ONE, entry=entry)
    deduced = page.get_by_role("article").filter(has_text="deduced")
    await expect(deduced.get_by_text("concluded on")).to_contain_text("there is a barbecue")
    await expect(deduced.get_by_text("concluded on")).to_contain_text("May 10, 2025")
    await expect(deduced.get_by_role("link", name="Lin likes barbecue very much.")).to_be_visible()
    often = card(page, "Lin often eats fish.")
    await expect(often.get_by_text("Induced from 2 pieces of evidence")).to_be_visible()
    await expect(often.get_by_text("inferred")).to_be_visible()
    for word in ("confidence", "probability", "certainty", "score"):
        await expect(page.get_by_text(re.compile(word, re.I))).to_have_count(0)


@pytest.mark.req("CO-21", "CO-22")
async def test_the_projection_is_what_agents_read_byte_for_byte(console: Console, stage: Stage) -> None:
    """Acceptance example 3."""
    entry = await lin(stage, "Lin works in Berlin.")
    page = await console.open(stage.ana, f"{ONE}/projection", entry=entry)
    shown = page.get_by_role("region", name="Projection of the entry")
    await expect(shown).to_contain_text("## Facts")
    projection = (await state(stage, entry))["projection"]
    assert await shown.evaluate("node => node.textContent") == projection
    cited = page.get_by_role("region", name="Cited sources")
    await expect(cited.get_by_role("link")).to_have_count(2)
    for number in (0, 1):
        await expect(cited.get_by_role("link").nth(number)).to_have_attribute("href", re.compile("/trace/"))
    assert await axe(page) == []
    await picture(page, "projection")

    channel = stage.kb(KbKind.CHANNEL, stage.world.ops)
    await page.get_by_role("combobox", name="As it is read in").click()
    await page.get_by_role("option", name=re.compile("Channel")).click()
    await expect(page).to_have_url(re.compile("kb="))
    narrow = (await stage.ana.ok(PROJECTION, id=entry, kb=channel))["entry"]["projection"]
    await expect(shown).to_contain_text("## Facts")
    assert await shown.evaluate("node => node.textContent") == narrow
    await page.get_by_text("Rendered", exact=True).click()
    await expect(page.get_by_role("heading", name="Facts")).to_be_visible()


@pytest.mark.req("CO-22")
async def test_a_read_set_that_the_user_may_not_read_shows_nothing(console: Console, stage: Stage) -> None:
    entry = await lin(stage)
    await stage.say("A word in private.", channel=stage.world.chat)
    private = stage.kb(KbKind.PRIVATE, stage.world.chat)
    page = await console.open(stage.ben, f"{ONE}/projection?kb={private}", entry=entry)
    await expect(page.get_by_text("not shown in that read set")).to_be_visible()
    await page.get_by_role("combobox", name="As it is read in").click()
    await expect(page.get_by_role("option", name=re.compile("Private"))).to_have_count(0)


@pytest.mark.req("CO-23")
async def test_the_audit_shows_what_changed_word_by_word_newest_first(console: Console, stage: Stage) -> None:
    entry = await lin(stage)
    page = await console.open(stage.ana, ONE, entry=entry)
    form = await open_block(page, "Lin likes barbecue very much.")
    await form.get_by_role("textbox", name="Text").fill("Lin likes fish very much.")
    await save(form)
    await expect(card(page, "Lin likes fish very much.")).to_be_visible()
    await page.get_by_role("tab", name="Audit", exact=True).last.click()
    steps = page.get_by_role("main").get_by_role("heading", level=3).get_by_role("button")
    await expect(steps).to_have_count(2)
    await expect(steps.first).to_contain_text("As Lin said")
    await steps.first.click()
    await expect(page.get_by_role("deletion").filter(has_text="barbecue").first).to_be_visible()
    await expect(page.get_by_role("insertion").filter(has_text="fish").first).to_be_visible()
    await expect(page.get_by_role("link", name="Open in the audit").first).to_have_attribute(
        "href", re.compile(r"/audit\?record=")
    )


@pytest.mark.req("CO-8")
async def test_a_page_is_not_left_by_accident_with_something_unsaved(console: Console, stage: Stage) -> None:
    entry = await lin(stage)
    page = await console.open(stage.ana, ONE, entry=entry)
    form = await open_block(page, "Lin likes barbecue very much.")
    text = form.get_by_role("textbox", name="Text")
    await text.fill("Lin likes fish.")
    await page.get_by_role("tab", name="Projection").click()
    asked = page.get_by_role("dialog", name="Leave without saving?")
    await expect(asked).to_be_visible()
    assert await axe(page) == []
    await asked.get_by_role("button", name="Stay").click()
    await expect(asked).to_have_count(0)
    await expect(text).to_have_value("Lin likes fish.")
    await page.get_by_role("tab", name="Projection").click()
    await asked.get_by_role("button", name="Leave").click()
    await expect(page).to_have_url(re.compile("/projection$"))
    assert await stage.texts(entry) == ["Lin likes barbecue very much."]


@pytest.mark.req("KN-21", "CO-20")
async def test_the_length_of_a_text_is_counted_in_characters_and_told_near_its_limit(
    console: Console, stage: Stage
) -> None:
    entry = await lin(stage)
    page = await console.open(stage.ana, ONE, entry=entry)
    form = await open_block(page, "Lin likes barbecue very much.")
    text = form.get_by_role("textbox", name="Text")
    button = form.get_by_role("button", name="Save", exact=True)
    await form.get_by_label("Reason").fill("As Lin said")
    await text.fill("🍖" * 1_799)
    await expect(form.get_by_text("left")).to_have_count(0)
    await text.fill("🍖" * 2_001)
    await expect(form.get_by_text("1 character too many")).to_be_visible()
    await expect(button).to_be_disabled()
    for scheme in SCHEMES:
        await page.emulate_media(color_scheme=scheme)
        assert await axe(page) == []
    await text.fill("🍖" * 2_000)
    await expect(form.get_by_text("0 characters left")).to_be_visible()
    await button.click()
    await expect(form).to_have_count(0)
    assert await stage.texts(entry) == ["🍖" * 2_000]


@pytest.mark.req("CO-20", "CO-25")
async def test_a_block_is_moved_by_keyboard_without_a_new_version(console: Console, stage: Stage) -> None:
    entry = await lin(stage, "Lin works in Berlin.", "Lin has a dog.")
    page = await console.open(stage.ana, ONE, entry=entry)
    blocks = page.get_by_role("article")
    await expect(blocks).to_have_count(3)
    await expect(blocks.first.get_by_role("button", name="Move up")).to_be_disabled()
    await expect(blocks.last.get_by_role("button", name="Move down")).to_be_disabled()
    await card(page, "Lin has a dog.").get_by_role("button", name="Move up").press("Enter")
    await expect(blocks.nth(1)).to_have_accessible_name("Block: Lin has a dog.")
    await expect(card(page, "Lin has a dog.")).to_be_focused()
    await card(page, "Lin likes barbecue very much.").get_by_role("button", name="Move down").press("Enter")
    await expect(blocks.nth(1)).to_have_accessible_name("Block: Lin likes barbecue very much.")
    assert await stage.texts(entry) == ["Lin has a dog.", "Lin likes barbecue very much.", "Lin works in Berlin."]
    assert [one["current"]["version"] for one in (await state(stage, entry))["blocks"]] == [1, 1, 1]
    assert await axe(page) == []


@pytest.mark.req("CO-20", "DR-69")
async def test_a_new_block_takes_the_place_of_others(console: Console, stage: Stage) -> None:
    entry = await lin(stage, "Lin works in Berlin.")
    page = await console.open(stage.ana, ONE, entry=entry)
    await page.get_by_role("button", name="Add a block").click()
    form = page.get_by_role("form", name="New block")
    await form.get_by_role("textbox", name="Text").fill("Lin works in Hamburg.")
    await form.get_by_role("combobox", name="Takes the place of").fill("Berlin")
    await page.get_by_role("option", name="Lin works in Berlin.").click()
    await expect(form.get_by_label("The text was wrong")).to_be_checked()
    await form.get_by_label("It has changed in the world").check()
    await form.get_by_label("Holds from").fill("2025-04")
    await save(form)
    await expect(card(page, "Lin works in Hamburg.").get_by_text("since 2025-04")).to_be_visible()
    await expect(card(page, "Lin works in Berlin.").get_by_text("until 2025-04")).to_be_visible()
