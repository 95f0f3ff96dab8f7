"""Keyword texts: written beside the audience of their guard, and kept in step with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from graph.model.ids import NodeId
from graph.store.neo4j.asking import Asking, table
from graph.store.neo4j.audience import LOCKED, State, States
from graph.store.neo4j.counters import Counters, text_keys
from graph.store.neo4j.driver import ONE_WAY
from graph.store.neo4j.facts import decode_sort, encode_sort
from graph.store.neo4j.pending import Pending
from graph.store.neo4j.schema import TEXT_LABELS
from graph.store.neo4j.words import decode_words, encode_words, long_words, name_token
from graph.store.query import TextIndex, TextRow

_SPAN_DIGITS = 12

TEXT = "[properties(n), n:Text]"
"""What is read of a text: its label last, which goes before the properties do."""

_REQUIRED = ("id", "index", "guard", "item", "part", "pool", "words", "sort")
_COUNTED_BY = ("id", "index", "guard", "part", "pool", "clauses", "place")

_COUNTED = f"t {{{', '.join(f'.{name}' for name in _COUNTED_BY)}}}"
_BY_ID = "UNWIND $keys AS key MATCH (t:Text) USING INDEX SEEK t:Text(id) WHERE t.id = key"
_BY_GUARD = "UNWIND $ids AS id MATCH (t:Text) USING INDEX SEEK t:Text(guard) WHERE t.guard = id"
_FIND = f"RETURN collect({_COUNTED}) AS texts"
_REMOVE = f"WITH t, {_COUNTED} AS text DELETE t RETURN collect(text) AS texts"
REMOVED = f"{_BY_GUARD} {_REMOVE}"
"""Removes the texts that hang on the nodes `$ids`, and gives what `uncount` needs of them."""

_WITH_GUARDS = f"{ONE_WAY}CALL () {{ {LOCKED} }} CALL () {{ {_BY_ID} {_FIND} }} RETURN states, texts"

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
    runner: Asking,
    counters: Counters,
    pending: Pending,
    texts: Sequence[TextRow],
    states: States,
    *,
    new_guards: Collection[NodeId],
) -> None:
    """Let texts be added or replaced; each is seen by the audience its guard has now, by nobody if it has none.

    Args:
        runner: of the transaction.
        counters: of the transaction.
        pending: of the transaction; holds none of these texts.
        texts: to be written.
        states: of the transaction.
        new_guards: guards on which no text hangs, so that those named after them need not be looked for.
    """
    rows = {text.id: text for text in texts}
    named = {id for id, text in rows.items() if text.guard in new_guards and id.startswith(f"{text.guard}#")}
    unknown, looked_for = {text.guard for text in texts} - states.known(), rows.keys() - named
    if unknown or looked_for:
        ((found, there),) = await runner.run(_WITH_GUARDS, ids=sorted(unknown), keys=sorted(looked_for))
        states.admitted(found)
        pending.new_texts.update(rows.keys() - {row["id"] for row in uncount(counters, there)})
    else:
        pending.new_texts.update(rows)
    written = [_properties(text, states.now(text.guard)) for text in rows.values()]
    _count(counters, written, by=1)
    for row in written:
        own, others = _labels(row["index"])
        pending.texts[row["id"]] = (own, others, row)


async def unindex(runner: Asking, counters: Counters, text_ids: Iterable[str]) -> None:
    """Remove texts by id."""
    keys = sorted(set(text_ids))
    if keys:
        ((gone,),) = await runner.run(f"{ONE_WAY}{_BY_ID} {_REMOVE}", keys=keys)
        uncount(counters, gone)


async def readmit(runner: Asking, counters: Counters, audiences: Mapping[NodeId, State]) -> None:
    """Bring the texts of these guards in step with audiences that were just written."""
    if not audiences:
        return
    ((there,),) = await runner.run(f"{ONE_WAY}{_BY_GUARD} {_FIND}", ids=sorted(audiences))
    found = uncount(counters, there)
    if not found:
        return
    rows = [{**row, **_seen_by(row["part"], row["pool"], audiences.get(NodeId(row["guard"])))} for row in found]
    _count(counters, rows, by=1)
    await runner.run(
        "UNWIND $rows AS row MATCH (t:Text {id: row.id}) SET t.clauses = row.clauses, t.place = row.place, "
        "t.workspace = row.workspace",
        rows=rows,
    )


async def texts_of(runner: Asking, guards: Sequence[NodeId]) -> Sequence[TextRow]:
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


@cache
def _labels(index: str) -> tuple[list[str], list[str]]:
    """Return the labels that a text of an index has, and those that it has not."""
    own = TEXT_LABELS[TextIndex(index)]
    return ["Text", own], [label for label in TEXT_LABELS.values() if label != own]


def _properties(text: TextRow, audience: State | None) -> dict[str, Any]:
    """Return what is kept of a text; what it lacks is left out."""
    tokens = encode_words(text.words)
    long = long_words(text.words, tokens)
    row = {
        "id": text.id,
        "index": text.index.value,
        "guard": text.guard,
        "item": text.item,
        "part": text.part,
        "pool": text.pool,
        "words": tokens,
        "length": len(text.words),
        "sort": (sort := encode_sort(text.sort_at, text.id)),
        "span": span_of(sort),
        **_seen_by(text.part, text.pool, audience),
    }
    return {**row, "long": long} if long else row


def _seen_by(part: str, pool: str, audience: State | None) -> dict[str, Any]:
    """Return what the index filters by: clauses and excluded viewers, part, pool and workspace."""
    if audience is None:
        return {"clauses": "", "place": _place(part, pool, None, ())}
    workspace, clauses, excluded = audience["guardWorkspace"], audience["audClauses"], audience["audExcluded"]
    seen = {"clauses": " ".join(map(clause_token, clauses or ())), "place": _place(part, pool, workspace, excluded)}
    return seen if workspace is None else {**seen, "workspace": workspace}


def _place(part: str, pool: str, workspace: str | None, excluded: Sequence[str] | None) -> str:
    place = [part_token(part), pool_token(pool)]
    if workspace is not None:
        place.append(workspace_token(workspace))
    if excluded:
        place += [EXCLUDING, *map(excluded_token, excluded)]
    return " ".join(place)


def uncount(counters: Counters, there: Iterable[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Take texts out of their counters, and return them; those that another transaction removed it takes out itself."""
    found = [row for row in there if None not in row.values()]
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
