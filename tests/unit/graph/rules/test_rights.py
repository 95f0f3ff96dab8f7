"""Rights: grants, what they imply, what a token leaves of them."""

from __future__ import annotations

import pytest

from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.people import PrincipalKind, Right
from graph.rules.rights import (
    GrantFact,
    ViewerFacts,
    agents_with_role,
    audited_agents,
    audits_workspace,
    implied,
    may_administer,
    may_audit,
    may_explain_for_others,
    may_host,
    rights_on,
    role_on,
)

WORKSPACE = NodeId("wsp_w1")
AGENT, OTHER = NodeId("prn_w1/agent/a"), NodeId("prn_w1/agent/b")
ORGANIZATION = NodeId("org_w1//o")


def facts(
    *grants: tuple[Right, NodeId],
    kind: PrincipalKind = PrincipalKind.HUMAN,
    token: frozenset[Right] | None = None,
    disabled: bool = False,
) -> ViewerFacts:
    return ViewerFacts(
        workspace=WorkspaceId("w1"),
        workspace_node=WORKSPACE,
        principal=NodeId("prn_w1/human/ana"),
        kind=kind,
        grants=tuple(GrantFact(right=right, object_id=object_id) for right, object_id in grants),
        agents=frozenset({AGENT, OTHER}),
        token_rights=token,
        disabled=disabled,
    )


@pytest.mark.req("AD-5")
class TestImplication:
    @pytest.mark.parametrize(
        ("right", "brings"),
        [
            (Right.ADMIN, {Right.ADMIN, Right.HOST, Right.CURATOR, Right.READER}),
            (Right.AUDITOR, {Right.AUDITOR}),
            (Right.CURATOR, {Right.CURATOR, Right.READER}),
            (Right.READER, {Right.READER}),
            (Right.WRITE, {Right.WRITE, Right.RUN, Right.READ}),
            (Right.RUN, {Right.RUN, Right.READ}),
            (Right.READ, {Right.READ}),
            (Right.HOST, {Right.HOST}),
        ],
    )
    def test_each_right_brings_what_the_table_says(self, right: Right, brings: set[Right]) -> None:
        assert implied([right]) == brings

    def test_grant_counts_on_its_object_only(self) -> None:
        viewer = facts((Right.CURATOR, AGENT))
        assert rights_on(viewer, AGENT) == {Right.CURATOR, Right.READER}
        assert rights_on(viewer, OTHER) == frozenset()

    def test_no_grant_is_no_right(self) -> None:
        assert rights_on(facts(), AGENT) == frozenset()

    def test_empty_object_means_nothing(self) -> None:
        assert rights_on(facts((Right.ADMIN, NodeId(""))), NodeId("")) == frozenset()
        assert not may_administer(facts((Right.ADMIN, NodeId(""))))

    def test_role_on_a_workspace_means_nothing(self) -> None:
        viewer = facts((Right.CURATOR, WORKSPACE), (Right.READER, WORKSPACE))
        assert rights_on(viewer, WORKSPACE) == frozenset()
        assert role_on(viewer, AGENT) is None

    def test_admin_of_an_agent_means_nothing(self) -> None:
        assert rights_on(facts((Right.ADMIN, AGENT)), AGENT) == frozenset()

    def test_disabled_principal_has_no_rights(self) -> None:
        viewer = facts((Right.ADMIN, WORKSPACE), (Right.AUDITOR, WORKSPACE), disabled=True)
        assert rights_on(viewer, WORKSPACE) == frozenset()
        assert not may_administer(viewer)
        assert not audits_workspace(viewer)
        assert agents_with_role(viewer) == frozenset()


@pytest.mark.req("KN-58", "AD-5")
class TestRoles:
    @pytest.mark.parametrize("right", [Right.CURATOR, Right.READER])
    def test_role_is_per_agent(self, right: Right) -> None:
        viewer = facts((right, AGENT))
        assert (role_on(viewer, AGENT), role_on(viewer, OTHER)) == (right, None)
        assert agents_with_role(viewer) == {AGENT}

    @pytest.mark.parametrize("right", [Right.AUDITOR, Right.WRITE, Right.READ, Right.HOST])
    def test_other_rights_are_no_role(self, right: Right) -> None:
        assert role_on(facts((right, AGENT)), AGENT) is None

    def test_admin_is_curator_on_the_agents_of_his_workspace_only(self) -> None:
        viewer = facts((Right.ADMIN, WORKSPACE))
        assert role_on(viewer, AGENT) is Right.CURATOR
        assert role_on(viewer, NodeId("prn_w2/agent/a")) is None
        assert agents_with_role(viewer) == {AGENT, OTHER}

    def test_agent_has_no_role(self) -> None:
        viewer = facts((Right.CURATOR, AGENT), kind=PrincipalKind.AGENT)
        assert role_on(viewer, AGENT) is None
        assert agents_with_role(viewer) == frozenset()

    def test_service_has_roles_like_people(self) -> None:
        assert role_on(facts((Right.READER, AGENT), kind=PrincipalKind.SERVICE), AGENT) is Right.READER


@pytest.mark.req("KN-58", "KN-120")
class TestAudit:
    def test_auditor_of_an_agent(self) -> None:
        viewer = facts((Right.AUDITOR, AGENT))
        assert (may_audit(viewer, AGENT), may_audit(viewer, OTHER)) == (True, False)
        assert audited_agents(viewer) == {AGENT}
        assert not audits_workspace(viewer)

    def test_auditor_of_the_workspace(self) -> None:
        viewer = facts((Right.AUDITOR, WORKSPACE))
        assert audits_workspace(viewer)
        assert may_audit(viewer, OTHER)
        assert audited_agents(viewer) == frozenset()

    @pytest.mark.parametrize("right", [Right.ADMIN, Right.HOST])
    def test_admin_and_host_do_not_audit(self, right: Right) -> None:
        assert not may_audit(facts((right, WORKSPACE)), AGENT)

    def test_agent_never_audits(self) -> None:
        viewer = facts((Right.AUDITOR, WORKSPACE), (Right.AUDITOR, AGENT), kind=PrincipalKind.AGENT)
        assert not may_audit(viewer, AGENT)

    @pytest.mark.parametrize(
        ("grant", "allowed"),
        [
            ((Right.ADMIN, WORKSPACE), True),
            ((Right.AUDITOR, WORKSPACE), True),
            ((Right.AUDITOR, AGENT), True),
            ((Right.AUDITOR, OTHER), False),
            ((Right.CURATOR, AGENT), False),
        ],
    )
    def test_who_may_explain_for_others(self, grant: tuple[Right, NodeId], allowed: bool) -> None:
        assert may_explain_for_others(facts(grant), AGENT) == allowed


@pytest.mark.req("AD-15")
@pytest.mark.parametrize(
    ("grant", "in_workspace", "in_organization"),
    [
        ((Right.HOST, WORKSPACE), True, True),
        ((Right.ADMIN, WORKSPACE), True, True),
        ((Right.HOST, ORGANIZATION), False, True),
        ((Right.AUDITOR, WORKSPACE), False, False),
    ],
)
def test_host_reports_inside_its_object(grant: tuple[Right, NodeId], in_workspace: bool, in_organization: bool) -> None:
    assert may_host(facts(grant)) == in_workspace
    assert may_host(facts(grant), ORGANIZATION) == in_organization


@pytest.mark.req("AD-9")
class TestToken:
    def test_token_narrows_what_the_principal_has(self) -> None:
        viewer = facts((Right.ADMIN, WORKSPACE), token=frozenset({Right.READER}))
        assert not may_administer(viewer)
        assert role_on(viewer, AGENT) is Right.READER
        assert agents_with_role(viewer) == {AGENT, OTHER}

    def test_token_gives_nothing_that_the_principal_lacks(self) -> None:
        viewer = facts((Right.READER, AGENT), token=frozenset({Right.ADMIN, Right.AUDITOR}))
        assert rights_on(viewer, AGENT) == {Right.READER}
        assert not may_audit(viewer, AGENT)

    def test_token_without_rights_carries_none(self) -> None:
        assert rights_on(facts((Right.ADMIN, WORKSPACE), token=frozenset()), WORKSPACE) == frozenset()
