"""Keyword texts: written beside the audience of their guard, and kept in step with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from graph.model.ids import NodeId
from graph.store.neo4j.counters import Counters, text_keys
from graph.store.neo4j.driver import Runner, table
from graph.store.neo4j.facts import decode_sort, encode_sort
from graph.store.neo4j.pending import Pending
from graph.store.neo4j.schema import TEXT_LABELS
from graph.store.neo4j.words import decode_words, encode_words, long_words, name_token
from graph.store.query import TextIndex, TextRow

State = Mapping[str, Any]
"""Guard and audience of a node as they are stored, see `graph.store.neo4j.audience`."""

_SPAN_DIGITS = 12

TEXT = "[properties(n), n:Text]"
"""What is read of a text: its label last, which goes before the properties do."""

_REQUIRED = ("id", "index", "guard", "item", "part", "pool", "words", "sort")
_COUNTED_BY = ("id", "index", "guard", "part", "pool", "clauses", "place")

EXCLUDING = "x"
"""Token of texts that some viewers may not see whatever they pass."""


def clause_token(clause: str) -> str:
    """Return the token of a clause."""
    return f"c{clause}"


def part_token(part: str) -> str:
    """Return the token of a part."""
    return name_token("p", part)


def pool_token(pool: str) -> str:
    """Return the token of a pool."""
    return name_token("k", pool)


def workspace_token(workspace: str) -> str:
    """Return the token of a workspace."""
    return name_token("n", workspace)


def excluded_token(principal: str) -> str:
    """Return the token of a viewer who may not see the text."""
    return name_token("e", principal)


def span_of(sort: str) -> str:
    """Return the token of a stretch of time (about three hours); later stretches have smaller tokens, as in `sort`."""
    return sort[:_SPAN_DIGITS]


async def index(
    runner: Runner,
    counters: Counters,
    pending: Pending,
    texts: Sequence[TextRow],
    audiences: Mapping[NodeId, State],
    *,
    new_guards: Collection[NodeId],
) -> None:
    """Let texts be added or replaced; each is seen by the audience its guard has now, by nobody if it has none.

    Args:
        runner: of the transaction.
        counters: of the transaction.
        pending: of the transaction; holds none of these texts.
        texts: to be written.
        audiences: of those of their guards that are there.
        new_guards: guards on which no text hangs, so that those named after them need not be looked for.
    """
    rows = {text.id: text for text in texts}
    named = {id for id, text in rows.items() if text.guard in new_guards and id.startswith(f"{text.guard}#")}
    looked_for = rows.keys() - named
    there = await _uncount(runner, counters, "t.id IN $keys", looked_for) if looked_for else ()
    pending.new_texts.update(rows.keys() - {row["id"] for row in there})
    written = [_properties(text, audiences.get(text.guard)) for text in rows.values()]
    _count(counters, written, by=1)
    for row in written:
        own = TEXT_LABELS[TextIndex(row["index"])]
        others = [label for label in TEXT_LABELS.values() if label != own]
        properties = {name: value for name, value in row.items() if value is not None}
        pending.texts[row["id"]] = (["Text", own], others, properties)


async def unindex(runner: Runner, counters: Counters, text_ids: Iterable[str]) -> None:
    """Remove texts by id."""
    keys = sorted(set(text_ids))
    if keys:
        await _uncount(runner, counters, "t.id IN $keys", keys)
        await runner.run("UNWIND $keys AS key MATCH (t:Text {id: key}) DELETE t", keys=keys)


async def unindex_guards(runner: Runner, counters: Counters, guards: Sequence[NodeId]) -> None:
    """Remove the texts that hang on these guards."""
    if await _uncount(runner, counters, "t.guard IN $keys", guards):
        await runner.run("UNWIND $keys AS key MATCH (t:Text {guard: key}) DELETE t", keys=list(guards))


async def readmit(runner: Runner, counters: Counters, audiences: Mapping[NodeId, State]) -> None:
    """Bring the texts of these guards in step with audiences that were just written."""
    found = await _uncount(runner, counters, "t.guard IN $keys", audiences) if audiences else ()
    if not found:
        return
    rows = [{**row, **_seen_by(row, audiences.get(NodeId(row["guard"])))} for row in found]
    _count(counters, rows, by=1)
    await runner.run(
        "UNWIND $rows AS row MATCH (t:Text {id: row.id}) SET t.clauses = row.clauses, t.place = row.place, "
        "t.workspace = row.workspace",
        rows=rows,
    )


async def texts_of(runner: Runner, guards: Sequence[NodeId]) -> Sequence[TextRow]:
    """Return the texts that hang on these guards, in id order."""
    rows = await table(
        runner,
        "UNWIND $guards AS guard MATCH (n:Text {guard: guard})",
        TEXT,
        guards=sorted(set(guards)),
    )
    return sorted(whole_texts(row for (row,) in rows), key=lambda text: text.id)


def whole_texts(rows: Iterable[Sequence[Any]]) -> list[TextRow]:
    """Return the texts of rows of `TEXT`, without those that another transaction removed meanwhile."""
    return [_text_row(text) for text, there in rows if there and all(text.get(name) is not None for name in _REQUIRED)]


def _properties(text: TextRow, audience: State | None) -> dict[str, Any]:
    tokens = encode_words(text.words)
    row = {
        "id": text.id,
        "index": text.index.value,
        "guard": text.guard,
        "item": text.item,
        "part": text.part,
        "pool": text.pool,
        "words": tokens,
        "long": long_words(text.words, tokens) or None,
        "length": len(text.words),
        "sort": (sort := encode_sort(text.sort_at, text.id)),
        "span": span_of(sort),
    }
    return {**row, **_seen_by(row, audience)}


def _seen_by(row: Mapping[str, Any], audience: State | None) -> dict[str, Any]:
    """Return what the index filters by: clauses and excluded viewers, part, pool and workspace."""
    facts = audience or {}
    workspace, clauses, excluded = facts.get("guardWorkspace"), facts.get("audClauses"), facts.get("audExcluded")
    place = [part_token(row["part"]), pool_token(row["pool"])]
    if workspace is not None:
        place.append(workspace_token(workspace))
    if excluded:
        place += [EXCLUDING, *map(excluded_token, excluded)]
    return {"clauses": " ".join(map(clause_token, clauses or [])), "place": " ".join(place), "workspace": workspace}


async def _uncount(
    runner: Runner, counters: Counters, condition: str, keys: Iterable[str]
) -> Sequence[Mapping[str, Any]]:
    """Take the texts that fit out of their counters, and return them."""
    rows = await table(
        runner,
        f"MATCH (t:Text) WHERE {condition}",
        f"t {{{', '.join(f'.{name}' for name in _COUNTED_BY)}}}",
        keys=sorted(keys),
    )
    found = [row for (row,) in rows if None not in row.values()]  # whoever removes a text takes it out himself
    _count(counters, found, by=-1)
    return found


def _count(counters: Counters, rows: Iterable[Mapping[str, Any]], *, by: int) -> None:
    """Count texts by clause; those with excluded viewers are counted when they are asked for."""
    alike = Counter((row["clauses"], row["place"], row["index"], row["part"], row["pool"]) for row in rows)
    for (clauses, place, *filed), number in alike.items():
        if EXCLUDING not in place.split():
            for token in clauses.split():
                counters.add(text_keys(token[1:], *filed), by * number)


def _text_row(properties: Mapping[str, Any]) -> TextRow:
    return TextRow(
        id=properties["id"],
        index=TextIndex(properties["index"]),
        guard=NodeId(properties["guard"]),
        item=NodeId(properties["item"]),
        part=properties["part"],
        pool=NodeId(properties["pool"]),
        words=decode_words(properties["words"], properties.get("long") or ()),
        sort_at=decode_sort(properties["sort"]),
    )
