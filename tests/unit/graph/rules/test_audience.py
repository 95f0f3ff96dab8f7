"""Audiences: clauses of a chain, and what is computed anew after a change."""

from __future__ import annotations

import pytest

from graph.model.access import Audience, Clause, Clauses, Guard, LawEdge, Need, Rule, RuleKind
from graph.model.ids import NodeId
from graph.rules.audience import MAX_CLAUSES, absorb, audiences, dependents, multiply
from graph.rules.visibility import source_graph, visible_to
from tests.support.graphs import PEOPLE, RULES, make_edge, make_guard, make_test_viewer

SHARED, AGENT, CHANNEL, PRIVATE, _ = RULES


def clause(*rules: Rule) -> Clause:
    return frozenset(rules)


def computed(guards: list[Guard], edges: list[LawEdge]) -> dict[str, Audience]:
    graph = source_graph(guards, edges)
    return {str(k): v for k, v in audiences(graph, graph.guards, {}).items()}


def clauses_of(guards: list[Guard], edges: list[LawEdge], node: str = "o") -> Clauses:
    return computed(guards, edges)[node].clauses


def source(node: str, *rules: Rule, live: bool = True) -> Guard:
    return make_guard(node, Need.SOURCE, rules, live=live)


S, T = source("s", AGENT), source("t", CHANNEL)
TO_BOTH = [make_edge("o", "s"), make_edge("o", "t")]


class TestClauses:
    def test_need_all_demands_the_rules_of_the_whole_chain(self) -> None:
        guards = [S, T, make_guard("m", rules=[PRIVATE]), make_guard("o")]
        edges = [make_edge("m", "t"), make_edge("o", "m"), make_edge("o", "s")]
        assert clauses_of(guards, edges) == {clause(SHARED, PRIVATE, CHANNEL, AGENT)}

    @pytest.mark.req("KN-29")
    def test_need_any_has_a_clause_for_each_evidence(self) -> None:
        assert clauses_of([S, T, make_guard("o", Need.ANY)], TO_BOTH) == {
            clause(SHARED, AGENT),
            clause(SHARED, CHANNEL),
        }

    def test_evidence_that_demands_more_is_absorbed(self) -> None:
        guards = [S, source("t", AGENT, CHANNEL), make_guard("o", Need.ANY)]
        assert clauses_of(guards, TO_BOTH) == {clause(SHARED, AGENT)}

    def test_ends_multiply(self) -> None:
        guards = [S, T, make_guard("o", Need.ANY)]
        edges = [make_edge("o", "s"), make_edge("o", "t", ends=True)]
        assert clauses_of(guards, edges) == {clause(SHARED, AGENT, CHANNEL)}

    def test_need_none_demands_its_own_rule_only(self) -> None:
        assert clauses_of([make_guard("o", Need.NONE)], [make_edge("o", "gone")]) == {clause(SHARED)}

    @pytest.mark.parametrize(
        "guard",
        [source("s", AGENT, live=False), make_guard("s", Need.SOURCE, None), make_guard("s", Need.SOURCE, ())],
    )
    def test_leaf_without_life_or_rule_is_for_nobody(self, guard: Guard) -> None:
        found = computed([guard, make_guard("o")], [make_edge("o", "s")])
        assert [found[node].live for node in ("s", "o")] == [False, False]

    def test_statement_with_a_missing_source_is_for_nobody(self) -> None:
        assert clauses_of([S, make_guard("o")], [make_edge("o", "s"), make_edge("o", "gone")]) == frozenset()

    def test_statement_without_sources_is_for_nobody(self) -> None:
        assert clauses_of([make_guard("o")], []) == frozenset()

    def test_cycle_is_for_nobody(self) -> None:
        guards = [S, *(make_guard(f"o{i}") for i in range(10_000))]
        edges = [make_edge(f"o{i}", f"o{(i + 1) % 10_000}") for i in range(10_000)]
        found = computed(guards, [*edges, make_edge("o0", "s")])
        assert [node for node, audience in found.items() if audience.live] == ["s"]

    def test_cycle_of_any_has_what_its_evidence_gives(self) -> None:
        guards = [S, T, *(make_guard(n, Need.ANY, [r]) for n, r in zip("abc", RULES[:3], strict=True))]
        edges = [make_edge(a, b) for a, b in ("ab", "bc", "ca", "bs", "ct")]
        found = computed(guards, edges)
        assert found["a"].clauses == {clause(SHARED, AGENT)}
        assert found["c"].clauses == {clause(CHANNEL)}

    @pytest.mark.req("BM-54", "BM-55")
    def test_retracted_statement_keeps_its_audience_and_gives_none(self) -> None:
        guards = [S, make_guard("o", held=False), make_guard("p")]
        found = computed(guards, [make_edge("o", "s"), make_edge("p", "o")])
        assert found["o"].clauses == {clause(SHARED, AGENT)}
        assert not found["p"].live

    @pytest.mark.parametrize(
        ("record", "expected"),
        [((), {clause(SHARED, AGENT)}), ((PRIVATE,), {clause(SHARED, PRIVATE)}), (None, frozenset())],
    )
    def test_access_record_of_the_link_replaces_the_rule_of_a_source(
        self, record: tuple[Rule, ...] | None, expected: Clauses
    ) -> None:
        assert clauses_of([S, make_guard("o")], [make_edge("o", "s", record=record)]) == expected

    def test_access_record_adds_to_a_statement(self) -> None:
        guards = [S, make_guard("m"), make_guard("o")]
        edges = [make_edge("m", "s"), make_edge("o", "m", record=(PRIVATE,))]
        assert clauses_of(guards, edges) == {clause(SHARED, AGENT, PRIVATE)}

    @pytest.mark.req("BM-150")
    def test_exclusions_are_the_union_over_the_sources(self) -> None:
        guards = [
            make_guard("s", Need.SOURCE, excluded=PEOPLE[:1]),
            make_guard("t", Need.SOURCE, excluded=PEOPLE[1:2]),
            make_guard("o", excluded=PEOPLE[2:]),
        ]
        found = computed(guards, TO_BOTH)
        assert found["o"].excluded == set(PEOPLE)
        assert found["s"].excluded == set(PEOPLE[:1])


class TestRecomputation:
    def test_dependents_follow_every_edge_also_through_what_is_not_live(self) -> None:
        graph = source_graph(
            [make_guard("a"), make_guard("b", Need.ANY)],
            [make_edge("a", "gone"), make_edge("b", "a", ends=True), make_edge("c", "b"), make_edge("a", "s")],
        )
        assert dependents(graph, [NodeId("gone")]) == {"gone", "a", "b", "c"}

    def test_only_affected_nodes_are_answered_and_known_ones_used(self) -> None:
        graph = source_graph([S, make_guard("m"), make_guard("o")], [make_edge("o", "m")])
        known = {NodeId("m"): Audience(node=NodeId("m"), clauses=frozenset({clause(PRIVATE)}))}
        found = audiences(graph, [NodeId("o")], known)
        assert found == {NodeId("o"): Audience(node=NodeId("o"), clauses=frozenset({clause(SHARED, PRIVATE)}))}

    def test_stored_audience_of_an_affected_node_counts_for_nothing(self) -> None:
        guards = [make_guard("a"), make_guard("b")]
        graph = source_graph(guards, [make_edge("a", "b"), make_edge("b", "a")])
        stale = {g.node: Audience(node=g.node, clauses=frozenset({clause(SHARED)})) for g in guards}
        assert not any(found.live for found in audiences(graph, graph.guards, stale).values())

    def test_missing_node_is_for_nobody(self) -> None:
        found = audiences(source_graph([], []), [NodeId("gone")], {})
        assert found == {NodeId("gone"): Audience(node=NodeId("gone"), clauses=frozenset())}


class TestSize:
    def test_very_many_sources_make_one_clause(self) -> None:
        rules = [Rule(RuleKind.PERSON, str(i)) for i in range(65_536)]
        guards = [make_guard("o"), *(source(f"s{i}", rule) for i, rule in enumerate(rules))]
        edges = [make_edge("o", f"s{i}") for i in range(len(rules))]
        assert clauses_of(guards, edges) == {clause(SHARED, *rules)}
        assert clauses_of(guards[:-1], edges) == frozenset()

    def test_products_are_bounded_and_only_ever_hide(self) -> None:
        guards, edges = [make_guard("o")], []
        for i in range(12):
            guards.append(make_guard(f"r{i}", Need.ANY))
            edges.append(make_edge("o", f"r{i}"))
            for side in "ab":
                guards.append(source(f"{side}{i}", Rule(RuleKind.PERSON, f"{side}{i}")))
                edges.append(make_edge(f"r{i}", f"{side}{i}"))
        found = clauses_of(guards, edges)
        assert len(found) == MAX_CLAUSES
        graph = source_graph(guards, edges)
        assert all("o" in visible_to(graph, make_test_viewer(some)) for some in found)

    def test_shortest_clauses_are_kept(self) -> None:
        many = [clause(*(Rule(RuleKind.PERSON, f"{side}{i}") for side in "ab")) for i in range(MAX_CLAUSES)]
        kept = absorb([*many, clause(PRIVATE)])
        assert len(kept) == MAX_CLAUSES
        assert clause(PRIVATE) in kept


def test_product_of_nothing_demands_nothing_and_of_nobody_is_nobody() -> None:
    assert multiply([]) == {frozenset()}
    assert multiply([frozenset({clause(SHARED)}), frozenset()]) == frozenset()


def test_product_joins_and_absorbs() -> None:
    either: Clauses = frozenset({clause(SHARED), clause(AGENT)})
    assert multiply([either, either]) == either
    assert multiply([either, frozenset({clause(AGENT)})]) == {clause(AGENT)}
