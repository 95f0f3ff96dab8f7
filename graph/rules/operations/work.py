"""The working copy of a state: operation n sees what 1 to n-1 did, and a refused one leaves no trace.

Each operation works on a `fork`; only if it is accepted does `adopt` take over its copy and its changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.time import Millis
from graph.rules.changes import Changes
from graph.rules.knowledge_settings import Settings
from graph.rules.operations.actors import ActorRules
from graph.rules.operations.state import (
    BlockState,
    Cited,
    EntryState,
    KnowledgeState,
    LessonState,
    MemoState,
    NameOwner,
    RelationState,
    Support,
)
from graph.rules.pools import scope_of
from graph.rules.scopes import KbScope
from graph.text.tokens import DEFAULT_TOKENIZER


@dataclass(kw_only=True, slots=True)
class Work:
    """A state that grows, with the changes that made it.

    Attributes:
        new_id: makes the id of a node from the prefix of its kind.
        count_tokens: what a text costs in the budget of a turn.
        reason: of the operation under way, else of the list.
        refs: entries made by the list, by the name that it gave them.
    """

    state: KnowledgeState
    actor: ActorRules
    settings: Settings
    at: Millis
    new_id: Callable[[str], NodeId]
    changes: Changes = field(default_factory=Changes)
    reason: str | None = None
    entries: dict[NodeId, EntryState] = field(default_factory=dict)
    blocks: dict[NodeId, BlockState] = field(default_factory=dict)
    relations: dict[NodeId, RelationState] = field(default_factory=dict)
    sources: dict[NodeId, Source] = field(default_factory=dict)
    names: dict[str, NameOwner] = field(default_factory=dict)
    same_names: dict[str, NodeId] = field(default_factory=dict)
    visible: set[NodeId] = field(default_factory=set)
    roots: dict[NodeId, frozenset[NodeId]] = field(default_factory=dict)
    rumours: dict[NodeId, tuple[Cited, ...]] = field(default_factory=dict)
    refs: dict[str, NodeId] = field(default_factory=dict)
    lessons: dict[NodeId, LessonState] = field(default_factory=dict)
    memo: MemoState | None = None
    count_tokens: Callable[[str], int] = DEFAULT_TOKENIZER.count

    @classmethod
    def on(
        cls,
        state: KnowledgeState,
        actor: ActorRules,
        settings: Settings,
        at: Millis,
        new_id: Callable[[str], NodeId],
    ) -> Work:
        """Return a working copy of `state` to which nothing was done yet."""
        return cls(
            state=state,
            actor=actor,
            settings=settings,
            at=at,
            new_id=new_id,
            reason=actor.reason,
            entries=dict(state.entries),
            blocks=dict(state.blocks),
            relations=dict(state.relations),
            sources=dict(state.sources),
            names=dict(state.names),
            same_names=dict(state.same_names),
            visible=set(state.visible),
            roots=dict(state.roots),
            rumours=dict(state.rumours),
            lessons=dict(state.lessons),
            memo=state.memo,
        )

    def fork(self, reason: str | None = None) -> Work:
        """Return a copy for one operation, with changes of its own."""
        return Work(
            state=self.state,
            actor=self.actor,
            settings=self.settings,
            at=self.at,
            new_id=self.new_id,
            reason=reason or self.reason,
            entries=dict(self.entries),
            blocks=dict(self.blocks),
            relations=dict(self.relations),
            sources=dict(self.sources),
            names=dict(self.names),
            same_names=dict(self.same_names),
            visible=set(self.visible),
            roots=dict(self.roots),
            rumours=dict(self.rumours),
            refs=dict(self.refs),
            lessons=dict(self.lessons),
            memo=self.memo,
            count_tokens=self.count_tokens,
        )

    def adopt(self, done: Work) -> None:
        """Take over what an accepted operation did."""
        self.entries, self.blocks, self.relations = done.entries, done.blocks, done.relations
        self.sources, self.names, self.same_names = done.sources, done.names, done.same_names
        self.visible, self.roots, self.rumours, self.refs = done.visible, done.roots, done.rumours, done.refs
        self.lessons, self.memo = done.lessons, done.memo
        self.changes.follow(done.changes)

    @property
    def scope(self) -> KbScope:
        """What identifies the knowledge base that is written."""
        return scope_of(self.state.base)

    @property
    def pool(self) -> NodeId:
        """Id of the knowledge base that is written."""
        return self.state.base.id

    def scope_of_pool(self, pool: NodeId | None) -> KbScope | None:
        """Return what identifies a pool that was seen; None if it is no knowledge base."""
        return self.scope if pool == self.pool else self.state.scopes.get(pool) if pool else None

    def blocks_of(self, entry: NodeId) -> list[BlockState]:
        """Return the blocks of an entry in their order."""
        own = (state for state in self.blocks.values() if state.entry_id == entry)
        return sorted(own, key=lambda state: (state.block.position, state.id))

    def relations_of(self, entry: NodeId) -> list[RelationState]:
        """Return the current relations at an entry that live in this base, in id order."""
        own = (s for s in self.relations.values() if entry in (s.relation.subject_id, s.relation.object_id))
        return sorted((s for s in own if s.relation.pool == self.pool), key=lambda s: s.id)

    def sources_behind(self, *supports: Support) -> tuple[str, ...]:
        """Return the raw sources behind what statements rest on, at any distance, in id order."""
        found: set[str] = set()
        for support in supports:
            found.update(cited.source for cited in support.citations)
            for basis in support.derived_from:
                found.update(self.roots.get(basis, frozenset()))
        return tuple(sorted(found))

    def remember_roots(self, statement: NodeId, support: Support) -> None:
        """Note which raw sources are behind a new statement."""
        self.roots[statement] = frozenset(NodeId(source) for source in self.sources_behind(support))

    def remember_rumour(self, support: Support) -> None:
        """Note what a new unconfirmed statement quotes (DR-73)."""
        for cited in support.citations:
            self.rumours[cited.source] = (*self.rumours.get(cited.source, ()), cited)

    def text_of(self, source: NodeId) -> str:
        """Return the text of a source that the actor may see, else nothing."""
        found = self.sources.get(source)
        return found.text if found else ""
