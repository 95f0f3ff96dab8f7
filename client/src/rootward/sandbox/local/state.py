"""What a local sandbox session keeps beside its workspace, so that it survives its process."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from rootward.errors import SandboxBusy
from rootward.sandbox.local.files import LocalFiles
from rootward.sandbox.report import MemoryReport
from rootward.sandbox.work import LayoutWork

_STATE, _WORKSPACE = "state.json", "workspace"
_VERSION = 1


@dataclass(kw_only=True)
class SessionState:
    """One session: where it works, what its agents recorded, what closing made of it.

    Attributes:
        manifest_is_due: the workspace is new and was given no manifest; the first agent's default one counts.
        given: the directory of the user's to work in; None for one of the session's own.
    """

    id: str
    given: Path | None
    manifest_is_due: bool
    works: list[LayoutWork] = field(default_factory=list)
    report: MemoryReport | None = None

    def save(self, folder: Path) -> None:
        """Write the state into the session's folder, at once."""
        value = {
            "version": _VERSION,
            "id": self.id,
            "given": str(self.given) if self.given else None,
            "manifest_is_due": self.manifest_is_due,
            "works": [work.as_dict() for work in self.works],
            "report": self.report.as_dict() if self.report else None,
        }
        LocalFiles(folder, "state").replace(_STATE, json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))

    @classmethod
    def load(cls, folder: Path) -> SessionState:
        """Return the state that lies in a session's folder.

        Raises:
            FileNotFoundError: there is no such session.
        """
        value = json.loads((folder / _STATE).read_bytes())
        return cls(
            id=value["id"],
            given=Path(value["given"]) if value["given"] else None,
            manifest_is_due=value["manifest_is_due"],
            works=[LayoutWork.from_dict(work) for work in value["works"]],
            report=MemoryReport.from_dict(value["report"]) if value["report"] else None,
        )

    def root(self, folder: Path) -> Path:
        """Return the directory of the workspace, by the session's folder."""
        return self.given or folder / _WORKSPACE

    def reopen(self) -> None:
        """Begin a new session over the same workspace if this one was closed. Source: SB-98."""
        if self.report is not None:
            self.report, self.works = None, []


class SessionLock:
    """Keeps a session to one opener at a time; the system takes it back when the process ends."""

    def __init__(self, folder: Path) -> None:
        """Take the lock, or raise `SandboxBusy`."""
        self._file: int | None = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise SandboxBusy("this sandbox session is open elsewhere; close it there first") from None

    def release(self) -> None:
        """Let others open the session; again, do nothing."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
