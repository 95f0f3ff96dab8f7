"""What a commit is compared with: the very rows that it wrote."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import apsw

from bench._same_rows import _copy, _write, _written
from graph.store.embedded import EmbeddedStore
from tests.support.builders import World, clause, private, shared
from tests.support.clock import FakeClock


def rows(db: apsw.Connection) -> dict[str, int]:
    """Return how many rows each table holds."""
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {name: db.execute(f'SELECT count(*) FROM "{name}"').get for name in tables}


async def test_the_copy_holds_what_the_transaction_wrote(tmp_path: Path) -> None:
    """Also the rows of statements that give one back, such as those of rules and tags that are new."""
    store, world = EmbeddedStore(tmp_path / "store.db", clock=FakeClock()), World()
    await store.open()
    entries = [world.make_entry() for _ in range(3)]
    clauses = [clause(shared(), private("ana"), private("ben")), clause(private("cleo"))]

    async def question() -> None:
        await world.write(store, *entries, clauses=clauses, texts=[world.text_for(entries[0], "dog cat")])

    writing = store._sessions[0]
    await writing.later(partial(_copy, tmp_path / "copy.db"))
    copy = apsw.Connection(str(tmp_path / "copy.db"))
    _write(copy, await _written(writing, question))
    assert rows(copy) == rows(writing.db)
    copy.close()
    await store.close()
