"""Scopes: what conversations and roles read and write, and what may be cited where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.access import ALL_AGENTS, Rule, RuleKind, for_rule
from graph.model.errors import NotFound, OperationRejected
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.evidence import ChannelKind
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.people import PrincipalKind, Right
from graph.rules.rights import ChannelFacts, GrantFact, ViewerFacts
from graph.rules.scopes import (
    ConversationFacts,
    KbScope,
    MemoryScope,
    RoutingFacts,
    check_evidence,
    check_open,
    check_routing,
    check_write,
    evidence_allowed,
    make_viewer,
    may_read,
    may_write,
    may_write_guide,
    memory_scope_for,
    needs_access_record,
    pool_clause,
    pool_rule,
    prompt_allowed,
    read_set,
    write_target,
)

W1 = WorkspaceId("w1")
WORKSPACE = NodeId("wsp_w1")
AGENT, OTHER = NodeId("prn_w1/agent/a"), NodeId("prn_w1/agent/b")
ANA = NodeId("prn_w1/human/ana")
TEAM = ChannelFacts(id=NodeId("chn_team"), owner=AGENT, kind=ChannelKind.SHARED_CHANNEL)
CHAT = ChannelFacts(id=NodeId("chn_chat"), owner=AGENT, kind=ChannelKind.PRIVATE_CHAT)


def kb(kind: KbKind, channel: str | None = None, owner: NodeId = AGENT) -> KbScope:
    return KbScope(kind=kind, owner=owner, channel=NodeId(channel) if channel else None)


SHARED, OWN = kb(KbKind.SHARED), kb(KbKind.AGENT)
IN_TEAM, IN_CHAT = kb(KbKind.CHANNEL, "chn_team"), kb(KbKind.PRIVATE, "chn_chat")
IN_ELSEWHERE, IN_OTHER_CHAT = kb(KbKind.CHANNEL, "chn_else"), kb(KbKind.PRIVATE, "chn_chat2")
OTHER_SHARED, OTHER_OWN = kb(KbKind.SHARED, owner=OTHER), kb(KbKind.AGENT, owner=OTHER)
ANAS_GUIDE = kb(KbKind.GUIDE, owner=ANA)
ALL_BASES = (
    SHARED, OWN, IN_TEAM, IN_CHAT, IN_ELSEWHERE, IN_OTHER_CHAT, OTHER_SHARED, OTHER_OWN, ANAS_GUIDE,
)  # fmt: skip


def conversation(channel: ChannelFacts, scope: MemoryScope, *, closed: bool = False) -> ConversationFacts:
    return ConversationFacts(id=NodeId("cnv_1"), workspace=W1, channel=channel, memory_scope=scope, closed=closed)


SHARED_TALK = conversation(TEAM, MemoryScope.SHARED)
CHANNEL_TALK = conversation(TEAM, MemoryScope.CHANNEL)
PRIVATE_TALK = conversation(CHAT, MemoryScope.PRIVATE)


def person(
    *grants: tuple[Right, NodeId],
    channels: tuple[ChannelFacts, ...] = (),
    kind: PrincipalKind = PrincipalKind.HUMAN,
) -> ViewerFacts:
    return ViewerFacts(
        workspace=W1,
        workspace_node=WORKSPACE,
        principal=ANA,
        kind=kind,
        grants=tuple(GrantFact(right=right, object_id=object_id) for right, object_id in grants),
        agents=frozenset({AGENT, OTHER}),
        channels=channels,
    )


def agent(*, reads_shared: tuple[NodeId, ...] = ()) -> ViewerFacts:
    return ViewerFacts(
        workspace=W1,
        workspace_node=WORKSPACE,
        principal=AGENT,
        kind=PrincipalKind.AGENT,
        reads_shared=frozenset(reads_shared),
    )


def bases_read(facts: ViewerFacts, talk: ConversationFacts | None = None) -> set[KbScope]:
    viewer = make_viewer(facts, conversation=talk)
    return {base for base in ALL_BASES if may_read(viewer, base)}


def bases_written(facts: ViewerFacts, talk: ConversationFacts | None = None) -> set[KbScope]:
    return {base for base in ALL_BASES if may_write(facts, base, conversation=talk)}


def refused(call: object, *arguments: object, **options: object) -> str:
    with pytest.raises(OperationRejected) as error:
        call(*arguments, **options)  # type: ignore[operator]
    return error.value.wire_code


@pytest.mark.req("KN-39")
class TestPoolRule:
    @pytest.mark.parametrize(
        ("base", "rule"),
        [
            (SHARED, Rule(RuleKind.SHARED, AGENT, AGENT)),
            (OWN, Rule(RuleKind.AGENT, AGENT, AGENT)),
            (IN_TEAM, Rule(RuleKind.CHANNEL, "chn_team", AGENT)),
            (IN_CHAT, Rule(RuleKind.PRIVATE, "chn_chat", AGENT)),
            (ANAS_GUIDE, Rule(RuleKind.PERSON, ANA)),
        ],
    )
    def test_each_kind_has_its_rule(self, base: KbScope, rule: Rule) -> None:
        assert pool_rule(base) == rule
        assert pool_clause(base) == {rule}

    def test_no_two_bases_share_a_rule(self) -> None:
        assert len({pool_rule(base) for base in ALL_BASES}) == len(ALL_BASES)

    @pytest.mark.parametrize("kind", [KbKind.CHANNEL, KbKind.PRIVATE])
    def test_channel_base_without_a_channel_is_a_fault(self, kind: KbKind) -> None:
        with pytest.raises(ValueError, match="needs a channel"):
            pool_rule(kb(kind))


class TestRouting:
    @pytest.mark.req("KN-47")
    def test_channel_without_a_rule_uses_the_narrower_choice(self) -> None:
        assert memory_scope_for(TEAM, None) is MemoryScope.CHANNEL

    @pytest.mark.req("KN-46")
    @pytest.mark.parametrize("scope", [MemoryScope.SHARED, MemoryScope.CHANNEL])
    def test_channel_follows_its_rule(self, scope: MemoryScope) -> None:
        assert memory_scope_for(TEAM, RoutingFacts(memory_scope=scope)) is scope

    @pytest.mark.req("KN-43", "KN-44")
    def test_private_chat_is_private_whatever_rule_is_found(self) -> None:
        assert memory_scope_for(CHAT, RoutingFacts(memory_scope=MemoryScope.SHARED)) is MemoryScope.PRIVATE

    @pytest.mark.req("KN-48")
    def test_isolated_channel_may_not_use_shared_memory(self) -> None:
        rule = RoutingFacts(memory_scope=MemoryScope.SHARED, isolated=True)
        assert refused(check_routing, TEAM, rule) == "ISOLATED_CHANNEL"

    @pytest.mark.req("KN-48")
    @pytest.mark.parametrize(
        "rule",
        [
            RoutingFacts(memory_scope=MemoryScope.CHANNEL, isolated=True),
            RoutingFacts(memory_scope=MemoryScope.SHARED),
            RoutingFacts(memory_scope=MemoryScope.CHANNEL),
        ],
    )
    def test_other_rules_are_taken(self, rule: RoutingFacts) -> None:
        check_routing(TEAM, rule)

    @pytest.mark.parametrize(("channel", "scope"), [(CHAT, MemoryScope.CHANNEL), (TEAM, MemoryScope.PRIVATE)])
    def test_only_shared_channels_are_routed_and_never_to_private(
        self, channel: ChannelFacts, scope: MemoryScope
    ) -> None:
        assert refused(check_routing, channel, RoutingFacts(memory_scope=scope)) == "BAD_INPUT"


class TestConversation:
    @pytest.mark.req("KN-41", "KN-42")
    def test_shared_channel_reads_shared_and_own_and_writes_shared(self) -> None:
        assert read_set(SHARED_TALK) == {SHARED, OWN}
        assert write_target(SHARED_TALK) == SHARED

    @pytest.mark.req("KN-43", "KN-44")
    def test_private_chat_reads_its_memory_too_and_writes_there(self) -> None:
        assert read_set(PRIVATE_TALK) == {SHARED, OWN, IN_CHAT}
        assert write_target(PRIVATE_TALK) == IN_CHAT

    @pytest.mark.req("KN-45")
    def test_channel_memory_reads_its_base_too_and_writes_only_there(self) -> None:
        assert read_set(CHANNEL_TALK) == {SHARED, OWN, IN_TEAM}
        assert write_target(CHANNEL_TALK) == IN_TEAM

    @pytest.mark.req("KN-49", "KN-50")
    def test_changed_rule_takes_effect_with_the_next_conversation_only(self) -> None:
        before = conversation(TEAM, memory_scope_for(TEAM, RoutingFacts(memory_scope=MemoryScope.SHARED)))
        after = conversation(TEAM, memory_scope_for(TEAM, RoutingFacts(memory_scope=MemoryScope.CHANNEL)))
        assert (write_target(before), write_target(after)) == (SHARED, IN_TEAM)

    @pytest.mark.req("KN-51")
    def test_closed_conversation_is_not_written_to(self) -> None:
        closed = replace(CHANNEL_TALK, closed=True)
        check_open(CHANNEL_TALK)
        assert refused(check_open, closed) == "CONVERSATION_CLOSED"
        assert not may_write(agent(), IN_TEAM, conversation=closed)
        assert refused(check_write, agent(), IN_TEAM, conversation=closed) == "CONVERSATION_CLOSED"


@pytest.mark.req("KN-56")
class TestAgent:
    def test_agent_reads_no_knowledge_without_a_conversation(self) -> None:
        assert bases_read(agent(reads_shared=(OTHER,))) == set()
        assert bases_written(agent()) == set()

    @pytest.mark.parametrize("talk", [SHARED_TALK, CHANNEL_TALK, PRIVATE_TALK])
    def test_agent_reads_and_writes_what_its_conversation_says(self, talk: ConversationFacts) -> None:
        assert bases_read(agent(), talk) == read_set(talk)
        assert bases_written(agent(), talk) == {write_target(talk)}

    def test_base_outside_the_conversation_is_forbidden(self) -> None:
        check_write(agent(), SHARED, conversation=SHARED_TALK)
        assert refused(check_write, agent(), IN_TEAM, conversation=SHARED_TALK) == "SCOPE_FORBIDDEN"

    def test_grants_do_not_widen_an_agent(self) -> None:
        curator = GrantFact(right=Right.CURATOR, object_id=AGENT)
        auditor = GrantFact(right=Right.AUDITOR, object_id=WORKSPACE)
        rich = replace(agent(), grants=(curator, auditor), channels=(CHAT,))
        assert bases_read(rich, SHARED_TALK) == {SHARED, OWN}
        assert bases_written(rich) == set()

    @pytest.mark.parametrize(
        "talk",
        [
            replace(SHARED_TALK, channel=replace(TEAM, owner=OTHER)),
            replace(SHARED_TALK, workspace=WorkspaceId("w2")),
        ],
    )
    def test_conversation_of_another_agent_or_workspace_is_not_found(self, talk: ConversationFacts) -> None:
        with pytest.raises(NotFound):
            make_viewer(agent(), conversation=talk)
        assert not may_write(agent(), write_target(talk), conversation=talk)


@pytest.mark.req("KN-55")
class TestReadsShared:
    def test_granted_agent_reads_the_shared_base_and_nothing_else(self) -> None:
        assert bases_read(agent(reads_shared=(OTHER,)), SHARED_TALK) == {SHARED, OWN, OTHER_SHARED}

    def test_grant_never_allows_writing(self) -> None:
        assert OTHER_SHARED not in bases_written(agent(reads_shared=(OTHER,)), SHARED_TALK)

    def test_what_the_grant_shows_is_never_evidence(self) -> None:
        assert not evidence_allowed(SHARED, OTHER_SHARED)
        assert not prompt_allowed(SHARED, [SHARED, OTHER_SHARED])

    def test_without_a_grant_a_shared_base_is_its_own_agents(self) -> None:
        assert OTHER_SHARED not in bases_read(agent(), SHARED_TALK)

    def test_grant_of_the_agent_is_not_its_readers(self) -> None:
        reader = replace(person((Right.READER, AGENT)), reads_shared=frozenset({OTHER}))
        assert OTHER_SHARED not in bases_read(reader)


@pytest.mark.req("KN-58")
class TestPeople:
    READS = frozenset({SHARED, OWN, ANAS_GUIDE})

    @pytest.mark.parametrize("kind", [PrincipalKind.HUMAN, PrincipalKind.SERVICE])
    def test_reader_reads_shared_and_own_and_writes_nothing_there(self, kind: PrincipalKind) -> None:
        reader = person((Right.READER, AGENT), kind=kind)
        assert bases_read(reader) == self.READS
        assert bases_written(reader) - {ANAS_GUIDE} == set()

    def test_reader_reads_channels_and_chats_that_he_is_part_of_now(self) -> None:
        member = person((Right.READER, AGENT), channels=(TEAM, CHAT))
        assert bases_read(member) == self.READS | {IN_TEAM, IN_CHAT}
        assert bases_read(replace(member, channels=(TEAM,))) == self.READS | {IN_TEAM}

    def test_member_without_a_role_reads_nothing(self) -> None:
        assert bases_read(person(channels=(TEAM, CHAT))) == {ANAS_GUIDE}
        assert bases_read(person((Right.READER, OTHER), channels=(TEAM, CHAT))) == {
            OTHER_SHARED, OTHER_OWN, ANAS_GUIDE,
        }  # fmt: skip

    def test_curator_writes_exactly_what_he_reads(self) -> None:
        curator = person((Right.CURATOR, AGENT), channels=(TEAM, CHAT))
        assert bases_written(curator) == bases_read(curator) == self.READS | {IN_TEAM, IN_CHAT}
        check_write(curator, IN_CHAT)
        assert refused(check_write, curator, IN_OTHER_CHAT) == "SCOPE_FORBIDDEN"

    @pytest.mark.req("AD-5")
    def test_admin_is_curator_everywhere_and_reads_no_chat_he_is_not_part_of(self) -> None:
        admin = person((Right.ADMIN, WORKSPACE))
        everywhere = {SHARED, OWN, OTHER_SHARED, OTHER_OWN, ANAS_GUIDE}
        assert bases_read(admin) == bases_written(admin) == everywhere
        assert bases_read(replace(admin, channels=(CHAT,))) == everywhere | {IN_CHAT}

    def test_auditor_of_an_agent_reads_all_its_bases_and_writes_nothing(self) -> None:
        auditor = person((Right.AUDITOR, AGENT))
        assert bases_read(auditor) == set(ALL_BASES) - {OTHER_SHARED, OTHER_OWN}
        assert bases_written(auditor) == {ANAS_GUIDE}

    def test_auditor_of_the_workspace_reads_every_base(self) -> None:
        auditor = person((Right.AUDITOR, WORKSPACE))
        assert make_viewer(auditor).audits == {ALL_AGENTS}
        assert bases_read(auditor) == set(ALL_BASES)
        assert bases_written(auditor) == {ANAS_GUIDE}

    def test_auditor_who_is_curator_writes_only_what_he_reads_as_curator(self) -> None:
        both = person((Right.AUDITOR, WORKSPACE), (Right.CURATOR, AGENT), channels=(TEAM,))
        assert bases_written(both) == {SHARED, OWN, IN_TEAM, ANAS_GUIDE}

    def test_conversation_widens_nothing_for_a_person(self) -> None:
        reader = person((Right.READER, AGENT))
        assert bases_read(reader, PRIVATE_TALK) == bases_read(reader)
        assert may_write(reader, IN_CHAT, conversation=PRIVATE_TALK) is False

    def test_person_in_a_conversation_of_another_workspace_gets_not_found(self) -> None:
        with pytest.raises(NotFound):
            make_viewer(person(), conversation=replace(SHARED_TALK, workspace=WorkspaceId("w2")))

    @pytest.mark.req("AD-7")
    def test_disabled_principal_holds_nothing(self) -> None:
        gone = replace(person((Right.ADMIN, WORKSPACE), (Right.AUDITOR, WORKSPACE)), disabled=True)
        assert make_viewer(gone).held == frozenset()
        assert bases_read(gone) == bases_written(gone) == set()

    def test_everyone_holds_his_own_rule_and_that_of_the_workspace(self) -> None:
        own = {Rule(RuleKind.PERSON, ANA), for_rule([f"person:{ANA}"]), Rule(RuleKind.WORKSPACE, W1)}
        assert make_viewer(person()).held == own

    def test_pools_narrow_the_question_and_give_nothing(self) -> None:
        viewer = make_viewer(person(), pools=[NodeId("knb_1")])
        assert viewer.pools == frozenset({NodeId("knb_1")})
        assert viewer.held == make_viewer(person()).held
        assert make_viewer(person()).pools is None


@pytest.mark.req("KN-104", "KN-105")
class TestGuide:
    def test_person_writes_his_own_guide_and_no_one_elses(self) -> None:
        assert may_write_guide(person(), ANAS_GUIDE)
        assert not may_write_guide(person((Right.ADMIN, WORKSPACE)), kb(KbKind.GUIDE, owner=NodeId("prn_bo")))

    def test_curator_writes_the_guide_of_an_agent_in_its_own_base(self) -> None:
        curator = person((Right.CURATOR, AGENT))
        assert may_write_guide(curator, OWN)
        assert not may_write_guide(curator, SHARED)
        assert not may_write_guide(person((Right.READER, AGENT)), OWN)

    def test_service_and_agent_write_no_guide(self) -> None:
        assert not may_write_guide(person((Right.CURATOR, AGENT), kind=PrincipalKind.SERVICE), OWN)
        assert not may_write_guide(person(kind=PrincipalKind.SERVICE), ANAS_GUIDE)
        assert not may_write_guide(agent(), OWN)

    def test_guide_is_neither_evidence_nor_a_place_for_statements(self) -> None:
        assert not evidence_allowed(ANAS_GUIDE, ANAS_GUIDE)


@pytest.mark.req("KN-27", "KN-53")
class TestEvidence:
    @pytest.mark.parametrize(
        ("base", "allowed"),
        [
            (SHARED, {SHARED, OWN}),
            (OWN, {SHARED, OWN}),
            (IN_TEAM, {SHARED, OWN, IN_TEAM}),
            (IN_CHAT, {SHARED, OWN, IN_CHAT}),
            (OTHER_OWN, {OTHER_SHARED, OTHER_OWN}),
            (ANAS_GUIDE, set()),
        ],
    )
    def test_base_uses_evidence_that_it_reads(self, base: KbScope, allowed: set[KbScope]) -> None:
        assert {source for source in ALL_BASES if evidence_allowed(base, source)} == allowed

    def test_one_forbidden_source_is_enough_to_refuse(self) -> None:
        check_evidence(IN_TEAM, [SHARED, IN_TEAM])
        assert refused(check_evidence, IN_TEAM, [SHARED, IN_CHAT]) == "SCOPE_FORBIDDEN"


@pytest.mark.req("KN-54")
@pytest.mark.parametrize(
    ("target", "contents", "allowed"),
    [
        (IN_TEAM, [IN_TEAM, SHARED, OWN], True),
        (IN_TEAM, [IN_TEAM, IN_CHAT], False),
        (IN_TEAM, [IN_TEAM, IN_ELSEWHERE], False),
        (IN_CHAT, [IN_CHAT, IN_OTHER_CHAT], False),
        (SHARED, [SHARED, OWN], True),
        (SHARED, [SHARED, IN_TEAM], False),
        (OWN, [IN_CHAT], False),
    ],
)
def test_prompt_never_mixes_closed_circles(target: KbScope, contents: list[KbScope], allowed: bool) -> None:
    assert prompt_allowed(target, contents) == allowed


@pytest.mark.req("KN-59")
class TestAccessRecord:
    def test_auditor_outside_the_chat_leaves_a_record(self) -> None:
        viewer = make_viewer(person((Right.AUDITOR, AGENT)))
        assert needs_access_record(viewer, IN_CHAT)
        assert not needs_access_record(viewer, IN_TEAM)
        assert not needs_access_record(viewer, SHARED)

    @pytest.mark.parametrize("grants", [(), ((Right.READER, AGENT),)])
    def test_auditor_who_takes_part_leaves_none(self, grants: tuple[tuple[Right, NodeId], ...]) -> None:
        part = person((Right.AUDITOR, AGENT), *grants, channels=(CHAT,))
        assert not needs_access_record(make_viewer(part), IN_CHAT)
        assert needs_access_record(make_viewer(part), IN_OTHER_CHAT)

    def test_who_cannot_read_it_leaves_none(self) -> None:
        assert not needs_access_record(make_viewer(person((Right.READER, AGENT))), IN_CHAT)
