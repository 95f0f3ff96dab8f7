"""The files of a closing session behind the library's port: what is written waits, and is committed with the progress.

So notes of a conversation and the word that it is extracted are one transaction, and a close that is cut off never
extracts twice. Source: ADR 0037, SB-116.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graph.model.errors import StoreError, WorkspaceRefused
from graph.model.ids import NodeId
from graph.model.nodes.sandbox import SandboxFile, SandboxPart
from graph.rules.memory_paths import paths_under
from graph.rules.sandbox import sandbox_path
from graph.services.deps import Deps
from graph.services.sandbox.files import all_files, find_file
from graph.services.sandbox.stored import opened, parts_of
from rootward.errors import PathRefused
from rootward.sandbox.workspace import Workspace


@dataclass(kw_only=True)
class StagedWorkspace(Workspace):
    """The files of one session with what was written since the last commit over them.

    Paths that no file of the service can have are refused at once: models name some of them, and what is refused when
    all is committed would keep the session from ever closing (SB-115).

    Attributes:
        staged: bytes by stored path, None where a file is to go.
        failed: the storage failed: nothing that was made after that may be committed.
    """

    deps: Deps
    session_id: NodeId
    staged: dict[str, bytes | None] = field(default_factory=dict)
    failed: StoreError | None = None

    async def read(self, path: str) -> bytes | None:
        wanted = _stored(path)
        if wanted in self.staged:
            return self.staged[wanted]
        try:
            _, data = await opened(self.deps, lambda: self._found(wanted))
        except _Absent:
            return None
        except StoreError as error:
            raise self._broken(error) from error
        return data

    async def apply(self, changes: Mapping[str, bytes | None]) -> None:
        self.staged.update({_stored(path): data for path, data in changes.items()})

    async def create(self, path: str, data: bytes) -> bool:
        if await self.read(path) is not None:
            return False
        self.staged[_stored(path)] = data
        return True

    async def append_line(self, path: str, line: bytes) -> int:
        before = await self.read(path) or b""
        whole = before + (b"\n" if before and not before.endswith(b"\n") else b"") + line
        self.staged[_stored(path)] = whole
        return whole.count(b"\n")

    async def make_directories(self, paths: Iterable[str]) -> None:
        """Do nothing: there are only files."""

    async def paths(self, directory: str = "") -> list[str]:
        prefix = f"{directory}/" if directory else ""
        try:
            async with self.deps.store.reading() as reader:
                there = {file.path for file in await all_files(reader, self.session_id, prefix)}
        except StoreError as error:
            raise self._broken(error) from error
        low, _ = paths_under(prefix)
        written = {path for path, data in self.staged.items() if data is not None and path.startswith(low or "")}
        return sorted((there - self.staged.keys()) | written)

    async def canonical(self, path: str) -> str:
        """Return the path as it is: there are no links."""
        _stored(path)
        return path

    def take(self) -> dict[str, bytes | None]:
        """Return what waits to be committed.

        Raises:
            StoreError: the storage failed meanwhile, so a phase may have failed that would have gone well.
        """
        if self.failed is not None:
            raise self.failed
        return dict(self.staged)

    async def _found(self, path: str) -> tuple[SandboxFile, Sequence[SandboxPart]]:
        async with self.deps.store.reading() as reader:
            file = await find_file(reader, self.session_id, path)
            if file is None:
                raise _Absent
            return file, (await parts_of(reader, [file.id]))[file.id]

    def _broken(self, error: StoreError) -> OSError:
        self.failed = error
        return OSError("the storage failed")


def _stored(path: str) -> str:
    """Return the path under which the service keeps a file.

    Raises:
        PathRefused: it can keep none there.
    """
    try:
        return sandbox_path(path)
    except WorkspaceRefused as refusal:
        raise PathRefused(f"the path {refusal.details['reason']}") from None


class _Absent(Exception):
    """There is no such file."""
