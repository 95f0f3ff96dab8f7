"""Numbered steps from an empty file to today's form. Each is one transaction with its number, so a kill at any point
leaves the file before or after a step, and opening it again goes on. Source: AD-40.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import apsw

from graph.model.errors import StoreError, StoreNewer
from graph.model.time import Millis
from graph.store.embedded.faults import translated
from graph.store.embedded.tables import APPLICATION_ID, sync_declared
from graph.store.port import Migration


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A numbered change of the file. It must also do no harm to a new file, which the first step made as of today."""

    number: int
    name: str
    apply: Callable[[apsw.Connection], None]


def _vectors(db: apsw.Connection) -> None:
    """Make the tables of vectors; what was stored before has none yet."""
    sync_declared(db)
    for kind in ("Source", "BlockVersion", "Episode"):
        db.execute(f"UPDATE n_{kind} SET embedding_model = '' WHERE embedding_model IS NULL")


def _sealed_calls(db: apsw.Connection) -> None:
    """Drop answers of models that are not sealed; what still needs one asks anew."""
    sync_declared(db)
    db.execute("UPDATE n_ModelCall SET answer = NULL, state = 'unusable' WHERE typeof(answer) = 'text'")


STEPS: tuple[Step, ...] = (
    Step(number=1, name="first form", apply=sync_declared),
    Step(number=2, name="commitments to reasons, time zones of what was said", apply=sync_declared),
    Step(number=3, name="vectors of messages", apply=_vectors),
    Step(number=4, name="documents of connectors", apply=sync_declared),
    Step(number=5, name="counts of batches", apply=sync_declared),
    Step(number=6, name="memory of sessions, agents and bots", apply=_sealed_calls),
    Step(number=7, name="sandboxes", apply=sync_declared),
)
"""In rising order; the last has the number `graph.model.schema.SCHEMA_VERSION`."""


def version_of(path: Path) -> int:
    """Return the number of the last step that a file has taken, 0 for none; changes nothing.

    Raises:
        StoreError: the file is damaged, or no store of ours.
    """
    if not path.exists() or not path.stat().st_size:
        return 0
    with translated(writing=False):
        db = _look(path)
        try:
            version, application = db.pragma("user_version"), db.pragma("application_id")
            tables = db.execute("SELECT count(*) FROM sqlite_schema").get
        finally:
            db.close()
    if application != APPLICATION_ID and (tables or version):
        raise StoreError("this is a database, but no Rootward store: choose another path")
    return int(version)


def _look(path: Path) -> apsw.Connection:
    """Open for reading only; closing it moves nothing from the log into the file."""
    log = path.with_name(path.name + "-wal")
    settled = not log.exists() or not log.stat().st_size
    uri = f"file:{quote(str(path))}?mode=ro" + ("&immutable=1" if settled else "")
    db = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return db


def check_version(version: int, steps: Sequence[Step]) -> None:
    """Refuse what a newer version made.

    Raises:
        StoreNewer: it was.
    """
    newest = max(step.number for step in steps)
    if version > newest:
        raise StoreNewer(
            f"the store has form {version}, this version knows up to {newest}: install the newer version",
            found=version,
            known=newest,
        )


def migrate(db: apsw.Connection, steps: Sequence[Step], now: Millis) -> None:
    """Take the steps that are missing, in order."""
    for step in sorted(steps, key=lambda step: step.number):
        if step.number > db.pragma("user_version"):
            _take(db, step, now)


def _take(db: apsw.Connection, step: Step, now: Millis) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        step.apply(db)
        db.execute(
            "CREATE TABLE IF NOT EXISTS migration(number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER)"
        )
        db.execute("INSERT INTO migration(number, name, applied_at) VALUES (?, ?, ?)", (step.number, step.name, now))
        db.pragma("application_id", APPLICATION_ID)
        db.pragma("user_version", step.number)
        db.execute("COMMIT")
    except BaseException:
        if not db.get_autocommit():
            db.execute("ROLLBACK")
        raise


def listed(version: int, steps: Sequence[Step]) -> Sequence[Migration]:
    """Return all steps and whether a file of this version has taken them."""
    return [
        Migration(number=step.number, name=step.name, applied=step.number <= version)
        for step in sorted(steps, key=lambda step: step.number)
    ]
