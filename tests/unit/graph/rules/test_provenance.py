"""Walks of provenance and the check on derivations."""

from __future__ import annotations

import pytest

from graph.model.edges import Edge, EdgeType
from graph.model.errors import LimitExceeded, OperationRejected
from graph.model.ids import NodeId
from graph.rules.provenance import Direction, ProvenanceResult, check_derivation, walk

CITES, DERIVED = EdgeType.CITES, EdgeType.DERIVED_FROM


def edge(source: str, target: str, type_: EdgeType = DERIVED, key: str = "") -> Edge:
    return Edge(type=type_, source=NodeId(source), target=NodeId(target), key=key)


def reached(result: ProvenanceResult) -> list[tuple[str, int]]:
    return [(n.node, n.depth) for n in result.nodes]


def upstream(start: str, edges: list[Edge], depth: int = 4) -> list[tuple[str, int]]:
    return reached(walk([NodeId(start)], edges, depth=depth))


def downstream(start: str, edges: list[Edge], depth: int = 4) -> list[tuple[str, int]]:
    return reached(walk([NodeId(start)], edges, depth=depth, direction=Direction.DOWNSTREAM))


def chain(length: int) -> list[Edge]:
    return [edge(f"n{i}", f"n{i + 1}") for i in range(length)]


LADDER = [
    edge("b", "a2"),
    edge("b", "a1"),
    edge("a1", "s", CITES),
    edge("a2", "s", CITES),
    edge("b", "t", CITES),
]


@pytest.mark.req("KN-79")
class TestWalk:
    def test_upstream_is_breadth_first_in_a_fixed_order(self) -> None:
        expected = [("b", 0), ("t", 1), ("a1", 1), ("a2", 1), ("s", 2)]
        assert upstream("b", LADDER) == expected
        assert upstream("b", LADDER[::-1]) == expected

    def test_downstream_goes_to_the_dependents(self) -> None:
        assert downstream("s", LADDER) == [("s", 0), ("a1", 1), ("a2", 1), ("b", 2)]

    def test_edges_are_returned_as_stored_with_the_depth_of_their_farther_end(self) -> None:
        for direction, start in ((Direction.UPSTREAM, "b"), (Direction.DOWNSTREAM, "t")):
            result = walk([NodeId(start)], LADDER, direction=direction)
            assert {e.edge.identity for e in result.edges} <= {e.identity for e in LADDER}
        found = walk([NodeId("b")], LADDER)
        assert [(e.edge.source, e.edge.target, e.depth) for e in found.edges] == [
            ("b", "t", 1),
            ("b", "a1", 1),
            ("b", "a2", 1),
            ("a1", "s", 2),
            ("a2", "s", 2),
        ]

    def test_parallel_quotes_are_kept_apart(self) -> None:
        result = walk([NodeId("b")], [edge("b", "s", CITES, "1"), edge("b", "s", CITES, "2")])
        assert [e.edge.key for e in result.edges] == ["1", "2"]
        assert result.to_networkx().number_of_edges("b", "s") == 2

    @pytest.mark.parametrize("depth", [1, 4, 16])
    def test_depth_limits_the_walk_and_says_that_more_exist(self, depth: int) -> None:
        result = walk([NodeId("n0")], chain(depth + 1), depth=depth)
        assert (len(result.nodes), result.truncated) == (depth + 1, True)

    def test_walk_that_ends_at_its_depth_is_not_truncated(self) -> None:
        assert not walk([NodeId("n0")], chain(4), depth=4).truncated

    @pytest.mark.parametrize(("sources", "truncated"), [(499, False), (500, True), (501, True)])
    def test_at_most_500_nodes(self, sources: int, truncated: bool) -> None:
        result = walk([NodeId("b")], [edge("b", f"s{i}", CITES) for i in range(sources)])
        assert (len(result.nodes), result.truncated) == (min(500, sources + 1), truncated)

    @pytest.mark.parametrize("depth", [-1, 0, 17])
    def test_other_depths_are_refused(self, depth: int) -> None:
        with pytest.raises(LimitExceeded, match="1 to 16"):
            walk([NodeId("b")], LADDER, depth=depth)

    def test_cycle_ends(self) -> None:
        edges = [edge("a", "b"), edge("b", "a")]
        assert upstream("a", edges) == [("a", 0), ("b", 1)]
        assert not walk([NodeId("a")], edges).truncated

    def test_other_edge_types_are_not_walked(self) -> None:
        assert upstream("a", [edge("a", "b", EdgeType.SHOWN_BY), edge("a", "c", EdgeType.RELATES)]) == [("a", 0)]

    def test_several_starts_are_the_parts_of_one_thing(self) -> None:
        result = walk([NodeId("a1"), NodeId("a2")], LADDER)
        assert reached(result) == [("a1", 0), ("a2", 0), ("s", 1)]


@pytest.mark.req("KN-7", "KN-79")
class TestRuns:
    EDGES = (
        edge("batch", "s", EdgeType.CONSUMED),
        edge("batch", "audit", EdgeType.PRODUCED),
        edge("audit", "block", EdgeType.TARGETS),
        edge("block", "s", CITES),
    )

    def test_statement_leads_over_its_record_to_the_run_and_what_it_consumed(self) -> None:
        assert upstream("block", list(self.EDGES)) == [("block", 0), ("s", 1), ("audit", 1), ("batch", 2)]

    def test_source_leads_to_the_run_that_consumed_it(self) -> None:
        assert downstream("s", list(self.EDGES)) == [("s", 0), ("block", 1), ("batch", 1), ("audit", 2)]

    def test_record_leads_to_its_target_and_on_to_the_source(self) -> None:
        assert upstream("audit", list(self.EDGES[2:])) == [("audit", 0), ("block", 1), ("s", 2)]

    def test_newer_version_leads_to_the_older(self) -> None:
        assert upstream("v2", [edge("v2", "v1", EdgeType.SUPERSEDES)]) == [("v2", 0), ("v1", 1)]


@pytest.mark.req("KN-80")
class TestHidden:
    def test_hidden_nodes_leave_no_trace(self) -> None:
        hidden = {NodeId("a2"), NodeId("t")}
        visible = {n for e in LADDER for n in (e.source, e.target)} - hidden
        without = [e for e in LADDER if not hidden & {e.source, e.target}]
        assert walk([NodeId("b")], LADDER, visible=visible) == walk([NodeId("b")], without)

    def test_nothing_is_reached_through_a_hidden_node(self) -> None:
        result = walk([NodeId("n0")], chain(3), visible={NodeId("n0"), NodeId("n2"), NodeId("n3")})
        assert reached(result) == [("n0", 0)]

    def test_hidden_nodes_beyond_the_depth_do_not_make_it_truncated(self) -> None:
        visible = {NodeId("n0"), NodeId("n1")}
        assert not walk([NodeId("n0")], chain(2), depth=1, visible=visible).truncated

    def test_hidden_nodes_do_not_use_up_the_limit(self) -> None:
        edges = [edge("b", f"s{i:04}", CITES) for i in range(600)]
        visible = {NodeId("b"), *(NodeId(f"s{i:04}") for i in range(200, 600))}
        result = walk([NodeId("b")], edges, visible=visible)
        assert (len(result.nodes), result.truncated) == (401, False)

    def test_hidden_start_gives_nothing(self) -> None:
        result = walk([NodeId("b")], LADDER, visible=set())
        assert (result.nodes, result.edges, result.truncated) == ((), (), False)


@pytest.mark.req("KN-72")
class TestDerivation:
    @pytest.mark.parametrize("length", [0, 1, 16])
    def test_sixteen_steps_are_allowed(self, length: int) -> None:
        check_derivation(chain(length))

    def test_seventeen_steps_are_refused(self) -> None:
        with pytest.raises(OperationRejected) as refused:
            check_derivation(chain(17))
        assert refused.value.wire_code == "PROVENANCE_CYCLE"

    @pytest.mark.parametrize("size", [1, 2, 3, 10_000])
    def test_cycle_is_refused(self, size: int) -> None:
        edges = [edge(f"n{i}", f"n{(i + 1) % size}") for i in range(size)]
        with pytest.raises(OperationRejected, match="without a cycle"):
            check_derivation(edges, max_depth=20_000)

    def test_new_edge_in_the_middle_counts_what_is_above_and_below(self) -> None:
        above = [edge(f"u{i}", f"u{i + 1}") for i in range(8)]
        below = [edge(f"d{i}", f"d{i + 1}") for i in range(7)]
        check_derivation([*above, *below, edge("u8", "d0")])
        with pytest.raises(OperationRejected):
            check_derivation([*above, *below, edge("u8", "m"), edge("m", "d0")])

    def test_diamond_is_no_cycle(self) -> None:
        check_derivation([edge("a", "b"), edge("a", "c"), edge("b", "d"), edge("c", "d"), edge("a", "b")])

    def test_citations_do_not_count(self) -> None:
        check_derivation([*chain(16), edge("n16", "s", CITES), edge("s", "n0", CITES)])
