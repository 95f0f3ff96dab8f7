"""Section 4 of bot memory as the law shows it: guards as entries have them, links with records, readers as they are."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import pytest

from graph.model.access import Guard, LawEdge, Need, Rule, RuleKind, Viewer
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.people import PrincipalKind, Right
from graph.rules.audience import audiences
from graph.rules.bot_tags import group_id, item_rule, organization_id, own_rules, person_id
from graph.rules.rights import GrantFact, ViewerFacts
from graph.rules.scopes import group_viewer, make_viewer, session_rule
from graph.rules.visibility import SourceGraph, source_graph, visible_to
from tests.reference.law import naive_law

W = WorkspaceId("w1")
BOT = NodeId("prn_w1/agent/bot_9")
ONE, TWO, OWNER = (person_id(W, name) for name in ("u_1", "u_2", "u_9"))
GROUP, OTHER_GROUP = group_id(W, "ch_5"), group_id(W, "ch_6")
HERE, THERE = organization_id(W, "o_4"), organization_id(W, "o_5")


def reader(who: NodeId, *groups: NodeId, organization: NodeId = HERE) -> Viewer:
    """Return a person who may use the bot, member of these groups now."""
    facts = ViewerFacts(
        workspace=W,
        workspace_node=NodeId("wsp_w1"),
        principal=who,
        kind=PrincipalKind.HUMAN,
        grants=(GrantFact(right=Right.READ, object_id=BOT),),
        groups=frozenset(groups),
        organization=organization,
    )
    return make_viewer(facts)


CHANNEL = group_viewer(W, GROUP, HERE, [BOT])
OF_ONE = item_rule(operator=ONE, group=None, open_to_all=False, bot=BOT)
OF_TWO = item_rule(operator=TWO, group=None, open_to_all=False, bot=BOT)
OF_GROUP = item_rule(operator=ONE, group=GROUP, open_to_all=False, bot=BOT)
OF_ALL = item_rule(operator=ONE, group=None, open_to_all=True, bot=BOT)
FOR_ONE, FOR_TWO, FOR_GROUP, FOR_BOT = "for:person:u_1", "for:person:u_2", "for:channel:ch_5", "for:bot"


@dataclass
class Pool:
    """Entries and items of one pool, by short names; every answer is asked of law, reference and audiences alike."""

    guards: dict[str, Guard] = field(default_factory=dict)
    edges: list[LawEdge] = field(default_factory=list)

    def item(self, name: str, *, live: bool = True) -> None:
        rule = frozenset({session_rule(NodeId("cht_w1//c"), OWNER)})
        self.guards[name] = _guard(name, Need.SOURCE, rule, live=live)

    def fact(self, name: str, tags: Iterable[str], *records: Rule | None, org: str | None = "org:o_4") -> None:
        """Write a fact over one new item for each record; None is a link without one."""
        self._entry(name, tags, org)
        for number, record in enumerate(records):
            item = f"{name}-i{number}"
            self.item(item)
            self.link(name, item, record)

    def observe(self, name: str, tags: Iterable[str], *sources: str) -> None:
        self._entry(name, tags, "org:o_4")
        for source in sources:
            self.edges.append(LawEdge(source=NodeId(name), target=NodeId(source)))

    def pin(self, name: str, owner: str) -> None:
        self._entry(name, [f"for:person:{owner}"], "org:o_4", need=Need.NONE)

    def link(self, name: str, item: str, record: Rule | None) -> None:
        rules = None if record is None else (record,)
        self.edges.append(LawEdge(source=NodeId(name), target=NodeId(item), record=rules))

    def change(self, name: str, **facts: object) -> None:
        self.guards[name] = replace(self.guards[name], **facts)  # type: ignore[arg-type]

    @property
    def graph(self) -> SourceGraph:
        return source_graph(self.guards.values(), self.edges)

    def seen(self, who: Viewer) -> set[str]:
        """Return the entries that somebody may read."""
        shown = visible_to(self.graph, who)
        assert shown == naive_law(self.guards.values(), self.edges, who)
        stored = audiences(self.graph, {*map(NodeId, self.guards), *(edge.target for edge in self.edges)}, {})
        listed = {
            node
            for node, audience in stored.items()
            if who.principal not in audience.excluded and any(clause <= who.held for clause in audience.clauses)
        }
        assert listed == shown
        return {name for name in shown if "-i" not in name}

    def _entry(self, name: str, tags: Iterable[str], org: str | None, need: Need = Need.ALL) -> None:
        rules = own_rules(W, BOT, [*tags, *([] if org is None else org.split())])
        self.guards[name] = _guard(name, need, rules)


def _guard(name: str, need: Need, rules: frozenset[Rule] | None, *, live: bool = True) -> Guard:
    return Guard(
        node=NodeId(name), kind="", workspace=W, pool=NodeId("bpl_w1/bot_9"), need=need, rules=rules, live=live
    )


@pytest.fixture
def pool() -> Pool:
    return Pool()


@pytest.fixture
def example() -> Pool:
    """The second example: two facts of one chat, one of a group, and what was concluded from them together."""
    made = Pool()
    made.fact("f1", [FOR_ONE], OF_ONE)
    made.fact("f2", [FOR_GROUP], OF_GROUP)
    made.observe("o1", [FOR_ONE], "f1", "f2")
    made.fact("f3", [FOR_ONE], OF_ONE)
    made.observe("o2", [FOR_ONE], "o1", "f3")
    return made


@pytest.mark.req("BM-37", "BM-42", "BM-43", "BM-44", "BM-45")
def test_several_levels_are_seen_by_who_sees_every_source_now(example: Pool) -> None:
    assert example.seen(reader(ONE, GROUP)) == {"f1", "f2", "f3", "o1", "o2"}
    assert example.seen(reader(ONE)) == {"f1", "f3"}
    assert example.seen(reader(TWO, GROUP)) == example.seen(CHANNEL) == {"f2"}
    assert example.seen(reader(OWNER)) == set()


@pytest.mark.req("BM-36", "BM-41")
def test_several_tags_admit_by_any_one_but_the_sources_are_asked_all_the_same(pool: Pool) -> None:
    pool.fact("wide", [FOR_ONE, FOR_TWO, FOR_GROUP], OF_ALL)
    pool.fact("narrow", [FOR_ONE, FOR_TWO, FOR_GROUP], OF_ONE)
    assert pool.seen(reader(ONE)) == {"wide", "narrow"}
    assert pool.seen(reader(TWO)) == pool.seen(CHANNEL) == pool.seen(reader(OWNER, GROUP)) == {"wide"}
    assert pool.seen(reader(OWNER)) == set()


@pytest.mark.req("BM-35", "BM-38")
@pytest.mark.parametrize("org", [None, "org:o_5", "org:o_4 org:o_5"])
def test_an_entry_of_no_organization_another_or_two_is_hidden(pool: Pool, org: str | None) -> None:
    pool.fact("f", [FOR_BOT], OF_ALL, org=org)
    assert pool.seen(reader(ONE)) == pool.seen(CHANNEL) == set()
    there = {"f"} if org == "org:o_5" else set()
    assert pool.seen(reader(ONE, organization=THERE)) == there


@pytest.mark.req("BM-35")
def test_an_entry_without_a_for_tag_has_no_reader(pool: Pool) -> None:
    pool.fact("f", ["from:u_1"], OF_ALL)
    assert pool.seen(reader(ONE)) == pool.seen(CHANNEL) == set()


@pytest.mark.req("BM-40", "BM-41", "BM-42")
@pytest.mark.parametrize(
    ("record", "who", "passes"),
    [
        (OF_ONE, reader(ONE), True),
        (OF_ONE, reader(TWO, GROUP), False),
        (OF_ONE, CHANNEL, False),
        (OF_GROUP, CHANNEL, True),
        (OF_GROUP, reader(TWO, GROUP), True),
        (OF_GROUP, reader(ONE), False),
        (OF_GROUP, group_viewer(W, OTHER_GROUP, HERE, [BOT]), False),
        (OF_ALL, reader(OWNER), True),
        (OF_ALL, group_viewer(W, OTHER_GROUP, HERE, [BOT]), True),
        (OF_ALL, replace(CHANNEL, held=CHANNEL.held - {Rule(RuleKind.BOT, BOT)}), False),
    ],
)
def test_the_rule_of_an_item_admits_whom_it_names_now(pool: Pool, record: Rule, who: Viewer, passes: bool) -> None:
    pool.fact("f", [FOR_BOT], record)
    assert pool.seen(who) == ({"f"} if passes else set())


@pytest.mark.req("BM-39", "BM-42", "BM-48")
def test_the_record_belongs_to_the_link_whatever_the_item_got_elsewhere(pool: Pool) -> None:
    pool.fact("f", [FOR_BOT], OF_ALL)
    pool.fact("g", [FOR_BOT], OF_ALL)
    pool.link("g", "f-i0", None)
    pool.observe("o", [FOR_BOT], "g")
    assert pool.seen(reader(ONE)) == {"f"}


@pytest.mark.req("BM-42")
def test_every_item_must_pass(pool: Pool) -> None:
    pool.fact("f", [FOR_BOT], OF_ALL, OF_GROUP, OF_ONE)
    assert pool.seen(reader(ONE, GROUP)) == {"f"}
    assert pool.seen(reader(ONE)) == pool.seen(reader(TWO, GROUP)) == set()


@pytest.mark.req("BM-46")
def test_a_missing_source_and_no_source_hide_the_result_and_all_above(pool: Pool) -> None:
    pool.fact("bare", [FOR_BOT])
    pool.observe("empty", [FOR_BOT])
    pool.fact("f", [FOR_BOT], OF_ALL)
    pool.observe("gone", [FOR_BOT], "f", "mem_gone")
    pool.observe("above", [FOR_BOT], "gone", "f")
    assert pool.seen(reader(ONE)) == {"f"}


@pytest.mark.req("BM-47")
def test_cycles_hide_what_is_on_them_and_above_and_a_diamond_is_none() -> None:
    links = {"o3": ["o4"], "o4": ["o3"], "o5": ["o3", "f1"], "self": ["self"], "o6": ["f1"], "o7": ["f1"]}
    links |= {"o8": ["o6", "o7"], "ring1": ["ring2", "f1"], "ring2": ["ring3"], "ring3": ["ring1"]}
    for seed in range(20):
        pool, order = Pool(), random.Random(seed).sample(sorted(links), len(links))
        for name in order:
            pool.observe(name, [FOR_BOT], *links[name])
        pool.fact("f1", [FOR_BOT], OF_ALL)
        assert pool.seen(reader(ONE)) == {"f1", "o6", "o7", "o8"}


@pytest.mark.req("BM-45")
def test_long_chains_are_checked_to_their_end(pool: Pool) -> None:
    levels = 120
    pool.fact("o0", [FOR_BOT], OF_GROUP)
    for level in range(levels):
        pool.observe(f"o{level + 1}", [FOR_BOT], f"o{level}")
    assert len(pool.seen(reader(ONE, GROUP))) == levels + 1
    assert pool.seen(reader(ONE)) == set()


@pytest.mark.req("BM-49", "BM-167")
def test_a_pinned_entry_is_its_owners_alone_and_needs_no_source(pool: Pool) -> None:
    pool.pin("p", "u_1")
    assert pool.seen(reader(ONE, GROUP)) == {"p"}
    assert pool.seen(reader(TWO, GROUP)) == pool.seen(CHANNEL) == pool.seen(reader(OWNER)) == set()
    assert pool.seen(reader(ONE, organization=THERE)) == set()


@pytest.mark.req("BM-54", "BM-55")
def test_what_no_longer_counts_stays_readable_and_supports_nothing_at_any_depth(example: Pool) -> None:
    example.change("f1", held=False)
    assert example.seen(reader(ONE, GROUP)) == {"f1", "f2", "f3"}
    example.change("f1", held=True)
    example.change("o1", held=False)
    assert example.seen(reader(ONE, GROUP)) == {"f1", "f2", "f3", "o1"}


@pytest.mark.req("BM-57")
def test_an_item_whose_text_was_deleted_still_counts_by_its_record(pool: Pool) -> None:
    pool.fact("f", [FOR_ONE], OF_ONE)
    assert pool.guards["f-i0"].live
    assert pool.seen(reader(ONE)) == {"f"}
    del pool.guards["f-i0"]
    assert pool.seen(reader(ONE)) == set(), "an item that is not there any more is missing"


@pytest.mark.req("BM-150")
def test_who_left_an_entry_sees_neither_it_nor_what_rests_on_it_and_the_group_still_does(pool: Pool) -> None:
    pool.fact("f", [FOR_GROUP], OF_GROUP)
    pool.observe("o", [FOR_GROUP], "f")
    pool.observe("p", [FOR_GROUP], "o")
    pool.change("f", excluded=frozenset({ONE}))
    assert pool.seen(reader(ONE, GROUP)) == set()
    assert pool.seen(reader(TWO, GROUP)) == pool.seen(CHANNEL) == {"f", "o", "p"}


@pytest.mark.req("BM-52", "BM-137")
def test_neither_the_owner_of_the_bot_nor_an_auditor_nor_an_admin_sees_what_is_somebodys(example: Pool) -> None:
    grants = (
        GrantFact(right=Right.WRITE, object_id=BOT),
        GrantFact(right=Right.CURATOR, object_id=BOT),
        GrantFact(right=Right.AUDITOR, object_id=NodeId("wsp_w1")),
        GrantFact(right=Right.ADMIN, object_id=NodeId("wsp_w1")),
    )
    facts = ViewerFacts(
        workspace=W,
        workspace_node=NodeId("wsp_w1"),
        principal=OWNER,
        kind=PrincipalKind.HUMAN,
        grants=grants,
        agents=frozenset({BOT}),
        organization=HERE,
    )
    assert example.seen(make_viewer(facts)) == set()


@pytest.mark.req("BM-162", "BM-163", "BM-165")
def test_old_entries_are_checked_like_new_ones_and_show_again_only_with_their_proof(pool: Pool) -> None:
    pool.fact("f4", [FOR_ONE], None)
    pool.observe("o10", [FOR_ONE], "f4")
    assert pool.seen(reader(ONE)) == set()
    pool.edges = [replace(edge, record=(OF_ONE,)) if edge.source == "f4" and OF_ONE else edge for edge in pool.edges]
    assert pool.seen(reader(ONE)) == {"f4", "o10"}
