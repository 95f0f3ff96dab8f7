"""Interned rules and clauses, and which clauses a viewer passes.

A clause belongs to one pool and carries the principals that may not pass it, so that nothing else has to be asked
about a node once its clauses are known. It is filed under its narrowest rule only: look-up touches the clauses of
rules that the viewer holds or audits, never other people's. Source: docs/design.md#the-audience-index, ADR 0011.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from graph.model.access import ALL_AGENTS, Audience, Clause, Rule, Viewer, narrowest
from graph.model.ids import NodeId
from graph.model.making import maker
from graph.store.embedded.values import listed

NOBODY = 0
SEVERAL = -1

_KNOWN_LIMIT = 20_000
_AUDIENCE = maker(Audience)
_NOBODY: frozenset[NodeId] = frozenset()


@dataclass(frozen=True, slots=True)
class Passing:
    """The clauses a viewer passes, also as a parameter for ``json_each(?)``."""

    clauses: tuple[int, ...]
    parameter: str

    @classmethod
    def of(cls, clauses: Iterable[int]) -> Passing:
        numbers = tuple(sorted(clauses))
        return cls(numbers, listed(numbers))


class Clauses:
    """What one connection knows of rules and clauses. They never change once committed, so they are remembered.

    The memory of a viewer's clauses lasts for one transaction only.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._rules: dict[int, Rule] = {}
        self._listed: dict[str, Clause] = {}
        self._clauses: dict[int, tuple[Clause, frozenset[NodeId]]] = {}
        self._together: dict[tuple[int, str | None], frozenset[Clause]] = {}
        self._numbers: dict[Rule, int] = {}
        self._filed: dict[tuple[str, str, Clause, frozenset[NodeId]], int] = {}
        self._numbered: dict[Clause, str] = {}
        self._passing: dict[tuple[Viewer, frozenset[NodeId] | None], Passing] = {}

    def reset(self, *, keep: bool) -> None:
        """Forget what holds for one transaction; everything unless `keep`: numbers may have been rolled back."""
        self._passing.clear()
        lasting: list[dict[Any, Any]] = [self._rules, self._listed, self._clauses, self._together]
        lasting += [self._numbers, self._filed, self._numbered]
        if not keep or sum(map(len, lasting)) > _KNOWN_LIMIT:
            for known in lasting:
                known.clear()

    # --- what a viewer passes

    def passing(self, viewer: Viewer, pools: frozenset[NodeId] | None = None) -> Passing:
        """Return the clauses that the viewer passes, in `pools` (None: all) and in those the viewer asks for."""
        key = (viewer, pools)
        if key not in self._passing:
            self._passing[key] = self._find_passing(viewer, _narrowed(viewer.pools, pools))
        return self._passing[key]

    def _find_passing(self, viewer: Viewer, pools: frozenset[NodeId] | None) -> Passing:
        held = {
            n
            for (n,) in self._db.execute(
                "SELECT r.n FROM json_each(?) h CROSS JOIN rule r ON r.text = h.value",
                (listed([rule.encode() for rule in viewer.held]),),
            )
        }
        passed = []
        for n, rules, excluded in self._candidates(viewer, held, pools):
            if (excluded == "[]" or viewer.principal not in json.loads(excluded)) and self._passes(
                viewer, held, json.loads(rules)
            ):
                passed.append(n)
        return Passing.of(set(passed))

    def _candidates(
        self, viewer: Viewer, held: set[int], pools: frozenset[NodeId] | None
    ) -> Iterable[tuple[int, str, str]]:
        within = "" if pools is None else " AND c.pool IN (SELECT value FROM json_each(?))"
        narrow = () if pools is None else (listed(pools),)
        select = "SELECT c.n, c.rules, c.excluded FROM "
        yield from self._db.execute(
            f"{select} json_each(?) h CROSS JOIN clause c ON c.filed = h.value AND c.workspace = ?{within}",
            (listed(held), viewer.workspace, *narrow),
        )
        if ALL_AGENTS in viewer.audits:
            yield from self._db.execute(
                f"{select} clause c WHERE c.workspace = ? AND c.agent > ''{within}", (viewer.workspace, *narrow)
            )
        elif viewer.audits:
            yield from self._db.execute(
                f"{select} json_each(?) a CROSS JOIN clause c"
                f" ON c.agent = a.value AND c.agent > '' AND c.workspace = ?{within}",
                (listed(viewer.audits), viewer.workspace, *narrow),
            )

    def _passes(self, viewer: Viewer, held: set[int], rules: Sequence[int]) -> bool:
        rest = [n for n in rules if n not in held]
        return not rest or (bool(viewer.audits) and all(viewer.passes(rule) for rule in self.rules(rest)))

    # --- reading back

    def rules(self, numbers: Iterable[int]) -> Clause:
        """Return the rules of these numbers."""
        wanted = tuple(numbers)
        missing = [n for n in wanted if n not in self._rules]
        if missing:
            found = self._db.execute(
                "SELECT r.n, r.text FROM json_each(?) w CROSS JOIN rule r ON r.n = w.value", (listed(missing),)
            )
            self._rules.update((n, Rule.decode(text)) for n, text in found)
        return frozenset([self._rules[n] for n in wanted])

    def rules_in(self, column: str) -> Clause:
        """Return the rules that a guard's row lists."""
        known = self._listed.get(column)
        if known is None:
            known = self._listed[column] = self.rules(json.loads(column))
        return known

    def clause(self, number: int) -> tuple[Clause, frozenset[NodeId]]:
        """Return the rules of a clause and who may not pass it."""
        known = self._clauses.get(number)
        if known is None:
            ((rules, excluded),) = self._db.execute("SELECT rules, excluded FROM clause WHERE n = ?", (number,))
            known = self._clauses[number] = (self.rules(json.loads(rules)), frozenset(json.loads(excluded)))
        return known

    def audience(self, node: NodeId, clause: int, clauses: str | None, barred: str) -> Audience:
        """Return the audience that `store` put into a guard's row."""
        key = (clause, clauses)
        shown_to = self._together.get(key)
        if shown_to is None:
            shown_to = self._together[key] = frozenset([self.clause(n)[0] for n in numbers_of(clause, clauses)])
        return _AUDIENCE(node, shown_to, _NOBODY if barred == "[]" else frozenset(json.loads(barred)))

    # --- interning; inside a write transaction

    def numbers_for(self, workspace: str, pool: str | None, audience: Audience) -> tuple[int, ...]:
        """Return the numbers of the clauses of an audience, interned for a pool."""
        return tuple(
            sorted([self._intern(workspace, pool or "", clause, audience.excluded) for clause in audience.clauses])
        )

    def rule_numbers(self, rules: Clause) -> str:
        """Return the interned rules of a conjunction as JSON text, in the order of their numbers."""
        if rules not in self._numbered:
            self._numbered[rules] = listed(sorted(self._rule_number(rule) for rule in rules))
        return self._numbered[rules]

    def _intern(self, workspace: str, pool: str, clause: Clause, excluded: frozenset[NodeId]) -> int:
        key = (workspace, pool, clause, excluded)
        if key not in self._filed:
            self._filed[key] = self._insert(workspace, pool, clause, excluded)
        return self._filed[key]

    def _insert(self, workspace: str, pool: str, clause: Clause, excluded: frozenset[NodeId]) -> int:
        rules, barred = self.rule_numbers(clause), listed(sorted(excluded))
        known: Any = self._db.execute(
            "SELECT n FROM clause WHERE workspace = ? AND pool = ? AND rules = ? AND excluded = ?",
            (workspace, pool, rules, barred),
        ).get
        if known is not None:
            return int(known)
        self._passing.clear()
        filed = narrowest(clause)
        return _inserted(
            self._db,
            "INSERT INTO clause(workspace, pool, filed, agent, rules, excluded) VALUES (?, ?, ?, ?, ?, ?) RETURNING n",
            (workspace, pool, self._rule_number(filed), filed.agent, rules, barred),
        )

    def _rule_number(self, rule: Rule) -> int:
        if rule not in self._numbers:
            self._numbers[rule] = interned(self._db, "rule", rule.encode())
        return self._numbers[rule]


def numbers_of(clause: int | None, clauses: str | None) -> tuple[int, ...]:
    """Return the clause numbers in a guard's row."""
    if clause is None or clause == NOBODY:
        return ()
    return (clause,) if clause != SEVERAL else tuple(json.loads(clauses or "[]"))


def columns_of(numbers: Sequence[int]) -> tuple[int, str | None]:
    """Return `clause` and `clauses` of a guard's row."""
    match len(numbers):
        case 0:
            return NOBODY, None
        case 1:
            return numbers[0], None
        case _:
            return SEVERAL, listed(numbers)


def interned(db: apsw.Connection, table: str, text: str) -> int:
    """Return the number of a text in one of the tables `rule`, `tag` and `part`; it gets one if it has none."""
    known: Any = db.execute(f"SELECT n FROM {table} WHERE text = ?", (text,)).get
    if known is not None:
        return int(known)
    return _inserted(db, f"INSERT INTO {table}(text) VALUES (?) RETURNING n", (text,))


def _inserted(db: apsw.Connection, sql: str, parameters: Sequence[Any]) -> int:
    return int(db.execute(sql, parameters).get)


def _narrowed(one: frozenset[NodeId] | None, other: frozenset[NodeId] | None) -> frozenset[NodeId] | None:
    if one is None or other is None:
        return one if other is None else other
    return one & other
