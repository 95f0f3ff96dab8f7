"""What a GraphQL operation is estimated to cost, and what is refused before it runs."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import build_schema, get_operation_ast, parse

from api.limits import MAX_JSON_DEPTH, MAX_NESTING, Limits, check_document, check_json, check_text
from graph.model.errors import BadInput, QueryTooComplex

SCHEMA = build_schema(
    """
    type Query { entries(first: Int = 20): EntryConnection! entry: Entry name: String blocks(first: Int): [Block!]! }
    type EntryConnection { edges: [EntryEdge!]! pageInfo: PageInfo! totalCount: Int! }
    type EntryEdge { cursor: String! node: Entry! }
    type PageInfo { hasNextPage: Boolean! }
    type Entry { id: ID! self: Entry blocks: [Block!]! entries(first: Int = 20): EntryConnection! }
    type Block { id: ID! citations: [Citation!]! }
    type Citation { quote: String! }
    """
)


ROOMY = Limits(nodes=10**9)


def cost(query: str, limits: Limits = ROOMY, **variables: Any) -> int:
    check_text(query)
    document = parse(query)
    operation = get_operation_ast(document)
    assert operation is not None
    return check_document(document, operation, SCHEMA, variables, limits)


@pytest.mark.req("KN-115")
@pytest.mark.parametrize(
    ("query", "nodes"),
    [
        ("{ name }", 0),
        ("{ entry { id } }", 1),
        ("{ entries { edges { node { id } } } }", 20),
        ("{ entries(first: 50) { edges { node { id } } } }", 50),
        ("{ entries(first: 50) { edges { node { blocks { citations { quote } } } } } }", 50 + 250 + 1_250),
        ("{ entries(first: 10) { edges { node { entries(first: 10) { edges { node { id } } } } } } }", 110),
        ("{ a: entry { id } b: entry { id } }", 2),
        ("{ blocks(first: 7) { citations { quote } } }", 7 + 35),
        ("query { entry { ...E } } fragment E on Entry { blocks { id } }", 6),
        ("{ entries(first: 3) { ...C } } fragment C on EntryConnection { edges { node { id } } }", 3),
        ("{ entry { ... on Entry { self { id } } } }", 2),
    ],
)
def test_nodes_are_estimated_by_pages_and_lists(query: str, nodes: int) -> None:
    assert cost(query) == nodes


@pytest.mark.req("KN-115")
def test_the_page_size_of_a_variable_counts_and_one_over_the_maximum_counts_as_the_maximum() -> None:
    query = "query($n: Int) { entries(first: $n) { edges { node { id } } } }"
    assert cost(query, n=7) == 7
    assert cost(query, n=10**9) == 100
    assert cost(query) == 20
    given = query.replace("$n: Int", "$n: Int = 90")
    assert (cost(given), cost(given, n=7), cost(given, n=None)) == (90, 7, 20)


@pytest.mark.req("KN-115")
def test_exactly_fifteen_levels_pass_and_sixteen_do_not() -> None:
    def nested(levels: int) -> str:
        return "{ entry " + "{ self " * (levels - 2) + "{ id }" + " }" * (levels - 2) + " }"

    cost(nested(15))
    with pytest.raises(QueryTooComplex):
        cost(nested(16))


@pytest.mark.req("KN-115")
def test_depth_counts_through_fragments() -> None:
    chain = "query { entry { ...F0 } } " + " ".join(
        f"fragment F{i} on Entry {{ self {{ ...F{i + 1} }} }}" for i in range(20)
    )
    with pytest.raises(QueryTooComplex):
        cost(chain + " fragment F20 on Entry { id }")


@pytest.mark.req("KN-115")
def test_five_thousand_nodes_pass_and_more_do_not() -> None:
    page = "{ entries(first: 100) { edges { node { entries(first: %d) { edges { node { id } } } } } } }"
    assert cost(page % 49, Limits()) == 5_000
    with pytest.raises(QueryTooComplex):
        cost(page % 50, Limits())


def test_doubling_through_fragments_is_measured_without_being_unfolded() -> None:
    parts = ["query { entry { ...F0 } }"]
    parts += [f"fragment F{i} on Entry {{ a: self {{ ...F{i + 1} }} b: self {{ ...F{i + 1} }} }}" for i in range(12)]
    with pytest.raises(QueryTooComplex):
        cost(" ".join(parts) + " fragment F12 on Entry { id }", Limits())


@pytest.mark.parametrize(
    "query",
    [
        "query { entry { ...A } } fragment A on Entry { ...A }",
        "query { entry { ...A } } fragment A on Entry { self { ...B } } fragment B on Entry { ...A }",
        "query { name } fragment A on Entry { ...B } fragment B on Entry { ...A }",
    ],
)
def test_fragments_that_go_round_are_refused(query: str) -> None:
    with pytest.raises(QueryTooComplex):
        cost(query)


@pytest.mark.parametrize(
    "query",
    [
        "{ " + " ".join(f"a{i}: name" for i in range(51)) + " }",
        "{ name " + "@include(if: true) " * 51 + "}",
        "{ " + "name " * 33 + "}",
        "{ " + "... on Query { name } " * 33 + "}",
        "query { name } " + " ".join(f"fragment F{i} on Query {{ name }}" for i in range(65)),
    ],
)
def test_aliases_directives_repeats_and_fragments_have_limits(query: str) -> None:
    with pytest.raises(QueryTooComplex):
        cost(query)


@pytest.mark.parametrize("pair", ["{}", "[]", "()"])
def test_nesting_is_measured_before_anything_is_parsed(pair: str) -> None:
    check_text(pair[0] * MAX_NESTING + pair[1] * MAX_NESTING)
    with pytest.raises(QueryTooComplex):
        check_text(pair[0] * (MAX_NESTING + 1))


@pytest.mark.parametrize("text", ['"{{{{"', '"""{{{ " {{{"""', "# {{{{\n", r'"\"{{{"', '"""\\""" {{{"""'])
def test_brackets_in_strings_and_comments_do_not_count(text: str) -> None:
    check_text("{" * MAX_NESTING + text)


def test_deep_json_is_refused() -> None:
    value: Any = 1
    for _ in range(MAX_JSON_DEPTH + 5):
        value = [value]
    with pytest.raises(BadInput):
        check_json({"x": value})
    check_json({"x": [[["fine"]]]})


@pytest.mark.parametrize("value", ["a\ud800", "\udfff", float("inf"), float("-inf"), float("nan")])
def test_what_no_answer_could_repeat_is_refused_wherever_it_stands(value: Any) -> None:
    for variables in ({"x": value}, {"x": [{"y": [value]}]}, {"x": [{value: 1}]}):
        with pytest.raises(BadInput):
            check_json(variables)
    check_json({"x": ["\U0001f600", "\ufeff", 1e308, -0.0, 2**70]})
