"""The Materials tab: what an Agent is given to learn from (CO-34 to CO-41)."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Locator, Page, Request, Route, expect
from strawberry import ID

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports
from api.graphql.ids import to_node
from dreaming.connectors import sync_connector
from dreaming.worker import Worker
from graph.model.nodes.evidence import LearningState
from graph.model.nodes.knowledge import KbKind
from graph.rules.pools import new_base
from graph.services.knowledge.bases import ensure_base
from graph.services.knowledge.connectors import arrange_syncs
from graph.store.port import Store, Writer
from tests.acceptance.stage import Stage
from tests.console.axe import axe
from tests.console.test_dreaming import passing
from tests.console.test_mirrors import CREATE
from tests.console.visiting import Console, picture
from tests.support.held_clock import HeldClock
from tests.support.keyring import FixedKeyring
from tests.support.operations import block, cite, create
from tests.support.places import ScriptedPlace

TAB = "/knowledge/{owner}/materials"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))
SUBMIT = """
mutation($owner: ID!, $kb: ID!, $file: Upload!) { submitFile(ownerId: $owner, kbId: $kb, file: $file) { id state } }
"""
STATE = "query($id: ID!) { material(id: $id) { state code } }"
TEXT = "The kiln is lit on Monday.\n\nIt cools for two days."


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def place() -> ScriptedPlace:
    return ScriptedPlace(
        documents={"kiln.txt": "The kiln is in Berlin.", "glaze.txt": "Glaze is blue."}, titles={"kiln.txt": "Kiln"}
    )


@pytest.fixture
def ports(store: Store, clock: HeldClock, place: ScriptedPlace) -> Ports:
    blobs, keyring = open_blobs("memory:///"), FixedKeyring()
    return Ports(clock=clock, store=store, blobs=blobs, places={"scripted": place}, keyring=keyring)


async def with_bases(stage: Stage) -> None:
    """Let Atlas have its shared memory and that of its channel."""
    await stage.say("hello")
    shared = new_base(stage.world.name, stage.world.atlas, KbKind.SHARED, stage.world.deps.now())

    async def work(writer: Writer) -> None:
        await ensure_base(writer, shared)

    await stage.world.deps.store.transact(work)


async def kept(stage: Stage, name: str, data: bytes) -> str:
    """Hand in a file past the console; return its id."""
    await with_bases(stage)
    where = {"owner": stage.gid(stage.world.atlas), "kb": stage.kb(KbKind.CHANNEL, stage.world.ops)}
    answer = await stage.ana.upload(SUBMIT, name, data, **where)
    assert not answer.errors, answer.errors
    return str(answer.data["submitFile"]["id"])


async def open_form(page: Page) -> Locator:
    await page.get_by_role("button", name="Let the Agent learn material").click()
    return page.get_by_role("dialog", name="Let the Agent learn material")


@pytest.mark.req("CO-34", "CO-35", "CO-37")
async def test_a_pasted_text_opens_as_the_entry_that_it_became(console: Console, stage: Stage) -> None:
    """Acceptance example 8."""
    await with_bases(stage)
    page = await console.open(stage.ana, TAB)
    await expect(page.get_by_text("No files yet.")).to_be_visible()
    form = await open_form(page)
    await expect(form.get_by_role("combobox", name="Agent")).to_have_value("Atlas")
    await expect(form.get_by_role("radio", checked=True)).to_have_count(0)
    await expect(form.get_by_role("button", name="File", exact=True)).to_have_count(0)
    await form.get_by_role("radio", name="Shared").check()
    warning = form.get_by_role("alert")
    await expect(warning).to_contain_text("Every shared conversation of this Agent will read it")
    await expect(warning).to_contain_text("Customer data and isolated projects do not belong there.")
    await form.get_by_role("radio", name="Channel").check()
    await expect(warning).to_have_count(0)
    await form.get_by_text("Pasted text", exact=True).click()
    await form.get_by_role("textbox", name="Text", exact=True).fill(TEXT)
    await form.get_by_label("Title").fill("The kiln")
    assert await axe(page) == []
    await form.get_by_role("button", name="Learn it").click()

    await expect(page.get_by_role("heading", name="The kiln", exact=True)).to_be_visible()
    await expect(page.get_by_text("It cools for two days.").first).to_be_visible()
    await page.get_by_role("link", name="Trace The kiln is lit on Monday.").click()
    await expect(page.get_by_text("Nodes: 2 · links: 1")).to_be_visible()
    await page.get_by_text("List", exact=True).click()
    await expect(page.get_by_text("Pasted text").first).to_be_visible()
    await page.goto(console.url(TAB))
    await expect(page.get_by_text("No files yet.")).to_be_visible()


@pytest.mark.req("CO-8", "CO-34")
async def test_a_refused_address_leaves_what_was_typed(console: Console, stage: Stage) -> None:
    await with_bases(stage)
    page = await console.open(stage.ana, TAB)
    form = await open_form(page)
    await form.get_by_role("radio", name="Channel").check()
    await form.get_by_text("Web address", exact=True).click()
    address = form.get_by_label("Address of the web page")
    await address.fill("http://127.0.0.1/secret")
    await form.get_by_role("button", name="Learn it").click()
    await expect(form.get_by_role("alert")).to_contain_text("FETCH_REFUSED")
    await expect(address).to_have_value("http://127.0.0.1/secret")


@pytest.mark.req("CO-34", "CO-36", "CO-39")
async def test_a_file_is_uploaded_with_its_progress_and_listed_at_once(console: Console, stage: Stage) -> None:
    await with_bases(stage)
    page = await console.open(stage.ana, TAB)
    go_on, seen = asyncio.Event(), list[Request]()

    async def hold(route: Route) -> None:
        if "rootward-upload" in route.request.headers and "multipart" in route.request.headers["content-type"]:
            seen.append(route.request)
            await go_on.wait()
        await route.continue_()

    await page.route("**/graphql", hold)
    form = await open_form(page)
    await form.get_by_role("radio", name="Channel").check()
    async with page.expect_file_chooser() as chooser:
        await form.get_by_role("button", name="File", exact=True).click()
    await (await chooser.value).set_files({"name": "kiln.txt", "mimeType": "text/plain", "buffer": TEXT.encode()})
    await form.get_by_role("button", name="Learn it").click()
    await expect(form.get_by_role("progressbar", name="Upload")).to_be_attached()
    await expect(form.get_by_role("status")).to_contain_text("% sent")
    go_on.set()
    # No worker runs: the row is there all the same.
    row = page.get_by_role("table", name="Kept files").get_by_role("row").filter(has_text="kiln.txt")
    await expect(row).to_contain_text("queued")
    await expect(row).to_contain_text("Ana")
    assert len(seen) == 1
    assert await axe(page) == []
    await picture(page, "materials")


@pytest.mark.req("CO-38")
async def test_a_failed_file_is_downloaded_unchanged_and_retried(
    console: Console, stage: Stage, tmp_path: Path
) -> None:
    """Acceptance example 9."""
    material = await kept(stage, "plan.png", PNG)
    page = await console.open(stage.ana, TAB)
    row = page.get_by_role("table", name="Kept files").get_by_role("row").filter(has_text="plan.png")
    await expect(row).to_contain_text("failed")
    await row.get_by_role("link", name="plan.png").click()
    learning = page.get_by_role("region", name="Learning")
    await expect(learning).to_contain_text("failed")
    await expect(learning).to_contain_text("UNSUPPORTED_TYPE")
    async with page.expect_download() as download:
        await learning.get_by_role("button", name="Download the original").click()
    file = tmp_path / "got.png"
    await (await download.value).save_as(file)
    assert file.read_bytes() == PNG
    assert (await download.value).suggested_filename == "plan.png"
    await learning.get_by_role("button", name="Retry learning").click()
    await expect(learning).to_contain_text("queued")
    found: Any = await stage.ana.ok(STATE, id=material)
    assert found["material"] == {"state": "QUEUED", "code": None}
    await expect(learning.get_by_role("button", name="Retry learning")).to_have_count(0)
    assert await axe(page) == []
    narrow = await console.open_as(
        stage.ana, path_of(console, material), locale="zh-CN", viewport={"width": 320, "height": 800}
    )
    await expect(narrow.get_by_role("button", name="下载原文件")).to_be_visible()
    assert await narrow.evaluate("() => document.documentElement.scrollWidth") <= 320
    await narrow.screenshot(path=tmp_path / "material-narrow.png", full_page=True)
    assert await axe(narrow) == []


def path_of(console: Console, material: str) -> str:
    """Return the path of a material's page."""
    return f"/knowledge/{console.owner}/materials/{material}"


@pytest.mark.req("CO-38")
async def test_an_open_file_tells_how_its_learning_goes_on(console: Console, stage: Stage, clock: HeldClock) -> None:
    material = await kept(stage, "kiln.txt", TEXT.encode())
    page = await console.open(stage.ana, TAB + "/{material}", material=material)
    state = page.get_by_role("region", name="Learning").get_by_role("status")
    await expect(state).to_contain_text("queued")
    for to, shown in ((LearningState.RUNNING, "learning"), (LearningState.SUCCEEDED, "learned")):
        await set_state(stage, material, to)
        async with passing(clock):
            await expect(state).to_contain_text(shown)
    await expect(page.get_by_role("region", name="Entries that cite it")).to_contain_text("No entry cites it yet.")


async def set_state(stage: Stage, material: str, state: LearningState) -> None:
    """Let the learning of a material go on as a worker would."""
    node, now = to_node(ID(material), stage.world.workspace), stage.world.deps.now()

    async def work(writer: Writer) -> None:
        await writer.patch(node, {"learning_state": str(state), "learning_at": now})

    await stage.world.deps.store.transact(work)


@pytest.mark.req("CO-38", "CO-41")
async def test_replacing_a_file_says_first_what_goes_stale(console: Console, stage: Stage) -> None:
    material = await kept(stage, "kiln.txt", TEXT.encode())
    quotes = [cite(material, quote) for quote in ("lit on Monday", "cools for two days")]
    await stage.write(create("Kiln", *(block(f"It {number} burns", quote) for number, quote in enumerate(quotes))))
    page = await console.open(stage.ana, TAB + "/{material}", material=material)
    citing = page.get_by_role("region", name="Entries that cite it")
    await expect(citing.get_by_role("link", name="Kiln")).to_be_visible()
    await page.get_by_role("button", name="Replace file").click()
    dialog = page.get_by_role("dialog", name="Replace file")
    await expect(dialog.get_by_role("status")).to_contain_text("2 statements will be marked stale")
    assert await axe(page) == []
    button = dialog.get_by_role("button", name="Upload the newer version")
    await expect(button).to_be_disabled()
    async with page.expect_file_chooser() as chooser:
        await dialog.get_by_role("button", name="File", exact=True).click()
    newer = {"name": "kiln.txt", "mimeType": "text/plain", "buffer": b"The kiln is lit on Friday."}
    await (await chooser.value).set_files(newer)  # type: ignore[arg-type]
    await button.click()
    await expect(page.get_by_text("version 2")).to_be_visible()
    await citing.get_by_role("link", name="Kiln").click()
    await expect(page.get_by_role("article").get_by_text("⌛ stale")).to_have_count(2)


@pytest.mark.req("CO-36", "CO-40")
async def test_documents_of_connectors_are_only_looked_at(
    console: Console, stage: Stage, clock: HeldClock, place: ScriptedPlace
) -> None:
    world = stage.world
    await with_bases(stage)
    await stage.dan.ok(CREATE, agent=stage.gid(world.atlas), channel=stage.gid(world.ops))
    worker = Worker(deps=world.deps, anchor_minutes=0, handlers={"sync_connector": sync_connector})

    async def sync() -> None:
        clock.advance(timedelta(minutes=15))
        await arrange_syncs(world.deps)
        while await worker.step():
            pass

    await sync()
    del place.documents["glaze.txt"]
    await sync()
    await sync()
    page = await console.open(stage.ben, TAB)
    table = page.get_by_role("table", name="Managed by connectors")
    live = table.get_by_role("row").filter(has_text="kiln.txt")
    for told in ("Kiln", "Handbook", "The kiln is in Berlin.", "May 10, 2025", "live", "none"):
        await expect(live).to_contain_text(told)
    gone = table.get_by_role("row").filter(has_text="glaze.txt")
    await expect(gone).to_contain_text("withdrawn")
    await expect(gone.get_by_role("link")).to_have_count(0)
    for row in (live, gone):
        await expect(row.get_by_role("button")).to_have_count(0)
    # Ben reads; he is not offered to hand anything in.
    await expect(page.get_by_role("button", name="Let the Agent learn material")).to_have_count(0)

    place.down = "HTTP_503"
    await sync()
    dark = await console.open_as(stage.ben, TAB.format(owner=console.owner), color_scheme="dark")
    live = dark.get_by_role("table", name="Managed by connectors").get_by_role("row").filter(has_text="kiln.txt")
    await expect(live).to_contain_text("HTTP_503")
    assert await axe(dark) == []
    await live.get_by_role("link", name="Kiln").click()
    await expect(dark.get_by_role("alert").filter(has_text="Connector: Handbook")).to_be_visible()
