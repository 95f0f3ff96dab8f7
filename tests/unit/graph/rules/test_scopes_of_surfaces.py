"""What readers of sessions, agent memory and bot memory hold, and nothing else (AD-5 to AD-7, BM-41, SM, AM)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.access import Rule, RuleKind, Viewer, for_rule
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.people import PrincipalKind, Right
from graph.rules.rights import GrantFact, ViewerFacts, readable_agents, surface_rights
from graph.rules.scopes import group_viewer, make_viewer, session_rule

W1 = WorkspaceId("w1")
WORKSPACE = NodeId("wsp_w1")
ANA, BO = NodeId("prn_w1/human/ana"), NodeId("prn_w1/human/bo")
BOT, LINK, HOME = (NodeId(f"prn_w1/agent/{name}") for name in ("bot", "link", "home"))
GROUP, OTHER_GROUP = NodeId("grp_w1//g"), NodeId("grp_w1//h")
HERE, THERE = NodeId("org_w1//here"), NodeId("org_w1//there")
SESSION, CHAT = NodeId("ses_w1//s"), NodeId("cht_w1//c")


def person(*grants: tuple[Right, NodeId], **facts: object) -> ViewerFacts:
    given = tuple(GrantFact(right=right, object_id=object_id) for right, object_id in grants)
    made = ViewerFacts(workspace=W1, workspace_node=WORKSPACE, principal=ANA, kind=PrincipalKind.HUMAN, grants=given)
    return replace(made, **facts)  # type: ignore[arg-type]


def passes(facts: ViewerFacts, *rules: Rule) -> bool:
    return make_viewer(facts).passes_all(rules)


BOT_RULE = Rule(RuleKind.BOT, BOT)
FOR_BOT = for_rule([f"bot:{BOT}"])


@pytest.mark.req("AD-5", "AD-6")
class TestSessions:
    def test_its_person_needs_no_grant_and_nobody_else_has_one(self) -> None:
        assert passes(person(), session_rule(SESSION, ANA))
        assert not passes(person(), session_rule(SESSION, BO))
        assert not passes(person(), session_rule(SESSION, None))

    @pytest.mark.parametrize("right", [Right.READ, Right.WRITE])
    @pytest.mark.parametrize("place", [SESSION, CHAT])
    def test_a_grant_on_the_place_opens_that_place_alone(self, right: Right, place: NodeId) -> None:
        granted = person((right, place))
        assert passes(granted, session_rule(place, BO))
        assert not passes(granted, session_rule(NodeId(f"{place}2"), BO))

    @pytest.mark.parametrize(
        ("right", "on"),
        [
            (Right.ADMIN, WORKSPACE),
            (Right.AUDITOR, WORKSPACE),
            (Right.HOST, WORKSPACE),
            (Right.READ, WORKSPACE),
            (Right.WRITE, WORKSPACE),
            (Right.CURATOR, BOT),
            (Right.AUDITOR, BOT),
            (Right.WRITE, BOT),
            (Right.HOST, SESSION),
        ],
    )
    def test_no_other_right_opens_somebody_elses(self, right: Right, on: NodeId) -> None:
        assert not passes(person((right, on), agents=frozenset({BOT})), session_rule(SESSION, BO))


@pytest.mark.req("AD-5", "AD-6", "AD-7")
class TestBots:
    @pytest.mark.parametrize("right", [Right.READ, Right.WRITE])
    def test_a_grant_on_the_bot_lets_read_it(self, right: Right) -> None:
        assert passes(person((right, BOT)), BOT_RULE, FOR_BOT)

    def test_who_belongs_to_an_organization_that_it_serves_reads_it(self) -> None:
        assert passes(person(serving=frozenset({BOT})), BOT_RULE, FOR_BOT)
        assert surface_rights(person(serving=frozenset({BOT})), BOT) == {Right.READ}

    @pytest.mark.parametrize(
        ("right", "on"),
        [(Right.ADMIN, WORKSPACE), (Right.AUDITOR, WORKSPACE), (Right.HOST, WORKSPACE), (Right.READ, WORKSPACE)]
        + [(right, BOT) for right in (Right.READER, Right.CURATOR, Right.AUDITOR, Right.HOST)]
        + [(Right.READ, NodeId("")), (Right.READ, LINK)],
    )
    def test_nothing_else_does(self, right: Right, on: NodeId) -> None:
        facts = person((right, on), agents=frozenset({BOT}))
        assert not passes(facts, BOT_RULE)
        assert not passes(facts, FOR_BOT)
        assert BOT not in readable_agents(facts)

    def test_a_link_lets_read_its_home_and_a_home_does_not_let_read_its_links(self) -> None:
        linked = person((Right.READ, LINK), homes={LINK: HOME})
        assert passes(linked, Rule(RuleKind.BOT, HOME), Rule(RuleKind.BOT, LINK))
        assert Right.READ not in surface_rights(linked, HOME)
        assert not passes(person((Right.READ, HOME), homes={LINK: HOME}), Rule(RuleKind.BOT, LINK))

    def test_a_token_without_read_opens_nothing_of_these_surfaces(self) -> None:
        facts = person((Right.READ, BOT), (Right.READ, SESSION), groups=frozenset({GROUP}), organization=HERE)
        narrow = replace(facts, token_rights=frozenset({Right.HOST}))
        assert make_viewer(narrow).held == {Rule(RuleKind.PERSON, ANA), Rule(RuleKind.WORKSPACE, W1)}
        assert passes(replace(facts, token_rights=frozenset({Right.WRITE})), BOT_RULE, session_rule(SESSION, None))

    def test_who_is_disabled_holds_nothing(self) -> None:
        facts = person((Right.READ, BOT), groups=frozenset({GROUP}), serving=frozenset({BOT}), organization=HERE)
        assert make_viewer(replace(facts, disabled=True)).held == frozenset()
        assert readable_agents(replace(facts, disabled=True)) == frozenset()


@pytest.mark.req("BM-38", "BM-41")
class TestMembers:
    def test_a_member_passes_the_tags_of_his_groups_and_of_himself(self) -> None:
        ana = person(groups=frozenset({GROUP}))
        assert passes(ana, for_rule([f"channel:{GROUP}"]), Rule(RuleKind.CHANNEL, GROUP), for_rule([f"person:{ANA}"]))
        assert not passes(ana, for_rule([f"channel:{OTHER_GROUP}"]))
        assert not passes(ana, for_rule([f"person:{BO}"]))
        assert not passes(person(), for_rule([f"channel:{GROUP}"]))

    def test_any_one_of_several_tags_admits(self) -> None:
        several = for_rule([f"person:{BO}", f"channel:{GROUP}", f"bot:{BOT}"])
        assert passes(person(groups=frozenset({GROUP})), several)
        assert passes(person((Right.READ, BOT)), several)
        assert not passes(person(groups=frozenset({OTHER_GROUP})), several)

    def test_he_is_in_the_organization_that_he_asks_in_and_in_no_other(self) -> None:
        assert passes(person(organization=HERE), Rule(RuleKind.ORG, HERE))
        assert not passes(person(organization=HERE), Rule(RuleKind.ORG, THERE))
        assert not passes(person(), Rule(RuleKind.ORG, HERE))


@pytest.mark.req("BM-38", "BM-41", "BM-103", "BM-150")
class TestGroups:
    def viewer(self) -> Viewer:
        return group_viewer(W1, GROUP, HERE, [LINK, HOME])

    def test_it_reads_its_own_and_what_is_for_everyone(self) -> None:
        own = (for_rule([f"channel:{GROUP}"]), Rule(RuleKind.CHANNEL, GROUP), Rule(RuleKind.ORG, HERE))
        everyone = (for_rule([f"bot:{HOME}"]), Rule(RuleKind.BOT, HOME), Rule(RuleKind.BOT, LINK))
        assert self.viewer().passes_all((*own, *everyone))

    def test_it_reads_nobodys_own(self) -> None:
        for rule in (
            for_rule([f"person:{ANA}"]),
            for_rule([f"channel:{OTHER_GROUP}"]),
            for_rule([f"bot:{BOT}"]),
            Rule(RuleKind.ORG, THERE),
            Rule(RuleKind.PERSON, ANA),
            session_rule(SESSION, ANA),
            Rule(RuleKind.WORKSPACE, W1),
        ):
            assert not self.viewer().passes(rule)

    def test_no_exclusion_of_a_person_concerns_it(self) -> None:
        assert self.viewer().principal == GROUP
        assert not self.viewer().audits
