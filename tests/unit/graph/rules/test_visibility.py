"""The law of visibility, branch by branch, and the attack cases on it."""

from __future__ import annotations

import itertools
import tracemalloc

import pytest

from graph.model.access import Guard, LawEdge, Need, Rule, RuleKind, Viewer
from graph.model.ids import NodeId, WorkspaceId
from graph.rules.visibility import readable, source_graph, supporting, visible_to
from tests.support.graphs import PEOPLE, RULES, layered_case, make_edge, make_guard, make_test_viewer

SHARED, AGENT, CHANNEL, PRIVATE, _ = RULES
READER = make_test_viewer([SHARED, AGENT])


def shown(guards: list[Guard], edges: list[LawEdge], viewer: Viewer = READER) -> set[str]:
    return set(visible_to(source_graph(guards, edges), viewer))


def source(node: str = "s", rules: tuple[Rule, ...] | None = (SHARED,), **facts: object) -> Guard:
    return make_guard(node, Need.SOURCE, rules, **facts)  # type: ignore[arg-type]


@pytest.mark.req("KN-62")
class TestSource:
    def test_live_source_is_shown_to_who_passes_its_rule(self) -> None:
        assert shown([source()], []) == {"s"}

    @pytest.mark.parametrize(
        "guard",
        [
            source(live=False),
            source(rules=None),
            source(rules=()),
            source(rules=(CHANNEL,)),
            source(rules=(SHARED, CHANNEL)),
            source(excluded=(PEOPLE[0],)),
            source(workspace=WorkspaceId("w2")),
        ],
        ids=["withdrawn", "no rule", "empty rule", "other rule", "one rule of two", "excluded", "other workspace"],
    )
    def test_source_is_hidden(self, guard: Guard) -> None:
        assert shown([guard], []) == set()

    def test_edges_out_of_a_source_demand_nothing(self) -> None:
        assert shown([source()], [make_edge("s", "gone", ends=True)]) == {"s"}


@pytest.mark.req("KN-62")
class TestNeedAll:
    def test_statement_is_shown_when_every_source_supports(self) -> None:
        edges = [make_edge("o", "s"), make_edge("o", "t")]
        assert shown([source("s"), source("t"), make_guard("o")], edges) == {"s", "t", "o"}

    def test_statement_is_hidden_when_one_source_is_hidden(self) -> None:
        edges = [make_edge("o", "s"), make_edge("o", "t")]
        assert shown([source("s"), source("t", (CHANNEL,)), make_guard("o")], edges) == {"s"}

    def test_statement_is_hidden_when_one_source_is_missing(self) -> None:
        assert shown([source("s"), make_guard("o")], [make_edge("o", "s"), make_edge("o", "gone")]) == {"s"}

    def test_statement_without_any_source_is_hidden(self) -> None:
        assert shown([make_guard("o")], []) == set()

    def test_statement_with_ends_only_is_hidden(self) -> None:
        assert shown([source(), make_guard("o")], [make_edge("o", "s", ends=True)]) == {"s"}

    @pytest.mark.parametrize("rules", [(CHANNEL,), None])
    def test_own_rule_hides_in_spite_of_shown_sources(self, rules: tuple[Rule, ...] | None) -> None:
        assert shown([source(), make_guard("o", Need.ALL, rules)], [make_edge("o", "s")]) == {"s"}

    def test_statement_without_rules_of_its_own_is_ruled_by_its_sources(self) -> None:
        guards = [source(), make_guard("o", Need.ALL, ())]
        assert shown(guards, [make_edge("o", "s")]) == {"s", "o"}
        assert shown(guards, [make_edge("o", "s")], make_test_viewer([AGENT])) == set()

    def test_source_of_another_workspace_supports_nothing(self) -> None:
        guards = [source(workspace=WorkspaceId("w2")), make_guard("o")]
        assert shown(guards, [make_edge("o", "s")]) == set()

    def test_parallel_edges_are_each_a_demand(self) -> None:
        guards = [source(), make_guard("o")]
        assert shown(guards, [make_edge("o", "s"), make_edge("o", "s")]) == {"s", "o"}
        assert shown(guards, [make_edge("o", "s"), make_edge("o", "s", record=None)]) == {"s"}


@pytest.mark.req("KN-29", "KN-62")
class TestNeedAny:
    def test_relation_survives_the_loss_of_one_evidence(self) -> None:
        guards = [source("s", live=False), source("t"), make_guard("r", Need.ANY)]
        assert shown(guards, [make_edge("r", "s"), make_edge("r", "t")]) == {"t", "r"}

    def test_relation_is_hidden_when_all_evidence_is(self) -> None:
        guards = [source("s", live=False), source("t", live=False), make_guard("r", Need.ANY)]
        assert shown(guards, [make_edge("r", "s"), make_edge("r", "t")]) == set()

    def test_relation_without_evidence_is_hidden(self) -> None:
        assert shown([make_guard("r", Need.ANY)], []) == set()

    @pytest.mark.parametrize("visible_ends", list(itertools.product([True, False], repeat=2)))
    def test_relation_needs_both_ends(self, visible_ends: tuple[bool, bool]) -> None:
        guards = [source(), make_guard("r", Need.ANY)]
        guards += [
            source(end, (SHARED if visible else CHANNEL,)) for end, visible in zip("ab", visible_ends, strict=True)
        ]
        edges = [make_edge("r", "s"), make_edge("r", "a", ends=True), make_edge("r", "b", ends=True)]
        assert ("r" in shown(guards, edges)) == all(visible_ends)

    def test_second_evidence_does_not_stand_in_for_an_end(self) -> None:
        guards = [source("s"), source("t"), make_guard("r", Need.ANY)]
        edges = [make_edge("r", "s"), make_edge("r", "t"), make_edge("r", "gone", ends=True)]
        assert shown(guards, edges) == {"s", "t"}


class TestNeedNone:
    def test_sources_are_only_provenance(self) -> None:
        assert shown([make_guard("f", Need.NONE)], [make_edge("f", "gone")]) == {"f"}

    def test_ends_are_demanded_all_the_same(self) -> None:
        assert shown([make_guard("f", Need.NONE)], [make_edge("f", "gone", ends=True)]) == set()

    def test_source_that_supports_does_not_stand_in_for_an_end(self) -> None:
        edges = [make_edge("f", "s"), make_edge("f", "gone", ends=True)]
        assert shown([source(), make_guard("f", Need.NONE)], edges) == {"s"}

    def test_missing_access_rule_hides(self) -> None:
        assert shown([make_guard("f", Need.NONE, ()), make_guard("g", Need.NONE, None)], []) == set()


@pytest.mark.req("KN-125", "BM-54", "BM-55")
class TestReadableAndSupporting:
    def test_retracted_statement_is_readable_and_supports_nothing(self) -> None:
        guards = [source(), make_guard("o", held=False), make_guard("p")]
        edges = [make_edge("o", "s"), make_edge("p", "o")]
        assert shown(guards, edges) == {"s", "o"}
        assert supporting(source_graph(guards, edges), [NodeId("s"), NodeId("o")]) == {"s"}

    def test_retracted_end_is_still_an_end(self) -> None:
        guards = [source(), make_guard("e", held=False), make_guard("r", Need.ANY)]
        edges = [make_edge("e", "s"), make_edge("r", "s"), make_edge("r", "e", ends=True)]
        assert shown(guards, edges) == {"s", "e", "r"}


class TestExclusion:
    def test_exclusion_is_inherited_by_what_rests_on_it(self) -> None:
        guards = [source(), make_guard("o", excluded=(PEOPLE[1],)), make_guard("p")]
        edges = [make_edge("o", "s"), make_edge("p", "o")]
        assert shown(guards, edges, make_test_viewer([SHARED], PEOPLE[1])) == {"s"}
        assert shown(guards, edges, make_test_viewer([SHARED], PEOPLE[2])) == {"s", "o", "p"}

    @pytest.mark.req("BM-150")
    def test_group_reader_without_a_principal_ignores_exclusions(self) -> None:
        graph = source_graph([source(excluded=PEOPLE)], [])
        assert readable(graph, READER.passes, "") == {"s"}


class TestAccessRecordOnTheLink:
    def test_link_without_a_record_is_a_missing_proof_whatever_the_item_got_elsewhere(self) -> None:
        guards = [source(), make_guard("f"), make_guard("g")]
        edges = [make_edge("f", "s"), make_edge("g", "s", record=None)]
        assert shown(guards, edges) == {"s", "f"}

    def test_record_replaces_the_rules_of_a_source(self) -> None:
        guards = [source("s", (CHANNEL,)), source("t", None), make_guard("f"), make_guard("g")]
        edges = [make_edge("f", "s", record=(SHARED,)), make_edge("g", "t", record=(SHARED,))]
        assert shown(guards, edges) == {"f", "g"}

    def test_record_that_does_not_pass_hides_although_the_source_is_shown(self) -> None:
        edges = [make_edge("f", "s", record=(SHARED, CHANNEL))]
        assert shown([source(), make_guard("f")], edges) == {"s"}

    @pytest.mark.parametrize("facts", [{"live": False}, {"excluded": (PEOPLE[0],)}, {"held": False}])
    def test_record_does_not_bring_back_a_source(self, facts: dict[str, object]) -> None:
        guards = [source("s", (CHANNEL,), **facts), make_guard("f")]
        assert shown(guards, [make_edge("f", "s", record=(SHARED,))]) == set()

    @pytest.mark.parametrize(("rules", "seen"), [((SHARED,), True), ((CHANNEL,), False)])
    def test_record_adds_to_the_rules_of_a_statement(self, rules: tuple[Rule, ...], seen: bool) -> None:
        guards = [source(), make_guard("o", Need.ALL, rules), make_guard("p")]
        edges = [make_edge("o", "s"), make_edge("p", "o", record=(AGENT,))]
        assert ("p" in shown(guards, edges)) == seen


class TestCutGraph:
    def test_node_whose_edges_were_not_read_proves_nothing(self) -> None:
        graph = source_graph(
            [source(), make_guard("o"), make_guard("n", Need.NONE)],
            [make_edge("o", "s")],
            cut=[NodeId("o"), NodeId("n"), NodeId("s")],
        )
        assert visible_to(graph, READER) == {"s"}


@pytest.mark.req("KN-55", "KN-62")
def test_granted_reader_of_shared_does_not_see_a_block_that_cites_agent_evidence() -> None:
    guards = [source("own", (SHARED,)), source("agents", (AGENT,)), make_guard("b"), make_guard("c")]
    edges = [make_edge("b", "own"), make_edge("c", "own"), make_edge("c", "agents")]
    assert shown(guards, edges, make_test_viewer([SHARED])) == {"own", "b"}


class TestDeletedSource:
    """Cases 8 and 9 of the public bug reports."""

    @pytest.mark.req("KN-29", "KN-67")
    @pytest.mark.parametrize("withdrawn", [set(), {"s1"}, {"s2"}, {"s1", "s2"}])
    def test_relation_lives_on_either_source_and_a_block_on_both(self, withdrawn: set[str]) -> None:
        guards = [source(n, live=n not in withdrawn) for n in ("s1", "s2")]
        guards += [make_guard("relation", Need.ANY), make_guard("block")]
        edges = [make_edge(n, s) for n in ("relation", "block") for s in ("s1", "s2")]
        statements = shown(guards, edges) - {"s1", "s2"}
        assert ("relation" in statements) == (len(withdrawn) < 2)
        assert ("block" in statements) == (not withdrawn)

    @pytest.mark.req("KN-124")
    @pytest.mark.parametrize("s1", [source("s1", live=False), source("s1", (CHANNEL,)), None])
    def test_summary_goes_with_one_of_its_blocks_and_the_other_stays(self, s1: Guard | None) -> None:
        guards = [source("s2"), make_guard("code word"), make_guard("run by Ana"), make_guard("summary")]
        edges = [make_edge("code word", "s1"), make_edge("run by Ana", "s2")]
        edges += [make_edge("summary", "code word"), make_edge("summary", "run by Ana")]
        assert shown([*guards, *([s1] if s1 else [])], edges) == {"s2", "run by Ana"}
        assert "summary" in shown([*guards, source("s1")], edges)


@pytest.mark.req("KN-57")
def test_auditor_of_everything_sees_nothing_of_another_workspace() -> None:
    auditor = Viewer(workspace=WorkspaceId("w2"), principal=PEOPLE[0], held=frozenset(), audits=frozenset({"*"}))
    assert shown([source()], [], auditor) == set()


@pytest.mark.req("KN-62")
class TestAttacks:
    @pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
    def test_cycle_and_all_above_it_are_hidden_and_a_healthy_sibling_shown(self, order: tuple[int, ...]) -> None:
        ring = [make_guard(f"o{i}") for i in order]
        guards = [*ring, source("root"), make_guard("sibling"), make_guard("above")]
        edges = [make_edge(f"o{i}", f"o{(i + 1) % 3}") for i in order]
        edges += [make_edge(f"o{i}", "root") for i in order]
        edges += [make_edge("sibling", "root"), make_edge("above", "o0"), make_edge("above", "root")]
        assert shown(guards, edges) == {"root", "sibling"}

    def test_cycle_of_any_is_hidden_until_one_of_it_has_evidence(self) -> None:
        guards = [make_guard(n, Need.ANY) for n in "abc"]
        edges = [make_edge("a", "b"), make_edge("b", "c"), make_edge("c", "a")]
        assert shown(guards, edges) == set()
        assert shown([*guards, source()], [*edges, make_edge("b", "s")]) == {"a", "b", "c", "s"}

    def test_diamond_is_no_cycle(self) -> None:
        guards = [source(), *(make_guard(n) for n in ("left", "right", "top"))]
        edges = [make_edge("left", "s"), make_edge("right", "s"), make_edge("top", "left"), make_edge("top", "right")]
        assert shown(guards, edges) == {"s", "left", "right", "top"}

    @pytest.mark.parametrize("size", [1, 2, 3, 50, 10_000])
    def test_cycle_of_any_size_is_hidden(self, size: int) -> None:
        guards = [source(), *(make_guard(f"o{i}") for i in range(size))]
        edges = [make_edge(f"o{i}", f"o{(i + 1) % size}") for i in range(size)]
        edges += [make_edge(f"o{i}", "s") for i in range(size)]
        assert shown(guards, edges) == {"s"}

    @pytest.mark.parametrize("length", [15, 16, 17, 20_000])
    def test_chain_of_any_length_is_proved(self, length: int) -> None:
        guards = [source("o0"), *(make_guard(f"o{i}") for i in range(1, length + 1))]
        edges = [make_edge(f"o{i}", f"o{i - 1}") for i in range(1, length + 1)]
        assert len(shown(guards, edges)) == length + 1
        assert shown(guards[1:], edges) == set()

    @pytest.mark.parametrize("count", [65_535, 65_536, 100_000])
    def test_statement_is_hidden_when_the_last_of_very_many_sources_is_missing(self, count: int) -> None:
        guards = [make_guard("o"), *(source(f"s{i}") for i in range(count))]
        edges = [make_edge("o", f"s{i}") for i in range(count)]
        assert "o" in shown(guards, edges)
        assert "o" not in shown(guards[:-1], edges)

    def test_hostile_cycles_that_never_meet_a_bad_leaf_are_hidden(self) -> None:
        """A path that only goes round meets no bad leaf: asking "are all leaves good?" would show all sixty."""
        guards = [source("good")]
        edges = []
        for i in range(60):
            guards.append(make_guard(f"o{i}"))
            edges += [make_edge(f"o{i}", f"o{(i + step) % 60}") for step in (1, 7, 31)]
            edges.append(make_edge(f"o{i}", "good"))
        assert shown(guards, edges) == {"good"}

    def test_memory_of_a_large_cycle_stays_small(self) -> None:
        guards = [make_guard(f"o{i}") for i in range(10_000)]
        edges = [make_edge(f"o{i}", f"o{(i + 1) % 10_000}") for i in range(10_000)]
        tracemalloc.start()
        shown(guards, edges)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 64 * 2**20


def test_each_rule_is_asked_once_per_set_of_rules() -> None:
    asked: list[Rule] = []

    def passes(rule: Rule) -> bool:
        asked.append(rule)
        return True

    case = layered_case(layers=3, width=50)
    assert len(readable(case.graph, passes, "")) == len(case.guards)
    assert len(asked) == len({next(iter(g.rules)) for g in case.guards if g.rules})


def test_names_that_look_alike_do_not_meet() -> None:
    rule = Rule(RuleKind.CHANNEL, "a", "b")
    for other in (
        Rule(RuleKind.CHANNEL, "a", "b "),
        Rule(RuleKind.CHANNEL, "A", "b"),
        Rule(RuleKind.PRIVATE, "a", "b"),
    ):
        assert shown([source("s", (rule,))], [], make_test_viewer([other])) == set()
