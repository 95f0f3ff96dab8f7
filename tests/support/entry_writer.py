"""Writes entries, blocks and relations as given, through the ledger, for tests of reading.

Nothing is checked: a test may let statements rest on anything, also on what does not exist. What the contract allows
is written by `applyOperations`; this is for worlds that no operation would make.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.model.access import SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import (
    Attribute,
    Block,
    BlockVersion,
    Entry,
    EntryVersion,
    Facet,
    FacetField,
    KbKind,
    KnowledgeBase,
    Relation,
    RelationVersion,
)
from graph.rules.audit_chain import AuditDraft
from graph.rules.changes import Changes
from graph.rules.names import normalised_name
from graph.rules.pools import new_base
from graph.services.deps import Deps
from graph.services.knowledge.bases import ensure_base
from graph.services.ledger import Commit, commit, hold
from graph.store.port import Writer

TEST = SystemScope(reason="test")

EVIDENCE = {Source.PREFIX: EdgeType.CITES}


@dataclass(kw_only=True)
class EntryWriter:
    """Collects changes of one pool; `save` writes them in one transaction at the time of the clock.

    What statements rest on is given as ids: sources are cited, all else is a basis.
    """

    deps: Deps
    workspace: WorkspaceId
    owner: NodeId
    actor: NodeId
    actor_kind: str = "dreaming"
    changes: Changes = field(default_factory=Changes)

    async def base(self, kind: KbKind, channel: NodeId | None = None) -> NodeId:
        """Make sure that a knowledge base exists and return its id."""
        base = new_base(self.workspace, self.owner, kind, self.deps.now(), channel=channel)

        async def work(writer: Writer) -> KnowledgeBase:
            return await ensure_base(writer, base)

        return (await self.deps.store.transact(work)).id

    async def save(self, pool: NodeId) -> str:
        """Write what was collected and return the transaction id."""
        changes, self.changes = self.changes, Changes()
        tx_id = self.deps.ids.new()

        async def work(writer: Writer) -> None:
            await hold(writer, pool)
            await commit(writer, self.deps, Commit(pool=pool, tx_id=tx_id, at=self.deps.now()), changes)

        await self.deps.store.transact(work)
        return tx_id

    def source(self, pool: NodeId, text: str = "words", **values: Any) -> Source:
        """Hand in a source."""
        id_ = values.pop("id", None) or self.deps.new_id(Source.PREFIX)
        now = self.deps.now()
        defaults = {"kind": "message", "content_hash": id_, "speaker": "Ana", "occurred_at": now, "recorded_at": now}
        source = Source(id=id_, text=text, **self._place(pool), **{"series": id_, **defaults, **values})
        self.changes.puts.append(source)
        return source

    def entry(
        self,
        pool: NodeId,
        name: str,
        *,
        type: str = "person",
        rests_on: Iterable[NodeId] = (),
        aliases: Mapping[str, Sequence[NodeId]] | None = None,
        summary: tuple[str, Sequence[NodeId]] | None = None,
        **values: Any,
    ) -> Entry:
        """Make an entry with its first names; the name rests on `rests_on`."""
        now = self.deps.now()
        entry = Entry(
            id=self.deps.new_id(Entry.PREFIX),
            **self._place(pool),
            **{
                "owner_id": self.owner,
                "live_name": normalised_name(name),
                "name": name,
                "type": type,
                "origin": "dreaming",
                "updated_at": now,
                "last_modifier_id": self.actor,
                **values,
            },
        )
        self.changes.puts.append(entry)
        self._link(EdgeType.CONTAINS, pool, entry.id)
        facet = self.facet(entry, FacetField.NAME, name, rests_on)
        self._link(EdgeType.SHOWN_BY, entry.id, facet.id)
        for alias, evidence in (aliases or {}).items():
            self.facet(entry, FacetField.ALIAS, alias, evidence)
        if summary is not None:
            self.facet(entry, FacetField.SUMMARY, *summary)
        self.entry_version(entry, facet, aliases=tuple(aliases or ()))
        self.audit("entry.create", entry.id, sources=rests_on)
        return entry

    def entry_version(
        self, entry: Entry, name: Facet, *, number: int = 1, aliases: tuple[str, ...] = ()
    ) -> EntryVersion:
        """Put a version of an entry, seen through its name."""
        version = EntryVersion(
            id=self.deps.new_id(EntryVersion.PREFIX),
            **self._place(entry.pool),
            **self._modifier(),
            entry_id=entry.id,
            version=number,
            name=name.value,
            norm_name=normalised_name(name.value),
            type=entry.type,
            aliases=aliases,
            recorded_at=self.deps.now(),
        )
        self.changes.puts.append(version)
        self._link(EdgeType.HAS_VERSION, entry.id, version.id)
        self._link(EdgeType.SHOWN_BY, version.id, name.id)
        return version

    def facet(self, entry: Entry, kind: FacetField, value: str, rests_on: Iterable[NodeId]) -> Facet:
        """Put a name, alias or summary."""
        facet = Facet(
            id=self.deps.new_id(Facet.PREFIX),
            **self._place(entry.pool),
            entry_id=entry.id,
            field=kind,
            value=value,
            norm_value=normalised_name(value) if kind is not FacetField.SUMMARY else "",
            recorded_at=self.deps.now(),
        )
        self.changes.puts.append(facet)
        self._link(EdgeType.HAS_FACET, entry.id, facet.id)
        self.rest(facet.id, rests_on)
        self.changes.text(facet.id, entry.id, kind, value)
        return facet

    def rename(self, entry: Entry, old: EntryVersion, old_name: Facet, name: str, rests_on: Iterable[NodeId]) -> None:
        """Give an entry another name."""
        facet = self.facet(entry, FacetField.NAME, name, rests_on)
        now = self.deps.now()
        self.changes.patch(old.id, invalidated_at=now)
        self.changes.patch(old_name.id, invalidated_at=now)
        self.changes.untext(old_name.id, FacetField.NAME)
        self.changes.unlinks.append(Edge(type=EdgeType.SHOWN_BY, source=entry.id, target=old_name.id))
        self._link(EdgeType.SHOWN_BY, entry.id, facet.id)
        self.changes.touched.add(entry.id)
        self.changes.patch(entry.id, name=name, live_name=normalised_name(name), current_version=old.version + 1)
        self.entry_version(entry, facet, number=old.version + 1)

    def delete(self, entry: Entry, versions: Iterable[BlockVersion] = ()) -> None:
        """Delete an entry: its names stay as history, its blocks end."""
        self.changes.patch(entry.id, deleted_at=self.deps.now(), live_name=None)
        self.changes.reguard.add(entry.id)
        for version in versions:
            self.changes.patch(version.id, invalidated_at=self.deps.now())
            self.changes.untext(version.id, "block")
        self.audit("entry.delete", entry.id)

    def block(
        self, entry: Entry, text: str, rests_on: Iterable[NodeId], *, position: int = 0, **values: Any
    ) -> BlockVersion:
        """Put a block and return its first version."""
        block = Block(
            id=self.deps.new_id(Block.PREFIX), **self._place(entry.pool), entry_id=entry.id, position=position
        )
        self.changes.puts.append(block)
        self._link(EdgeType.HAS_BLOCK, entry.id, block.id)
        return self._version(block, text, rests_on, 1, "block.create", values)

    def edit(self, old: BlockVersion, text: str, rests_on: Iterable[NodeId], **values: Any) -> BlockVersion:
        """Put the next version of a block."""
        self.changes.patch(old.id, invalidated_at=self.deps.now())
        self.changes.untext(old.id, "block")
        self.changes.patch(old.block_id, current_version=old.version + 1)
        self.changes.touched.add(old.block_id)
        block = Block(id=old.block_id, **self._place(old.pool), entry_id=old.entry_id, position=0)
        made = self._version(block, text, rests_on, old.version + 1, "block.edit", values)
        self._link(EdgeType.SUPERSEDES, made.id, old.id)
        return made

    def end(self, version: BlockVersion) -> None:
        """End a block."""
        self.changes.patch(version.id, invalidated_at=self.deps.now())
        self.changes.untext(version.id, "block")
        self.changes.patch(version.block_id, deleted_at=self.deps.now())
        self.audit("block.delete", version.block_id)

    def attribute(self, entry: Entry, key: str, value: Any, rests_on: Iterable[NodeId], **values: Any) -> Attribute:
        """Put a value of an attribute."""
        attribute = Attribute(
            id=self.deps.new_id(Attribute.PREFIX),
            **self._place(entry.pool),
            **self._modifier(),
            **{"entry_id": entry.id, "key": key, "value": value, "recorded_at": self.deps.now(), **values},
        )
        self.changes.puts.append(attribute)
        self._link(EdgeType.HAS_ATTRIBUTE, entry.id, attribute.id)
        self.rest(attribute.id, rests_on)
        return attribute

    def relate(
        self, subject: Entry, type: str, object: Entry, rests_on: Iterable[NodeId], **values: Any
    ) -> tuple[Relation, RelationVersion]:
        """Put a relation with its first version."""
        relation = Relation(
            id=self.deps.new_id(Relation.PREFIX),
            **self._place(subject.pool),
            subject_id=subject.id,
            type=type,
            object_id=object.id,
        )
        version = RelationVersion(
            id=self.deps.new_id(RelationVersion.PREFIX),
            **self._place(subject.pool),
            **self._modifier(),
            **{"relation_id": relation.id, "version": 1, "recorded_at": self.deps.now(), **values},
        )
        self.changes.puts += [relation, version]
        self._link(EdgeType.SUBJECT, relation.id, subject.id)
        self._link(EdgeType.OBJECT, relation.id, object.id)
        self._link(EdgeType.HAS_VERSION, relation.id, version.id)
        self._link(EdgeType.SHOWN_BY, version.id, relation.id)
        self.changes.links.append(
            Edge(type=EdgeType.RELATES, source=subject.id, target=object.id, key=relation.id, props={"type": type})
        )
        self.rest(relation.id, rests_on)
        self.audit("relation.add", relation.id, sources=rests_on)
        return relation, version

    def retract(self, relation: Relation, version: RelationVersion) -> None:
        """Take a relation back."""
        self.changes.patch(version.id, invalidated_at=self.deps.now())
        self.changes.patch(relation.id, current=False)
        edge = Edge(type=EdgeType.RELATES, source=relation.subject_id, target=relation.object_id, key=relation.id)
        self.changes.unlinks.append(edge)
        self.audit("relation.remove", relation.id)

    def rest(self, statement: NodeId, rests_on: Iterable[NodeId]) -> None:
        """Let a statement rest on sources (cited) or other statements (its basis)."""
        for place, id_ in enumerate(rests_on):
            kind = EVIDENCE.get(id_.partition("_")[0], EdgeType.DERIVED_FROM)
            props = {"quote": "words", "start": 0, "end": 5, "role": "supports", "said_at": None, "speaker_id": None}
            self.changes.links.append(
                Edge(
                    type=kind,
                    source=statement,
                    target=id_,
                    key=f"{place}" if kind is EdgeType.CITES else "",
                    props=props if kind is EdgeType.CITES else {},
                )
            )

    def audit(self, operation: str, target: NodeId, *, sources: Iterable[NodeId] = (), **values: Any) -> None:
        """Add an audit record whose images rest on sources."""
        self.changes.drafts.append(
            AuditDraft(
                **{
                    "operation": operation,
                    "actor_id": self.actor,
                    "actor_kind": self.actor_kind,
                    "target_id": target,
                    "target_kind": "",
                    "image_sources": tuple(sorted({id_ for id_ in sources if id_.startswith("src_")})),
                    **values,
                }
            )
        )

    def _version(
        self, block: Block, text: str, rests_on: Iterable[NodeId], number: int, operation: str, values: dict[str, Any]
    ) -> BlockVersion:
        defaults = {"basis": "stated", "standing": "settled", "recorded_at": self.deps.now()}
        version = BlockVersion(
            id=self.deps.new_id(BlockVersion.PREFIX),
            **self._place(block.pool),
            **{**self._modifier(), **defaults, **values},
            block_id=block.id,
            entry_id=block.entry_id,
            version=number,
            text=text,
        )
        self.changes.puts.append(version)
        self._link(EdgeType.HAS_VERSION, block.id, version.id)
        self._link(EdgeType.SHOWN_BY, block.id, version.id)
        self.rest(version.id, rests_on)
        self.changes.text(version.id, block.entry_id, "block", text)
        self.audit(operation, block.id, sources=rests_on)
        return version

    def _link(self, type: EdgeType, source: NodeId, target: NodeId) -> None:
        self.changes.links.append(Edge(type=type, source=source, target=target))

    def _place(self, pool: NodeId | None) -> dict[str, Any]:
        return {"workspace": self.workspace, "pool": pool, "created_at": self.deps.now()}

    def _modifier(self) -> dict[str, Any]:
        return {"modifier_id": self.actor, "modifier_kind": self.actor_kind}
