"""Reads the command blocks of pages and runs them in a folder like a fresh clone, beside a running server."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]
DEFAULT_ADDRESS = "http://127.0.0.1:8000"


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block: its language with what stands behind it, its text and the heading it stands under."""

    info: str
    text: str
    heading: str


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    found, heading = [], ""
    tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and before.type == "heading_open":
            heading = token.content
        if token.type == "fence":
            found.append(Block(info=token.info.strip(), text=token.content, heading=heading))
    return found


@dataclass(kw_only=True)
class Clone:
    """A folder in which commands of pages run as they stand there.

    Attributes:
        address: of the server, in place of the one that pages name.
        said: what the server printed when it started.
    """

    folder: Path
    environment: Mapping[str, str]
    address: str = DEFAULT_ADDRESS
    said: str = ""

    def run(self, text: str, **replaced: str) -> str:
        """Run the lines of a block; the first that fails ends it and the test."""
        commands = text.replace(DEFAULT_ADDRESS, self.address)
        for old, new in replaced.items():
            commands = commands.replace(old, new)
        done = subprocess.run(
            ["bash", "-e", "-u", "-o", "pipefail", "-c", commands],
            cwd=self.folder,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
        return done.stdout
