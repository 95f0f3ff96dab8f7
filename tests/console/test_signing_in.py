"""Signing in, in a real browser: with a token, and at an identity provider."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from api.bootstrap import Service
from api.settings import Settings
from graph.services.access.commands import command
from graph.services.access.provisioning import link_oidc
from tests.acceptance.stage import Stage
from tests.console.axe import axe
from tests.console.provider import Provider, running_provider
from tests.console.visiting import Console
from tests.support.clock import FakeClock
from tests.support.world import TeamWorld

PLACE = "/knowledge/{owner}/entries"


async def stranger(console: Console, path: str = PLACE) -> Page:
    """A page as somebody sees it who has not signed in."""
    page = await (await console.context()).new_page()
    await page.goto(console.url(path))
    await expect(page.get_by_label("Token", exact=True)).to_be_visible()
    return page


async def kept(page: Page) -> str:
    """All that the page keeps in the browser."""
    return str(
        await page.evaluate("() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])")
    )


async def test_a_token_signs_in_where_one_is(console: Console, stage: Stage) -> None:
    page = await stranger(console)
    assert await axe(page) == []
    assert stage.ana.token
    await console.sign_in(page, stage.ana.token)
    await expect(page.get_by_role("tab", name="Entries")).to_be_visible()
    assert page.url == console.url(PLACE)
    assert stage.ana.token not in page.url


async def test_a_token_that_the_server_does_not_know_is_told_and_not_kept(console: Console) -> None:
    console.allow("status of 401")
    page = await stranger(console)
    await console.sign_in(page, "rw_mistyped")
    await expect(page.get_by_role("alert")).to_contain_text("UNAUTHENTICATED")
    await expect(page.get_by_role("tab", name="Entries")).to_have_count(0)
    assert "rw_mistyped" not in await kept(page)


async def test_a_token_is_kept_in_its_tab_alone_and_gone_after_signing_out(console: Console, stage: Stage) -> None:
    context = await console.context()
    page = await context.new_page()
    await page.goto(console.url(PLACE))
    assert stage.ana.token
    await console.sign_in(page, stage.ana.token)
    await expect(page.get_by_role("tab", name="Entries")).to_be_visible()
    other = await context.new_page()
    await other.goto(console.url(PLACE))
    await expect(other.get_by_label("Token", exact=True)).to_be_visible()
    await page.get_by_role("button", name="Menu").click()
    await page.get_by_role("menuitem", name="Sign out").click()
    await expect(page.get_by_label("Token", exact=True)).to_be_visible()
    assert stage.ana.token not in await kept(page)


async def test_the_policy_of_the_page_stops_what_is_slipped_into_it(console: Console, stage: Stage) -> None:
    page = await console.open(stage.ana, PLACE)
    await expect(page.get_by_role("tab", name="Entries")).to_be_visible()
    console.allow("Content Security Policy", r"asked elsewhere: http://elsewhere\.example", "Refused to|violates")
    ran = await page.evaluate(
        """() => {
          const script = document.createElement('script')
          script.textContent = 'window.slipped = "script"'
          const handler = document.createElement('div')
          handler.innerHTML = '<img src="x" onerror="window.slipped = 1"><p style="color: red">styled</p>'
          document.body.append(script, handler)
          const picture = new Image()
          const loaded = new Promise((done) => {
            picture.onload = () => done('loaded')
            picture.onerror = () => done('refused')
          })
          picture.src = 'http://elsewhere.example/pixel.png'
          return loaded.then((how) => [window.slipped ?? null, how, getComputedStyle(handler.querySelector('p')).color])
        }"""
    )
    assert ran[:2] == [None, "refused"]
    assert ran[2] != "rgb(255, 0, 0)"


class TestAtAProvider:
    """A server that is told an issuer and a client."""

    @pytest.fixture
    def provider(self, clock: FakeClock) -> Iterator[Provider]:
        def claims() -> dict[str, Any]:
            now_s = clock.now() // 1_000
            return {"sub": "subject-of-ana", "iat": now_s, "exp": now_s + 3_600}

        with running_provider(claims) as made:
            yield made

    @pytest.fixture
    def settings(self, tmp_path: Path, built: Path, provider: Provider) -> Settings:
        oidc = {"issuer": provider.address, "audience": "console-1", "client_id": "console-1"}
        return Settings.model_validate({"data_dir": tmp_path, "console": {"folder": str(built)}, "oidc": oidc})

    @pytest_asyncio.fixture(loop_scope="session")
    async def world(self, service: Service, settings: Settings) -> TeamWorld:
        return await TeamWorld(deps=service.deps, name=settings.oidc.workspace).make()

    @pytest.mark.req("AD-12")
    async def test_a_person_of_the_issuer_signs_in_and_comes_back_to_where_he_was(
        self, console: Console, stage: Stage, provider: Provider
    ) -> None:
        world = stage.world
        await command(world.deps, world.caller(world.dan), lambda cmd: link_oidc(cmd, world.ana, "subject-of-ana"))
        console.allow(f"asked elsewhere: {provider.address}/")

        page = await stranger(console)
        await page.get_by_role("button", name=f"Sign in with {urlsplit(provider.address).netloc}").click()

        await expect(page.get_by_role("tab", name="Entries")).to_be_visible()
        assert page.url == console.url(PLACE)
        assert provider.begun["response_type"] == "code"
        assert provider.begun["code_challenge_method"] == "S256"
        assert len(provider.redeemed) == 1
        await expect(page.get_by_role("button", name="New entry")).to_be_visible()  # she is the curator
