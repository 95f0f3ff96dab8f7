"""What closing a sandbox session did. Source: SB-114."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Extraction(StrEnum):
    """What became of one conversation in phase 1."""

    EXTRACTED = "extracted"
    EMPTY = "empty"
    FAILED = "failed"


class Consolidation(StrEnum):
    """What became of phase 2."""

    COMPLETED = "completed"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class PhaseOneReport:
    """One conversation; `error` is a code, such as ``invalid_answer``, if it failed."""

    rollout_id: str
    status: Extraction
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class PhaseTwoReport:
    """One consolidation; `selected` and `removed` list ids of conversations, newest first."""

    status: Consolidation
    selected: Sequence[str] = ()
    removed: Sequence[str] = ()
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class LayoutReport:
    """Both phases of one layout."""

    memories_dir: str
    sessions_dir: str
    phase_one: Sequence[PhaseOneReport]
    phase_two: PhaseTwoReport


@dataclass(frozen=True, kw_only=True)
class MemoryReport:
    """All layouts for which runs were recorded, in the order of their first run."""

    layouts: Sequence[LayoutReport] = ()

    def as_dict(self) -> dict[str, object]:
        """Return the report as the JSON object of the HTTP routes.

        >>> MemoryReport().as_dict()
        {'layouts': []}
        """
        return {"layouts": [_layout(layout) for layout in self.layouts]}

    @classmethod
    def from_dict(cls, value: Mapping[str, object]) -> MemoryReport:
        """Return the report that `as_dict` wrote."""
        return cls(layouts=[_read_layout(layout) for layout in _list(value["layouts"])])


def phase_one_dict(report: PhaseOneReport) -> dict[str, object]:
    """Return one conversation as JSON."""
    return _with_error({"rollout_id": report.rollout_id, "status": str(report.status)}, report.error)


def phase_two_dict(report: PhaseTwoReport) -> dict[str, object]:
    """Return one consolidation as JSON."""
    value: dict[str, object] = {
        "status": str(report.status),
        "selected": list(report.selected),
        "removed": list(report.removed),
    }
    return _with_error(value, report.error)


def read_phase_one(value: Mapping[str, object]) -> PhaseOneReport:
    """Return what `phase_one_dict` wrote."""
    status = Extraction(str(value["status"]))
    return PhaseOneReport(rollout_id=str(value["rollout_id"]), status=status, error=_error(value))


def read_phase_two(value: Mapping[str, object]) -> PhaseTwoReport:
    """Return what `phase_two_dict` wrote."""
    return PhaseTwoReport(
        status=Consolidation(str(value["status"])),
        selected=[str(name) for name in _list(value["selected"])],
        removed=[str(name) for name in _list(value["removed"])],
        error=_error(value),
    )


def _layout(layout: LayoutReport) -> dict[str, object]:
    return {
        "memories_dir": layout.memories_dir,
        "sessions_dir": layout.sessions_dir,
        "phase_one": [phase_one_dict(one) for one in layout.phase_one],
        "phase_two": phase_two_dict(layout.phase_two),
    }


def _read_layout(value: object) -> LayoutReport:
    layout = _mapping(value)
    return LayoutReport(
        memories_dir=str(layout["memories_dir"]),
        sessions_dir=str(layout["sessions_dir"]),
        phase_one=[read_phase_one(_mapping(one)) for one in _list(layout["phase_one"])],
        phase_two=read_phase_two(_mapping(layout["phase_two"])),
    )


def _with_error(value: dict[str, object], error: str | None) -> dict[str, object]:
    return value if error is None else {**value, "error": error}


def _error(value: Mapping[str, object]) -> str | None:
    error = value.get("error")
    return error if isinstance(error, str) else None


def _list(value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise ValueError("a report holds a list here")
    return value


def _mapping(value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise ValueError("a report holds an object here")
    return value
