"""The table `vec` follows the vectors and who may see them, by triggers: whatever writes, it cannot be forgotten.

It has a row for each vector and clause that shows it. A row is never changed: a vector that changed, or that other
clauses show now, gets new rows with higher numbers, so that a reader finds what is new by a number. Source: ADR 0021.
"""

from __future__ import annotations

from collections.abc import Iterator

from graph.model.fields import FieldType
from graph.model.schema import KindSpec, kinds


def has_vectors(spec: KindSpec) -> bool:
    """True if nodes of the kind have a vector and the name of its model."""
    fields = {f.name: f.type for f in spec.fields}
    return fields.get("embedding") is FieldType.BYTES and "embedding_model" in fields


def following() -> Iterator[str]:
    """Yield the statements that let the table `vec` follow the vectors, and who may see them, by triggers."""
    for spec in kinds().values():
        if has_vectors(spec):
            yield from _triggers(spec.name)


def _triggers(kind: str) -> Iterator[str]:
    gone = "DELETE FROM vec WHERE node = {id};"
    came = (
        "INSERT INTO vec(kind, model, clause, node)"
        f" SELECT '{kind}', n.embedding_model, g.clause, n.id FROM n_{kind} n JOIN guard g ON g.node = n.id"
        " WHERE n.id = {id} AND n.embedding IS NOT NULL AND g.clause > 0"
        f" UNION ALL SELECT '{kind}', n.embedding_model, c.value, n.id FROM n_{kind} n"
        " JOIN guard g ON g.node = n.id, json_each(g.clauses) c"
        " WHERE n.id = {id} AND n.embedding IS NOT NULL AND g.clause = -1;"
    )
    for name, when, id_ in (
        ("changed", f"AFTER UPDATE OF embedding, embedding_model ON n_{kind}", "new.id"),
        ("seen", f"AFTER UPDATE OF clause, clauses ON guard WHEN new.kind = '{kind}'", "new.node"),
    ):
        body = (gone + came).format(id=id_)
        yield f"CREATE TRIGGER IF NOT EXISTS vec_{name}_{kind} {when} BEGIN {body} END"
    yield (
        f"CREATE TRIGGER IF NOT EXISTS vec_gone_{kind} AFTER DELETE ON n_{kind} BEGIN {gone.format(id='old.id')} END"
    )
