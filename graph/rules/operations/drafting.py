"""What every step of an operation puts beside its nodes: audit drafts, notes, links to what was superseded.

Nothing is checked here. Source: KN-68, KN-82 to KN-84.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source, SourceKind
from graph.model.schema import kind_of
from graph.rules.audit_chain import AuditDraft
from graph.rules.audit_operations import AuditOperation
from graph.rules.images import Image
from graph.rules.ingest import content_hash
from graph.rules.operations.state import Cited
from graph.rules.operations.work import Work
from graph.text.quotes import MAX_QUOTE_CHARACTERS, normalise_source


def draft(
    work: Work,
    operation: AuditOperation,
    target: NodeId,
    *,
    before: Image | None = None,
    after: Image | None = None,
    sources: Iterable[str] = (),
) -> None:
    """Put an audit record among the changes."""
    spec = kind_of(target)
    work.changes.drafts.append(
        AuditDraft(
            operation=operation,
            actor_id=work.actor.id,
            actor_kind=work.actor.kind,
            on_behalf_of=work.actor.on_behalf_of,
            target_id=target,
            target_kind=spec.name if spec else "",
            before=before,
            after=after,
            reason=work.reason,
            dream_run_id=work.actor.dream_run_id,
            image_sources=tuple(sorted(set(sources))),
        )
    )


def note(work: Work, text: str, *, role: str = "supports") -> Cited:
    """Store what a person typed as a source of its own and return the citation of it (KN-68)."""
    id_ = work.new_id(Source.PREFIX)
    source = Source(
        id=id_,
        **placed(work),
        kind=SourceKind.HUMAN_NOTE,
        content_hash=content_hash(text),
        text=text,
        author_id=work.actor.id,
        speaker=work.actor.name,
        occurred_at=work.at,
        recorded_at=work.at,
        series=id_,
    )
    work.sources[id_] = source
    work.visible.add(id_)
    work.changes.puts.append(source)
    work.changes.links.append(Edge(type=EdgeType.SCOPED_TO, source=id_, target=work.pool))
    quote = normalise_source(text)[:MAX_QUOTE_CHARACTERS]
    return Cited(source=id_, quote=quote, start=0, end=len(quote), role=role, speaker_id=work.actor.id, said_at=work.at)


def supersedes(newer: NodeId, older: NodeId, change: str | None, reason: str | None) -> Edge:
    """Return the edge from a newer version to the one whose place it takes."""
    return Edge(type=EdgeType.SUPERSEDES, source=newer, target=older, props={"change": change, "reason": reason})


def placed(work: Work) -> Mapping[str, Any]:
    """Return the fields that say where a new node lives and since when."""
    return {"workspace": work.state.base.workspace, "pool": work.pool, "created_at": work.at}


def modified(work: Work) -> Mapping[str, Any]:
    """Return the fields that say who made a version, and why."""
    return {
        "modifier_id": work.actor.id,
        "modifier_kind": work.actor.kind,
        "reason": work.reason,
        "dream_run_id": work.actor.dream_run_id,
    }
