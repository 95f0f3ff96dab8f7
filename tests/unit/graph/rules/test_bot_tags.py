"""Tags of bot memory: order, topics, audiences, what a conclusion carries, and who may be added."""

from __future__ import annotations

import pytest

from graph.model.access import Rule, RuleKind
from graph.model.errors import BadInput
from graph.model.ids import NodeId, WorkspaceId
from graph.rules import bot_tags

W = WorkspaceId("w")
BOT = NodeId("prn_w/agent/bot_9")
U_1, U_2 = NodeId("prn_w/human/u_1"), NodeId("prn_w/human/u_2")
CH_5, CH_6 = NodeId("grp_w//ch_5"), NodeId("grp_w//ch_6")
PERSON = Rule(RuleKind.PERSON, U_1)
OTHER = Rule(RuleKind.PERSON, U_2)
CHANNEL = Rule(RuleKind.CHANNEL, CH_5)
ANYONE = Rule(RuleKind.BOT, BOT)


@pytest.mark.req("BM-33", "BM-32")
def test_tags_have_one_order_and_each_is_there_once() -> None:
    mixed = ["trip", "app:t", "channel:c", "chat:2", "chat:10", "org:o", "for:person:a", "for:bot", "from:b", "from:a"]

    ordered = bot_tags.in_order([*mixed, "a-topic", *mixed])

    assert ordered == (
        *("from:a", "from:b", "for:bot", "for:person:a", "org:o", "chat:10", "chat:2", "channel:c", "app:t"),
        *("a-topic", "trip"),
    )


@pytest.mark.req("BM-31")
@pytest.mark.parametrize("topic", ["a", "trip-planning", "4-2", "-", "x" * 64])
def test_a_topic_has_small_letters_digits_and_hyphens(topic: str) -> None:
    assert bot_tags.is_topic(topic)


@pytest.mark.req("BM-31", "BM-24")
@pytest.mark.parametrize("text", ["", "Trip", "trip plan", "trip_plan", "für", "٣", "for:bot", "x" * 65, "trip\n"])
def test_anything_else_is_no_topic(text: str) -> None:
    assert not bot_tags.is_topic(text)


@pytest.mark.req("BM-25", "BM-32")
def test_of_a_models_topics_the_first_twenty_valid_ones_are_kept() -> None:
    proposed = ["for:bot", "Trip", "from:u_2", *(f"t-{n}" for n in range(30)), "t-1"]

    assert bot_tags.kept_topics(proposed) == tuple(f"t-{n}" for n in range(20))


@pytest.mark.req("BM-34", "BM-30")
def test_a_conclusion_carries_who_where_and_which_apps_but_not_for_whom() -> None:
    one = ["from:u_1", "for:person:u_1", "org:o", "chat:1", "trip"]
    other = ["from:u_2", "for:channel:c", "org:o", "chat:2", "channel:c", "app:calendar"]

    assert bot_tags.carried([one, other]) == {
        *("from:u_1", "from:u_2", "org:o", "chat:1", "chat:2", "channel:c", "app:calendar"),
    }


@pytest.mark.req("BM-58")
@pytest.mark.parametrize(
    ("rules", "tags"),
    [
        ([PERSON], {"for:person:u_1"}),
        ([CHANNEL, CHANNEL], {"for:channel:ch_5"}),
        ([ANYONE], {"for:bot"}),
        ([ANYONE, PERSON], {"for:person:u_1"}),
        ([ANYONE, CHANNEL], {"for:channel:ch_5"}),
        ([PERSON, CHANNEL], {"for:person:u_1"}),
        ([PERSON, OTHER], set()),
        ([CHANNEL, Rule(RuleKind.CHANNEL, CH_6)], set()),
        ([PERSON, None], set()),
        ([], set()),
    ],
)
def test_a_fact_is_for_those_whom_all_its_items_admit(rules: list[Rule | None], tags: set[str]) -> None:
    assert bot_tags.audience_of_items(rules) == tags


@pytest.mark.req("BM-59")
@pytest.mark.parametrize(
    ("sources", "tags"),
    [
        ([{"for:person:a"}], {"for:person:a"}),
        ([{"for:bot"}, {"for:bot"}], {"for:bot"}),
        ([{"for:bot"}, {"for:channel:c"}], {"for:channel:c"}),
        ([{"for:bot", "for:person:a"}, {"for:bot"}], {"for:bot", "for:person:a"}),
        ([{"for:person:a"}, {"for:channel:c"}], {"for:person:a"}),
        ([{"for:person:a", "for:channel:c"}, {"for:channel:c"}], {"for:person:a", "for:channel:c"}),
        ([{"for:person:a"}, {"for:person:b"}], set()),
        ([{"for:channel:c"}, {"for:channel:d"}], set()),
        ([{"for:person:a"}, {"from:a"}], set()),
        ([], set()),
    ],
)
def test_an_observation_is_for_those_common_to_all_its_sources(sources: list[set[str]], tags: set[str]) -> None:
    assert bot_tags.common_audience(sources) == tags


@pytest.mark.req("BM-59", "BM-28")
def test_two_organizations_have_no_common_reader() -> None:
    one, other = {"for:bot", "org:o_4"}, {"for:bot", "org:o_5"}

    assert bot_tags.common_audience([one, one]) == {"for:bot"}
    assert bot_tags.common_audience([one, other]) == frozenset()


@pytest.mark.req("BM-40", "BM-83")
def test_the_rule_of_an_item_comes_from_operator_channel_and_the_hosts_word() -> None:
    rule = bot_tags.item_rule

    assert rule(operator=U_1, group=None, open_to_all=False, bot=BOT) == PERSON
    assert rule(operator=U_1, group=CH_5, open_to_all=False, bot=BOT) == CHANNEL
    assert rule(operator=U_1, group=CH_5, open_to_all=True, bot=BOT) == ANYONE
    assert rule(operator=None, group=CH_5, open_to_all=True, bot=BOT) is None


@pytest.mark.req("BM-27", "BM-36")
def test_several_for_tags_are_one_rule_with_alternatives() -> None:
    rules = bot_tags.own_rules(W, BOT, ["for:person:u_1", "for:channel:ch_5", "for:bot", "org:o_4", "trip"])

    assert rules == frozenset(
        {
            Rule(RuleKind.FOR, f"bot:{BOT} channel:{CH_5} person:{U_1}"),
            Rule(RuleKind.ORG, "org_w//o_4"),
            ANYONE,
        }
    )


@pytest.mark.req("BM-35", "BM-38")
@pytest.mark.parametrize("tags", [["org:o_4"], ["for:bot"], ["for:bot", "org:o_4", "org:o_5"], []])
def test_without_for_tag_or_with_no_or_two_organizations_there_is_no_rule(tags: list[str]) -> None:
    assert bot_tags.own_rules(W, BOT, tags) is None


@pytest.mark.req("BM-183")
def test_a_tag_that_names_no_possible_id_is_refused() -> None:
    with pytest.raises(BadInput):
        bot_tags.own_rules(W, BOT, ["for:person:u 1|x", "org:o_4"])


@pytest.mark.req("BM-53")
@pytest.mark.parametrize(
    ("rules", "audience", "allowed"),
    [
        ([CHANNEL], CHANNEL, True),
        ([CHANNEL], OTHER, True),  # a present member
        ([CHANNEL], ANYONE, False),
        ([CHANNEL], Rule(RuleKind.CHANNEL, CH_6), False),
        ([PERSON], PERSON, True),
        ([PERSON], OTHER, False),
        ([PERSON], CHANNEL, False),
        ([ANYONE], ANYONE, True),
        ([ANYONE], OTHER, True),
        ([ANYONE, PERSON], OTHER, False),
        ([CHANNEL, None], CHANNEL, False),
        ([], CHANNEL, False),
    ],
)
def test_widening_needs_every_rule_to_admit_the_whole_audience(
    rules: list[Rule | None], audience: Rule, allowed: bool
) -> None:
    assert bot_tags.may_widen(rules, audience, [CH_5]) is allowed
    if audience == OTHER and CHANNEL in rules:
        assert not bot_tags.may_widen(rules, audience, []), "who is no member now is not admitted"
