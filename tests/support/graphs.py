"""Random small source graphs with guards, edges and viewers; also the builders that hand-made graphs use.

Cycles, diamonds, gaps (ids that only edges name), parallel edges, withdrawn sources, missing access rules, and in the
bot flavour exclusions, access records on links and retracted statements all occur often. Ids carry the prefixes of
real kinds, so that the same cases can be put into a store.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

from graph.model.access import Clause, Guard, LawEdge, Need, Rule, RuleKind, Viewer, for_rule
from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId, WorkspaceId
from graph.rules.scopes import group_viewer
from graph.rules.visibility import SourceGraph, source_graph
from tests.support.profile import sized

WORKSPACE = WorkspaceId("w1")
AGENT = "agt_w1/agent/a"
RULES: tuple[Rule, ...] = (
    Rule(RuleKind.SHARED, AGENT, AGENT),
    Rule(RuleKind.AGENT, AGENT, AGENT),
    Rule(RuleKind.CHANNEL, "chn_1", AGENT),
    Rule(RuleKind.PRIVATE, "chn_2", AGENT),
    Rule(RuleKind.FOR, "x+y"),
)
PEOPLE = tuple(NodeId(f"prn_w1/human/{name}") for name in ("ana", "bo", "cy"))
BOT = NodeId("prn_w1/agent/b")
GROUP = NodeId("grp_w1//g")
OTHER_GROUP = NodeId("grp_w1//h")
ORGANIZATION = NodeId("org_w1//o")
TAGS = (f"person:{PEOPLE[0]}", f"person:{PEOPLE[1]}", f"channel:{GROUP}", f"channel:{OTHER_GROUP}", f"bot:{BOT}")
"""Alternatives of the `for:` rules of bots."""
BOT_RULES: tuple[Rule, ...] = (
    *(for_rule([tag]) for tag in TAGS),
    Rule(RuleKind.BOT, BOT),
    Rule(RuleKind.ORG, ORGANIZATION),
    Rule(RuleKind.ORG, "org_w1//p"),
)
"""What readers of bots hold; what they read asks for several alternatives at once."""
KIND_OF_NEED = {
    Need.SOURCE: ("Source", "src"),
    Need.ALL: ("BlockVersion", "blv"),
    Need.ANY: ("Relation", "rel"),
    Need.NONE: ("Channel", "chn"),
}


class Flavour(Enum):
    """Which features a random graph has."""

    KNOWLEDGE = auto()
    """Need ANY and ends; no exclusions, records or retraction."""
    BOT = auto()
    """Exclusions, records, retraction, rules with several alternatives and groups that read; no need ANY."""
    MIXED = auto()
    """Everything at once, which no surface has."""


@dataclass(frozen=True, kw_only=True)
class GraphCase:
    """A graph and those who look at it."""

    guards: tuple[Guard, ...]
    edges: tuple[LawEdge, ...]
    viewers: tuple[Viewer, ...]

    @property
    def graph(self) -> SourceGraph:
        return source_graph(self.guards, self.edges)

    @property
    def ids(self) -> tuple[NodeId, ...]:
        """Every id, those of missing nodes included."""
        named = {n for edge in self.edges for n in (edge.source, edge.target)}
        return tuple(sorted(named | {guard.node for guard in self.guards}))


def law_graphs() -> int:
    """Return how many random graphs each property looks at (``ROOTWARD_LAW_GRAPHS``; 500, in a soak 10,000)."""
    return int(os.environ.get("ROOTWARD_LAW_GRAPHS") or sized(small=500, full=10_000))


def make_guard(
    node: str,
    need: Need = Need.ALL,
    rules: Iterable[Rule] | None = (RULES[0],),
    *,
    live: bool = True,
    held: bool = True,
    excluded: Iterable[NodeId] = (),
    workspace: WorkspaceId = WORKSPACE,
) -> Guard:
    """Return a guard that everyone who reads the shared knowledge passes, unless told otherwise."""
    return Guard(
        node=NodeId(node),
        kind=KIND_OF_NEED[need][0],
        workspace=workspace,
        pool=NodeId("knb_1"),
        need=need,
        rules=None if rules is None else frozenset(rules),
        live=live,
        held=held,
        excluded=frozenset(excluded),
    )


def make_edge(source: str, target: str, *, ends: bool = False, record: tuple[Rule, ...] | None = ()) -> LawEdge:
    """Return an edge from a statement to what it rests on."""
    return LawEdge(source=NodeId(source), target=NodeId(target), ends=ends, record=record)


def make_test_viewer(rules: Iterable[Rule] = RULES, principal: str = PEOPLE[0]) -> Viewer:
    """Return a viewer who passes `rules`; only for tests of the law, everything else asks `graph.rules.scopes`."""
    return Viewer(workspace=WORKSPACE, principal=NodeId(principal), held=frozenset(rules))


def random_case(rng: random.Random, flavour: Flavour, *, most_nodes: int = 14) -> GraphCase:
    """Return a random graph of 2 to `most_nodes` nodes with six viewers, of bots with eight."""
    guards = [random_guard(rng, flavour, number) for number in range(rng.randint(2, most_nodes))]
    ids = [guard.node for guard in guards] + [NodeId("src_gone"), NodeId("blv_gone")]
    edges = [edge for place, guard in enumerate(guards) for edge in _edges(rng, flavour, guard, place, ids)]
    return GraphCase(guards=tuple(guards), edges=tuple(edges), viewers=tuple(random_viewers(rng, flavour)))


def random_guard(rng: random.Random, flavour: Flavour, number: int) -> Guard:
    """Return a guard with mostly harmless facts."""
    needs = [Need.SOURCE] * 4 + [Need.ALL] * 4 + [Need.NONE]
    if flavour is not Flavour.BOT:
        needs += [Need.ANY] * 3
    need = Need.SOURCE if number == 0 else rng.choice(needs)
    odd = flavour is not Flavour.KNOWLEDGE
    return replace(
        make_guard(f"{KIND_OF_NEED[need][1]}_{number:02d}", need, random_rules(rng, flavour)),
        live=rng.random() > 0.08 or need is not Need.SOURCE,
        held=not (odd and rng.random() < 0.1),
        excluded=frozenset(p for p in PEOPLE if odd and rng.random() < 0.06),
    )


def random_rules(rng: random.Random, flavour: Flavour = Flavour.KNOWLEDGE) -> Clause | None:
    """Return the own rules of a node: seldom none, seldom an empty set.

    None is also what an entry of a bot has that names no organization, or two (BM-38).
    """
    dice = rng.random()
    if dice < 0.06:
        return None
    if dice < 0.09:
        return frozenset()
    if flavour is Flavour.BOT or (flavour is Flavour.MIXED and rng.random() < 0.5):
        return frozenset(_rules_of_bot(rng))
    return frozenset(rng.sample(RULES, k=rng.choice((1, 1, 1, 2))))


def random_record(rng: random.Random, flavour: Flavour) -> tuple[Rule, ...] | None:
    """Return the access record of a link."""
    if flavour is Flavour.KNOWLEDGE or rng.random() < 0.5:
        return ()
    if rng.random() < 0.2:
        return None
    if flavour is Flavour.BOT or rng.random() < 0.5:
        return tuple(random_audience(rng) for _ in range(rng.choice((1, 1, 2))))
    return tuple(rng.sample(RULES, k=rng.choice((1, 1, 2))))


def random_audience(rng: random.Random) -> Rule:
    """Return what one to three `for:` tags ask for: any of them admits."""
    return for_rule(rng.sample(TAGS, k=rng.choice((1, 1, 2, 3))))


def _rules_of_bot(rng: random.Random) -> Iterator[Rule]:
    """Yield the rules of an entry of a bot (who, where, which bot), of something in its pool, or of a place."""
    dice = rng.random()
    if dice < 0.7:
        yield random_audience(rng)
    if dice < 0.5:
        yield rng.choice(BOT_RULES[-2:])
    if dice < 0.3 or dice >= 0.7:
        yield Rule(RuleKind.BOT, BOT)


def random_edge(rng: random.Random, flavour: Flavour, source: NodeId, target: NodeId) -> LawEdge:
    """Return an edge between two given ids."""
    ends = flavour is not Flavour.BOT and rng.random() < 0.15
    return LawEdge(source=source, target=target, ends=ends, record=random_record(rng, flavour))


def random_viewers(rng: random.Random, flavour: Flavour = Flavour.KNOWLEDGE) -> Iterator[Viewer]:
    """Yield one who passes every rule, one who passes none, and four between; of bots two groups too.

    A reader of another moment is another draw: who joined a group since, or left it, holds another set.
    """
    rules = (*RULES, *BOT_RULES) if flavour is not Flavour.KNOWLEDGE else RULES
    yield make_test_viewer(rules, PEOPLE[0])
    yield make_test_viewer((), PEOPLE[1])
    for _ in range(4):
        held = [rule for rule in rules if rng.random() < 0.7]
        yield make_test_viewer(held, rng.choice(PEOPLE))
    if flavour is not Flavour.KNOWLEDGE:
        yield group_viewer(WORKSPACE, GROUP, ORGANIZATION, [BOT])
        yield group_viewer(WORKSPACE, OTHER_GROUP, ORGANIZATION, [])


def layered_case(*, layers: int = 6, width: int = 200, fan: int = 3, seed: int = 1) -> GraphCase:
    """Return `layers` layers over 200 sources, each statement resting on `fan` nodes of the layer below."""
    rng = random.Random(seed)
    below = [NodeId(f"src_{i}") for i in range(width)]
    guards = [make_guard(node, Need.SOURCE, [rng.choice(RULES)]) for node in below]
    edges: list[LawEdge] = []
    for layer in range(layers):
        here = [NodeId(f"blv_{layer}_{i}") for i in range(width)]
        guards += [make_guard(node, Need.ALL) for node in here]
        edges += [make_edge(node, target) for node in here for target in rng.sample(below, fan)]
        below = here
    return GraphCase(guards=tuple(guards), edges=tuple(edges), viewers=(make_test_viewer(),))


def store_edges(case: GraphCase) -> list[Edge]:
    """Return the edges as a store keeps them; the key tells parallel ones apart."""
    return [
        Edge(
            type=_edge_type(edge),
            source=edge.source,
            target=edge.target,
            key=str(number),
            record=None if edge.record is None else tuple(rule.encode() for rule in edge.record),
        )
        for number, edge in enumerate(case.edges)
    ]


def _edge_type(edge: LawEdge) -> EdgeType:
    if edge.ends:
        return EdgeType.SUBJECT
    return EdgeType.CITES if edge.target.startswith("src_") else EdgeType.DERIVED_FROM


def _edges(rng: random.Random, flavour: Flavour, guard: Guard, place: int, ids: list[NodeId]) -> Iterator[LawEdge]:
    for _ in range(rng.choice((0, 1, 1, 2, 2, 3))):
        dice = rng.random()
        if dice < 0.82:
            target = rng.choice(ids[: max(1, place)])
        else:
            target = ids[-1 - (dice > 0.98)] if dice > 0.95 else rng.choice(ids)
        edge = random_edge(rng, flavour, guard.node, target)
        yield edge
        if rng.random() < 0.08:
            yield replace(edge, record=random_record(rng, flavour))
