"""The embedded store: one file, one owner, one writer at a time, a few readers with a snapshot each."""

from __future__ import annotations

import asyncio
import shutil
import struct
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

import apsw

from graph.model.errors import BadState, StoreError, StoreReadOnly, StoreUnavailable
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.work import Receipt
from graph.model.time import Clock
from graph.store.embedded import archive, migrations, nodes, wal
from graph.store.embedded.faults import READ_ONLY, translated
from graph.store.embedded.locking import Ownership
from graph.store.embedded.migrations import STEPS, Step
from graph.store.embedded.reader import EmbeddedReader
from graph.store.embedded.session import BUSY_MS, Session, connect
from graph.store.embedded.tables import FTS
from graph.store.embedded.turnstile import Turnstile
from graph.store.embedded.vector_cache import VectorCache
from graph.store.embedded.writer import EmbeddedWriter
from graph.store.port import Health, Isolation, Migration, Reader, Row, Writer

T = TypeVar("T")

_CLOSED = "the store is closed: open it first"

_HEALTH_WAIT_S = 5.0

_CHECKPOINT_PAGES = 4_000
"""The log is moved into the file when it is about 16 MB long."""

_EMPTY_LOG_MS = 200
"""So long writers wait for readers of old snapshots when the log is to be emptied."""

_WAIT_PAGES = 16 * _CHECKPOINT_PAGES
"""A log of a quarter of a gigabyte is worth a pause of the writers."""


class EmbeddedStore:
    """SQLite in one file.

    Args:
        path: the file; None for a temporary store that goes with `close`.
        clock: stamps migrations and receipts.
        readers: how many snapshots may be read at the same time.
        steps: the migrations; others than the default only in tests.
        vfs: name of a SQLite file layer that injects faults; only in tests.
    """

    def __init__(
        self,
        path: Path | None,
        *,
        clock: Clock,
        readers: int = 3,
        steps: Sequence[Step] = STEPS,
        vfs: str | None = None,
    ) -> None:
        self._temporary = path is None
        self._path = path
        self._clock = clock
        self._reader_count = readers
        self._steps = steps
        self._vfs = vfs
        self._ownership: Ownership | None = None
        self._sessions: list[Session] = []
        self._readers: Turnstile[Session] = Turnstile(())
        self._writer: Turnstile[Session] = Turnstile(())
        self._log_pages = 0
        self._log_holds_deleted = False

    @property
    def engine(self) -> str:
        return "embedded"

    @property
    def isolation(self) -> Isolation:
        return Isolation.SNAPSHOT

    # --- life

    async def open(self) -> None:
        """Take ownership, check the version and migrate.

        Raises:
            StoreLocked: another process owns the file.
            StoreNewer: a newer version made it; it is left untouched.
            StoreError: the file is damaged or no store.
            StoreUnavailable: it cannot be opened.
        """
        if self._sessions:
            raise BadState("the store is open already")
        await asyncio.to_thread(self._open)
        writer, *readers = self._sessions
        self._writer, self._readers = Turnstile([writer]), Turnstile(readers)

    def _open(self) -> None:
        path = self._place()
        ownership = Ownership(path)
        ownership.take()
        try:
            migrations.check_version(migrations.version_of(path), self._steps)
            self._sessions = self._connect(path)
        except BaseException:
            ownership.release()
            raise
        self._ownership, self._log_pages = ownership, 0

    def _place(self) -> Path:
        if self._path is None:
            shared_memory = Path("/dev/shm")  # a folder in memory, where there is one
            folder = tempfile.mkdtemp(prefix="rootward-", dir=shared_memory if shared_memory.is_dir() else None)
            self._path = Path(folder) / "store.db"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(f"the folder of the store cannot be made: {error.strerror}") from error
        return self._path

    def _connect(self, path: Path) -> list[Session]:
        with translated(writing=False):
            writing = connect(path, writing=True, durable=not self._temporary, vfs=self._vfs)
            opened = [writing]
            try:
                writing.set_wal_hook(self._note_log)
                migrations.migrate(writing, self._steps, self._clock.now())
                with suppress(apsw.FullError):  # they end by themselves, and a full disk still lets people read
                    nodes.end_leases(writing, self._clock.now())
                for _ in range(self._reader_count):
                    opened.append(connect(path, writing=False, durable=not self._temporary, vfs=self._vfs))
            except BaseException:
                for db in opened:
                    db.close()
                raise
        vectors = VectorCache()
        return [
            Session(db, writing=db is writing, on_broken=self._cut_log, vectors=None if db is writing else vectors)
            for db in opened
        ]

    async def close(self) -> None:
        """Wait for work under way, then let go of everything."""
        if not self._sessions:
            return
        for turnstile, count in ((self._writer, 1), (self._readers, self._reader_count)):
            for _ in range(count):
                await turnstile.acquire()
            turnstile.close(StoreUnavailable(_CLOSED))
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        failed = self._failed
        sessions, self._sessions = self._sessions, []
        for session in reversed(sessions):
            with suppress(apsw.Error):  # nothing that was acknowledged depends on closing
                if failed:
                    session.db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                session.close()
        if self._ownership is not None:
            self._ownership.release()
        if self._temporary and self._path is not None:
            shutil.rmtree(self._path.parent, ignore_errors=True)
            self._path = None

    def announce(self, address: str) -> None:
        """Say in the lock file where this process can be reached, for others that find the store locked."""
        if self._ownership is not None:
            self._ownership.announce(address)

    # --- work

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Reader]:
        """Give a reader of one snapshot, taken now; waits in a fair queue if all are in use."""
        self._check_open()
        session = await self._readers.acquire()
        try:
            session.take_snapshot()
            yield EmbeddedReader(session)
        finally:
            session.finish(lambda: self._readers.release(session))

    async def transact(self, work: Callable[[Writer], Awaitable[T]], *, tx_id: str | None = None) -> T:
        """Run `work` in a write transaction of its own, after all who asked before.

        Raises:
            AlreadyExists: a transaction of this `tx_id` was committed before.
            StoreReadOnly: a write to disk failed, now or before.
            StoreUnavailable: the disk is full; nothing was written.
        """
        self._check_open()
        session = await self._writer.acquire()
        writer = EmbeddedWriter(session)
        try:
            self._check_writable()
            result = await work(writer)
            if tx_id is not None:
                await writer.put([self._receipt(tx_id)])
            if writer.given_up is not None:
                raise writer.given_up
            await session.commit(writer.last())
            self._tidy(session)
        except StoreReadOnly:
            await asyncio.shield(session.later(Session.roll_back))
            raise
        finally:
            writer.given_up = None  # an error knows where it was raised, and so the writer with all that it wrote
            session.finish(lambda: self._writer.release(session))
        return result

    async def scrub(self) -> None:
        """Write the keyword indexes anew without what was deleted, and empty the log.

        A deleted text leaves its words in the index until its segments are merged (`contentless_delete`), and old
        pages in the log until it starts anew. Writers wait meanwhile.

        Raises:
            StoreReadOnly: a write to disk failed, now or before.
            StoreUnavailable: the disk is full; what was there is still there.
        """
        self._check_open()
        session = await self._writer.acquire()
        try:
            self._check_writable()
            await session.run(_merge_keyword_indexes)
            await session.commit()
            await asyncio.shield(session.later(self._empty_log))
        finally:
            session.finish(lambda: self._writer.release(session))

    def _check_open(self) -> None:
        if not self._sessions:
            raise StoreUnavailable(_CLOSED)

    @property
    def _failed(self) -> bool:
        return any(session.broken for session in self._sessions)

    def _check_writable(self) -> None:
        if self._failed:
            raise StoreReadOnly(READ_ONLY)

    def _receipt(self, tx_id: str) -> Receipt:
        return Receipt(id=NodeId(f"rcp_{tx_id}"), workspace=WorkspaceId(""), created_at=self._clock.now())

    # --- the log

    def _note_log(self, db: apsw.Connection, name: str, pages: int) -> int:
        self._log_pages = pages
        return apsw.SQLITE_OK

    def _tidy(self, session: Session) -> None:
        """Move a long log into the file, after the commit was acknowledged and before the next transaction."""
        if self._failed:
            return
        if self._log_holds_deleted:
            session.later(self._empty_log)
        elif self._log_pages >= _CHECKPOINT_PAGES:
            patient = self._log_pages < _WAIT_PAGES
            self._log_pages = 0
            session.later(self._checkpoint if patient else self._restart_log)

    def _restart_log(self, session: Session) -> None:
        """Wait for the readers of old snapshots, as long as the busy timeout, so that the log starts anew."""
        self._checkpoint(session, apsw.SQLITE_CHECKPOINT_RESTART)

    def _empty_log(self, session: Session) -> None:
        """Empty the log if no reader holds an old snapshot; else it is tried again after the next transactions."""
        session.db.set_busy_timeout(_EMPTY_LOG_MS)
        try:
            self._log_holds_deleted = not self._checkpoint(session, apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            session.db.set_busy_timeout(BUSY_MS)

    def _checkpoint(self, session: Session, mode: int = apsw.SQLITE_CHECKPOINT_PASSIVE) -> bool:
        """Return whether it went through; if not, a reader holds an old snapshot and the next commit tries again."""
        try:
            session.db.wal_checkpoint(mode=mode)
        except apsw.BusyError:
            return False
        except apsw.Error:
            session.broken = True  # a sync that failed must not be tried again: it might succeed without the data
            return False
        return True

    def _cut_log(self) -> None:
        if self._path is not None:
            with suppress(OSError, struct.error):  # the disk is failing; writes are refused in any case
                wal.cut_unacknowledged(self._path)

    # --- telling

    async def health(self) -> Health:
        """Tell whether the store answers and takes writes."""
        version = max(step.number for step in self._steps)
        reason = READ_ONLY if self._failed else ""
        try:
            async with asyncio.timeout(_HEALTH_WAIT_S), self.reading() as reader:
                await reader.guards(())
        except StoreError as error:
            reason = error.message
        except TimeoutError:
            reason = f"no reader was free for {_HEALTH_WAIT_S:.0f} seconds"
        return Health(ready=not reason, engine=self.engine, schema_version=version, reason=reason)

    async def migrations(self) -> Sequence[Migration]:
        """List the steps; works on a store that is not open as well, and changes nothing."""
        path = self._path
        version = 0 if path is None else await asyncio.to_thread(migrations.version_of, path)
        return migrations.listed(version, self._steps)

    # --- archives

    async def export_rows(self) -> AsyncIterator[Row]:
        """Yield everything in one snapshot, read by a connection of its own so that nobody waits for it."""
        self._check_open()
        session = await asyncio.to_thread(self._extra_session)
        try:
            rows: Iterator[Row] = archive.everything(session)
            while batch := await session.run(archive.next_rows, rows):
                for row in batch:
                    yield row
        finally:
            await asyncio.shield(asyncio.to_thread(session.close))

    def _extra_session(self) -> Session:
        assert self._path is not None
        with translated(writing=False):
            return Session(connect(self._path, writing=False, durable=True, vfs=self._vfs), writing=False)

    async def import_rows(self, rows: AsyncIterator[Row]) -> int:
        """Load rows in one transaction.

        Raises:
            BadState: the store holds nodes that are not among the rows, or have other values.
        """

        async def load(writer: Writer) -> int:
            assert isinstance(writer, EmbeddedWriter)
            held = await writer.run(archive.count_nodes)
            loaded = known = 0
            async for batch in archive.batches(rows):
                known += await writer.run(archive.load, batch)
                loaded += len(batch)
            if known < held:
                raise BadState("the store holds other data: import into an empty one")
            return loaded

        return await self.transact(load)


def _merge_keyword_indexes(session: Session) -> None:
    for name in FTS.values():
        session.db.execute(f"INSERT INTO {name}({name}) VALUES ('optimize')")
