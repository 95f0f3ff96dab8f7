"""What decides who may see a node: rules, clauses, guards and viewers.

A `Rule` is one thing a viewer passes or not ("may read the shared knowledge of this agent"). A `Clause` is a
conjunction of rules. A node's `Guard` holds the law's own facts about it; its audience is the set of clauses that
its whole chain demands. Source: docs/design.md#the-audience-index.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from graph.model.ids import NodeId, WorkspaceId
from graph.model.time import Millis


class RuleKind(IntEnum):
    """Kinds of rules from narrowest to widest: a clause is filed under its narrowest rule."""

    PERSON = 1
    PRIVATE = 2
    CHANNEL = 3
    FOR = 4
    AGENT = 5
    SHARED = 6
    BOT = 7
    ORG = 8
    WORKSPACE = 9


@dataclass(frozen=True, order=True, slots=True)
class Rule:
    """One demand on a viewer.

    Attributes:
        kind: what sort of demand.
        object_id: what must be readable: a channel for PRIVATE, a channel or group for CHANNEL, an agent for AGENT,
            SHARED and BOT, a principal for PERSON, an organization for ORG, a workspace for WORKSPACE; for FOR one or
            more alternatives such as ``person:<id>``, in order, with a blank between them: any one of them admits.
        agent: the owning agent of knowledge, or "" where none owns it; its auditors pass the rule.
    """

    kind: RuleKind
    object_id: str
    agent: str = ""

    def encode(self) -> str:
        """Return the stored text of the rule; `decode` reads it back."""
        return f"{int(self.kind)}|{self.object_id}|{self.agent}"

    @classmethod
    def decode(cls, text: str) -> Rule:
        """Return the rule that `encode` wrote."""
        kind, object_id, agent = text.split("|")
        return cls(RuleKind(int(kind)), object_id, agent)

    def alternatives(self) -> tuple[Rule, ...]:
        """Return the rules of which one is enough: itself, but for a FOR rule that names several.

        >>> [rule.object_id for rule in Rule(RuleKind.FOR, "channel:g person:p").alternatives()]
        ['channel:g', 'person:p']
        """
        if self.kind is not RuleKind.FOR or " " not in self.object_id:
            return (self,)
        return tuple(Rule(RuleKind.FOR, one) for one in self.object_id.split(" "))


def for_rule(alternatives: Iterable[str]) -> Rule:
    """Return the rule that any one of these admits, such as ``person:<id>``.

    >>> for_rule(["person:p", "channel:g"]).object_id
    'channel:g person:p'
    """
    return Rule(RuleKind.FOR, " ".join(sorted(set(alternatives))))


Clause = frozenset[Rule]
"""A conjunction of rules, never empty in a stored audience."""

Clauses = frozenset[Clause]
"""A disjunction of clauses, absorbed (no clause contains another); empty means: readable by nobody."""


def narrowest(clause: Clause) -> Rule:
    """Return the rule a clause is filed under.

    >>> narrowest(frozenset({Rule(RuleKind.SHARED, "a"), Rule(RuleKind.PRIVATE, "c")})).object_id
    'c'
    """
    return min(clause)


class Need(StrEnum):
    """What a node needs of its sources before it is readable."""

    SOURCE = "source"
    ALL = "all"
    ANY = "any"
    NONE = "none"


@dataclass(frozen=True, kw_only=True, slots=True)
class Guard:
    """The law's own facts about one node.

    Attributes:
        node: the guarded node.
        kind: class name of the node, such as ``BlockVersion``.
        pool: where it lives; None only for what belongs to the workspace.
        need: what it needs of its sources.
        rules: its own rule, a conjunction; None is a missing access proof and hides it.
        live: for a source: neither withdrawn nor erased. Always true for a statement.
        held: false once retracted or invalidated in bot memory: readable, but supports nothing.
        excluded: principals who may not see it whatever they pass.
        tags: words that lists filter by, such as the type of an entry.
        sort_at: the time that lists order by, newest first.
    """

    node: NodeId
    kind: str
    workspace: WorkspaceId
    pool: NodeId | None
    need: Need
    rules: Clause | None
    live: bool = True
    held: bool = True
    excluded: frozenset[NodeId] = frozenset()
    tags: tuple[str, ...] = ()
    sort_at: Millis = Millis(0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Audience:
    """What the whole chain of a node demands of a viewer: one clause of `clauses`, and not to be excluded."""

    node: NodeId
    clauses: Clauses
    excluded: frozenset[NodeId] = frozenset()

    @property
    def live(self) -> bool:
        """True if the node is readable for a viewer who passes every rule."""
        return bool(self.clauses)


ALL_AGENTS = "*"
"""In `Viewer.audits`: the auditor of a whole workspace."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Viewer:
    """Who asks, as the law sees him. Only `graph.rules.scopes` makes one.

    Attributes:
        workspace: nothing crosses it.
        principal: the person, agent or service.
        held: the rules he passes.
        audits: agents whose knowledge he may audit, or `ALL_AGENTS`.
        pools: if not None, only nodes of these pools are asked for (a narrower question, never a wider one).
    """

    workspace: WorkspaceId
    principal: NodeId
    held: frozenset[Rule]
    audits: frozenset[str] = frozenset()
    pools: frozenset[NodeId] | None = None

    def passes(self, rule: Rule) -> bool:
        """True if the viewer meets the demand of `rule`."""
        if rule in self.held:
            return True
        if rule.kind is RuleKind.FOR:
            return not self.held.isdisjoint(rule.alternatives())
        return bool(rule.agent) and (rule.agent in self.audits or ALL_AGENTS in self.audits)

    def passes_all(self, rules: Iterable[Rule]) -> bool:
        """True if the viewer meets every demand."""
        return all(self.passes(rule) for rule in rules)


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemScope:
    """For guards of a commit, token look-up, workers, migrations and export; never for data that is returned.

    Attributes:
        reason: why no viewer is needed; shows in traces.
    """

    reason: str
    workspace: WorkspaceId | None = None


Scope = Viewer | SystemScope


@dataclass(frozen=True, kw_only=True, slots=True)
class LawEdge:
    """An edge as the law sees it.

    Attributes:
        ends: true for a demand that always counts (the two ends of a relation); false for a source.
        record: access record of the link where the link has one of its own (bot memory): its rules replace the
            source's own; ``()`` inherits the source's rules; None is a missing proof.
    """

    source: NodeId
    target: NodeId
    ends: bool = False
    record: tuple[Rule, ...] | None = field(default=())
