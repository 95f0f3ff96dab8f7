"""What a decision wants written, as a value: pure rules make it, one shell writes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from graph.model.access import Clause
from graph.model.edges import Edge
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.rules.audit_chain import AuditDraft


@dataclass(frozen=True, kw_only=True, slots=True)
class NewText:
    """A text to put into a keyword index; the shell makes its words."""

    guard: NodeId
    item: NodeId
    part: str
    text: str


@dataclass(kw_only=True, slots=True)
class Changes:
    """A list of changes that grows while a decision is worked out.

    Order of writing: puts, patches, unlinks, links, guards, texts. Guards of new nodes follow from their kind and
    the rule of their pool; `reguard` names existing nodes whose guard facts changed (their patched node is read
    again), `touched` further nodes whose audience must be worked out anew (an end of a link that changed).
    """

    puts: list[Node] = field(default_factory=list)
    patches: dict[NodeId, dict[str, Any]] = field(default_factory=dict)
    expected: dict[NodeId, Mapping[str, Any]] = field(default_factory=dict)
    unlinks: list[Edge] = field(default_factory=list)
    links: list[Edge] = field(default_factory=list)
    reguard: set[NodeId] = field(default_factory=set)
    touched: set[NodeId] = field(default_factory=set)
    texts: list[NewText] = field(default_factory=list)
    untexts: list[str] = field(default_factory=list)
    drafts: list[AuditDraft] = field(default_factory=list)
    own_rules: dict[NodeId, Clause] = field(default_factory=dict)
    """Rules of new nodes that are not those of their pool."""

    def patch(self, node: NodeId, **changes: Any) -> None:
        """Set fields of an existing node, or of one that this list puts."""
        for index, put in enumerate(self.puts):
            if put.id == node:
                self.puts[index] = _replaced(put, changes)
                return
        self.patches.setdefault(node, {}).update(changes)

    def text(self, guard: NodeId, item: NodeId, part: str, text: str) -> None:
        """Put a text into the entry index."""
        self.texts.append(NewText(guard=guard, item=item, part=part, text=text))

    def untext(self, guard: NodeId, part: str) -> None:
        """Take a text out of its index, be it stored or only in this list."""
        self.texts = [t for t in self.texts if (t.guard, t.part) != (guard, part)]
        self.untexts.append(text_id(guard, part))

    def follow(self, later: Changes) -> None:
        """Take over the changes of a later step: it may patch, unlink or untext what this list only just makes."""
        self.puts += later.puts
        for node, changes in later.patches.items():
            self.patch(node, **changes)
        self.expected.update(later.expected)
        fresh = {node.id for node in later.puts}  # nothing here can be about these
        replaced = {edge.identity for edge in later.unlinks}
        replaced.update(e.identity for e in later.links if e.source not in fresh and e.target not in fresh)
        if replaced:
            self.links = [edge for edge in self.links if edge.identity not in replaced]
        self.links += later.links
        self.unlinks += later.unlinks
        self.reguard |= later.reguard
        self.touched |= later.touched
        dropped = {*later.untexts, *(text_id(t.guard, t.part) for t in later.texts if t.guard not in fresh)}
        if dropped:
            self.texts = [t for t in self.texts if text_id(t.guard, t.part) not in dropped]
        self.texts += later.texts
        self.untexts += later.untexts
        self.drafts += later.drafts
        self.own_rules.update(later.own_rules)


def text_id(guard: NodeId, part: str) -> str:
    """Return the id of the keyword text that hangs on `guard` as `part`."""
    return f"{guard}#{part}"


def _replaced(node: Node, changes: Mapping[str, Any]) -> Node:
    return replace(node, **changes)
