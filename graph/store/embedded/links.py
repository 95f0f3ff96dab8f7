"""Writes of edges."""

from __future__ import annotations

from collections.abc import Sequence

from graph.model.edges import Edge
from graph.store.embedded.session import Session
from graph.store.embedded.values import to_json


def link(session: Session, edges: Sequence[Edge]) -> None:
    """Add or replace edges. An end that is not there needs nothing: a placeholder is an id that only edges name."""
    session.db.executemany(
        "INSERT INTO edge(type, source, target, key, props, record) VALUES (?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET props = excluded.props, record = excluded.record",
        [_row(edge) for edge in edges],
    )


def unlink(session: Session, edges: Sequence[Edge]) -> None:
    """Remove edges by identity."""
    session.db.executemany(
        "DELETE FROM edge WHERE type = ? AND source = ? AND target = ? AND key = ?",
        [_identity(edge) for edge in edges],
    )


def _identity(edge: Edge) -> tuple[str, str, str, str]:
    return str(edge.type), edge.source, edge.target, edge.key


def _row(edge: Edge) -> tuple[str | None, ...]:
    given = edge.props
    props = to_json(given if type(given) is dict else dict(given)) if given else None
    record = None if edge.record is None else to_json(tuple(edge.record)) if edge.record else "[]"
    return edge.type, edge.source, edge.target, edge.key, props, record
