"""Copies of a workspace. Source: SB-98, SB-99."""

from __future__ import annotations

import os
import shutil
import stat
import uuid
from dataclasses import dataclass
from pathlib import Path

from rootward.errors import RootwardError

_FOLDER = "snapshots"


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """A copy of a workspace as it was, kept until it is deleted."""

    id: str
    path: Path

    @classmethod
    def new(cls, base: Path) -> Snapshot:
        """Return where a new snapshot will lie below a client's directory."""
        return cls.of(base, f"snap_{uuid.uuid4().hex}")

    @classmethod
    def of(cls, base: Path, snapshot_id: str) -> Snapshot:
        """Return where the snapshot of an id lies."""
        if not snapshot_id.startswith("snap_") or "/" in snapshot_id:
            raise ValueError("the id of a snapshot begins with snap_")
        return cls(id=snapshot_id, path=base / _FOLDER / snapshot_id)

    def take(self, workspace: Path) -> None:
        """Copy a workspace here; the snapshot is there whole or not at all. Blocks."""
        unfinished = self.path.with_name(f".{self.path.name}")
        copy_tree(workspace, unfinished)
        os.rename(unfinished, self.path)

    def check(self) -> None:
        """Do nothing if the snapshot is there.

        Raises:
            RootwardError: it is gone.
        """
        if not self.path.is_dir():
            raise RootwardError(f"there is no snapshot {self.id}")

    def restore(self, workspace: Path) -> None:
        """Copy the snapshot to a directory that is not there yet; see `check`. Blocks."""
        self.check()
        copy_tree(self.path, workspace)


def copy_tree(source: Path, target: Path) -> None:
    """Copy files and links as they are; pipes, sockets and devices are left out."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(source, target, symlinks=True, ignore=_special)


def _special(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if _is_special(os.lstat(os.path.join(folder, name)).st_mode)]


def _is_special(mode: int) -> bool:
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))
