"""Reading what strangers made, in a process of its own with bounded memory and time (MA-5, docs/adr/0020).

A file of some kilobytes may unfold to gigabytes or keep a parser busy for hours. A thread can not be stopped, a
process can: it ends at its limits, and what it was given becomes a file that cannot be read, with a reason.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from api.adapters.extract import DocumentExtractor, ExtractedDocument, unsupported
from api.adapters.sniff import Kind, decode, sniff

_ROOT = str(Path(__file__).resolve().parents[2])
_START = "import sys; sys.path.append(sys.argv[1]); from api.adapters.child import main; main()"
_MIB = 1024 * 1024
TOO_SLOW = "too_slow"
TOO_LARGE = "too_large"


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Bounds of one reading: memory of the process, its processor time, and the time on the clock."""

    memory_mib: int = 1_024
    cpu_s: int = 60
    wall_s: float = 90.0


class Exceeded(Exception):
    """A reading ended at its limits; `reason` is ``too_slow`` or ``too_large``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def run_bounded(task: str, facts: dict[str, Any], data: bytes, limits: Limits) -> Any:
    """Return what a task of `api.adapters.child` makes of bytes; it blocks: call it in a thread.

    Raises:
        Exceeded: it ended at its limits.
    """
    head = json.dumps({"task": task, **facts}).encode() + b"\n"
    argv = [sys.executable, "-I", "-c", _START, _ROOT, str(limits.memory_mib), str(limits.cpu_s)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        try:
            out, _ = child.communicate(head + data, timeout=limits.wall_s)
        except subprocess.TimeoutExpired:
            child.kill()
            raise Exceeded(TOO_SLOW) from None
        except BaseException:
            child.kill()
            raise
    try:
        return json.loads(out)
    except ValueError:  # it was ended before it could answer
        raise Exceeded(TOO_SLOW if child.returncode in _OUT_OF_TIME else TOO_LARGE) from None


_OUT_OF_TIME = (-24, -9)
"""SIGXCPU, and SIGKILL where the processor time has a hard limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BoundedExtractor:
    """A `TextExtractor` that reads files which can unfold, PDF, DOCX and long HTML, in a process with limits.

    Attributes:
        html_bytes: HTML up to this size is read at once, like plain text.
        at_once: so many processes read side by side.
    """

    limits: Limits = field(default_factory=Limits)
    html_bytes: int = _MIB
    at_once: threading.BoundedSemaphore = field(default_factory=lambda: threading.BoundedSemaphore(2))

    def extract(self, data: bytes, *, media_type: str | None = None, filename: str | None = None) -> ExtractedDocument:
        """Return the text of a file; like `DocumentExtractor.extract`.

        Raises:
            UnsupportedType: also with the reason ``too_slow``.
        """
        if not self._unfolds(data, media_type, filename):
            return DocumentExtractor().extract(data, media_type=media_type, filename=filename)
        try:
            with self.at_once:
                found = run_bounded("extract", {"media_type": media_type, "filename": filename}, data, self.limits)
        except Exceeded as error:
            raise unsupported(error.reason) from None
        if "reason" in found:
            raise unsupported(found["reason"])
        return ExtractedDocument(text=found["text"], title=found["title"], kind=Kind(found["kind"]))

    def _unfolds(self, data: bytes, media_type: str | None, filename: str | None) -> bool:
        if data.startswith(b"PK\x03\x04") or b"%PDF-" in data[:1024]:
            return True
        if len(data) <= self.html_bytes:
            return False
        essence = (media_type or "").partition(";")[0].strip()
        return sniff(data, decode(data), media_type=essence, filename=filename or "") is Kind.HTML
