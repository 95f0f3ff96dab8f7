"""Every block of GraphQL in the how-to pages fits the schema."""

from __future__ import annotations

import pytest
from graphql import parse, validate

from api.graphql.schema import build_schema
from tests.docs.pages import ROOT, Block, blocks

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
FOUND = [(page.name, block) for page in PAGES for block in blocks(page) if block.info == "graphql"]


def test_there_are_blocks() -> None:
    assert "record-memory.md" in {name for name, _ in FOUND}


@pytest.mark.parametrize(("name", "block"), FOUND)
def test_a_block_fits_the_schema(name: str, block: Block) -> None:
    assert validate(build_schema()._schema, parse(block.text)) == [], (name, block.heading)
