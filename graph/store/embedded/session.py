"""A connection with a thread of its own: the event loop never waits for SQL."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import apsw

from graph.model.errors import StoreReadOnly
from graph.store.embedded.audience import Clauses
from graph.store.embedded.faults import translated
from graph.store.embedded.lane import Lane, Task
from graph.store.embedded.vector_cache import VectorCache

P = ParamSpec("P")
T = TypeVar("T")

_CACHE_KIB = {True: 32_768, False: 8_192}
BUSY_MS = 5_000
_STATEMENTS = 400
_INTERRUPT_AGAIN_S = 0.01


class Session:
    """One connection. What runs on it runs one after the other, in transactions that begin with the first use.

    Attributes:
        db: the connection; touched only inside `run`, or while nothing runs.
        clauses: what is known of interned rules and clauses.
        vectors: those that readers share in memory; None for a writer, who reads what he has not committed.
        broken: true once the disk failed while writing, even if nobody waited for the answer any more.
    """

    def __init__(
        self,
        db: apsw.Connection,
        *,
        writing: bool,
        on_broken: Callable[[], None] = lambda: None,
        vectors: VectorCache | None = None,
    ) -> None:
        """Take a connection; `on_broken` runs once, in the thread, when a failed transaction has been rolled back."""
        self.db = db
        self.writing = writing
        self.broken = False
        self._on_broken: Callable[[], None] | None = on_broken
        self.clauses = Clauses(db)
        self.vectors = vectors
        self._lane = Lane("store-write" if writing else "store-read")
        self._last: Task[Any] | None = None
        self._uncommitted = False

    async def run(self, work: Callable[Concatenate[Session, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` inside the transaction, in the thread; one hop."""
        return await self._submit(partial(self._inside, work, *args, **kwargs)).result

    def take_snapshot(self) -> None:
        """Fix the state that is read; done here and now, since it only reads lock words and one cached page (3 µs)."""
        with translated(writing=False):
            self.db.execute("BEGIN")
            self.value("SELECT 1 FROM sqlite_schema LIMIT 1")

    async def commit(self, last: Callable[[Session], None] | None = None) -> None:
        """Commit; a cancellation is passed on only after the outcome is known.

        Args:
            last: what is still to be written; if it raises, nothing is committed.

        Raises:
            StoreReadOnly: the disk failed; nothing was committed.
        """
        committed = self._submit(partial(self._commit, last)).result
        try:
            await asyncio.shield(committed)
        except asyncio.CancelledError:
            with suppress(asyncio.CancelledError):
                await committed
            raise
        finally:
            del committed  # an error in it knows this frame

    def finish(self, then: Callable[[], None]) -> None:
        """Roll back what is open and call `then` in the event loop; returns at once.

        If nothing is under way and nothing is to be undone, this is done here and now: it only lets go of a snapshot.
        """
        idle = self._last is None or self._last.over
        if idle and (not self.writing or self.db.get_autocommit()):
            try:
                self.roll_back()
            finally:
                then()
            return
        if self._last is not None and not self.writing:
            self._break_off(asyncio.get_running_loop(), self._last)
        self._submit(self.roll_back).result.add_done_callback(lambda _: then())

    def _break_off(self, loop: asyncio.AbstractEventLoop, running: Task[Any]) -> None:
        """Interrupt until it helps: a statement that has not quite begun does not notice."""
        if not running.over:
            self.db.interrupt()
            loop.call_later(_INTERRUPT_AGAIN_S, self._break_off, loop, running)

    def later(self, work: Callable[[Session], object]) -> asyncio.Future[object]:
        """Run `work` as it is, without a transaction, after what is under way; it handles its own errors."""
        return self._submit(partial(work, self)).result

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement."""
        return self.db.execute(sql, parameters).fetchall()

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row, or None."""
        for row in self.db.execute(sql, parameters):
            return row[0]
        return None

    def close(self) -> None:
        """Wait for what is under way and close."""
        self._lane.close()
        self.db.close()

    def _submit(self, work: Callable[[], T]) -> Task[T]:
        self._last = task = self._lane.submit(work)
        return task

    def _inside(self, work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        with self._noticing_faults():
            if self.db.get_autocommit():
                self.db.execute("BEGIN IMMEDIATE" if self.writing else "BEGIN")
                self._uncommitted = self.writing
            return work(self, *args, **kwargs)

    def _commit(self, last: Callable[[Session], None] | None) -> None:
        if last is not None:
            self._inside(last)
        with self._noticing_faults():
            if not self.db.get_autocommit():
                self.db.execute("COMMIT")
                self._uncommitted = False

    @contextmanager
    def _noticing_faults(self) -> Iterator[None]:
        try:
            with translated(writing=self.writing):
                yield
        except StoreReadOnly:
            self.broken = True
            raise

    def roll_back(self) -> None:
        """End the transaction, if there is one; in the thread, or while nothing runs."""
        self.clauses.reset(keep=not self._uncommitted)  # SQLite ends a transaction itself if the disk is full
        self._uncommitted = False
        while not self.db.get_autocommit():
            with suppress(apsw.InterruptError):
                self.db.execute("ROLLBACK")
        if self.broken and self._on_broken is not None:
            on_broken, self._on_broken = self._on_broken, None
            on_broken()


def connect(path: Path, *, writing: bool, durable: bool, vfs: str | None = None) -> apsw.Connection:
    """Open a connection with our settings; the file must be one of ours already, or empty and `writing`."""
    db = apsw.Connection(str(path), vfs=vfs, statementcachesize=_STATEMENTS)
    db.set_busy_timeout(BUSY_MS)
    for pragma, value in (
        ("journal_mode", "WAL"),
        ("synchronous", "FULL" if durable else "OFF"),
        ("temp_store", "MEMORY"),
        ("trusted_schema", "OFF"),
        ("secure_delete", "FAST"),
        ("cache_size", -_CACHE_KIB[writing]),
        *(() if writing else (("query_only", "ON"),)),
    ):
        db.pragma(pragma, value)
    db.enable_load_extension(True)
    db.load_extension(_vectors())
    db.enable_load_extension(False)
    return db


@cache
def _vectors() -> str:
    """Return where the library that SQLite loads lies in its package, which itself would load NumPy (10 MiB)."""
    package = find_spec("sqlite_vec")
    assert package is not None
    assert package.origin is not None
    return str(Path(package.origin).with_name("vec0"))
