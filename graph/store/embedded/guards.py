"""Reads back the law's own facts and the stored audiences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from graph.model.access import Audience, Guard, Need
from graph.model.ids import NodeId
from graph.model.making import maker
from graph.store.embedded.session import Session
from graph.store.embedded.values import listed

GUARD_COLUMNS = "g.node, g.kind, g.workspace, g.pool, g.need, g.rules, g.live, g.held, g.excluded, g.tags, g.sort_at"
_NEEDS = {need.value: need for need in Need}
_NOBODY: frozenset[NodeId] = frozenset()
_GUARD = maker(Guard)


def guards(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, Guard]:
    """Return the guards that there are."""
    rows = session.rows(
        f"SELECT {GUARD_COLUMNS} FROM json_each(?) w CROSS JOIN guard g ON g.node = w.value", (listed(ids),)
    )
    names = tag_texts(session, rows)
    return {row[0]: guard_of(session, row, names) for row in rows}


def audiences(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, Audience]:
    """Return the audiences that were stored."""
    rows = session.rows(
        "SELECT g.node, g.clause, g.clauses, g.barred FROM json_each(?) w CROSS JOIN guard g ON g.node = w.value"
        " WHERE g.clause IS NOT NULL",
        (listed(ids),),
    )
    read = session.clauses.audience
    return {row[0]: read(*row) for row in rows}


def tag_texts(session: Session, rows: Sequence[tuple[Any, ...]]) -> Mapping[str, tuple[str, ...]]:
    """Return the texts of the tags in these guard rows, by how the rows name them."""
    lists: dict[str, list[int]] = {column: json.loads(column) for column in {row[9] for row in rows}}
    numbers = {n for tags in lists.values() for n in tags}
    texts = dict(
        session.rows("SELECT t.n, t.text FROM json_each(?) w CROSS JOIN tag t ON t.n = w.value", (listed(numbers),))
        if numbers
        else ()
    )
    return {column: tuple([texts[n] for n in tags]) for column, tags in lists.items()}


def guard_of(session: Session, row: Sequence[Any], tags: Mapping[str, tuple[str, ...]]) -> Guard:
    """Return the guard of a row of `GUARD_COLUMNS`."""
    node, kind, workspace, pool, need, rules, live, held, excluded, tagged, sort_at = row
    return _GUARD(
        node,
        kind,
        workspace,
        pool,
        _NEEDS[need],
        None if rules is None else session.clauses.rules_in(rules),
        live == 1,
        held == 1,
        _NOBODY if excluded == "[]" else frozenset(json.loads(excluded)),
        tags[tagged],
        sort_at,
    )
