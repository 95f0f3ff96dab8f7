"""Reads the command blocks of pages and runs them in a folder like a fresh clone, beside a running server."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

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
    tokens = MarkdownIt("commonmark").parse(page_of(page))
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and before.type == "heading_open":
            heading = token.content
        if token.type == "fence":
            found.append(Block(info=token.info.strip(), text=token.content, heading=heading))
    return found


def inline_of(page: Path) -> list[Token]:
    """Return what stands in the lines of a page: text, quoted words, links, pictures; no fenced blocks."""
    parsed = MarkdownIt("commonmark").enable("table").parse(page_of(page))
    return [child for token in parsed if token.type == "inline" for child in token.children or ()]


def anchors(page: Path) -> set[str]:
    """Return the fragments by which the headings of a page are reached, as GitHub names them."""
    found: dict[str, int] = {}
    tokens = MarkdownIt("commonmark").parse(page_of(page))
    for before, token in pairwise(tokens):
        if before.type == "heading_open":
            name = "".join(part.content for part in token.children or ())
            name = re.sub(r"[^\w\- ]", "", name.strip().lower()).replace(" ", "-")
            found[name] = found.get(name, 0) + 1
    return {name if turn == 0 else f"{name}-{turn}" for name, times in found.items() for turn in range(times)}


def page_of(page: Path) -> str:
    """Return the text of a page."""
    return page.read_text(encoding="utf-8")


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
