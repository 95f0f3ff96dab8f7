"""An evidence bundle: all that a second person needs to check one statement, without any service (goal B4).

The statement, the sources behind it with their words, who may see it and why, and the whole audit chains of the
pools concerned. A chain can only be followed whole, so records of other statements are among it; their images and
reasons are withheld, and the commitments in their place still verify. It is for auditors: records name operations,
actors and times of the whole pool.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from graph.model.errors import Forbidden, NotFound
from graph.model.fields import Json, Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.work import AuditRecord
from graph.model.time import render
from graph.rules.audit_chain import Head, SealedAudit
from graph.rules.audit_operations import AuditOperation
from graph.rules.proof import Proof
from graph.rules.prov_export import to_prov_json
from graph.rules.provenance import MAX_DEPTH, Direction
from graph.rules.rights import audits_workspace, may_administer, may_audit
from graph.services.access.session import Session
from graph.services.admin.archive_rows import to_line
from graph.services.knowledge.anchors import anchors
from graph.services.knowledge.audit_verify import chain_of
from graph.services.knowledge.explain import explain_visibility
from graph.services.knowledge.provenance import Provenance, provenance
from graph.services.knowledge.provenance_export import to_networkx

FORMAT = "rootward-evidence"
VERSION = 1
WITHHELD = "[withheld]"
MANIFEST = "bundle.json"
_OWNERS = ("block_id", "entry_id", "relation_id")


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceBundle:
    """The files of a bundle by name; `api.cli` writes them beside the verifiers."""

    root: NodeId
    files: Mapping[str, bytes]


async def evidence_bundle(session: Session, root_id: NodeId, viewers: Sequence[NodeId] = ()) -> EvidenceBundle:
    """Return the evidence for one node.

    Args:
        session: of an auditor of the knowledge base that the node lives in.
        root_id: a statement, an entry or a source.
        viewers: people and agents whose access is explained beside the caller's.

    Raises:
        NotFound: missing and hidden alike.
        Forbidden: the caller sees the node but does not audit its knowledge base.
    """
    found = await provenance(session, root_id, depth=MAX_DEPTH, direction=Direction.UPSTREAM)
    pools = await _audited_pools(session, found)
    if found.root.pool not in {pool.id for pool in pools}:
        raise Forbidden("evidence bundles are for auditors of the knowledge base")
    relevant = _relevant(found)
    audit = [line for pool in pools for line in await _chain(session, pool, relevant)]
    files = {
        "statement.json": _pretty(to_line(found.root)),
        "sources.jsonl": _lines(_source(node) for node in found.nodes if isinstance(node, Source)),
        "provenance.json": _pretty(_walk(found)),
        "provenance.prov.json": to_prov_json(to_networkx(found)).encode(),
        "access.json": _pretty(await _access(session, root_id, viewers)),
        "audit.jsonl": _lines(audit),
        "anchors.jsonl": _lines(await _anchors(session)),
    }
    manifest = _manifest(session, root_id, pools, files)
    return EvidenceBundle(root=root_id, files={**files, MANIFEST: _pretty(manifest)})


async def _audited_pools(session: Session, found: Provenance) -> list[KnowledgeBase]:
    """Return the knowledge bases of the nodes that the caller audits, in id order."""
    pools = sorted({node.pool for node in (found.root, *found.nodes) if node.pool})
    bases = [await session.base(pool) for pool in pools]
    return [base for base in bases if base is not None and may_audit(session.facts, base.owner_id)]


def _relevant(found: Provenance) -> frozenset[str]:
    """Return the targets whose audit records are shown with their images."""
    nodes = (found.root, *found.nodes)
    owners = {str(getattr(node, name)) for node in nodes for name in _OWNERS if getattr(node, name, None)}
    return frozenset({str(node.id) for node in nodes} | owners)


async def _chain(session: Session, pool: KnowledgeBase, relevant: frozenset[str]) -> list[dict[str, Json]]:
    lines = []
    async for records in chain_of(session.reader, pool.id):
        concerned = [record.id for record in records if _concerns(record, relevant)]
        shown = await session.open(concerned)
        lines += [_line(record, shown.get(record.id)) for record in records]
    return lines


def _concerns(record: SealedAudit, relevant: frozenset[str]) -> bool:
    """Tell whether a record is shown whole: it is about what the statement rests on, or explains an erasure."""
    draft = record.draft
    return draft.target_id in relevant or draft.operation == AuditOperation.SOURCE_ERASE


def _line(record: SealedAudit, shown: Node | None) -> dict[str, Json]:
    """Return a record, its images and reason withheld if it is about something else or hidden from the caller."""
    line = record.to_export()
    if isinstance(shown, AuditRecord) or record.is_erased:
        return line
    withheld = {side: WITHHELD for side in ("before", "after", "reason") if line.get(f"{side}_commitment")}
    return {**line, **withheld, "salt": ""}


def _source(source: Source) -> dict[str, Json]:
    times = {name: render(getattr(source, name)) for name in ("occurred_at", "recorded_at")}
    names = ("id", "kind", "state", "speaker", "author_id", "title", "text", "content_hash", "version", "blob_ref")
    return {**{name: getattr(source, name) for name in names}, **times}


def _walk(found: Provenance) -> dict[str, Json]:
    nodes = [{"id": node.id, "class": type(node).__name__, "pool": node.pool} for node in found.nodes]
    edges = [
        {
            "type": str(step.edge.type),
            "from": step.edge.source,
            "to": step.edge.target,
            **dict(step.edge.props),
            "depth": step.depth,
        }
        for step in found.edges
    ]
    return {"root": found.root.id, "nodes": nodes, "edges": edges, "truncated": found.truncated}


async def _access(session: Session, root_id: NodeId, viewers: Sequence[NodeId]) -> list[dict[str, Json]]:
    asked = list(dict.fromkeys((session.caller.principal, *viewers)))
    decisions = []
    for viewer in asked:
        proof = await explain_visibility(session, root_id, viewer)
        if proof is None:
            raise NotFound
        decisions.append({"viewer": viewer, **_proof(proof)})
    return decisions


def _proof(proof: Proof) -> dict[str, Json]:
    return {
        "visible": proof.visible,
        "truncated": proof.truncated,
        "failure": None if proof.failure is None else asdict(proof.failure),
        "chain": [_ruled(asdict(node)) for node in proof.chain],
        "links": [_ruled(asdict(link)) for link in proof.links],
    }


def _ruled(line: dict[str, Any]) -> dict[str, Json]:
    """Return a piece of a proof with its rules in words."""
    rules = line["rules"]
    told = None if rules is None else [f"{rule['kind'].name.lower()} {rule['object_id']}" for rule in rules]
    return {**line, "rules": told}


async def _anchors(session: Session) -> list[dict[str, Json]]:
    if not (may_administer(session.facts) or audits_workspace(session.facts)):
        return []
    return [found.to_export() for found in await anchors(session)]


def _manifest(
    session: Session, root_id: NodeId, pools: Iterable[KnowledgeBase], files: Mapping[str, bytes]
) -> dict[str, Json]:
    heads = {pool.id: asdict(Head(seq=pool.audit_seq, hash=pool.audit_head)) for pool in pools}
    return {
        "format": FORMAT,
        "version": VERSION,
        "root": root_id,
        "workspace": session.caller.workspace,
        "made_at": render(session.deps.now()),
        "made_by": session.caller.principal,
        "heads": heads,
        "files": {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())},
    }


def _pretty(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, indent=2).encode() + b"\n"


def _lines(values: Iterable[Mapping[str, Json]]) -> bytes:
    return b"".join(json.dumps(value, ensure_ascii=False, sort_keys=True).encode() + b"\n" for value in values)
