"""Erasing a source for good: its text, quotes, audit images, keyword texts, vectors and bytes (KN-81).

Ids, hashes and times stay. What rests on the source is hidden by the law; of what can never be seen again the content
goes too, since it repeats the source's words (`graph.rules.erasing`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph.model.edges import LAW_EDGES, Edge, EdgeType
from graph.model.errors import OperationRejected, StoreError
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import LearningState, Source, SourceState
from graph.model.nodes.knowledge import EntryVersion, Facet
from graph.model.nodes.work import AuditRecord
from graph.rules.audit_chain import ERASED, AuditDraft, SealedAudit, erase_images
from graph.rules.audit_operations import AuditOperation
from graph.rules.changes import Changes
from graph.rules.erasing import blanked, lost_for_ever, without_facets
from graph.rules.images import erase_image
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.admin.blobs import remove_unnamed
from graph.services.audience import hold_dependents, law_edge
from graph.services.blob_rows import named_blobs
from graph.services.deps import Deps
from graph.services.knowledge.materials import job_of
from graph.services.knowledge.message_texts import reindex_around
from graph.services.knowledge.withdrawal import versions_of
from graph.services.learning.model_calls import blank_calls
from graph.services.learning.stage_a import companions, read_again
from graph.services.ledger import COMMIT_GUARD, Commit, commit
from graph.services.settings import load_settings
from graph.store.port import Reader, Writer
from graph.store.query import Direction, Find, In
from graph.text.words import forget_cached_words

_UNDER_WAY = (LearningState.QUEUED, LearningState.RUNNING)


@dataclass(frozen=True, kw_only=True, slots=True)
class ErasureReceipt:
    """What was erased.

    Attributes:
        counts: number of copies by kind.
        record: the audit record.
        source: the source as it is now.
        orphaned_blobs: bytes that no row names any more; they go after the commit (`finish_erasure`).
    """

    counts: Mapping[str, int]
    record: AuditRecord
    source: Source
    orphaned_blobs: tuple[str, ...]


async def erase(deps: Deps, caller: Caller, source_id: NodeId, reason: str) -> ErasureReceipt:
    """Erase a source with its bytes; raises like `erase_source`."""
    receipt = await command(deps, caller, lambda cmd: erase_source(cmd, source_id, reason))
    await finish_erasure(deps, receipt)
    return receipt


async def finish_erasure(deps: Deps, receipt: ErasureReceipt) -> None:
    """Remove the bytes of an erasure that was committed, and what is left of its words inside the store.

    If the bytes cannot be removed now, the collector of blobs removes them; if the store cannot be scrubbed, it is
    with the next erasure.
    """
    await remove_unnamed(deps, receipt.orphaned_blobs)
    try:
        await deps.store.scrub()
    except StoreError:  # the erasure is committed: it must not look as if it failed
        deps.figures.count("scrub_failed")


async def erase_source(cmd: Command, source_id: NodeId, reason: str) -> ErasureReceipt:
    """Erase all versions of a source; call `finish_erasure` after the commit.

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
    ids = [v.id for v in versions]
    counts: Counter[str] = Counter()
    changes = Changes(reguard=set(ids))
    for version in versions:
        changes.patch(version.id, **_without_content(version))
    counts["sources"] = len(versions)
    await _end_learning(cmd.writer, changes, versions)
    await _blank_quotes(cmd.writer, ids, counts)
    await _blank_images(cmd.writer, ids, counts)
    await _blank_lost(cmd.writer, changes, counts, ids, dependents)
    counts["model_calls"] = await blank_calls(cmd.writer, {*ids, *dependents})
    changes.drafts.append(_draft(cmd, versions[0], ids, reason))
    record = await _commit(cmd, changes, versions, counts)
    forget_cached_words()
    blobs = {v.blob_ref for v in versions if v.blob_ref}
    orphaned = tuple(sorted(blobs - await named_blobs(cmd.writer, blobs)))
    counts["blobs"] = len(orphaned)
    asked = next(v for v in versions if v.id == source_id)
    erased = replace(asked, **_without_content(asked))
    return ErasureReceipt(counts=dict(counts), record=record, source=erased, orphaned_blobs=orphaned)


def _without_content(version: Source) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "text": ERASED,
        "title": None if version.title is None else ERASED,
        "meta": None,
        "blob_ref": None,
        "state": str(SourceState.ERASED),
    }
    if version.learning_state in _UNDER_WAY:
        fields |= {"learning_state": str(LearningState.FAILED), "learning_code": "ERASED"}
    return fields


async def _end_learning(writer: Writer, changes: Changes, versions: Sequence[Source]) -> None:
    """Keep what was still to be learned from the source from being learned."""
    for version in versions:
        job = await job_of(writer, version.id) if version.learning_state in _UNDER_WAY else None
        if job is not None:  # the fence keeps a worker that is at it from committing
            changes.patch(job.id, state=str(LearningState.FAILED), last_error="ERASED", fence=job.fence + 1)


async def _blank_quotes(writer: Writer, ids: Sequence[NodeId], counts: Counter[str]) -> None:
    edges = await writer.edges(COMMIT_GUARD, ids, [EdgeType.CITES], Direction.IN)
    await writer.link([_blank(edge) for edge in edges])
    counts["quotes"] += len(edges)


def _blank(edge: Edge) -> Edge:
    return replace(edge, props={**edge.props, "quote": ERASED})


async def _blank_images(writer: Writer, ids: Sequence[NodeId], counts: Counter[str]) -> None:
    edges = await writer.edges(COMMIT_GUARD, ids, [EdgeType.IMAGES], Direction.IN)
    records = await writer.get(COMMIT_GUARD, sorted({edge.source for edge in edges}))
    patches = {r.id: _blank_record(r) for r in records.values() if isinstance(r, AuditRecord)}
    await writer.patch_many(patches)
    counts["audit_images"] += len(patches)


def _blank_record(record: AuditRecord) -> dict[str, object]:
    """Blank images, and the reason, which may quote; in records of the first form the hash holds on to it."""
    blank = erase_images(SealedAudit.from_node(record))
    return {"before": blank.draft.before, "after": blank.draft.after, "reason": blank.draft.reason, "salt": blank.salt}


async def _blank_lost(
    writer: Writer, changes: Changes, counts: Counter[str], ids: Sequence[NodeId], dependents: Collection[NodeId]
) -> None:
    """Blank what rests on the source and can never be seen again, with its keyword texts and vectors."""
    lost = sorted(await _lost(writer, ids, dependents) & set(dependents) - set(ids))
    texts = await writer.texts_of(lost)
    changes.untexts += [text.id for text in texts]
    counts["keyword_texts"] += len(texts)
    await _blank_reasons(writer, lost)
    nodes = await writer.get(COMMIT_GUARD, lost)
    await _blank_in_versions(writer, changes, [node for node in nodes.values() if isinstance(node, Facet)])
    for node in nodes.values():
        _blank_node(changes, counts, node)


async def _blank_reasons(writer: Writer, lost: Sequence[NodeId]) -> None:
    """Blank why one version took the place of another; versions of their own kept the reason as well."""
    for direction in (Direction.OUT, Direction.IN):
        edges = await writer.edges(COMMIT_GUARD, lost, [EdgeType.SUPERSEDES], direction)
        await writer.link([replace(e, props={**e.props, "reason": ERASED}) for e in edges if e.props.get("reason")])


async def _lost(reader: Reader, ids: Sequence[NodeId], dependents: Collection[NodeId]) -> frozenset[NodeId]:
    below = await reader.closure(sorted(dependents), LAW_EDGES, Direction.OUT)
    guards = await reader.guards(list(below.depths))
    nodes = await reader.get(COMMIT_GUARD, [id_ for id_, guard in guards.items() if not guard.live])
    earlier = {id_ for id_, node in nodes.items() if isinstance(node, Source) and node.state == SourceState.ERASED}
    return lost_for_ever({*ids, *earlier}, guards, [law_edge(edge) for edge in below.edges])


async def _blank_in_versions(writer: Writer, changes: Changes, facets: Sequence[Facet]) -> None:
    """Take lost aliases and summaries out of the versions of entries, which repeat them."""
    entries = sorted({facet.entry_id for facet in facets})
    if not entries:
        return
    page = await writer.find(COMMIT_GUARD, Find(kind=EntryVersion, where=In("entry_id", entries)))
    for version in page.nodes:
        fields = without_facets(version, [facet for facet in facets if facet.entry_id == version.entry_id])
        if fields:
            changes.patch(version.id, **fields)


def _blank_node(changes: Changes, counts: Counter[str], node: Node) -> None:
    instead = blanked(node)
    if instead is None:
        return
    changes.patch(node.id, **instead.fields)
    counts["vectors"] += instead.vector
    counts[_KINDS.get(type(node).__name__, "statements")] += 1


_KINDS: Mapping[str, str] = {"Episode": "episodes"}


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


async def _commit(cmd: Command, changes: Changes, versions: Sequence[Source], counts: Counter[str]) -> AuditRecord:
    pool = versions[0].pool
    assert pool is not None
    language = (await load_settings(cmd.writer, cmd.caller.workspace))["search.default_language"]
    where = Commit(pool=pool, tx_id=cmd.tx_id, at=cmd.at, language=language)
    records = await commit(cmd.writer, cmd.deps, where, changes)
    erased = [replace(v, state=SourceState.ERASED) for v in versions]
    counts["vectors"] += await reindex_around(cmd.writer, erased, language)
    await read_again(cmd.writer, await companions(cmd.writer, [v.id for v in versions]))
    await cmd.writer.increment(pool, "access_version")
    return records[-1]
