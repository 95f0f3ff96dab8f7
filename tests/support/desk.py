"""A pure world for the operation list: sources and statements as values, lists applied one after the other.

`Desk` keeps the state that each list leaves, so that a test reads like a story; nothing is stored anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from graph.model.edges import Edge
from graph.model.ids import NodeId, WorkspaceId, node_id
from graph.model.nodes.evidence import Source, SourceKind
from graph.model.nodes.knowledge import BlockVersion, KbKind, KnowledgeBase, ModifierKind
from graph.model.time import Millis, parse
from graph.rules.audit_chain import AuditDraft
from graph.rules.ingest import content_hash
from graph.rules.knowledge_settings import Settings, with_values
from graph.rules.operations.actors import ActorRules
from graph.rules.operations.parsing import parse_operations
from graph.rules.operations.planner import plan_on
from graph.rules.operations.state import BlockState, EntryState, GuideLimits, KnowledgeState, RelationState
from graph.rules.operations.verdicts import Plan
from graph.rules.operations.work import Work
from graph.rules.pools import new_base, scope_of
from tests.support.ids import SequentialIds

WORKSPACE = "w"
ATLAS = NodeId("prn_w/agent/atlas")
ANA, BEN, LIN = (NodeId(f"prn_w/human/{name}") for name in ("ana", "ben", "lin"))
NOW = parse("2025-05-10T09:00:00Z")

DREAMING = ActorRules(id=ATLAS, kind=ModifierKind.DREAMING, name="Dreaming")
AGENT = ActorRules(id=ATLAS, kind=ModifierKind.AGENT, name="Atlas")
HUMAN = ActorRules(id=ANA, kind=ModifierKind.HUMAN, name="Ana", reason="a test")


def base(kind: KbKind = KbKind.SHARED, channel: NodeId | None = None) -> KnowledgeBase:
    return new_base(WORKSPACE, ATLAS, kind, NOW, channel=channel)


@dataclass
class Desk:
    """The state of one knowledge base, and what is done to it."""

    actor: ActorRules = DREAMING
    base: KnowledgeBase = field(default_factory=base)
    at: Millis = NOW
    settings: Settings = field(default_factory=with_values)
    state: KnowledgeState = field(init=False)
    last: Plan | None = None
    ids: SequentialIds = field(default_factory=SequentialIds)

    def __post_init__(self) -> None:
        self.state = KnowledgeState(base=self.base, scopes={self.base.id: scope_of(self.base)})

    def source(
        self,
        text: str,
        *,
        by: NodeId | None = BEN,
        speaker: str = "Ben",
        at: str = "2025-05-09T12:00:00Z",
        kind: SourceKind = SourceKind.MESSAGE,
        pool: KnowledgeBase | None = None,
        visible: bool = True,
        **fields: Any,
    ) -> NodeId:
        """Put a source that the actor may see; of the base unless `pool` says otherwise."""
        id_ = self.new_id(Source.PREFIX)
        place = pool or self.base
        given = {"series": id_, "speaker_is_agent": by == ATLAS, **fields}
        source = Source(
            id=id_,
            workspace=WorkspaceId(WORKSPACE),
            pool=place.id,
            created_at=NOW,
            kind=kind,
            content_hash=content_hash(text),
            text=text,
            author_id=by,
            speaker=speaker,
            occurred_at=parse(at),
            recorded_at=NOW,
            **given,
        )
        self.state = replace(
            self.state,
            sources={**self.state.sources, id_: source} if visible else self.state.sources,
            visible=self.state.visible | ({id_} if visible else set()),
            scopes={**self.state.scopes, place.id: scope_of(place)},
        )
        return id_

    def task_result(self, step: str, final: str) -> NodeId:
        """Put a task result with one recorded step and a final answer."""
        text = f"{step}\n{final}"
        meta = {
            "state": "succeeded",
            "steps": [{"action": "read", "outcome": "ok", "start": 0, "end": len(step)}],
            "final": {"start": len(step) + 1, "end": len(text)},
        }
        return self.source(text, by=ATLAS, kind=SourceKind.TASK_RESULT, meta=meta)

    def apply(self, *operations: Any, by: ActorRules | None = None) -> Plan:
        """Plan a list and keep what it leaves, as a commit would."""
        work = Work.on(self.state, by or self.actor, self.settings, self.at, self.new_id)
        parsed = parse_operations(operations, max_operations=self.settings["dream.max_operations"])
        self.last = plan_on(work, parsed)
        whole = work.actor.skip_rejected or self.last.first_rejection is None
        if whole:
            self._keep(work)
        return self.last

    def codes(self, *operations: Any, by: ActorRules | None = None) -> list[str]:
        """Apply a list and return the code of each rejection, else the outcome."""
        return [verdict.code or str(verdict.outcome) for verdict in self.apply(*operations, by=by).verdicts]

    def code(self, operation: Any, by: ActorRules | None = None) -> str:
        """Apply one operation and return its code or outcome."""
        return self.codes(operation, by=by)[0]

    def made(self, operation: Any, place: int = 0, by: ActorRules | None = None) -> NodeId:
        """Apply one operation, which must be accepted, and return an id that it made."""
        verdict = self.apply(operation, by=by).verdicts[0]
        assert not verdict.is_rejected, (verdict.code, verdict.reason)
        return verdict.created[place]

    def set(self, **values: Any) -> None:
        """Set settings, with dots written as two underscores."""
        given = {name.replace("__", "."): value for name, value in values.items()}
        self.settings = with_values({**self.settings.values, **given})

    def guide(self, *types: str, min_evidence: int = 1) -> None:
        """Set what the Curation Guide enforces."""
        limits = GuideLimits(types=frozenset(types), min_evidence=min_evidence)
        self.state = replace(self.state, guide=limits)

    def new_id(self, prefix: str) -> NodeId:
        return node_id(prefix, self.ids.new())

    def entry(self, id_: NodeId) -> EntryState:
        return self.state.entries[id_]

    def blocks(self, entry: NodeId) -> list[BlockState]:
        own = (state for state in self.state.blocks.values() if state.entry_id == entry)
        return sorted(own, key=lambda state: state.block.position)

    def block(self, id_: NodeId) -> BlockState:
        return self.state.blocks[id_]

    def relation(self, id_: NodeId) -> RelationState:
        return self.state.relations[id_]

    @property
    def drafts(self) -> Sequence[AuditDraft]:
        """The audit records of the last list."""
        assert self.last is not None
        return self.last.changes.drafts

    def texts(self) -> list[str]:
        """Texts of the block versions that the last list puts."""
        assert self.last is not None
        return [node.text for node in self.last.changes.puts if isinstance(node, BlockVersion)]

    def links(self, type_: str) -> list[Edge]:
        """Edges of a type that the last list makes."""
        assert self.last is not None
        return [edge for edge in self.last.changes.links if edge.type == type_]

    def _keep(self, work: Work) -> None:
        self.state = replace(
            self.state,
            visible=frozenset(work.visible),
            entries=work.entries,
            blocks=work.blocks,
            relations=work.relations,
            sources=work.sources,
            names=work.names,
            same_names=work.same_names,
            roots=work.roots,
            block_of={
                **self.state.block_of,
                **{state.version.id: state.id for state in work.blocks.values()},
            },
            derivations=(
                *self.state.derivations,
                *(edge for edge in work.changes.links if edge.type == "DERIVED_FROM"),
            ),
        )
