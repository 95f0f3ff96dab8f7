"""Conditions, orders and keyset places as SQL. User data becomes parameters only, never text of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, singledispatch
from typing import Any, cast

from graph.model.fields import FieldType
from graph.model.schema import FieldSpec
from graph.store.embedded.tables import KindTable
from graph.store.embedded.values import Column, encode_asked, listed
from graph.store.query import After, And, By, Contains, Eq, In, IsSet, Linked, Or, Range, Tagged, Where


@dataclass(frozen=True, slots=True)
class Sql:
    """A piece of a statement with its parameters, in order."""

    text: str
    parameters: tuple[Any, ...] = ()


TRUE = Sql("1")


def joined(parts: Sequence[Sql], word: str, empty: str) -> Sql:
    """Return the parts in brackets with `word` between them."""
    if not parts:
        return Sql(empty)
    return Sql(f"({f' {word} '.join(p.text for p in parts)})", tuple(v for p in parts for v in p.parameters))


def all_of(*parts: Sql) -> Sql:
    """Return the conjunction of the parts."""
    return joined([part for part in parts if part is not TRUE], "AND", "1")


def where_sql(where: Where | None, table: KindTable) -> Sql:
    """Return the condition on a row of `table`, which has the alias ``n``.

    Raises:
        TypeError: the kind has no such field, or the field does not take the value.
    """
    if where is None:
        return TRUE
    parts = where.parts if isinstance(where, And) else (where,)
    if parts and all(isinstance(part, Eq) and part.value is not None for part in parts):
        return _all_equal(cast(Sequence[Eq], parts), table)
    return _sql(where, table)


def _all_equal(parts: Sequence[Eq], table: KindTable) -> Sql:
    """Return what `_sql` would, with a text that is made once: most look-ups are of this form."""
    text, fields = _equalities(table, tuple([part.field for part in parts]))
    return Sql(text, tuple([encode_asked(f, part.value) for f, part in zip(fields, parts, strict=True)]))


@lru_cache(maxsize=1_000)
def _equalities(table: KindTable, names: tuple[str, ...]) -> tuple[str, tuple[FieldSpec, ...]]:
    fields = tuple(table.field(name) for name in names)
    return joined([Sql(f'n."{f.name}" = ?') for f in fields], "AND", "1").text, fields


@singledispatch
def _sql(where: Any, table: KindTable) -> Sql:
    raise TypeError(f"{type(where).__name__} is no condition")


@_sql.register
def _(where: Eq, table: KindTable) -> Sql:
    f = table.field(where.field)
    if where.value is None:
        return Sql(f'n."{f.name}" IS NULL')
    return Sql(f'n."{f.name}" = ?', (encode_asked(f, where.value),))


@_sql.register
def _(where: IsSet, table: KindTable) -> Sql:
    return Sql(f'n."{table.field(where.field).name}" IS NOT NULL')


@_sql.register
def _(where: In, table: KindTable) -> Sql:
    f = table.field(where.field)
    values = [encode_asked(f, value) for value in where.values if value is not None]
    return _one_of(f'n."{f.name}"', values, plain=f.type not in (FieldType.BYTES, FieldType.REAL))


@_sql.register
def _(where: Range, table: KindTable) -> Sql:
    f = table.field(where.field)
    parts = [Sql(f'n."{f.name}" IS NOT NULL')]
    if where.low is not None:
        parts.append(Sql(f'n."{f.name}" >= ?', (encode_asked(f, where.low),)))
    if where.high is not None:
        parts.append(Sql(f'n."{f.name}" < ?', (encode_asked(f, where.high),)))
    return joined(parts, "AND", "1")


@_sql.register
def _(where: Contains, table: KindTable) -> Sql:
    f = table.field(where.field)
    return Sql(f'EXISTS (SELECT 1 FROM json_each(n."{f.name}") j WHERE j.value = ?)', (where.value,))


@_sql.register
def _(where: Tagged, table: KindTable) -> Sql:
    return Sql(
        "EXISTS (SELECT 1 FROM guard tg, json_each(tg.tags) j WHERE tg.node = n.id AND j.value IN"
        " (SELECT t.n FROM tag t WHERE t.text IN (SELECT value FROM json_each(?))))",
        (listed(where.tags),),
    )


@_sql.register
def _(where: Linked, table: KindTable) -> Sql:
    return Sql(
        "n.id IN (SELECT e.source FROM json_each(?) w CROSS JOIN edge e ON e.target = w.value"
        " AND e.type IN (SELECT value FROM json_each(?)))",
        (listed(where.targets), listed(where.types)),
    )


@_sql.register
def _(where: And, table: KindTable) -> Sql:
    parts = conjuncts(where)
    leading = _leading_pair(parts, table)
    return joined([_sql(p, table) if p in leading else _unindexed(p, table) for p in parts], "AND", "1")


def _leading_pair(parts: Sequence[Where], table: KindTable) -> Sequence[Where]:
    """Return the two conditions that one index answers with a list of values, if there are; else all.

    SQLite takes a list to be longer than all rows of a kind, so that it must be shown the way.
    """
    for first in parts:
        for then in parts:
            if isinstance(first, Eq) and isinstance(then, In) and table.seeks_pair(first.field, then.field):
                return first, then
    return parts


def _unindexed(part: Where, table: KindTable) -> Sql:
    """Return a condition for which no index is looked up: a unary plus stands before its column."""
    sql = _sql(part, table)
    plain = isinstance(part, Eq | In) and sql.text.startswith('n."')
    return Sql(f"+{sql.text}", sql.parameters) if plain else sql


@_sql.register
def _(where: Or, table: KindTable) -> Sql:
    return joined([_sql(part, table) for part in where.parts], "OR", "0")


def _one_of(column: str, values: Sequence[Column], *, plain: bool) -> Sql:
    if not values:
        return Sql("0")
    if plain:
        return Sql(f"{column} IN (SELECT value FROM json_each(?))", (listed(values),))
    return Sql(f"{column} IN ({', '.join('?' * len(values))})", tuple(values))


def conjuncts(where: Where | None) -> list[Where]:
    """Return the conditions that all have to hold."""
    if where is None:
        return []
    if isinstance(where, And):
        return [part for inner in where.parts for part in conjuncts(inner)]
    return [where]


def named_in(where: Where | None) -> int:
    """Return how many values a condition names."""
    match where:
        case And(parts=parts) | Or(parts=parts):
            return sum(map(named_in, parts))
        case In(values=values):
            return len(values)
        case Linked(targets=values) | Tagged(tags=values):
            return len(values)
        case _:
            return 1


# --- orders


@lru_cache(maxsize=1_000)
def order_sql(order: By, table: KindTable, *, backward: bool) -> str:
    """Return the terms of ORDER BY: rows without the field last, ties by id ascending; all reversed if backward."""
    f = table.field(order.field)
    falling = order.descending != backward
    terms = [] if f.name == "id" else [f'n."{f.name}" {"DESC" if falling else "ASC"}{_nulls(f.nullable, backward)}']
    by_id = order.descending != backward if f.name == "id" else backward
    return ", ".join([*terms, f"n.id {'DESC' if by_id else 'ASC'}"])


def _nulls(nullable: bool, backward: bool) -> str:
    if not nullable:
        return ""
    return " NULLS FIRST" if backward else " NULLS LAST"


def keyset_sql(order: By, table: KindTable, after: After | None, *, backward: bool) -> Sql:
    """Return the condition on rows that come after a place in the (reversed, if backward) order."""
    if after is None:
        return TRUE
    f = table.field(order.field)
    column, further_id = f'n."{f.name}"', f"n.id {'<' if backward else '>'} ?"
    if f.name == "id":
        return Sql(f"n.id {'<' if order.descending != backward else '>'} ?", (after.id,))
    if after.value is None:
        text = f"({column} IS NULL AND {further_id}){f' OR {column} IS NOT NULL' if backward else ''}"
        return Sql(f"({text})", (after.id,))
    value = encode_asked(f, after.value)
    beyond = f"{column} {'<' if order.descending != backward else '>'} ?"
    unset = f" OR {column} IS NULL" if f.nullable and not backward else ""
    return Sql(f"({beyond} OR ({column} = ? AND {further_id}){unset})", (value, value, after.id))
