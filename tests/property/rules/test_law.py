"""The law against the naive reference, and the laws about the law (A2)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.model.access import Guard, LawEdge, Need, RuleKind
from graph.model.ids import NodeId
from graph.rules.proof import Reason, explain
from graph.rules.visibility import source_graph, visible_to
from tests.reference.law import naive_law
from tests.support.graphs import BOT_RULES, RULES, Flavour, GraphCase, law_graphs, random_case

pytestmark = pytest.mark.req("KN-62", "KN-125")


def cases() -> Iterator[tuple[int, GraphCase, random.Random]]:
    for seed in range(law_graphs()):
        rng = random.Random(seed)
        yield seed, random_case(rng, list(Flavour)[seed % 3]), rng


def test_law_equals_the_naive_reference_for_every_viewer() -> None:
    shown = hidden = 0
    for seed, case, _ in cases():
        for viewer in case.viewers:
            got = visible_to(case.graph, viewer)
            assert got == naive_law(case.guards, case.edges, viewer), f"seed {seed}, viewer {viewer}"
            shown += len(got)
            hidden += len(case.guards) - len(got)
    assert shown > law_graphs()
    assert hidden > law_graphs()


@given(seed=st.integers(min_value=10**6), flavour=st.sampled_from(Flavour), size=st.integers(2, 40))
@settings(max_examples=150, deadline=None)
def test_law_equals_the_naive_reference_on_larger_graphs(seed: int, flavour: Flavour, size: int) -> None:
    case = random_case(random.Random(seed), flavour, most_nodes=size)
    for viewer in case.viewers:
        assert visible_to(case.graph, viewer) == naive_law(case.guards, case.edges, viewer)


def test_removing_a_source_or_a_proof_never_reveals() -> None:
    for seed, case, rng in cases():
        lost = rng.choice(case.guards)
        fewer = tuple(g for g in case.guards if g is not lost)
        bare = tuple(replace(g, rules=None) if g is lost else g for g in case.guards)
        unproved = list(case.edges)
        if unproved:
            place = rng.randrange(len(unproved))
            unproved[place] = replace(unproved[place], record=None)
        for viewer in case.viewers:
            before = visible_to(case.graph, viewer)
            for guards, edges in ((fewer, case.edges), (bare, case.edges), (case.guards, unproved)):
                assert visible_to(source_graph(guards, edges), viewer) <= before, f"seed {seed}"


def test_removing_all_that_is_hidden_changes_nothing_else() -> None:
    for seed, case, _ in cases():
        for viewer in case.viewers:
            shown = visible_to(case.graph, viewer)
            through_records = {e.target for e in case.edges if e.record}
            twin = [g for g in case.guards if g.node in shown or g.node in through_records]
            assert visible_to(source_graph(twin, case.edges), viewer) == shown, f"seed {seed}"


def test_closing_a_cycle_never_reveals() -> None:
    closed = 0
    for seed, case, _ in cases():
        for edge in closing_edges(case):
            closed += 1
            more = source_graph(case.guards, (*case.edges, edge))
            for viewer in case.viewers:
                before = visible_to(case.graph, viewer)
                if only_demands_more(case, edge) or edge.target not in before:
                    assert visible_to(more, viewer) <= before, f"seed {seed}, edge {edge}"
    assert closed > law_graphs() / 4


def only_demands_more(case: GraphCase, edge: LawEdge) -> bool:
    """False where the edge may be the first source, or one more of any, which may rightly reveal."""
    has_sources = any(not e.ends for e in case.graph.sources.get(edge.source, ()))
    return case.graph.guards[edge.source].need is Need.ALL and has_sources


def closing_edges(case: GraphCase) -> Iterator[LawEdge]:
    """Yield, for up to six edges, the edge that leads back."""
    known = case.graph.guards
    for edge in case.edges[:6]:
        if edge.target in known and known[edge.target].need in (Need.ALL, Need.ANY):
            yield LawEdge(source=edge.target, target=edge.source)


def test_more_rights_never_show_less() -> None:
    for seed, case, rng in cases():
        for viewer in case.viewers:
            more = replace(viewer, held=viewer.held | {rng.choice((*RULES, *BOT_RULES))})
            assert visible_to(case.graph, viewer) <= visible_to(case.graph, more), f"seed {seed}"


def test_order_and_names_change_nothing() -> None:
    for seed, case, rng in cases():
        names = {node: NodeId(f"{rng.random()}_{node}") for node in case.ids}
        guards = [replace(g, node=names[g.node]) for g in case.guards]
        edges = [replace(e, source=names[e.source], target=names[e.target]) for e in case.edges]
        rng.shuffle(guards)
        rng.shuffle(edges)
        for viewer in case.viewers:
            renamed = visible_to(source_graph(guards, edges), viewer)
            assert renamed == {names[n] for n in visible_to(case.graph, viewer)}, f"seed {seed}"


@pytest.mark.req("KN-120")
def test_every_explanation_agrees_with_the_law_and_repairs_can_be_checked() -> None:
    reasons = set()
    for seed, case, _ in cases():
        for viewer in case.viewers[:3]:
            shown = visible_to(case.graph, viewer)
            for node in case.ids:
                proof = explain(case.graph, node, viewer)
                assert proof.visible == (node in shown), f"seed {seed}"
                assert (proof.failure is None) == proof.visible
                assert all(n.passed == (n.node in shown) for n in proof.chain)
                if proof.failure:
                    reasons.add(proof.failure.reason)
                    failed_at = proof.failure.source
                    assert failed_at is None or failed_at not in shown, f"seed {seed}"
    assert reasons >= set(Reason) - {Reason.TOO_DEEP}


def test_generator_makes_what_it_promises() -> None:
    features: set[str] = set()
    for _, case, _ in cases():
        features |= set(features_of(case.guards, case.edges))
    assert features == {
        *("gap", "parallel", "withdrawn", "no rules", "excluded", "retracted", "record", "no record", "ends"),
        *("either of several", "an organization", "a cycle"),
    }


@pytest.mark.req("BM-36", "BM-41")
def test_people_and_groups_see_different_parts_of_what_bots_learned() -> None:
    """Were one of them blind, or all-seeing, the comparisons above would say little about him."""
    seen = {"a person": 0, "a group": 0, "both": 0, "nobody": 0}
    for seed in range(1, law_graphs(), 3):
        case = random_case(random.Random(seed), Flavour.BOT)
        group = visible_to(case.graph, case.viewers[-2])
        people = {node for viewer in case.viewers[2:-2] for node in visible_to(case.graph, viewer)}
        seen["a group"] += len(group - people)
        seen["a person"] += len(people - group)
        seen["both"] += len(people & group)
        seen["nobody"] += len(case.guards) - len(people | group)
    assert min(seen.values()) > law_graphs() // 20, seen


def features_of(guards: tuple[Guard, ...], edges: tuple[LawEdge, ...]) -> Iterator[str]:
    known = {g.node for g in guards}
    pairs = [(e.source, e.target) for e in edges]
    checks = {
        "gap": any(e.target not in known for e in edges),
        "parallel": len(pairs) > len(set(pairs)),
        "withdrawn": any(not g.live for g in guards),
        "no rules": any(g.rules is None for g in guards),
        "excluded": any(g.excluded for g in guards),
        "record": any(e.record for e in edges),
        "no record": any(e.record is None for e in edges),
        "ends": any(e.ends for e in edges),
        "retracted": any(not g.held for g in guards),
        "either of several": any(len(rule.alternatives()) > 1 for g in guards for rule in g.rules or ()),
        "an organization": any(rule.kind is RuleKind.ORG for g in guards for rule in g.rules or ()),
        "a cycle": any((target, source) in set(pairs) for source, target in pairs),
    }
    return (name for name, found in checks.items() if found)
