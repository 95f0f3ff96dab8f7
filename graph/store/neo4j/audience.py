"""Audiences: clauses on the node, and one audience row per (clause, tag) for lists and counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from graph.model import schema
from graph.model.access import Audience
from graph.model.errors import BadState
from graph.model.ids import NodeId
from graph.store.neo4j.counters import Counters, row_key
from graph.store.neo4j.driver import ONE_WAY, Runner
from graph.store.neo4j.find import ANY_TAG, tag_key
from graph.store.neo4j.pending import Pending, is_alone
from graph.store.neo4j.visible import Interned, interned

State = Mapping[str, Any]
"""What is stored about guard and audience of one node, see `_STATE`."""

_GUARD_FACTS = ("guardKind", "guardWorkspace", "guardPool", "guardTags", "guardSort")

_EMPTY = dict.fromkeys((*_GUARD_FACTS, "audClauses", "audExcluded", "audTags", "audSort"))

_WRITTEN = ("audClauses", "audExcluded", "audTags", "audSort")

_STATE = (
    "n {.id, .workspaceId, .guardKind, .guardWorkspace, .guardPool, .guardTags, .guardSort,"
    " .audClauses, .audExcluded, .audTags, .audSort, real: NOT n:Placeholder}"
)


LOCKED = (
    "UNWIND $ids AS id MATCH (n:Node) USING INDEX SEEK n:Node(id) WHERE n.id = id SET n.lock = 0 "
    f"WITH n RETURN collect({_STATE}) AS states"
)
"""Locks the nodes `$ids` that are there, so that they stay as they are, and gives their states."""


ROWS_REMOVED = (
    f"UNWIND states AS state UNWIND state.audClauses AS clause "
    f"UNWIND ['{ANY_TAG}'] + [tag IN state.audTags | '{tag_key('')}' + tag] AS tag "
    "MATCH (a:Aud) USING INDEX SEEK a:Aud(clause, kind, tag, sort) WHERE a.clause = clause "
    "AND a.kind = $kinds[state.id] AND a.tag = tag AND a.sort = state.audSort DELETE a"
)
"""Removes the audience rows of nodes of these `states`, whose kinds the map `$kinds` has by id."""


class States:
    """What one transaction knows because it wrote it: nobody else can change those nodes before it ends."""

    def __init__(self) -> None:
        self._known: dict[NodeId, State] = {}

    def put(self, id: NodeId, workspace: str) -> None:
        """Note a node that was inserted and has neither guard nor audience."""
        self._known[id] = {**_EMPTY, "id": id, "workspaceId": workspace, "real": True}

    def guarded(self, id: NodeId, properties: Mapping[str, Any]) -> None:
        """Note the guard that was written to a node."""
        if id in self._known:
            facts = {name: properties[name] for name in _GUARD_FACTS}
            self._known[id] = {**self._known[id], **facts}

    def admitted(self, states: Iterable[State]) -> None:
        """Note states as they were written, or read under a lock."""
        self._known.update((NodeId(state["id"]), state) for state in states)

    def known(self) -> Set[NodeId]:
        """Return the nodes whose states are known."""
        return self._known.keys()

    def now(self, id: NodeId) -> State | None:
        """Return the state of a node, if it is known."""
        return self._known.get(id)

    def has_guard(self, id: NodeId) -> bool:
        """True if a guard is known to be there."""
        return id in self._known and self._known[id]["guardKind"] is not None

    def has_no_audience(self, id: NodeId) -> bool:
        """True if it is known that there is no audience."""
        return id in self._known and self._known[id]["audClauses"] is None

    def forget(self, ids: Iterable[NodeId]) -> None:
        """Drop what is known about nodes that go."""
        for id in ids:
            self._known.pop(id, None)

    async def of(self, runner: Runner, ids: Iterable[NodeId]) -> Mapping[NodeId, State]:
        """Return the states of those nodes that are there; they are locked, so that they stay as they are."""
        wanted = set(ids)
        unknown = sorted(wanted - self._known.keys())
        if unknown:
            ((states,),) = await runner.run(ONE_WAY + LOCKED, ids=unknown)
            self.admitted(states)
        return {id: self._known[id] for id in wanted if id in self._known}


async def admit(
    runner: Runner, counters: Counters, states: States, pending: Pending, audiences: Sequence[Audience]
) -> Mapping[NodeId, State]:
    """Let audiences be set or replaced, with the rows of lists and counts; return the states that will be.

    Raises:
        BadState: a node has no guard.
    """
    wanted = {audience.node: audience for audience in audiences}
    found = await states.of(runner, wanted)
    clauses = {id: _clauses(audience, found.get(id)) for id, audience in wanted.items()}
    pending.clauses.update((clause.id, clause) for several in clauses.values() for clause in several)
    before = [found[id] for id in sorted(wanted)]
    after = [_after(found[id], wanted[id], clauses[id]) for id in sorted(wanted)]
    _replace_rows(counters, pending, before, after)
    for state in after:
        pending.state(state["id"], {name: state[name] for name in _WRITTEN})
    states.admitted(after)
    return {NodeId(state["id"]): state for state in after}


def uncount(counters: Counters, gone: Iterable[State]) -> None:
    """Take the audience rows of nodes that went out of their counters, given the states that they had."""
    _count(counters, (row for state in gone for row in _rows(state)), by=-1)


async def arrive(runner: Runner, counters: Counters, states: States, pending: Pending, ids: Sequence[NodeId]) -> None:
    """Add the audience rows of nodes that had an audience before they were there."""
    if ids:
        states.forget(ids)
        found = await states.of(runner, ids)
        _replace_rows(counters, pending, [], list(found.values()))


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


def _replace_rows(counters: Counters, pending: Pending, before: Sequence[State], after: Sequence[State]) -> None:
    """Let the difference between two sets of audience rows be written, and count it."""
    old = {_identity(row): row for state in before for row in _rows(state)}
    new = {_identity(row): row for state in after for row in _rows(state)}
    gone = {key: row for key, row in old.items() if new.get(key) != row}
    come = {key: row for key, row in new.items() if old.get(key) != row}
    _count(counters, gone.values(), by=-1)
    _count(counters, come.values(), by=1)
    pending.replace_rows(gone, come)


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
    counters.add((row_key(row["clause"], row["kind"], row["tag"]) for row in rows if is_alone(row)), by)
