"""Who sees what: clauses are interned per pool and filed under their narrowest rule.

The id of a clause is a digest of workspace, pool and rules, so that interning needs no counter and no lock, what an
id stands for never changes, and an id is a safe word of the full-text index. Source: ADR 0010.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from graph.model import schema
from graph.model.access import ALL_AGENTS, Audience, Clause, Scope, SystemScope, Viewer, narrowest
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.store.neo4j.asking import Asking, table
from graph.store.neo4j.driver import ONE_WAY
from graph.store.neo4j.facts import decode_rules, encode_rules

NOTHING = "false"

_DIGEST_BYTES = 15
_ALPHABET = "0123456789abcdefghijklmnopqrstuv"
_ID_LENGTH = 24


@dataclass(frozen=True, kw_only=True, slots=True)
class Interned:
    """A clause as it is stored; its id is made of all the rest, so that nobody needs to look whether it is there."""

    id: str
    workspace: str
    pool: str
    rules: tuple[str, ...]
    narrow: str
    agent: str

    def row(self) -> dict[str, Any]:
        """Return it as a parameter."""
        return {
            "id": self.id,
            "workspace": self.workspace,
            "pool": self.pool,
            "rules": list(self.rules),
            "narrow": self.narrow,
            "agent": self.agent,
        }


@lru_cache(maxsize=50_000)
def interned(workspace: str, pool: str | None, clause: Clause) -> Interned:
    """Return the stored form of a clause of a pool."""
    rules, filed = encode_rules(clause), narrowest(clause)
    name = json.dumps([workspace, pool, rules]).encode()
    return Interned(
        id=_base32(hashlib.blake2b(name, digest_size=_DIGEST_BYTES).digest()),
        workspace=workspace,
        pool=pool or "",
        rules=tuple(rules),
        narrow=filed.encode(),
        agent=filed.agent,
    )


AUDIENCES = (
    f"{ONE_WAY}UNWIND $ids AS id MATCH (n:Node {{id: id}}) USING INDEX SEEK n:Node(id) WHERE n.audClauses IS NOT NULL "
    "WITH collect([n.id, n.audClauses, n.audExcluded]) AS found CALL (found) { UNWIND found AS row "
    "UNWIND row[1] AS held WITH DISTINCT held MATCH (c:Clause {id: held}) USING INDEX SEEK c:Clause(id) "
    "RETURN collect([c.id, c.rules]) AS clauses }"
)
"""Binds `found`, the audiences of nodes, and `clauses`: once what each of their clauses demands."""


def whole_audiences(rows: Iterable[Sequence[Any]], clauses: Iterable[Sequence[Any]]) -> list[Audience]:
    """Return the audiences that `AUDIENCES` gave, without those of nodes that another transaction removed meanwhile.

    A clause that is not there admits nobody, and who is excluded must be known before anybody is admitted.
    """
    meant = {id: decode_rules(rules) for id, rules in clauses if id is not None and rules is not None}
    return [
        Audience(
            node=NodeId(id),
            clauses=frozenset(meant[clause] for clause in held if clause in meant),
            excluded=frozenset(map(NodeId, excluded)),
        )
        for id, held, excluded in rows
        if None not in (id, held, excluded)
    ]


async def clauses_of(runner: Asking, viewer: Viewer) -> Sequence[str]:
    """Return the ids of all clauses the viewer passes, in order; touches only clauses filed under rules he passes."""
    parameters = viewer_parameters(viewer)
    found: set[str] = set()
    for filed in _files(viewer):
        rows = await table(runner, f"{filed} {_PASSES} AND ($pools IS NULL OR c.pool IN $pools)", "c.id", **parameters)
        found.update(id for (id,) in rows if id is not None)
    return sorted(found)


def viewer_parameters(viewer: Viewer) -> dict[str, Any]:
    """Return the facts about a viewer that `seen` and `clauses_of` compare with."""
    return {
        "workspace": viewer.workspace,
        "me": viewer.principal,
        "held": sorted(rule.encode() for rule in viewer.held),
        "audits": sorted(viewer.audits - {ALL_AGENTS}),
        "auditsAll": ALL_AGENTS in viewer.audits,
        "pools": None if viewer.pools is None else sorted(viewer.pools),
    }


def scope_parameters(scope: Scope) -> dict[str, Any]:
    """Return the parameters of `seen`."""
    if isinstance(scope, Viewer):
        return viewer_parameters(scope)
    return {"workspace": scope.workspace}


def seen(scope: Scope, variable: str = "n", *, passed: bool = False) -> str:
    """Return the condition under which a node may be returned, for nodes that were found by another way.

    It looks at the clauses of that one node: whether the viewer passes one, or whether one is among `$passed`, which
    costs a tenth where many nodes are looked at. Lists over many nodes go through the audience rows instead. Of a node
    that is being removed every part may be null, and null is never seen.
    """
    n = variable
    if isinstance(scope, SystemScope):
        return f"NOT {n}:Placeholder" + (f" AND {n}.workspaceId = $workspace" if scope.workspace else "")
    pools = f" AND {n}.guardPool IN $pools" if scope.pools is not None else ""
    passes = "clause IN $passed" if passed else f"EXISTS {{ MATCH (c:Clause {{id: clause}}) WHERE {_PASSES} }}"
    return (
        f"NOT {n}:Placeholder AND {n}.workspaceId = $workspace AND {n}.guardWorkspace = $workspace{pools} AND "
        f"NOT $me IN {n}.audExcluded AND any(clause IN {n}.audClauses WHERE {passes})"
    )


def may_see_kind(scope: Scope, kind: type[Node]) -> bool:
    """False for kinds that are never returned to a viewer."""
    return isinstance(scope, SystemScope) or schema.kinds()[kind.__name__].guarded


def guarded_ids(scope: Scope, ids: Iterable[NodeId]) -> list[NodeId]:
    """Return the ids that can be returned at all: for a viewer those of guarded kinds."""
    if isinstance(scope, SystemScope):
        return list(dict.fromkeys(ids))
    kinds = ((id, schema.kind_of(id)) for id in dict.fromkeys(ids))
    return [id for id, kind in kinds if kind is not None and kind.guarded]


# A rule is stored as "kind|object|agent": the auditors of its agent pass it, whatever it demands.
_PASSES = (
    "all(rule IN c.rules WHERE rule IN $held OR split(rule, '|')[2] IN $audits"
    " OR ($auditsAll AND split(rule, '|')[2] <> ''))"
)


def _files(viewer: Viewer) -> Iterable[str]:
    """Return where the clauses of a viewer can be filed, each as the start of a statement."""
    yield (
        "UNWIND $held AS filed MATCH (c:Clause {workspace: $workspace, narrow: filed})"
        " USING INDEX SEEK c:Clause(workspace, narrow) WHERE"
    )
    if ALL_AGENTS in viewer.audits:
        yield (
            "MATCH (c:Clause) USING INDEX SEEK c:Clause(workspace, agent)"
            " WHERE c.workspace = $workspace AND c.agent > '' AND"
        )
    elif viewer.audits:
        yield (
            "UNWIND $audits AS filed MATCH (c:Clause {workspace: $workspace, agent: filed})"
            " USING INDEX SEEK c:Clause(workspace, agent) WHERE"
        )


def _base32(digest: bytes) -> str:
    number = int.from_bytes(digest, "big")
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(5 * (_ID_LENGTH - 1), -1, -5))
