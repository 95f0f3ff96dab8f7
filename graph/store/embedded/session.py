"""A connection with a thread of its own: the event loop does brief reads itself and never waits for longer ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import apsw

from graph.model.errors import StoreReadOnly, StoreUnavailable
from graph.store.embedded.audience import Clauses
from graph.store.embedded.faults import FAULTS, own_error, translated
from graph.store.embedded.lane import Lane, Task
from graph.store.embedded.vector_cache import VectorCache

P = ParamSpec("P")
T = TypeVar("T")

_CACHE_KIB = {True: 32_768, False: 8_192}
BUSY_MS = 5_000
_STATEMENTS = 400
_INTERRUPT_AGAIN_S = 0.01
_SPELL = 250
"""After so many steps of SQLite's machine a read is asked whether it is still brief."""

_BRIEF_SPELLS = 8
"""A brief read takes no more steps than these, mostly a tenth of a millisecond."""

_BRIEF_S = 0.005
"""Nor does it take longer: a step may copy a text of a megabyte."""

_BRIEF_IN_A_ROW = 16
"""So many brief reads may follow one another before others get a turn in the event loop."""

_LONG = object()


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
        self._brief = 0
        self._spells = 0
        self._until = 0.0

    async def look(self, work: Callable[Concatenate[Session, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work`, which only reads, inside the transaction: here and now while it is brief, else in the thread.

        What takes too long or would have to wait is broken off and done again there, so the arguments must bear to
        be read twice: no iterators.
        """
        if self._idle and self._brief < _BRIEF_IN_A_ROW:
            found = self._briefly(work, *args, **kwargs)
            if found is not _LONG:
                return cast(T, found)
        return await self.run(work, *args, **kwargs)

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
        if self._idle and (not self.writing or self.db.get_autocommit()):
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

    @property
    def _idle(self) -> bool:
        return self._last is None or self._last.over

    def _submit(self, work: Callable[[], T]) -> Task[T]:
        self._brief = 0
        self._last = task = self._lane.submit(work)
        return task

    def _briefly(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run a read in the event loop, and return `_LONG` if it is not brief; nothing waits for a lock here."""
        self._brief, self._spells, self._until = self._brief + 1, 0, perf_counter() + _BRIEF_S
        waits = self.db.get_autocommit()
        if waits:
            self.db.set_busy_timeout(0)
        self.db.set_progress_handler(self._is_long, _SPELL)
        try:
            return self._inside(work, *args, **kwargs)
        except StoreUnavailable as error:
            if isinstance(error.__cause__, apsw.InterruptError | apsw.BusyError):
                return _LONG
            raise
        finally:
            self.db.set_progress_handler(None)
            if waits:
                self.db.set_busy_timeout(BUSY_MS)

    def _is_long(self) -> bool:
        """Break off what is not brief; SQLite counts steps of earlier runs of a statement towards the first spell."""
        self._spells += 1
        return self._spells > _BRIEF_SPELLS or perf_counter() > self._until

    def _inside(self, work: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        try:
            if self.db.get_autocommit():
                self.db.execute("BEGIN IMMEDIATE" if self.writing else "BEGIN")
                self._uncommitted = self.writing
            return work(self, *args, **kwargs)
        except FAULTS as error:
            raise self._noted(error) from error

    def _commit(self, last: Callable[[Session], None] | None) -> None:
        if last is not None:
            self._inside(last)
        try:
            if not self.db.get_autocommit():
                self.db.execute("COMMIT")
                self._uncommitted = False
        except FAULTS as error:
            raise self._noted(error) from error

    def _noted(self, error: Exception) -> Exception:
        """Return our error for one of SQLite; note if the disk failed."""
        ours = own_error(error, writing=self.writing)
        self.broken = self.broken or isinstance(ours, StoreReadOnly)
        return ours

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
