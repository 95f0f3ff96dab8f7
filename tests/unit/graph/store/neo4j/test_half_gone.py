"""Neo4j reads committed data: what another transaction removes meanwhile is read with parts that are null."""

from __future__ import annotations

import re
from typing import Any

import pytest

from graph.model.edges import EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.store.neo4j import closure, encoding, find, links, search, texts, vectors, visible
from graph.store.neo4j.asking import Asking
from graph.store.neo4j.facts import GUARD, GUARD_PROPERTIES, encode_guard, encode_rules, encode_sort, whole_guards
from graph.store.query import Direction, Find, Newest
from tests.support.builders import World, clause, private, shared, vector

WORLD = World()
SOURCE = WORLD.make_source()
STATEMENT = WORLD.make_block_version()
EDGE = WORLD.cites(STATEMENT, SOURCE)


def edge_row() -> list[Any]:
    return [EDGE.source, EDGE.target, links.encode_edge(EDGE), EDGE.type.value]


@pytest.mark.parametrize("gone", [{0}, {1}, {2}, {3}, {0, 1, 2, 3}])
def test_a_link_without_one_of_its_parts_is_no_link(gone: set[int]) -> None:
    half = [None if place in gone else part for place, part in enumerate(edge_row())]
    assert links.whole_edges([half, edge_row()]) == [EDGE]


def test_a_link_without_its_key_is_no_link() -> None:
    assert links.whole_edges([[*edge_row()[:2], {}, EDGE.type.value]]) == []


async def test_links_that_go_while_they_are_walked_lead_nowhere() -> None:
    whole = [EDGE.source, EDGE.target, EDGE.key, None, EDGE.type.value]
    rows = [whole, *([None if place == gone else part for place, part in enumerate(whole)] for gone in (0, 1, 2, 4))]
    reached = await closure.closure(
        Asking(Answering(rows)), [EDGE.source], [EdgeType.CITES], Direction.OUT, depth=None, limit=None
    )
    assert reached.depths == {EDGE.source: 0, EDGE.target: 1}
    assert [edge.identity for edge in reached.edges] == [EDGE.identity]


FACTS = WORLD.guard_for(SOURCE, shared(), pool=NodeId("kb_1"), excluded=frozenset({NodeId("prn_1")}))


def guard_row(*gone: str, there: bool | None = True) -> list[Any]:
    row = {"id": FACTS.node, **encode_guard(FACTS)}
    return [*(None if name in gone else value for name, value in row.items()), there]


@pytest.mark.parametrize("gone", [name for name in GUARD_PROPERTIES if name not in ("guardPool", "guardRules")])
def test_a_guard_without_one_of_its_facts_is_no_guard(gone: str) -> None:
    nothing = [None] * len(guard_row())
    assert whole_guards([guard_row(gone), nothing, guard_row()]) == [FACTS]


def test_a_guard_whose_rules_went_goes_with_them() -> None:
    assert whole_guards([guard_row("guardRules", there=False), guard_row("guardPool", there=None)]) == []
    assert [guard.rules for guard in whole_guards([guard_row("guardRules")])] == [None]
    assert GUARD.endswith(", n:Node"), "read last: it goes before the facts do"


RULES = clause(shared(), private("chn_1"))


@pytest.mark.parametrize(
    "half", [[None, ["c1"], []], [SOURCE.id, None, []], [SOURCE.id, ["c1"], None]], ids=["id", "clauses", "excluded"]
)
def test_nobody_is_admitted_by_an_audience_of_which_a_part_went(half: list[Any]) -> None:
    assert visible.whole_audiences([half], [["c1", encode_rules(RULES)]]) == []


@pytest.mark.parametrize("missing", [[], [["c2", None]], [[None, None]]])
def test_a_clause_that_went_admits_nobody(missing: list[Any]) -> None:
    rows = [[SOURCE.id, ["c1", "c2"], ["prn_1"]]]
    (audience,) = visible.whole_audiences(rows, [["c1", encode_rules(RULES)], *missing])
    assert audience.clauses == {RULES}
    assert audience.excluded == {NodeId("prn_1")}


def test_unknown_excluded_viewers_are_not_taken_for_none() -> None:
    """In Cypher NOT ... IN null is null, which is not true; a default would be."""
    assert "NOT $me IN n.audExcluded AND" in visible.seen(WORLD.viewer(shared()))


TEXT = WORLD.text_for(SOURCE, "some words")


def text_row(*gone: str) -> dict[str, Any]:
    return {name: value for name, value in texts._properties(TEXT, None).items() if name not in gone}


@pytest.mark.parametrize("gone", ["id", "index", "guard", "item", "part", "pool", "words", "sort"])
def test_a_text_without_one_of_its_parts_is_no_text(gone: str) -> None:
    half: list[list[Any]] = [[text_row(gone), True], [text_row(), False], [None, None]]
    assert texts.whole_texts([*half, [text_row(), True]]) == [TEXT]


@pytest.mark.parametrize("gone", range(8))
def test_a_hit_without_one_of_its_parts_is_no_hit(gone: int) -> None:
    whole = [text_row()[name] for name in ("id", "guard", "item", "part", "pool", "words", "length", "sort")]
    half = [None if place == gone else part for place, part in enumerate(whole)]
    assert [hit.id for hit in search.whole_hits([half, whole], ["words"])] == [TEXT.id]


@pytest.mark.parametrize("half", [[None, vector(1.0, 0.0)], ["src_1", None], ["src_1", vector(1.0)], ["src_1", b"x"]])
def test_a_vector_that_went_or_was_replaced_is_near_nothing(half: list[Any]) -> None:
    near = vectors.ranked([1.0, 0.0], [half, ["src_2", vector(1.0, 0.0)]])
    assert [(neighbour.id, neighbour.similarity) for neighbour in near] == [("src_2", 1.0)]


def test_a_page_leaves_out_what_went_and_still_says_that_there_is_more() -> None:
    names = re.findall(r"`(\w+)`", encoding.columns("Source"))
    properties = encoding.encode_node(SOURCE)
    whole = [*(properties.get(name) for name in names), True]
    gone = [None] * len(whole)
    sort = encode_sort(1, SOURCE.id)
    page = find._page(Find(kind=Source, order=Newest(), first=2), [(gone, None), (whole, sort), (whole, sort)])
    assert page.nodes == (SOURCE,)
    assert [place.value for place in page.places] == [1]
    assert page.more


class Answering:
    """A runner that answers a `table` with fixed rows."""

    def __init__(self, rows: list[list[Any]]) -> None:
        self._rows = rows

    async def run(self, statement: str, /, **parameters: Any) -> list[list[Any]]:
        return [[self._rows]]
