"""Explanations: the full chain of what is shown, the first failing link of what is not."""

from __future__ import annotations

import pytest

from graph.model.access import Guard, LawEdge, Need
from graph.model.ids import NodeId, WorkspaceId
from graph.rules.proof import Failure, Proof, Reason, explain, explain_own
from graph.rules.visibility import source_graph
from tests.support.graphs import PEOPLE, RULES, make_edge, make_guard, make_test_viewer

SHARED, AGENT, CHANNEL, _, _ = RULES
READER = make_test_viewer([SHARED])
SOURCE = make_guard("s", Need.SOURCE)

pytestmark = pytest.mark.req("KN-120")


def proof(
    guards: list[Guard], edges: list[LawEdge], node: str = "o", *, cut: tuple[str, ...] = (), limit: int = 500
) -> Proof:
    graph = source_graph(guards, edges, cut=map(NodeId, cut))
    return explain(graph, NodeId(node), READER, limit=limit)


def failure(reason: Reason, source: str | None, target: str) -> Failure:
    return Failure(reason=reason, source=NodeId(source) if source else None, target=NodeId(target))


def test_visible_node_has_its_whole_chain_and_no_failure() -> None:
    answer = proof(
        [SOURCE, make_guard("m"), make_guard("o"), make_guard("other")],
        [make_edge("o", "m"), make_edge("m", "s"), make_edge("other", "o")],
    )
    assert answer.visible
    assert answer.failure is None
    assert [(n.node, n.kind, n.rules, n.passed, n.depth) for n in answer.chain] == [
        ("o", "BlockVersion", (SHARED,), True, 0),
        ("m", "BlockVersion", (SHARED,), True, 1),
        ("s", "Source", (SHARED,), True, 2),
    ]
    assert [(e.source, e.target, e.passed) for e in answer.links] == [("o", "m", True), ("m", "s", True)]


@pytest.mark.parametrize(
    ("guards", "edges", "expected"),
    [
        ([], [], failure(Reason.MISSING_SOURCE, None, "o")),
        ([make_guard("o")], [], failure(Reason.MISSING_SOURCE, None, "o")),
        (
            [make_guard("o", workspace=WorkspaceId("w2"))],
            [make_edge("o", "s")],
            failure(Reason.MISSING_SOURCE, None, "o"),
        ),
        ([make_guard("o", rules=None)], [make_edge("o", "s")], failure(Reason.MISSING_PROOF, None, "o")),
        ([make_guard("o", rules=[CHANNEL])], [make_edge("o", "s")], failure(Reason.RULE_NOT_PASSED, None, "o")),
        ([make_guard("o", excluded=PEOPLE)], [make_edge("o", "s")], failure(Reason.EXCLUDED, None, "o")),
        ([make_guard("o")], [make_edge("o", "gone")], failure(Reason.MISSING_SOURCE, "o", "gone")),
        ([make_guard("o")], [make_edge("o", "s", record=None)], failure(Reason.MISSING_PROOF, "o", "s")),
        ([make_guard("o")], [make_edge("o", "s", record=(AGENT,))], failure(Reason.RULE_NOT_PASSED, "o", "s")),
        (
            [make_guard("o"), make_guard("t", Need.SOURCE, live=False)],
            [make_edge("o", "s"), make_edge("o", "t")],
            failure(Reason.WITHDRAWN, "o", "t"),
        ),
        (
            [make_guard("o"), make_guard("t", Need.SOURCE, [CHANNEL], live=False)],
            [make_edge("o", "t", record=(SHARED,))],
            failure(Reason.WITHDRAWN, "o", "t"),
        ),
        (
            [make_guard("o"), make_guard("m", held=False)],
            [make_edge("o", "m"), make_edge("m", "s")],
            failure(Reason.RETRACTED, "o", "m"),
        ),
        (
            [make_guard("o"), make_guard("m"), make_guard("n")],
            [make_edge("o", "m"), make_edge("m", "n"), make_edge("n", "gone")],
            failure(Reason.MISSING_SOURCE, "n", "gone"),
        ),
        (
            [make_guard("o"), make_guard("m"), make_guard("n")],
            [make_edge("o", "m"), make_edge("m", "n"), make_edge("n", "m"), make_edge("m", "s")],
            failure(Reason.CYCLE, "n", "m"),
        ),
        ([make_guard("o")], [make_edge("o", "o")], failure(Reason.CYCLE, "o", "o")),
        (
            [make_guard("o", Need.ANY), make_guard("e", rules=[CHANNEL])],
            [make_edge("o", "gone"), make_edge("o", "s"), make_edge("o", "e", ends=True)],
            failure(Reason.RULE_NOT_PASSED, "o", "e"),
        ),
    ],
)
def test_hidden_node_names_its_first_failing_link(guards: list[Guard], edges: list[LawEdge], expected: Failure) -> None:
    answer = proof([SOURCE, *guards], edges)
    assert not answer.visible
    assert answer.failure == expected


@pytest.mark.parametrize(
    ("edges", "cut", "expected"),
    [
        ([make_edge("o", "m")], "m", failure(Reason.TOO_DEEP, "o", "m")),
        ([make_edge("o", "far")], "far", failure(Reason.TOO_DEEP, "o", "far")),
    ],
)
def test_node_beyond_what_was_read_is_too_deep(edges: list[LawEdge], cut: str, expected: Failure) -> None:
    assert proof([make_guard("o"), make_guard("m")], edges, cut=(cut,)).failure == expected


def test_proof_lists_no_more_than_its_limit_and_decides_all_the_same() -> None:
    edges = [make_edge("o", f"s{i}") for i in range(9)]
    answer = proof([make_guard("o"), *(make_guard(f"s{i}", Need.SOURCE) for i in range(9))], edges, limit=4)
    assert (answer.visible, len(answer.chain), answer.truncated) == (True, 4, True)


def test_sources_that_are_only_provenance_are_not_part_of_the_proof() -> None:
    answer = proof([make_guard("o", Need.NONE)], [make_edge("o", "gone")])
    assert [n.node for n in answer.chain] == ["o"]


@pytest.mark.req("KN-60", "KN-120")
def test_ordinary_viewer_gets_no_word_of_hidden_evidence() -> None:
    guards = [SOURCE, make_guard("t", Need.SOURCE, [CHANNEL]), make_guard("o", Need.ANY)]
    answer = proof(guards, [make_edge("o", "s"), make_edge("o", "t")])
    assert [(n.node, n.passed) for n in answer.chain] == [("o", True), ("s", True), ("t", False)]
    own = answer.without_hidden()
    assert [n.node for n in own.chain] == ["o", "s"]
    assert [(e.source, e.target) for e in own.links] == [("o", "s")]


@pytest.mark.req("KN-60", "KN-120")
def test_ordinary_viewer_gets_the_same_of_a_hidden_node_as_of_none() -> None:
    hidden = proof([SOURCE, make_guard("o", rules=[CHANNEL])], [make_edge("o", "s")]).without_hidden()
    unknown = proof([], []).without_hidden()
    assert hidden == unknown


@pytest.mark.req("KN-60", "KN-120")
def test_hidden_short_cut_shows_neither_in_distance_nor_in_order_nor_in_the_limit() -> None:
    hidden = make_guard("h", Need.ANY, [CHANNEL])
    guards = [SOURCE, make_guard("a", Need.ANY), make_guard("b", Need.ANY), make_guard("o", Need.ANY)]
    seen = [make_edge("o", "b"), make_edge("b", "a"), make_edge("a", "s")]
    with_hidden = source_graph([*guards, hidden], [make_edge("o", "h"), make_edge("h", "s"), *seen])
    without = source_graph(guards, seen)
    for limit in (2, 4, 10):
        one, other = (explain_own(graph, NodeId("o"), READER, limit=limit) for graph in (with_hidden, without))
        assert one == other


def test_proof_becomes_a_graph() -> None:
    graph = proof([SOURCE, make_guard("o")], [make_edge("o", "s"), make_edge("o", "s")]).to_networkx()
    assert graph.nodes["s"] == {"kind": "Source", "rules": (SHARED,), "passed": True, "depth": 1}
    assert graph.number_of_edges("o", "s") == 2
