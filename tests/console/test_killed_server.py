"""A server process that is killed under a form that is being filled in, and started again on the same data (CO-8)."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.api.cli.support import Cli, Server, serving
from tests.console.conftest import Sample, first_owner, leave
from tests.console.everywhere import addresses
from tests.console.visiting import Console

CORRECTED = "Blue Heron Tea sells white tea, too."


@pytest.fixture
def cli(tmp_path: Path, built: Path) -> Cli:
    """A server of the sample whose data stay."""
    return Cli(data_dir=tmp_path / "data", more={"ROOTWARD_CONSOLE__FOLDER": str(built)})


@pytest_asyncio.fixture(loop_scope="session")
async def visit(browser: Browser, request: pytest.FixtureRequest) -> AsyncIterator[Console]:
    """Browsers that outlive the server; the address and owner are not known yet."""
    made = Console(browser=browser, address="", owner="")
    yield made
    await leave(made, request)


async def fill_in(page: Page) -> None:
    await page.get_by_role("article").get_by_role("button", name="Edit", exact=True).first.click()
    form = page.get_by_role("form", name="Edit this block")
    await form.get_by_role("textbox", name="Text").fill(CORRECTED)
    await form.get_by_label("Reason").fill("Mei knows it")


async def entry_in(visit: Console, server: Server) -> Page:
    """Open an entry of the sample as Mei."""
    sample = Sample(server=server, owner=first_owner(server))
    visit.address, visit.owner = server.address, sample.owner
    return await visit.open(sample.token("mei"), addresses(sample)["entry"])


@pytest.mark.req("CO-8")
async def test_a_server_that_is_killed_and_started_again_costs_no_typed_word(visit: Console, cli: Cli) -> None:
    visit.allow("Failed to load resource", "ERR_CONNECTION_REFUSED")
    with serving(cli) as first:
        page = await entry_in(visit, first)
        await fill_in(page)
        port = urlsplit(first.address).port
        assert first.end(signal.SIGKILL) == -signal.SIGKILL
    form = page.get_by_role("form", name="Edit this block")
    text = form.get_by_role("textbox", name="Text")
    save = form.get_by_role("button", name="Save", exact=True)
    await save.click()
    await expect(form.get_by_role("alert").get_by_text("UNREACHABLE")).to_be_visible()
    await expect(text).to_have_value(CORRECTED)
    await expect(form.get_by_label("Reason")).to_have_value("Mei knows it")

    with serving(cli, ROOTWARD_SERVER__PORT=str(port)) as again:
        assert again.address == first.address
        await save.click()
        await expect(page.get_by_role("article", name=f"Block: {CORRECTED}")).to_be_visible()
        await page.reload()
        await expect(page.get_by_role("article", name=f"Block: {CORRECTED}")).to_be_visible()
