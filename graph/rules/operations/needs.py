"""What must be known of the present before a list can be decided on: the ids and names that it speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Basis
from graph.rules.names import normalised_name
from graph.rules.operations.naming import clean_name
from graph.rules.operations.schema import (
    AddBlock,
    AddRelation,
    CreateEntry,
    DeleteBlock,
    EditBlock,
    Operation,
    RemoveRelation,
    RenameEntry,
    SetAliases,
    SetAttributes,
    SetSummary,
    SetType,
    UpdateSkillOverlay,
    WriteMemo,
    blocks_in,
    citations_in,
)
from graph.rules.operations.schema_parts import BlockIn
from graph.text.similarity import name_key


@dataclass(frozen=True, kw_only=True, slots=True)
class Needs:
    """What a list names. Ids may be of any kind, exist or not, or be a `ref` of the list.

    Attributes:
        edited: entries that the list changes.
        pointed: entries that it only points to.
        blocks, relations: those it changes or names as a basis.
        cited: whatever it cites.
        principals: whom it links entries to.
        names, keys: normalised names and name keys that it gives to entries.
        triples: whether it adds relations, so that equal ones must be known.
        hearsay: whether it adds relations or deletes blocks, so that what unconfirmed blocks quote must be known.
        said: entries in whose blocks and sources a new name or alias is looked for.
        moved: entries that get another type, and blocks whose evidence goes elsewhere or is left as it is: what they
            cite must be known.
        deduces: whether a deduction is among it.
        near: whether an entry of inductions alone may be made, so that all readable names must be known.
        skills: slugs of the Skills whose lessons it changes.
        lessons: lessons that it replaces or removes.
        memo: whether it writes the resident memo.
    """

    edited: frozenset[NodeId] = frozenset()
    pointed: frozenset[NodeId] = frozenset()
    blocks: frozenset[NodeId] = frozenset()
    relations: frozenset[NodeId] = frozenset()
    cited: frozenset[NodeId] = frozenset()
    principals: frozenset[NodeId] = frozenset()
    names: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    triples: frozenset[tuple[NodeId, str, NodeId]] = frozenset()
    hearsay: bool = False
    said: frozenset[NodeId] = frozenset()
    moved: frozenset[NodeId] = frozenset()
    deduces: bool = False
    near: bool = False
    skills: frozenset[str] = frozenset()
    lessons: frozenset[NodeId] = frozenset()
    memo: bool = False

    @property
    def named(self) -> frozenset[NodeId]:
        """All ids of nodes of which the actor's right to see them decides."""
        return self.edited | self.pointed | self.blocks | self.relations | self.cited | self.lessons


def needs_of(operations: Iterable[Operation]) -> Needs:
    """Return what a list names."""
    listed = list(operations)
    names = [clean_name(op.name) for op in listed if isinstance(op, CreateEntry | RenameEntry)]
    bases = frozenset(id_ for op in listed for id_ in _bases(op))
    return Needs(
        edited=_ids(_edited(op) for op in listed),
        pointed=_ids(_pointed(op) for op in listed),
        blocks=_ids(_blocks(op) for op in listed) | bases,
        relations=_ids(
            (op.relation for op in listed if isinstance(op, RemoveRelation)),
        )
        | bases,
        cited=frozenset(NodeId(citation.source) for op in listed for citation in citations_in(op)),
        principals=frozenset(NodeId(op.principal) for op in listed if isinstance(op, CreateEntry) and op.principal),
        names=frozenset(normalised_name(name) for name in names),
        keys=frozenset(name_key(name) for name in names),
        triples=frozenset(
            (NodeId(op.subject), op.type, NodeId(op.object)) for op in listed if isinstance(op, AddRelation)
        ),
        hearsay=any(isinstance(op, AddRelation | DeleteBlock) for op in listed),
        said=frozenset(NodeId(op.entry) for op in listed if isinstance(op, SetAliases | RenameEntry)),
        moved=_ids(_moved(op) for op in listed),
        deduces=any(block.basis is Basis.DEDUCED for op in listed for block in blocks_in(op)),
        near=any(_may_be_induced(op) for op in listed),
        skills=frozenset(op.skill for op in listed if isinstance(op, UpdateSkillOverlay)),
        lessons=frozenset(NodeId(op.lesson) for op in listed if isinstance(op, UpdateSkillOverlay) and op.lesson),
        memo=any(isinstance(op, WriteMemo) for op in listed),
    )


def _ids(given: Iterable[Iterable[str] | str]) -> frozenset[NodeId]:
    return frozenset(NodeId(id_) for ids in given for id_ in ([ids] if isinstance(ids, str) else ids))


def _edited(op: Operation) -> Iterator[str]:
    match op:
        case RenameEntry() | SetType() | SetSummary() | SetAliases() | SetAttributes() | AddBlock():
            yield op.entry
        case _:
            return


def _pointed(op: Operation) -> Iterator[str]:
    match op:
        case AddRelation():
            yield from (op.subject, op.object)
        case CreateEntry() if op.sameAs:
            yield op.sameAs
        case _:
            return


def _blocks(op: Operation) -> Iterator[str]:
    if isinstance(op, EditBlock | DeleteBlock):
        yield op.block
    if isinstance(op, DeleteBlock) and op.duplicateOf:
        yield op.duplicateOf
    if isinstance(op, SetSummary):
        yield from op.fromBlocks
    if isinstance(op, BlockIn):
        yield from op.supersedes
        if op.after:
            yield op.after


def _moved(op: Operation) -> Iterator[str]:
    if isinstance(op, SetType):
        yield op.entry
    if isinstance(op, DeleteBlock) and op.duplicateOf:
        yield op.block
    if isinstance(op, EditBlock) and not op.citations:
        yield op.block


def _bases(op: Operation) -> Iterator[NodeId]:
    for block in blocks_in(op):
        if block.deduction is not None:
            yield from map(NodeId, block.deduction.basis)


def _may_be_induced(op: Operation) -> bool:
    """True for an entry of which inductions alone may be left when its other blocks are refused."""
    return isinstance(op, CreateEntry) and any(block.basis is Basis.INDUCED for block in op.blocks)
