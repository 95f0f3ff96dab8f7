"""The process of `api.adapters.bounded`: takes its limits upon itself, reads one thing, answers in JSON, ends.

Standard input is a JSON object in one line (`task` and what it needs), then the bytes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

TOO_LARGE = "too_large"


def main() -> None:
    """Do the task that standard input names, within the limits of the command line."""
    _limit(memory_mib=int(sys.argv[2]), cpu_s=int(sys.argv[3]))
    try:
        head = json.loads(sys.stdin.buffer.readline())
        answer = _TASKS[head["task"]](sys.stdin.buffer.read(), head)
    except MemoryError:
        answer = {"reason": TOO_LARGE}
    if answer.get("reason") in _SEEMING and _was_full(int(sys.argv[2])):
        answer = {"reason": TOO_LARGE}
    sys.stdout.write(json.dumps(answer))


_SEEMING = frozenset({"damaged", "no_text"})
"""What a parser says that got no memory any more."""


def _was_full(memory_mib: int) -> bool:
    """Return whether this process has held more than half of what it may.

    `getrusage` would count what the parent held when it started this process; the peak of the address space does not.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:  # pragma: no cover - Linux alone tells it
        return False
    peak_kib = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)
    return peak_kib > memory_mib * 1024 // 2


def _limit(*, memory_mib: int, cpu_s: int) -> None:
    """Bound this process; where the system has no such limits, the clock of the parent alone bounds it."""
    try:
        import resource
    except ImportError:  # pragma: no cover - no such module on Windows
        return
    size = memory_mib * 1024 * 1024
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _extract(data: bytes, head: Mapping[str, Any]) -> Mapping[str, Any]:
    from api.adapters.extract import DocumentExtractor
    from graph.model.errors import UnsupportedType

    try:
        found = DocumentExtractor().extract(data, media_type=head["media_type"], filename=head["filename"])
    except UnsupportedType as error:
        return {"reason": error.details["reason"]}
    return {"text": found.text, "title": found.title, "kind": str(found.kind)}


def _feed(data: bytes, head: Mapping[str, Any]) -> Mapping[str, Any]:
    from api.adapters.connectors.items import read_items

    return {"items": read_items(data, media_type=head["media_type"], address=head["address"])}


_TASKS: Mapping[str, Callable[[bytes, Mapping[str, Any]], Mapping[str, Any]]] = {"extract": _extract, "feed": _feed}
