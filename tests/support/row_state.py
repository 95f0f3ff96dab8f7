"""All rows of a store as one hash, and what must hold in every state that a store may be found in."""

from __future__ import annotations

import hashlib

from graph.model.access import Audience, Guard
from graph.model.edges import LAW_EDGES, Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import BlockVersion, Entry, KnowledgeBase, Relation
from graph.model.nodes.work import AuditRecord, Receipt
from graph.rules.audience import audiences
from graph.rules.audit_chain import Head, SealedAudit
from graph.rules.audit_following import verify_chain
from graph.rules.changes import text_id
from graph.rules.visibility import source_graph
from graph.services.admin.archive_files import encoded
from graph.services.admin.archive_rows import part_of, to_line
from graph.services.audience import law_edge
from graph.store.port import Row, Store
from graph.store.query import TextRow


async def rows_of(store: Store) -> list[Row]:
    """Return every row."""
    return [row async for row in store.export_rows()]


async def row_hash(store: Store) -> str:
    """Return the hash of all rows, whatever their order."""
    lines = sorted(part_of(row).encode() + encoded(to_line(row)) for row in await rows_of(store))
    return hashlib.sha256(b"".join(lines)).hexdigest()


async def check_invariants(store: Store) -> None:
    """Assert that nothing is half done: chains, audiences, shortcuts, texts and receipts agree with the nodes."""
    rows = await rows_of(store)
    nodes = {row.id: row for row in rows if isinstance(row, Node)}
    edges = [row for row in rows if isinstance(row, Edge)]
    _check_chains(nodes)
    _check_audiences(rows, edges)
    _check_shortcuts(nodes, edges)
    _check_texts(nodes, {row.id for row in rows if isinstance(row, TextRow)})


def _check_chains(nodes: dict[NodeId, Node]) -> None:
    records = [node for node in nodes.values() if isinstance(node, AuditRecord)]
    for pool in (node for node in nodes.values() if isinstance(node, KnowledgeBase)):
        chain = sorted((r for r in records if r.pool == pool.id), key=lambda r: r.seq)
        head = Head(seq=pool.audit_seq, hash=pool.audit_head)
        report = verify_chain(map(SealedAudit.from_node, chain), head)
        assert report.ok, report
        assert len(chain) == pool.audit_seq
    receipts = {node.id for node in nodes.values() if isinstance(node, Receipt)}
    assert {f"rcp_{record.tx_id}" for record in records} <= receipts


def _check_audiences(rows: list[Row], edges: list[Edge]) -> None:
    guards = {row.node: row for row in rows if isinstance(row, Guard)}
    stored = {row.node: row for row in rows if isinstance(row, Audience)}
    law = source_graph(guards.values(), [law_edge(edge) for edge in edges if edge.type in LAW_EDGES])
    decided = audiences(law, set(guards), {})
    assert {node: decided[node].clauses for node in guards} == {
        node: stored[node].clauses if node in stored else frozenset() for node in guards
    }


def _check_shortcuts(nodes: dict[NodeId, Node], edges: list[Edge]) -> None:
    current = {node.id for node in nodes.values() if isinstance(node, Relation) and node.current}
    assert {edge.key for edge in edges if edge.type is EdgeType.RELATES} == current


def _check_texts(nodes: dict[NodeId, Node], texts: set[str]) -> None:
    live = {node.id for node in nodes.values() if isinstance(node, Entry) and node.deleted_at is None}
    versions = [node for node in nodes.values() if isinstance(node, BlockVersion)]
    current = {text_id(v.id, "block") for v in versions if v.invalidated_at is None and v.entry_id in live}
    assert {text for text in texts if text.endswith("#block")} == current
