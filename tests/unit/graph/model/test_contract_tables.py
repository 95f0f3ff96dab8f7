"""The declared graph against the two tables of the contract, KN-10 and KN-11; every difference stands here by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from graph.model.edges import EdgeType
from graph.model.schema import kinds
from graph.store.neo4j.names import SOURCE_LABELS, labels_of, property_of

CONTRACT = Path(__file__).parents[4] / "docs" / "contracts" / "knowledge.md"

SPLIT = {"DreamRun.counts": {"materialsProcessed", "operations", "skillUpdates", "rejected"}}
"""A property of the contract that is kept as several, so that each can be asked for (DR-81)."""

ADDED_EDGES = {
    "HAS_FACET": "docs/adr/0005-facets-are-nodes.md",
    "SHOWN_BY": "docs/adr/0006-shown-by.md",
    "IMAGES": "docs/adr/0007-audit-of-evidence.md",
    "MEMBER_OF": "docs/contracts/admin.md",
    "SERVES": "docs/adr/0032-sessions-agents-and-bots-in-the-graph.md",
}
"""Relationship types beside those of the contract, and where it is said why (members: AD-6, AD-18)."""


def table(first: str, last: str) -> list[list[str]]:
    """Return the rows of the table that stands between two requirements."""
    text = CONTRACT.read_text(encoding="utf-8")
    part = text[text.index(f"**{first}**") : text.index(f"**{last}**")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line.startswith("|")]
    return [row for row in rows[1:] if not set(row[0]) <= set("-: ")]


def without_remarks(text: str) -> str:
    return re.sub(r"\(.*?\)", "", text)


def wanted_properties() -> Iterator[tuple[str, str]]:
    """Yield label and property of KN-10; a row for several labels says of each what it has."""
    for labels, properties in table("KN-10", "KN-11"):
        of_row = [label.strip() for label in without_remarks(labels).split(",")]
        for part in re.split(r"\.\s+", without_remarks(properties)):
            named = re.match(r"(\w+): (.*)", part)
            for label in [named[1]] if named else of_row:
                names = (named[2] if named else part).strip(" .").replace(" or ", ", ")
                yield from ((label, name.strip(" .")) for name in names.split(","))


def declared() -> dict[str, set[str]]:
    return {name: {property_of(name, field.name) for field in spec.fields} for name, spec in kinds().items()}


@pytest.mark.req("KN-10")
@pytest.mark.parametrize(("label", "name"), list(wanted_properties()))
def test_every_property_of_the_contract_is_declared(label: str, name: str) -> None:
    have = declared()
    assert label in have
    assert SPLIT.get(f"{label}.{name}", {name}) <= have[label]


@pytest.mark.req("KN-10")
def test_the_labels_of_a_base_and_of_a_source_are_those_of_the_contract() -> None:
    text = "\n".join(labels for labels, _ in table("KN-10", "KN-11"))
    assert labels_of(kinds()["KnowledgeBase"]) == ("KnowledgeBase", "Scope")
    assert "KnowledgeBase (also labelled Scope)" in text
    of_sources = re.search(r"Source \(plus one of (.*?)\)", text)
    assert of_sources is not None
    assert set(of_sources[1].split(", ")) == set(SOURCE_LABELS.values())


@pytest.mark.req("KN-10")
def test_the_table_was_read() -> None:
    found = list(wanted_properties())
    assert len(found) > 150
    assert ("BlockVersion", "fromPrecision") in found
    assert ("RelationVersion", "attributes") in found


@pytest.mark.req("KN-11")
def test_the_relationship_types_are_those_of_the_contract_and_five_more() -> None:
    rows = table("KN-11", "KN-12")
    wanted = {name.strip() for row in rows for name in row[0].split(",")}
    assert len(wanted) > 25
    assert {type_.value for type_ in EdgeType} == wanted | ADDED_EDGES.keys()
    for name, where in ADDED_EDGES.items():
        text = (CONTRACT.parents[2] / where).read_text(encoding="utf-8")
        assert name in text or "members" in text
