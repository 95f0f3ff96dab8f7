"""Erasing a source for good: its text, quotes, audit images, keyword texts and bytes; ids, hashes, times stay (KN-81)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graph.model.edges import Edge, EdgeType
from graph.model.errors import OperationRejected
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Episode, Source, SourceState
from graph.model.nodes.knowledge import BlockVersion
from graph.model.nodes.work import AuditRecord
from graph.rules.audit_chain import ERASED, AuditDraft
from graph.rules.audit_operations import AuditOperation
from graph.rules.changes import Changes
from graph.rules.images import erase_image
from graph.services.access.commands import Command
from graph.services.audience import hold_dependents
from graph.services.knowledge.message_texts import reindex_around
from graph.services.knowledge.withdrawal import versions_of
from graph.services.ledger import COMMIT_GUARD, Commit, commit
from graph.services.settings import load_settings
from graph.store.port import Reader, Writer
from graph.store.query import And, Direction, Eq, Find, In
from graph.text.words import forget_cached_words


@dataclass(frozen=True, kw_only=True, slots=True)
class ErasureReceipt:
    """What was erased: numbers by kind of copy, the audit record, and bytes that no row names any more."""

    counts: Mapping[str, int]
    record: AuditRecord
    source: Source
    orphaned_blobs: tuple[str, ...]


async def erase_source(cmd: Command, source_id: NodeId, reason: str) -> ErasureReceipt:
    """Erase all versions of a source; the bytes named in the receipt are removed by the caller after commit.

    Raises:
        Forbidden: only an admin erases.
        OperationRejected: ``REASON_REQUIRED``.
        NotFound: no such source.
    """
    cmd.require_admin()
    if not reason.strip():
        raise OperationRejected("REASON_REQUIRED", "say why the source is erased")
    ids = [v.id for v in await versions_of(cmd.writer, cmd, source_id)]
    dependents = await hold_dependents(cmd.writer, ids)
    versions = await versions_of(cmd.writer, cmd, source_id)
    counts: Counter[str] = Counter()
    changes = Changes(reguard=set(ids))
    for version in versions:
        _blank_source(changes, counts, version)
    await _blank_quotes(cmd.writer, ids, counts)
    await _blank_images(cmd.writer, ids, counts)
    await _drop_derived(cmd.writer, changes, counts, sorted(dependents - set(ids)))
    changes.drafts.append(_draft(cmd, versions[0], ids, reason))
    record = await _commit(cmd, changes, versions)
    forget_cached_words()
    orphaned = await _orphaned(cmd.writer, versions)
    counts["blobs"] = len(orphaned)
    erased = replace(versions[0], text=ERASED, state=SourceState.ERASED)
    return ErasureReceipt(counts=dict(counts), record=record, source=erased, orphaned_blobs=orphaned)


def _blank_source(changes: Changes, counts: Counter[str], version: Source) -> None:
    counts["sources"] += 1
    changes.patch(
        version.id,
        text=ERASED,
        title=None if version.title is None else ERASED,
        meta=None,
        blob_ref=None,
        state=str(SourceState.ERASED),
    )


async def _blank_quotes(writer: Writer, ids: Sequence[NodeId], counts: Counter[str]) -> None:
    edges = await writer.edges(COMMIT_GUARD, ids, [EdgeType.CITES], Direction.IN)
    blanked = [_blank(edge) for edge in edges]
    await writer.link(blanked)
    counts["quotes"] += len(blanked)


def _blank(edge: Edge) -> Edge:
    return replace(edge, props={**edge.props, "quote": ERASED})


async def _blank_images(writer: Writer, ids: Sequence[NodeId], counts: Counter[str]) -> None:
    edges = await writer.edges(COMMIT_GUARD, ids, [EdgeType.IMAGES], Direction.IN)
    records = await writer.get(COMMIT_GUARD, sorted({edge.source for edge in edges}))
    patches = {r.id: _blank_record(r) for r in records.values() if isinstance(r, AuditRecord)}
    await writer.patch_many(patches)
    counts["audit_images"] += len(patches)


def _blank_record(record: AuditRecord) -> dict[str, object]:
    return {
        "before": None if record.before is None else ERASED,
        "after": None if record.after is None else ERASED,
        "salt": "",
    }


async def _drop_derived(writer: Writer, changes: Changes, counts: Counter[str], dependents: Sequence[NodeId]) -> None:
    """Drop keyword texts, vectors and summaries of what rests on the source: all of it is hidden from now on."""
    texts = await writer.texts_of(dependents)
    changes.untexts += [text.id for text in texts]
    counts["keyword_texts"] += len(texts)
    for node in (await writer.get(COMMIT_GUARD, dependents)).values():
        if _drop_vector(changes, node):
            counts["vectors"] += 1
        if isinstance(node, Episode):
            changes.patch(node.id, topic=ERASED, summary=ERASED, questions=(), conclusions=None, systems=())
            counts["episodes"] += 1


def _drop_vector(changes: Changes, node: Node) -> bool:
    if not isinstance(node, BlockVersion | Episode) or node.embedding is None:
        return False
    changes.patch(node.id, embedding=None, embedding_model=None)
    return True


def _draft(cmd: Command, first: Source, ids: Sequence[NodeId], reason: str) -> AuditDraft:
    return AuditDraft(
        operation=AuditOperation.SOURCE_ERASE,
        actor_id=cmd.facts.principal,
        actor_kind=cmd.actor_kind,
        target_id=first.id,
        target_kind="Source",
        after=erase_image(ids),
        reason=reason,
    )


async def _commit(cmd: Command, changes: Changes, versions: Sequence[Source]) -> AuditRecord:
    pool = versions[0].pool
    assert pool is not None
    language = (await load_settings(cmd.writer, cmd.caller.workspace))["search.default_language"]
    where = Commit(pool=pool, tx_id=cmd.tx_id, at=cmd.at, language=language)
    records = await commit(cmd.writer, cmd.deps, where, changes)
    await reindex_around(cmd.writer, [replace(v, state=SourceState.ERASED) for v in versions], language)
    await cmd.writer.increment(pool, "access_version")
    return records[-1]


async def _orphaned(reader: Reader, versions: Sequence[Source]) -> tuple[str, ...]:
    """Return the blobs of the erased versions that no other source names."""
    refs = sorted({v.blob_ref for v in versions if v.blob_ref})
    if not refs:
        return ()
    left = await reader.find(COMMIT_GUARD, Find(kind=Source, where=And((In("blob_ref", refs), Eq("state", "live")))))
    return tuple(sorted(set(refs) - {source.blob_ref for source in left.nodes}))
