"""Rights of a principal: which grants he holds, what they imply, and his role for an agent's knowledge.

A right is a grant or implied by one; nothing else gives rights, and a token may only narrow them. Source: AD-5, AD-9,
KN-58.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.evidence import ChannelKind
from graph.model.nodes.people import PrincipalKind, Right

IMPLIED: Mapping[Right, frozenset[Right]] = {
    Right.ADMIN: frozenset({Right.ADMIN, Right.HOST, Right.CURATOR, Right.READER}),
    Right.CURATOR: frozenset({Right.CURATOR, Right.READER}),
    Right.WRITE: frozenset({Right.WRITE, Right.RUN, Right.READ}),
    Right.RUN: frozenset({Right.RUN, Right.READ}),
}
"""What a right brings with it; a right that is not listed brings only itself (AD-5)."""

_ROLES_OF_ADMIN = frozenset({Right.CURATOR, Right.READER})
"""What an admin of the workspace has on each of its agents."""


@dataclass(frozen=True, kw_only=True, slots=True)
class GrantFact:
    """A stored grant of the principal."""

    right: Right
    object_id: NodeId


@dataclass(frozen=True, kw_only=True, slots=True)
class ChannelFacts:
    """A channel: one agent's view of a group, or of a private chat."""

    id: NodeId
    owner: NodeId
    kind: ChannelKind


@dataclass(frozen=True, kw_only=True, slots=True)
class ViewerFacts:
    """All that is known about a principal when a request starts, read within the request.

    Attributes:
        grants: his own, on objects of his workspace.
        workspace_node: id of the workspace's node, the object of workspace-wide grants.
        agents: all agents of the workspace; only looked at if he is its admin, so it may be empty otherwise.
        channels: shared channels that he is a member of and private chats that he takes part in, now.
        reads_shared: for an agent: other agents whose shared knowledge an administrator lets it read (KN-55).
        organization: the one he asks in: the one his credential names, else his only one; None if he is no member of
            it now (AD-7, AD-9).
        groups: that he is a member of, now.
        serving: agents that serve an organization of his, now: he may read their memory (AD-6).
        homes: of linked bots among the agents he may use: the bot that each is a link to.
        token_rights: if not None, the credential carries only these rights and what they imply (AD-9).
        disabled: a disabled principal has no rights at all.
        access_version: of the principal, from before the other facts were read; it moves whenever one of them does.
        name: by which he is shown, for what he says.
    """

    workspace: WorkspaceId
    workspace_node: NodeId
    principal: NodeId
    kind: PrincipalKind
    grants: tuple[GrantFact, ...] = ()
    agents: frozenset[NodeId] = frozenset()
    channels: tuple[ChannelFacts, ...] = ()
    reads_shared: frozenset[NodeId] = frozenset()
    organization: NodeId | None = None
    groups: frozenset[NodeId] = frozenset()
    serving: frozenset[NodeId] = frozenset()
    homes: Mapping[NodeId, NodeId] = field(default_factory=dict)
    token_rights: frozenset[Right] | None = None
    disabled: bool = False
    access_version: int = 0
    name: str = ""


def implied(rights: Iterable[Right]) -> frozenset[Right]:
    """Return the rights with all that they imply.

    >>> sorted(implied([Right.CURATOR]))
    [<Right.CURATOR: 'curator'>, <Right.READER: 'reader'>]
    """
    return frozenset(right for given in rights for right in IMPLIED.get(given, frozenset({given})))


def rights_on(facts: ViewerFacts, object_id: NodeId) -> frozenset[Right]:
    """Return the rights of the principal on one object; "" as an object means nothing, never everything.

    An admin of the workspace is a curator on its agents; any other inheritance stands in the surface's own rules.
    """
    if facts.disabled or not object_id:
        return frozenset()
    return _within_token(facts, frozenset(_granted(facts, object_id)))


def surface_rights(facts: ViewerFacts, object_id: NodeId, *, person: NodeId | None = None) -> frozenset[Right]:
    """Return READ and WRITE on an agent, bot, session or chat, as AD-5 and AD-6 give them.

    They come from grants on the object, from membership in an organization that the agent serves (READ), and from
    being the person of the session or chat (both). No role for knowledge and no admin right brings them.

    Args:
        facts: read in the request.
        object_id: an agent, session or chat.
        person: whose session or chat it is.
    """
    if facts.disabled:
        return frozenset()
    found = set(rights_on(facts, object_id))
    if object_id in facts.serving:
        found |= _within_token(facts, frozenset({Right.READ}))
    if person is not None and person == facts.principal:
        found |= _within_token(facts, frozenset({Right.READ, Right.WRITE}))
    return frozenset(found & {Right.READ, Right.WRITE})


def own_rights(facts: ViewerFacts) -> frozenset[Right]:
    """Return the rights that the principal has on anything at all: no token that he makes for himself carries more.

    Every person has READ and WRITE, on the sessions and chats whose person he is, and a member READ on what serves his
    organization; on which objects shows where a right is used (AD-6, AD-10).
    """
    if facts.disabled:
        return frozenset()
    found = implied(grant.right for grant in facts.grants)
    if facts.serving:
        found |= {Right.READ}
    if facts.kind is PrincipalKind.HUMAN:
        found |= {Right.READ, Right.WRITE}
    return _within_token(facts, found)


def readable_agents(facts: ViewerFacts) -> frozenset[NodeId]:
    """Return the agents whose agent memory and bot memory the principal may read, and the homes of linked ones."""
    candidates = facts.serving.union(grant.object_id for grant in facts.grants)
    own = {agent for agent in candidates if Right.READ in surface_rights(facts, agent)}
    return frozenset(own | {facts.homes[agent] for agent in own if agent in facts.homes})


def role_on(facts: ViewerFacts, agent: NodeId) -> Right | None:
    """Return CURATOR or READER, the principal's role for the knowledge of `agent`, or None.

    Only people and services have roles; an agent reads through a conversation (KN-56). An auditor has no role:
    see `audited_agents`.

    Source: KN-58.
    """
    if facts.kind is PrincipalKind.AGENT:
        return None
    rights = rights_on(facts, agent)
    return next((right for right in (Right.CURATOR, Right.READER) if right in rights), None)


def agents_with_role(facts: ViewerFacts) -> frozenset[NodeId]:
    """Return the agents whose shared and own knowledge the principal reads by a role."""
    candidates = facts.agents.union(grant.object_id for grant in facts.grants)
    return frozenset(agent for agent in candidates if role_on(facts, agent) is not None)


def may_administer(facts: ViewerFacts) -> bool:
    """True for an admin of the workspace: provisioning, settings, connectors, grants, erasure (AD-5)."""
    return Right.ADMIN in rights_on(facts, facts.workspace_node)


def may_host(facts: ViewerFacts, organization: NodeId | None = None) -> bool:
    """True if the principal may report for others in the workspace, or inside `organization` (AD-15)."""
    if Right.HOST in rights_on(facts, facts.workspace_node):
        return True
    return organization is not None and Right.HOST in rights_on(facts, organization)


def audits_workspace(facts: ViewerFacts) -> bool:
    """True for an auditor of the whole workspace."""
    return facts.kind is not PrincipalKind.AGENT and Right.AUDITOR in rights_on(facts, facts.workspace_node)


def audited_agents(facts: ViewerFacts) -> frozenset[NodeId]:
    """Return the agents that the principal may audit by a grant on the agent itself."""
    if facts.kind is PrincipalKind.AGENT:
        return frozenset()
    objects = {g.object_id for g in facts.grants if g.right is Right.AUDITOR} - {facts.workspace_node}
    return frozenset(agent for agent in objects if Right.AUDITOR in rights_on(facts, agent))


def may_audit(facts: ViewerFacts, agent: NodeId) -> bool:
    """True for an auditor of the workspace or of `agent` (KN-58)."""
    return audits_workspace(facts) or agent in audited_agents(facts)


def may_explain_for_others(facts: ViewerFacts, agent: NodeId) -> bool:
    """True if the principal may ask what another viewer sees of the agent's knowledge (KN-120)."""
    return may_administer(facts) or may_audit(facts, agent)


def _granted(facts: ViewerFacts, object_id: NodeId) -> Iterator[Right]:
    for grant in facts.grants:
        if grant.object_id == object_id:
            yield from _brought(grant.right, on_workspace=object_id == facts.workspace_node)
        elif grant.right is Right.ADMIN and grant.object_id == facts.workspace_node:
            yield from _ROLES_OF_ADMIN if object_id in facts.agents else ()


def _brought(right: Right, *, on_workspace: bool) -> frozenset[Right]:
    """Return what a grant brings on its own object; a role is a role for an agent, never for a workspace."""
    brought = implied({right})
    if right is Right.ADMIN:
        return brought - _ROLES_OF_ADMIN if on_workspace else frozenset()
    if on_workspace:
        return brought - _ROLES_OF_ADMIN
    return brought


def _within_token(facts: ViewerFacts, rights: frozenset[Right]) -> frozenset[Right]:
    return rights if facts.token_rights is None else rights & implied(facts.token_rights)
