"""A real Chromium for tests: where it is, how it is started, and what becomes of a machine without one.

``ROOTWARD_BROWSER`` is ``auto`` (the default: leave the tests out, loudly, where there is no Chromium), ``required`` (a
missing one fails the tests) or ``off``. ``ROOTWARD_TEST_CHROMIUM`` names another program. Nothing is downloaded.
"""

from __future__ import annotations

import os
import shutil
from typing import NoReturn

import pytest
from playwright.async_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)
"""Else a new Chromium asks for news of itself, which nobody answers."""
left_out = pytest.StashKey[str]()


def mode() -> str:
    """Return what ``ROOTWARD_BROWSER`` asks for: ``auto``, ``required`` or ``off``."""
    chosen = os.environ.get("ROOTWARD_BROWSER") or "auto"
    if chosen not in {"auto", "required", "off"}:
        raise pytest.UsageError(f"ROOTWARD_BROWSER is {chosen!r}; use auto, required or off")
    return chosen


def program() -> str | None:
    """Return the Chromium of this machine; None without one."""
    given = os.environ.get("ROOTWARD_TEST_CHROMIUM")
    return given or next((found for name in NAMES if (found := shutil.which(name))), None)


def program_or_skip(config: pytest.Config) -> str:
    """Return the Chromium of this machine; skips the test without one, or fails it where one is required."""
    if mode() == "off":
        leave_out(config, "ROOTWARD_BROWSER=off")
    found = program()
    if found is None:
        leave_out(config, f"none of {', '.join(NAMES)} is on the PATH; on Debian: apt-get install chromium")
    return found


def leave_out(config: pytest.Config, reason: str) -> NoReturn:
    """Skip the test with a reason that the summary repeats, or fail it where a browser is required."""
    if mode() == "required":
        pytest.fail(f"a browser is required: {reason}", pytrace=False)
    config.stash[left_out] = reason
    pytest.skip(f"no browser: {reason}")


async def launch(playwright: Playwright, executable: str) -> Browser:
    """Start a Chromium without a window, with an empty profile."""
    return await playwright.chromium.launch(
        executable_path=executable, args=list(QUIET), chromium_sandbox=os.geteuid() != 0
    )
