"""Sandbox sessions on a local directory, without a service. Source: SB-119."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import uuid
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from rootward.models import Model, ModelBook, ModelRef, find_model
from rootward.sandbox.engine import SandboxMemory, utc_now
from rootward.sandbox.local.files import LocalFiles
from rootward.sandbox.local.session import LocalSandboxSession
from rootward.sandbox.local.snapshot import Snapshot
from rootward.sandbox.local.state import SessionLock, SessionState
from rootward.sandbox.local.workspace import LocalWorkspace
from rootward.sandbox.manifest import Manifest, add_entries
from rootward.sandbox.memory import MemoryLimits

_JOURNAL = "journal.json"
_Opened: TypeAlias = tuple[LocalSandboxSession, LocalWorkspace]


class UnixLocalSandboxClient:
    """Makes and resumes sandbox sessions below one directory.

    Args:
        base_dir: where workspaces, snapshots and states lie; without one a new private temporary directory.
        models: names to models, or to addresses that speak OpenAI's Chat Completions (`Endpoint`).
        limits: bounds of reading and generating memory.
        now: the time, in UTC, that files are stamped with.
    """

    def __init__(
        self,
        base_dir: str | Path | None = None,
        *,
        models: ModelBook | None = None,
        limits: MemoryLimits | None = None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._base = Path(base_dir).expanduser() if base_dir is not None else None
        self._models = dict(models or {})
        self._limits = limits or MemoryLimits()
        self._now = now

    @property
    def base_dir(self) -> Path:
        """Where everything lies; made when it is first needed, readable to its owner alone."""
        if self._base is None:
            self._base = Path(tempfile.mkdtemp(prefix="rootward-sandboxes-"))
        self._base.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._base.resolve()

    async def create(
        self,
        *,
        manifest: Manifest | None = None,
        snapshot: Snapshot | str | None = None,
        workspace: str | Path | None = None,
    ) -> LocalSandboxSession:
        """Open a session on a new workspace.

        Args:
            manifest: files of the new workspace; without one the first agent's default manifest counts.
            snapshot: what the workspace starts as; entries of the manifest are then added where they are absent.
            workspace: an existing directory to work in instead of a new one; it is never deleted.

        Raises:
            RootwardError: there is no such snapshot.
            ValueError: both a snapshot and a directory are given.
        """
        if snapshot is not None and workspace is not None:
            raise ValueError("a session starts from a snapshot or in a directory of yours, not both")
        start = Snapshot.of(self.base_dir, snapshot) if isinstance(snapshot, str) else snapshot
        place = Path(workspace) if workspace is not None else None
        is_due = manifest is None and snapshot is None
        session, files = await asyncio.to_thread(self._new, start, place, is_due)
        if manifest is not None:
            await add_entries(files, manifest)
        return session

    async def resume(self, session_id: str) -> LocalSandboxSession:
        """Open the session of this id again: after a crash with what is left to do, after closing anew.

        Raises:
            FileNotFoundError: there is none below this client's directory.
            SandboxBusy: it is open in this process or in another.
        """
        if not session_id.startswith("sbx_") or "/" in session_id:
            raise ValueError("the id of a sandbox session begins with sbx_")
        return (await asyncio.to_thread(self._reopen, session_id))[0]

    async def delete(self, session: LocalSandboxSession) -> None:
        """Remove a closed session with its workspace and memory; snapshots and a directory of yours stay.

        Raises:
            ValueError: the session is not closed.
        """
        if session.status != "closed":
            raise ValueError("close the sandbox session before deleting it")
        await asyncio.to_thread(shutil.rmtree, self.base_dir / session.id)

    async def delete_snapshot(self, snapshot: Snapshot | str) -> None:
        """Remove a snapshot."""
        found = Snapshot.of(self.base_dir, snapshot) if isinstance(snapshot, str) else snapshot
        await asyncio.to_thread(shutil.rmtree, found.path)

    def _new(self, start: Snapshot | None, given: Path | None, manifest_is_due: bool) -> _Opened:
        if start is not None:
            start.check()  # before anything is made that nobody could use
        session_id = f"sbx_{uuid.uuid4().hex}"
        folder = self.base_dir / session_id
        folder.mkdir(mode=0o700)
        place = given.resolve(strict=True) if given is not None else None
        state = SessionState(id=session_id, given=place, manifest_is_due=manifest_is_due)
        if start is not None:
            start.restore(state.root(folder))
        elif place is None:
            state.root(folder).mkdir()
        return self._open(folder, state, SessionLock(folder))

    def _reopen(self, session_id: str) -> _Opened:
        folder = self.base_dir / session_id
        lock = SessionLock(folder)
        try:
            state = SessionState.load(folder)
            state.reopen()
            return self._open(folder, state, lock)
        except BaseException:
            lock.release()
            raise

    def _open(self, folder: Path, state: SessionState, lock: SessionLock) -> _Opened:
        root = state.root(folder)
        files = LocalWorkspace(LocalFiles(root, state.id), folder / _JOURNAL)
        files.recover()
        state.save(folder)
        memory = SandboxMemory(
            workspace=files,
            session_id=state.id,
            find_model=self._find_model,
            limits=self._limits,
            now=self._now,
            works=state.works,
        )
        session = LocalSandboxSession(folder=folder, root=root, state=state, lock=lock, workspace=files, memory=memory)
        return session, files

    def _find_model(self, ref: ModelRef) -> Model:
        return find_model(ref, self._models)
