"""Audiences: clauses on the node, and one audience row per (clause, tag) for lists and counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graph.model import schema
from graph.model.access import Audience
from graph.model.errors import BadState
from graph.model.ids import NodeId
from graph.store.neo4j import texts, visible
from graph.store.neo4j.counters import Counters, row_key
from graph.store.neo4j.driver import Runner
from graph.store.neo4j.find import ANY_TAG, tag_key
from graph.store.neo4j.visible import Interned, interned

State = Mapping[str, Any]
"""What is stored about the audience of one node, see `_STATE`."""

_STATE = (
    "n {.id, .workspaceId, .guardKind, .guardWorkspace, .guardPool, .guardTags, .guardSort,"
    " .audClauses, .audExcluded, .audTags, .audSort, real: NOT n:Placeholder}"
)


async def admit(runner: Runner, counters: Counters, audiences: Sequence[Audience]) -> None:
    """Set or replace audiences; lists, counts and texts follow in the same transaction.

    Raises:
        BadState: a node has no guard.
    """
    wanted = {audience.node: audience for audience in audiences}
    if not wanted:
        return
    states = await _states(runner, wanted)
    clauses = {id: _clauses(audience, states.get(id)) for id, audience in wanted.items()}
    await visible.intern(runner, (clause for found in clauses.values() for clause in found))
    after = [_after(states[id], wanted[id], clauses[id]) for id in sorted(wanted)]
    await _replace_rows(runner, counters, [states[id] for id in sorted(wanted)], after)
    await runner.run(
        "UNWIND $rows AS row MATCH (n:Node {id: row.id}) SET n.audClauses = row.audClauses, "
        "n.audExcluded = row.audExcluded, n.audTags = row.audTags, n.audSort = row.audSort",
        rows=[_stored(state) for state in after],
    )
    await texts.readmit(runner, counters, sorted(wanted))


async def withdraw(runner: Runner, counters: Counters, ids: Iterable[NodeId]) -> None:
    """Remove the audience rows of nodes that go; their properties go with the nodes."""
    states = await _states(runner, ids)
    await _replace_rows(runner, counters, list(states.values()), [])


async def arrive(runner: Runner, counters: Counters, ids: Iterable[NodeId]) -> None:
    """Write the audience rows of nodes that had an audience before they were there."""
    states = await _states(runner, ids)
    await _replace_rows(runner, counters, [], list(states.values()))


async def _states(runner: Runner, ids: Iterable[NodeId]) -> Mapping[NodeId, State]:
    rows = await runner.run(f"UNWIND $ids AS id MATCH (n:Node {{id: id}}) RETURN {_STATE}", ids=sorted(set(ids)))
    return {NodeId(state["id"]): state for (state,) in rows}


def _clauses(audience: Audience, state: State | None) -> list[Interned]:
    if state is None or state["guardKind"] is None:
        raise BadState("set the guard of a node before its audience", node=audience.node)
    workspace, pool = state["guardWorkspace"], state["guardPool"]
    return sorted((interned(workspace, pool, clause) for clause in audience.clauses), key=lambda clause: clause.id)


def _after(state: State, audience: Audience, clauses: Sequence[Interned]) -> State:
    return {
        **state,
        "audClauses": [clause.id for clause in clauses],
        "audExcluded": sorted(audience.excluded),
        "audTags": sorted(set(state["guardTags"])),
        "audSort": state["guardSort"],
    }


def _stored(state: State) -> State:
    return {name: state[name] for name in ("id", "audClauses", "audExcluded", "audTags", "audSort")}


async def _replace_rows(runner: Runner, counters: Counters, before: Sequence[State], after: Sequence[State]) -> None:
    """Write the difference between two sets of audience rows, and count it."""
    old = {_identity(row): row for state in before for row in _rows(state)}
    new = {_identity(row): row for state in after for row in _rows(state)}
    gone = [row for key, row in old.items() if new.get(key) != row]
    come = [row for key, row in new.items() if old.get(key) != row]
    _count(counters, gone, by=-1)
    _count(counters, come, by=1)
    if gone:
        await runner.run(
            "UNWIND $rows AS row MATCH (a:Aud) USING INDEX SEEK a:Aud(clause, kind, tag, sort) WHERE "
            "a.clause = row.clause AND a.kind = row.kind AND a.tag = row.tag AND a.sort = row.sort DELETE a",
            rows=gone,
        )
    for label, rows in (("Aud", _alone(come)), ("Aud:AudSeveral", _not_alone(come))):
        if rows:
            await runner.run(f"UNWIND $rows AS row CREATE (a:{label}) SET a = row", rows=rows)


def _rows(state: State) -> Iterable[dict[str, Any]]:
    """Yield one row per (clause, tag); a placeholder has none, nor has a node that says another workspace."""
    clauses, excluded = state["audClauses"] or [], state["audExcluded"] or []
    kind = schema.kind_of(state["id"])
    if kind is None or not state["real"] or state["workspaceId"] != state["guardWorkspace"]:
        return
    for clause in clauses:
        for tag in (ANY_TAG, *map(tag_key, state["audTags"])):
            row = {
                "clause": clause,
                "kind": kind.name,
                "tag": tag,
                "sort": state["audSort"],
                "n": len(clauses),
                "node": state["id"],
            }
            yield {**row, "excluded": excluded} if excluded else row


def _identity(row: Mapping[str, Any]) -> tuple[str, ...]:
    return row["clause"], row["kind"], row["tag"], row["sort"]


def _count(counters: Counters, rows: Iterable[Mapping[str, Any]], *, by: int) -> None:
    counters.add((row_key(row["clause"], row["kind"], row["tag"]) for row in _alone(rows)), by)


def _alone(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows that a counter can count: of nodes with one clause, shown to whoever passes it."""
    return [row for row in rows if row["n"] == 1 and "excluded" not in row]


def _not_alone(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["n"] != 1 or "excluded" in row]
