"""Removing nodes with all that belongs to them, in one statement that goes with what waits to be written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from graph.model import schema
from graph.model.ids import NodeId
from graph.store.neo4j import audience, names, texts
from graph.store.neo4j.asking import Question
from graph.store.neo4j.counters import Counters
from graph.store.neo4j.driver import ONE_WAY

_GONE = "UNWIND $ids AS id MATCH (n:Node) USING INDEX SEEK n:Node(id) WHERE n.id = id"


def removal(ids: Sequence[NodeId]) -> Question:
    """Return what removes nodes (in id order) with guard, audience, texts and the links that start at them.

    What it gives is for `uncount`.
    """
    kinds = {id: kind.name for id in ids if (kind := schema.kind_of(id)) is not None}
    return Question(_deletion(), "[states, texts]", {"ids": ids, "kinds": kinds})


def uncount(counters: Counters, gone: Sequence[Sequence[Mapping[str, Any]]]) -> None:
    """Take what a removal has removed out of the counters."""
    states, hanging = gone
    audience.uncount(counters, states)
    texts.uncount(counters, hanging)


@cache
def _deletion() -> str:
    """Bind the states that the nodes had as `states` and the texts that went as `texts`.

    Of a node to which others link still a placeholder stays.
    """
    labels = ":".join(names.all_labels())
    parts = (
        audience.LOCKED,
        texts.REMOVED,
        f"{_GONE} MATCH (n)-[r]->() DELETE r",
        f"{_GONE} AND EXISTS {{ (n)<--() }} SET n = {{id: id}} REMOVE n:{labels} SET n:Placeholder",
        f"{_GONE} AND NOT EXISTS {{ (n)<--() }} DELETE n",
    )
    rest = " ".join(f"CALL () {{ {part} }}" for part in parts)
    return f"{ONE_WAY}{rest} CALL (states) {{ {audience.ROWS_REMOVED} }}"
