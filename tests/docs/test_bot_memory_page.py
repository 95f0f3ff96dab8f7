"""The pages about bot memory say what they must, and their examples are true."""

from __future__ import annotations

import pytest

from api.importers.bot_memory import read_bot_memory
from tests.docs.pages import ROOT, blocks

PAGES = ROOT / "docs" / "how-to"


@pytest.mark.req("BM-56")
def test_the_page_says_what_the_checks_do_not_prove() -> None:
    text = " ".join((PAGES / "bot-memory.md").read_text(encoding="utf-8").split())

    assert "The checks rest on the sources that the Memory Bot declared." in text
    assert "do not prove that the model listed everything that influenced an answer" in text


@pytest.mark.req("AD-21")
def test_the_example_of_old_memory_can_be_imported() -> None:
    (example,) = [block for block in blocks(PAGES / "import.md") if block.heading == "Old memory of a bot"]

    old = read_bot_memory(example.text.splitlines(), file="example")

    assert [entry.layer for entry in old.entries] == ["fact", "observation"]
    assert (len(old.chats), len(old.items), len(old.log), len(old.enrichments)) == (1, 1, 1, 1)
