"""Constraints and indexes, from the declaration of the model; all DDL is behind `ensure`.

Two servers may start on one empty database within the same second: a rule that is already there is success, wherever
the other one was quicker. Source: AD-40, bug case 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from neo4j.exceptions import DriverError, Neo4jError

from graph.model import schema
from graph.model.errors import StoreError, StoreUnavailable
from graph.model.fields import FieldType
from graph.model.schema import KindSpec
from graph.model.time import Clock
from graph.store.neo4j import names
from graph.store.neo4j.driver import Sessions, backoff_s
from graph.store.neo4j.encoding import VECTOR
from graph.store.neo4j.faults import DRIVER_ERRORS, DriverFault, code_of, is_transient
from graph.store.query import TextIndex

TEXT_LABELS: Mapping[TextIndex, str] = {TextIndex.ENTRY: "EntryText", TextIndex.MESSAGE: "MessageText"}
FULL_TEXT: Mapping[TextIndex, str] = {TextIndex.ENTRY: "rw_words_entry", TextIndex.MESSAGE: "rw_words_message"}

_TEXT_PROPERTIES = ("words", "clauses", "place", "span")
_ATTEMPTS = 30
_ONLINE_CHECKS = 12_000
_ONLINE_PAUSE_S = 0.05
_CODES_OF_PRESENT = frozenset(
    f"Neo.ClientError.Schema.{reason}"
    for reason in (
        "EquivalentSchemaRuleAlreadyExists",
        "IndexAlreadyExists",
        "IndexWithNameAlreadyExists",
        "ConstraintAlreadyExists",
        "ConstraintWithNameAlreadyExists",
    )
)


@dataclass(frozen=True, kw_only=True, slots=True)
class SchemaRule:
    """One constraint or index.

    Attributes:
        name: unique in the database.
        kind: ``UNIQUE``, ``RANGE``, ``FULLTEXT`` or ``VECTOR``.
        label: of the nodes it holds.
        properties: in order.
    """

    name: str
    kind: str
    label: str
    properties: tuple[str, ...]

    @property
    def statement(self) -> str:
        """The command that makes it."""
        parts = ", ".join(f"n.`{name}`" for name in self.properties)
        if self.kind == "UNIQUE":
            return f"CREATE CONSTRAINT {self.name} IF NOT EXISTS FOR (n:{self.label}) REQUIRE ({parts}) IS UNIQUE"
        if self.kind == "FULLTEXT":
            return (
                f"CREATE FULLTEXT INDEX {self.name} IF NOT EXISTS FOR (n:{self.label}) ON EACH [{parts}] OPTIONS "
                "{indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: false}}"
            )
        if self.kind == "VECTOR":  # of any size: a change of models has two at once
            return (
                f"CREATE VECTOR INDEX {self.name} IF NOT EXISTS FOR (n:{self.label}) ON ({parts}) OPTIONS "
                "{indexConfig: {`vector.similarity_function`: 'cosine'}}"
            )
        return f"CREATE INDEX {self.name} IF NOT EXISTS FOR (n:{self.label}) ON ({parts})"


@dataclass(frozen=True, slots=True)
class _Found:
    """What the database says about an index."""

    state: str
    labels: list[str]
    properties: list[str]


@cache
def rules() -> tuple[SchemaRule, ...]:
    """Return every constraint and index that the store needs, each once."""
    return (*_own_rules(), *(rule for spec in schema.kinds().values() for rule in _rules_of(spec)))


async def ensure(sessions: Sessions, clock: Clock) -> None:
    """Make what is missing and wait until all of it is online.

    Raises:
        StoreError: a rule cannot be made or its index failed; the message names it.
        StoreUnavailable: the database cannot be reached.
    """
    present = await _present(sessions, clock)
    missing = [rule for rule in rules() if rule.name not in present]
    if missing:
        for kind in ("UNIQUE", "RANGE", "FULLTEXT", "VECTOR"):
            await _make(sessions, clock, [rule for rule in missing if rule.kind == kind])
        present = await _present(sessions, clock)
    await _await_online(sessions, clock, present)


def _own_rules() -> Iterable[SchemaRule]:
    yield _unique("rw_node_id", names.NODE, "id")
    yield _unique("rw_meta_id", "Meta", "id")
    yield _unique("rw_clause_id", "Clause", "id")
    yield _range("rw_clause_filed", "Clause", "workspace", "narrow")
    yield _range("rw_clause_agent", "Clause", "workspace", "agent")
    yield _unique("rw_counter_key", "Counter", "key")
    yield _range("rw_aud", "Aud", "clause", "kind", "tag", "sort")
    yield _range("rw_aud_several", "AudSeveral", "clause", "kind", "tag")
    yield _unique("rw_text_id", "Text", "id")
    yield _range("rw_text_guard", "Text", "guard")
    for index, name in FULL_TEXT.items():
        yield SchemaRule(name=name, kind="FULLTEXT", label=TEXT_LABELS[index], properties=_TEXT_PROPERTIES)


def _rules_of(spec: KindSpec) -> Iterable[SchemaRule]:
    """Return the rules of one kind; an index that is a prefix of another one is left out."""
    unique = [_properties(spec, fields) for fields in spec.unique]
    for properties in unique:
        yield _unique(_name("rw_key", spec, properties), spec.name, *properties)
    if names.vector_field(spec.node) is not None:
        yield SchemaRule(name=names.vector_index(spec.name), kind="VECTOR", label=spec.name, properties=(VECTOR,))
    wanted = [_properties(spec, fields) for fields in spec.indexes]
    wanted += [_properties(spec, (f.name,)) for f in spec.fields if f.indexed and f.type is not FieldType.TEXTS]
    wanted += [("kbId",), ("workspaceId", "guardSort")] if spec.guarded else []
    for properties in dict.fromkeys(wanted):
        if properties not in unique:
            yield _range(_name("rw_by", spec, properties), spec.name, *properties)


def _properties(spec: KindSpec, fields: Iterable[str]) -> tuple[str, ...]:
    return tuple(names.property_of(spec.name, name) for name in fields)


def _name(prefix: str, spec: KindSpec, properties: Iterable[str]) -> str:
    return "_".join((prefix, spec.name, *properties))


def _unique(name: str, label: str, *properties: str) -> SchemaRule:
    return SchemaRule(name=name, kind="UNIQUE", label=label, properties=properties)


def _range(name: str, label: str, *properties: str) -> SchemaRule:
    return SchemaRule(name=name, kind="RANGE", label=label, properties=properties)


async def _make(sessions: Sessions, clock: Clock, wanted: Sequence[SchemaRule]) -> None:
    """Make rules: all in one transaction, which is quick; where another server is at it too, one by one."""
    try:
        async with sessions.open() as session, await session.begin_transaction() as transaction:
            for rule in wanted:
                await (await transaction.run(rule.statement)).consume()
            await transaction.commit()
    except DRIVER_ERRORS:
        for rule in wanted:
            await _make_one(sessions, clock, rule)


async def _make_one(sessions: Sessions, clock: Clock, rule: SchemaRule) -> None:
    try:
        await _command(sessions, clock, rule.statement)
    except (DriverError, Neo4jError) as error:
        if code_of(error) not in _CODES_OF_PRESENT:
            raise StoreError(f"the index or constraint {rule.name} cannot be made", name=rule.name) from DriverFault(
                error
            )


async def _present(sessions: Sessions, clock: Clock) -> Mapping[str, _Found]:
    ((found,),) = await _command(
        sessions,
        clock,
        "SHOW INDEXES YIELD name, state, labelsOrTypes, properties"
        " RETURN collect([name, state, labelsOrTypes, properties])",
    )
    return {name: _Found(state, labels or [], properties or []) for name, state, labels, properties in found}


async def _await_online(sessions: Sessions, clock: Clock, present: Mapping[str, _Found]) -> None:
    """Wait until each rule is there and its index takes part in queries; a second start finds them so at once."""
    for _ in range(_ONLINE_CHECKS):
        if all(_is_online(rule, present.get(rule.name)) for rule in rules()):
            return
        await clock.sleep(_ONLINE_PAUSE_S)
        present = await _present(sessions, clock)
    raise StoreUnavailable("indexes are still being filled: start again later")


def _is_online(rule: SchemaRule, found: _Found | None) -> bool:
    """True if the rule is as we mean it and online, false while it is being filled.

    Raises:
        StoreError: it is missing, another one, or failed.
    """
    if found is None:
        raise StoreError(f"the index or constraint {rule.name} is missing", name=rule.name)
    if found.labels != [rule.label] or tuple(found.properties) != rule.properties:
        raise StoreError(f"there is another index of the name {rule.name}: drop it", name=rule.name)
    if found.state not in ("ONLINE", "POPULATING"):
        raise StoreError(f"the index {rule.name} has failed: drop it and start again", name=rule.name)
    return found.state == "ONLINE"


async def _command(sessions: Sessions, clock: Clock, statement: str) -> list[list[Any]]:
    """Run a schema command; deadlocks and cut connections are tried again."""
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            async with sessions.open() as session:
                return await (await session.run(statement)).values()
        except DRIVER_ERRORS as error:
            if not is_transient(error):
                raise
            if attempt == _ATTEMPTS:
                raise StoreUnavailable("the store cannot answer now: try again") from DriverFault(error)
        await clock.sleep(backoff_s(attempt))
    raise AssertionError("unreachable")
