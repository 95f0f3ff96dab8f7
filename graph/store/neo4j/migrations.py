"""Numbered steps of the store, each safe to run again after a kill. Source: AD-40."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from graph.model.errors import StoreNewer
from graph.model.schema import SCHEMA_VERSION
from graph.model.time import Clock
from graph.store.neo4j import schema
from graph.store.neo4j.driver import AutoCommit, Sessions
from graph.store.port import Migration

_META = "rootward"


@dataclass(frozen=True, slots=True)
class Step:
    """A numbered step: running it twice is the same as once."""

    number: int
    name: str
    run: Callable[[Sessions, Clock], Awaitable[None]]


async def _nothing(sessions: Sessions, clock: Clock) -> None:
    """Nothing stored has to change: constraints and indexes are made before any step, new fields may be missing."""


async def _vectors(sessions: Sessions, clock: Clock) -> None:
    """Mark what was stored before as having no vector yet: an index does not find a property that is missing."""
    for label in ("Source", "BlockVersion", "Episode"):
        await AutoCommit(sessions, clock).run(
            f"MATCH (n:{label}) WHERE n.embeddingModel IS NULL"
            " CALL (n) { SET n.embeddingModel = '' } IN TRANSACTIONS OF 5000 ROWS",
        )


async def _sealed_calls(sessions: Sessions, clock: Clock) -> None:
    """Drop answers of models that are not sealed; what still needs one asks anew."""
    await AutoCommit(sessions, clock).run(
        "MATCH (n:ModelCall) WHERE n.answer IS :: STRING NOT NULL"
        " CALL (n) { REMOVE n.answer SET n.state = 'unusable' } IN TRANSACTIONS OF 5000 ROWS",
    )


STEPS: Sequence[Step] = (
    Step(1, "first version", _nothing),
    Step(2, "commitments to reasons, time zones of what was said", _nothing),
    Step(3, "vectors of messages", _vectors),
    Step(4, "documents of connectors", _nothing),
    Step(5, "counts of batches", _nothing),
    Step(6, "memory of sessions, agents and bots", _sealed_calls),
    Step(7, "sandboxes", _nothing),
)


async def version_of(reads: AutoCommit) -> int:
    """Return the number of the last step this database has taken; 0 for a fresh one."""
    rows = await reads.run("MATCH (m:Meta {id: $id}) RETURN m.version", id=_META)
    return int(rows[0][0] or 0) if rows else 0


async def migrate(sessions: Sessions, reads: AutoCommit, clock: Clock) -> None:
    """Bring the database to this version.

    Raises:
        StoreNewer: it was made by a newer version; untouched.
        StoreError: a constraint or index cannot be made.
    """
    version = await version_of(reads)
    if version > SCHEMA_VERSION:
        raise StoreNewer("this database was made by a newer version of Rootward: use that one", version=version)
    await schema.ensure(sessions, clock)
    for step in STEPS:
        if step.number > version:
            await step.run(sessions, clock)
            await _record(reads, step)


async def listed(reads: AutoCommit) -> Sequence[Migration]:
    """Return every step and whether it was taken."""
    version = await version_of(reads)
    return [Migration(number=step.number, name=step.name, applied=step.number <= version) for step in STEPS]


async def _record(reads: AutoCommit, step: Step) -> None:
    await reads.run(
        "MERGE (m:Meta {id: $id}) SET m.lock = 0 WITH m WHERE coalesce(m.version, 0) < $number SET m.version = $number",
        id=_META,
        number=step.number,
    )
