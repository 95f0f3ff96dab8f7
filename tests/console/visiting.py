"""The console in a browser, as several people see it at once; what a browser complains of fails the test."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, ConsoleMessage, Page, Request

from tests.api.clients import GraphQLClient
from tools.console import ROOT

LEFT = ROOT / ".cache" / "console"
"""Where what failed tests saw is laid."""
PICTURES = ROOT / "docs" / "images" / "console"
SIGN_IN = """token => {
  if (!sessionStorage.getItem('test.visited')) {
    sessionStorage.setItem('test.visited', '1')
    sessionStorage.setItem('rootward.token', token)
  }
}"""
PATIENCE_MS = 60_000
"""So long a page may take on a machine that does much else beside: this is no measurement."""
DEFAULTS: dict[str, Any] = {
    "viewport": {"width": 1280, "height": 800},
    "locale": "en-US",
    "timezone_id": "UTC",
    "reduced_motion": "reduce",
    "color_scheme": "light",
}


@dataclass(kw_only=True)
class Console:
    """What people see of one server.

    Attributes:
        owner: the global id of the Agent whose knowledge is looked at, for ``{owner}`` in paths.
        allowed: patterns of complaints that a test expects.
        complaints: what browsers said that they should not say.
        log: everything that the console wrote, for a failed test.
    """

    browser: Browser
    address: str
    owner: str
    allowed: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    _contexts: dict[str, BrowserContext] = field(default_factory=dict)
    _others: list[BrowserContext] = field(default_factory=list)

    async def open(self, who: GraphQLClient | str, path: str = "/", **ids: str) -> Page:
        """Open a page of the console in a new tab, signed in; each token has a browser of its own.

        Args:
            who: a client that has a token, or a token.
            path: below ``/console``, such as ``/knowledge/{owner}/entries?type=person``.
            ids: for further names in braces.
        """
        token = who if isinstance(who, str) else who.token
        assert token, "give somebody who has a token"
        if token not in self._contexts:
            self._contexts[token] = await self.context()
        page = await self._contexts[token].new_page()
        await page.add_init_script(f"({SIGN_IN})({token!r})")
        await page.goto(self.url(path, **ids))
        return page

    async def context(self, **options: Any) -> BrowserContext:
        """Return a new empty browser, watched; options are those of Playwright's `new_context`."""
        made = await self.browser.new_context(**{**DEFAULTS, **options})
        made.set_default_timeout(PATIENCE_MS)
        self._watch(made)
        self._others.append(made)
        return made

    async def open_as(self, who: GraphQLClient | str, path: str = "/", **options: Any) -> Page:
        """The same in a browser with other options, such as ``color_scheme="dark"`` or ``locale="zh-CN"``."""
        token = who if isinstance(who, str) else who.token
        page = await (await self.context(**options)).new_page()
        await page.add_init_script(f"({SIGN_IN})({token!r})")
        await page.goto(self.url(path))
        return page

    async def sign_in(self, page: Page, token: str) -> None:
        """Type a token at the sign-in."""
        await page.get_by_label("Token", exact=True).fill(token)
        await page.get_by_role("button", name="Sign in", exact=True).click()

    def url(self, path: str, **ids: str) -> str:
        """Return the address of a page of the console."""
        return f"{self.address}/console{path.format(owner=self.owner, **ids)}"

    def allow(self, *patterns: str) -> None:
        """Expect complaints of the browser that a pattern is found in; all others still fail the test."""
        self.allowed += patterns

    @property
    def unexpected(self) -> list[str]:
        """The complaints that nobody expected."""
        return [one for one in self.complaints if not any(re.search(pattern, one) for pattern in self.allowed)]

    async def leave(self, name: str, *, failed: bool) -> None:
        """Close all browsers; of a failed test, keep what its pages showed and wrote."""
        contexts: Sequence[BrowserContext] = self._others
        if failed:
            LEFT.mkdir(parents=True, exist_ok=True)
            pages = [page for context in contexts for page in context.pages]
            for number, page in enumerate(pages):
                await page.screenshot(path=LEFT / f"{name}-{number}.png", full_page=True)
            (LEFT / f"{name}.log").write_text("\n".join([*(page.url for page in pages), *self.log]), encoding="utf-8")
        for context in contexts:
            await context.close()

    def _watch(self, context: BrowserContext) -> None:
        context.on("console", self._said)
        context.on("weberror", lambda error: self._complain(f"uncaught: {error.error}"))
        context.on("request", self._asked)

    def _said(self, message: ConsoleMessage) -> None:
        self.log.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")
        if message.type in ("error", "warning"):
            self._complain(f"{message.type}: {message.text}")

    def _asked(self, request: Request) -> None:
        place = urlsplit(request.url)
        self.log.append(f"{request.method} {request.url}")
        if place.scheme in ("http", "https", "ws", "wss") and place.netloc != urlsplit(self.address).netloc:
            self._complain(f"asked elsewhere: {request.url}")

    def _complain(self, what: str) -> None:
        self.complaints.append(what)


async def picture(page: Page, name: str) -> Path:
    """Keep a picture of a page in `LEFT`, to be looked at after the tests."""
    return await _keep(page, LEFT / "pictures", name)


async def publish(page: Page, name: str) -> Path:
    """The same; with ``ROOTWARD_TEST_PICTURES=1`` it is the one that the documentation shows."""
    return await _keep(page, PICTURES if os.environ.get("ROOTWARD_TEST_PICTURES") else LEFT / "pictures", name)


async def _keep(page: Page, folder: Path, name: str) -> Path:
    file = folder / f"{name}.png"  # the browser makes the folder
    await page.screenshot(path=file)
    return file
