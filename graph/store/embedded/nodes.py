"""Writes of nodes: insert, change, delete, count up, claim."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from graph.model.errors import AlreadyExists, NotFound, VersionConflict
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.work import Job
from graph.model.schema import kind_of
from graph.model.time import Millis
from graph.store.embedded import filing, texts
from graph.store.embedded.conditions import where_sql
from graph.store.embedded.session import Session
from graph.store.embedded.tables import KindTable, table_of, table_of_id
from graph.store.embedded.values import Column, decode, encode, listed
from graph.store.query import Where

_FIXED = frozenset({"id", "workspace"})
_FAILED_COLUMN = re.compile(r"n_(\w+)\.(\w+)")


def put(session: Session, nodes: Sequence[Node]) -> None:
    """Insert nodes.

    Raises:
        AlreadyExists: an id or a unique key is taken.
        TypeError: a field does not take its value, or the id names another kind.
    """
    kinds: dict[type[Node], list[Node]] = {}
    for node in nodes:
        kinds.setdefault(type(node), []).append(node)
    for kind, group in kinds.items():
        table = table_of(kind.__name__)
        _unique(session, table.insert, [_row(table, node) for node in group])


def _row(table: KindTable, node: Node) -> tuple[Column, ...]:
    spec = kind_of(node.id)
    if spec is None or spec.node is not table.spec.node:  # the class: two threads may have made a spec each
        raise TypeError(f"the id of a {table.spec.name} starts with {table.spec.prefix}_")
    return table.encode(node)


def patch(session: Session, id: NodeId, changes: Mapping[str, Any], expected: Mapping[str, Any] | None) -> None:
    """Set fields of one node, if it is as expected.

    Raises:
        NotFound: there is none.
        VersionConflict: it is not as expected.
        AlreadyExists: a unique key is taken.
    """
    table = _existing_table(id)
    _check_expected(session, table, id, dict(expected or {}))
    sql, values = _update(table, changes)
    if sql:
        _unique(session, f"{sql} WHERE n.id = ?", [(*values, id)])


def patch_many(session: Session, changes: Mapping[NodeId, Mapping[str, Any]]) -> None:
    """Set fields of several nodes; those that do not exist are left out."""
    for id, fields in changes.items():
        table = table_of_id(id)
        if table is not None:
            sql, values = _update(table, fields)
            if sql:
                _unique(session, f"{sql} WHERE n.id = ?", [(*values, id)])


def patch_where(session: Session, kind: type[Node], where: Where, changes: Mapping[str, Any]) -> int:
    """Set fields of every node that fits; return how many fitted."""
    table = table_of(kind.__name__)
    fits = where_sql(where, table)
    sql, values = _update(table, changes)
    if not sql:
        return int(session.value(f"SELECT count(*) FROM {table.name} n WHERE {fits.text}", fits.parameters))
    _unique(session, f"{sql} WHERE {fits.text}", [(*values, *fits.parameters)])
    return session.db.changes()


def delete(session: Session, ids: Sequence[NodeId]) -> None:
    """Remove nodes with all that is theirs, and the edges that start at them."""
    wanted = list(dict.fromkeys(ids))
    texts.drop_of(session, wanted)
    filing.drop(session, wanted)
    session.db.execute("DELETE FROM edge WHERE source IN (SELECT value FROM json_each(?))", (listed(wanted),))
    for id in wanted:
        table = table_of_id(id)
        if table is not None:
            session.db.execute(f"DELETE FROM {table.name} WHERE id = ?", (id,))


def increment(session: Session, id: NodeId, field: str, by: int) -> int:
    """Add to an integer field and return the new value.

    Raises:
        NotFound: there is no such node.
    """
    table = _existing_table(id)
    name = table.field(field).name
    value = session.value(f'UPDATE {table.name} SET "{name}" = "{name}" + ? WHERE id = ? RETURNING "{name}"', (by, id))
    if value is None:
        raise NotFound
    return int(value)


def claim(session: Session, kinds: Sequence[str], owner: str, now: Millis, lease_ms: int) -> Job | None:
    """Take the due job that waits longest; see the port."""
    table = table_of("Job")
    due = "SELECT j.id, j.due_at FROM n_Job j WHERE j.kind IN (SELECT value FROM json_each(?)) AND "
    id = session.value(
        f"SELECT id FROM ({due} j.state = 'queued' AND j.due_at <= ?"
        f" UNION ALL {due} j.state = 'running' AND j.lease_until <= ?) ORDER BY due_at, id LIMIT 1",
        (listed(kinds), now, listed(kinds), now),
    )
    if id is None:
        return None
    session.db.execute(
        "UPDATE n_Job SET state = 'running', owner = ?, fence = fence + 1, attempts = attempts + 1,"
        " heartbeat_at = ?, lease_until = ? WHERE id = ?",
        (owner, now, now + lease_ms, id),
    )
    (row,) = session.rows(f"SELECT {table.columns} FROM n_Job n WHERE n.id = ?", (id,))
    job = table.decode(row)
    return job if isinstance(job, Job) else None


def end_leases(db: apsw.Connection, now: Millis) -> None:
    """Let jobs be taken over whose worker cannot be there any more; for who just became the owner of the file."""
    db.execute("UPDATE n_Job SET lease_until = ? WHERE state = 'running' AND lease_until > ?", (now, now))


def _existing_table(id: NodeId) -> KindTable:
    table = table_of_id(id)
    if table is None:
        raise NotFound
    return table


def _check_expected(session: Session, table: KindTable, id: NodeId, expected: dict[str, Any]) -> None:
    fields = [table.field(name) for name in expected] or [table.field("id")]
    names = ", ".join(f'"{f.name}"' for f in fields)
    rows = session.rows(f"SELECT {names} FROM {table.name} WHERE id = ?", (id,))
    if not rows:
        raise NotFound
    current = {f.name: decode(f, value) for f, value in zip(fields, rows[0], strict=True)}
    if expected and current != expected:
        raise VersionConflict("the object has changed: read it again", current=current)


def _update(table: KindTable, changes: Mapping[str, Any]) -> tuple[str, tuple[Column, ...]]:
    fields = [table.field(name) for name in changes]
    if not fields:
        return "", ()
    fixed = _FIXED & changes.keys()
    if fixed:
        raise TypeError(f"{table.spec.name}.{min(fixed)} cannot be set")
    assignments = ", ".join(f'"{f.name}" = ?' for f in fields)
    return f"UPDATE {table.name} AS n SET {assignments}", tuple(encode(f, changes[f.name]) for f in fields)


def _unique(session: Session, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
    try:
        session.db.executemany(sql, rows)
    except apsw.ConstraintError as error:
        raise _taken(str(error)) from error


def _taken(message: str) -> AlreadyExists:
    """Read kind and fields off SQLite's message, which names columns only."""
    columns = _FAILED_COLUMN.findall(message)
    return AlreadyExists(
        "there is one already: read it instead",
        kind=columns[0][0] if columns else "",
        key_fields=tuple(field for _, field in columns),
    )
