"""What is in the file: one table per node kind, made from the declaration, and the fixed tables beside them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import apsw

from graph.model import schema
from graph.model.fields import FieldType, Node
from graph.model.making import maker
from graph.model.schema import FieldSpec, KindSpec
from graph.store.embedded.row_encoding import row_encoder
from graph.store.embedded.values import DECODERS, Column, encode
from graph.store.embedded.vector_filing import following
from graph.store.query import TextIndex

APPLICATION_ID = 0x526F6F74
"""Marks the file as ours ("Root")."""

_AFFINITY = {
    FieldType.TEXT: "TEXT",
    FieldType.INTEGER: "INTEGER",
    FieldType.REAL: "REAL",
    FieldType.BOOLEAN: "INTEGER",
    FieldType.BYTES: "BLOB",
    FieldType.JSON: "TEXT",
    FieldType.TEXTS: "TEXT",
    FieldType.SEALED: "BLOB",
}

FTS = {TextIndex.ENTRY: "fts_entry", TextIndex.MESSAGE: "fts_message"}
"""The keyword index of each kind of text."""

FIXED = (
    """CREATE TABLE IF NOT EXISTS edge(
        source TEXT NOT NULL, type TEXT NOT NULL, target TEXT NOT NULL, key TEXT NOT NULL, props TEXT, record TEXT,
        PRIMARY KEY (source, type, target, key)) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS edge_in ON edge(target, type, source, key)",
    # clause: NULL without audience, 0 for nobody, n for one clause, -1 for several, then `clauses` lists them
    """CREATE TABLE IF NOT EXISTS guard(
        node TEXT PRIMARY KEY, kind TEXT NOT NULL, workspace TEXT NOT NULL, pool TEXT, need TEXT NOT NULL, rules TEXT,
        live INTEGER NOT NULL, held INTEGER NOT NULL, excluded TEXT NOT NULL, tags TEXT NOT NULL,
        sort_at INTEGER NOT NULL, clause INTEGER, clauses TEXT, barred TEXT) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS guard_newest ON guard(kind, sort_at DESC, node)",
    "CREATE TABLE IF NOT EXISTS rule(n INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)",
    "CREATE TABLE IF NOT EXISTS tag(n INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)",
    "CREATE TABLE IF NOT EXISTS part(n INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)",
    # a clause of one pool; `filed` is its narrowest rule, `agent` that rule's agent, `excluded` who may not pass it
    """CREATE TABLE IF NOT EXISTS clause(
        n INTEGER PRIMARY KEY, workspace TEXT NOT NULL, pool TEXT NOT NULL, filed INTEGER NOT NULL,
        agent TEXT NOT NULL, rules TEXT NOT NULL, excluded TEXT NOT NULL, UNIQUE (workspace, pool, rules, excluded))""",
    "CREATE INDEX IF NOT EXISTS clause_filed ON clause(filed, workspace, pool)",
    "CREATE INDEX IF NOT EXISTS clause_agent ON clause(workspace, agent, pool)",
    """CREATE TABLE IF NOT EXISTS aud(
        clause INTEGER NOT NULL, kind TEXT NOT NULL, tag INTEGER NOT NULL, sort INTEGER NOT NULL, id TEXT NOT NULL,
        many INTEGER NOT NULL, PRIMARY KEY (clause, kind, tag, sort DESC, id)) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS aud_many ON aud(clause, kind, tag, id) WHERE many",
    """CREATE TABLE IF NOT EXISTS tally(
        clause INTEGER NOT NULL, kind TEXT NOT NULL, tag INTEGER NOT NULL, n INTEGER NOT NULL,
        PRIMARY KEY (clause, kind, tag)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS text(
        n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, guard TEXT NOT NULL, item TEXT NOT NULL,
        part INTEGER NOT NULL, pool TEXT NOT NULL, words TEXT NOT NULL, length INTEGER NOT NULL,
        sort_at INTEGER NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS text_guard ON text(guard)",
    """CREATE TABLE IF NOT EXISTS text_tally(
        kind TEXT NOT NULL, clause INTEGER NOT NULL, part INTEGER NOT NULL, n INTEGER NOT NULL,
        PRIMARY KEY (kind, clause, part)) WITHOUT ROWID""",
    # the vectors that each clause shows, in the order in which they came; triggers keep it (see `vectors`)
    """CREATE TABLE IF NOT EXISTS vec(
        n INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, model TEXT NOT NULL, clause INTEGER NOT NULL,
        node TEXT NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS vec_shown ON vec(kind, model, clause, n, node)",
    "CREATE INDEX IF NOT EXISTS vec_node ON vec(node)",
    *(
        f"""CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5(
            terms, content='', contentless_delete=1, detail=none, tokenize="ascii tokenchars '_'")"""
        for name in FTS.values()
    ),
)


@dataclass(frozen=True, eq=False)
class KindTable:
    """The table of one node kind; its columns are the fields in their order. There is one object a kind."""

    spec: KindSpec

    @cached_property
    def name(self) -> str:
        return f"n_{self.spec.name}"

    @cached_property
    def fields(self) -> dict[str, FieldSpec]:
        """Return the fields by name."""
        return {f.name: f for f in self.spec.fields}

    @cached_property
    def columns(self) -> str:
        """Return the select list, for the alias ``n``."""
        return self.columns_without(())

    def columns_without(self, names: Collection[str]) -> str:
        """Return the select list with empty texts in place of some fields."""
        return ", ".join("''" if f.name in names else f'n."{f.name}"' for f in self.spec.fields)

    @cached_property
    def insert(self) -> str:
        """Return the statement that adds a row."""
        names = ", ".join(f'"{f.name}"' for f in self.spec.fields)
        return f"INSERT INTO {self.name}({names}) VALUES ({', '.join('?' * len(self.spec.fields))})"

    def field(self, name: str) -> FieldSpec:
        """Return the declaration of a field.

        Raises:
            TypeError: there is no such field.
        """
        try:
            return self.fields[name]
        except KeyError:
            raise TypeError(f"{self.spec.name} has no field {name}") from None

    def encode(self, node: Node) -> tuple[Column, ...]:
        """Return the row of a node.

        Raises:
            TypeError: a field does not take its value.
        """
        try:
            return self._encode(node)
        except (TypeError, ValueError):
            return tuple([encode(f, getattr(node, f.name)) for f in self.spec.fields])  # names it

    def decode(self, row: Sequence[Any]) -> Node:
        """Return the node of a row."""
        decoded = self._decoded
        if not decoded:
            return self._make(*row)
        values = list(row)
        for place, decoder in decoded:
            if values[place] is not None:
                values[place] = decoder(values[place])
        return self._make(*values)

    def create(self) -> Iterator[str]:
        """Yield the statements that make table and indexes where they are missing."""
        columns = ", ".join(_column(f) for f in self.spec.fields)
        yield f"CREATE TABLE IF NOT EXISTS {self.name}({columns})"
        yield from self.indexes()

    def indexes(self) -> Iterator[str]:
        """Yield the statements that make the indexes."""
        for fields in self.spec.unique:
            yield self._index("UNIQUE INDEX", "uq", fields, fields)
        for fields in self._plain_indexes():
            yield self._index("INDEX", "ix", fields, fields[:1])

    def seeks(self, name: str) -> bool:
        """True if an index finds rows by this field."""
        return name == "id" or name in {fields[0] for fields in (*self.spec.unique, *self._plain_indexes())}

    def seeks_pair(self, first: str, then: str) -> bool:
        """True if an index finds rows by a value of the first field and values of the other."""
        return any(fields[:2] == (first, then) for fields in (*self.spec.unique, *self._plain_indexes()))

    def _plain_indexes(self) -> list[tuple[str, ...]]:
        compound = [fields for fields in self.spec.indexes if fields not in self.spec.unique]
        single = [(f.name,) for f in self.spec.fields if f.indexed and (f.name,) not in self.spec.unique]
        led = {fields[0] for fields in (*compound, *single)}
        return [*compound, *single, *([] if "pool" in led else [("pool",)])]

    def _index(self, what: str, prefix: str, fields: Sequence[str], given: Sequence[str]) -> str:
        """Make an index that leaves out rows without a value: look-ups for "not set" are never selective."""
        optional = [name for name in given if self.fields[name].nullable]
        where = " AND ".join(f'"{name}" IS NOT NULL' for name in optional)
        columns = ", ".join(f'"{name}"' for name in fields)
        name = f"{prefix}_{self.spec.name}_{'_'.join(fields)}"
        return f"CREATE {what} IF NOT EXISTS {name} ON {self.name}({columns})" + (f" WHERE {where}" if where else "")

    @cached_property
    def _encode(self) -> Callable[[Node], tuple[Column, ...]]:
        return row_encoder(self.spec)

    @cached_property
    def _decoded(self) -> tuple[tuple[int, Callable[[Any], Any]], ...]:
        return tuple((place, DECODERS[f.type]) for place, f in enumerate(self.spec.fields) if f.type in DECODERS)

    @cached_property
    def _make(self) -> Callable[..., Node]:
        return maker(self.spec.node)


@cache
def table_of(kind: str) -> KindTable:
    """Return the table of the kind of this class name."""
    return KindTable(schema.kinds()[kind])


def table_of_id(node_id: str) -> KindTable | None:
    """Return the table that a node of this id is in, or None for an id of no kind."""
    return _table_of_key(schema.kind_key(node_id))


@lru_cache(maxsize=256)
def _table_of_key(key: str) -> KindTable | None:
    spec = schema.kinds_by_prefix().get(key)
    return table_of(spec.name) if spec else None


def sync_declared(db: apsw.Connection) -> None:
    """Make every declared table, column and index that the file lacks; what is there stays.

    Later migrations call it as well: the first one makes new files from today's declaration.
    """
    for statement in FIXED:
        db.execute(statement)
    for kind in schema.kinds():
        table = table_of(kind)
        _add_columns(db, table)
        for statement in table.create():
            db.execute(statement)
    for statement in following():
        db.execute(statement)


def _add_columns(db: apsw.Connection, table: KindTable) -> None:
    there = {name for (name,) in db.execute("SELECT name FROM pragma_table_info(?)", (table.name,))}
    for f in table.spec.fields:
        if there and f.name not in there:
            db.execute(f"ALTER TABLE {table.name} ADD COLUMN {_column(f)}")


def _column(f: FieldSpec) -> str:
    return f'"{f.name}" {_AFFINITY[f.type]}' + (" PRIMARY KEY NOT NULL" if f.name == "id" else "")
