"""Where memory lies in a workspace: two directories and the names in them. Source: SB-18 to SB-27."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import category

from rootward.errors import InvalidLayout, PathRefused

_NO_PATH = frozenset({"Cc", "Cs"})
"""Kinds of characters that no path has: a service and a local directory refuse the same."""


@dataclass(frozen=True, kw_only=True)
class MemoryLayoutConfig:
    """The directories of one memory, relative to the workspace root; equal layouts share one memory.

    Raises:
        InvalidLayout: a directory is empty, absolute, ``.``, holds ``..`` or a backslash, or both are one.

    >>> MemoryLayoutConfig(memories_dir="./memories//legal/")
    MemoryLayoutConfig(memories_dir='memories/legal', sessions_dir='sessions')
    """

    memories_dir: str = "memories"
    sessions_dir: str = "sessions"

    def __post_init__(self) -> None:
        for field in ("memories_dir", "sessions_dir"):
            object.__setattr__(self, field, _directory(field, getattr(self, field)))
        if self.memories_dir == self.sessions_dir:
            raise InvalidLayout("sessions_dir", "must be another directory than memories_dir")
        if is_inside(self.sessions_dir, self.reserved):
            raise InvalidLayout("sessions_dir", "must not lie where memory keeps its own files")

    @property
    def summary(self) -> str:
        """What is told to the agent when a run starts."""
        return f"{self.memories_dir}/memory_summary.md"

    @property
    def index(self) -> str:
        """What an agent searches and corrects."""
        return f"{self.memories_dir}/MEMORY.md"

    @property
    def raw_memories_file(self) -> str:
        """The selected raw memories in one file, for phase 2."""
        return f"{self.memories_dir}/raw_memories.md"

    @property
    def raw_memories_dir(self) -> str:
        """One raw memory a conversation."""
        return f"{self.memories_dir}/raw_memories"

    @property
    def summaries_dir(self) -> str:
        """One summary a conversation."""
        return f"{self.memories_dir}/rollout_summaries"

    @property
    def skills_dir(self) -> str:
        """Procedures worth repeating."""
        return f"{self.memories_dir}/skills"

    @property
    def selection(self) -> str:
        """What the last successful phase 2 used."""
        return f"{self.memories_dir}/phase_two_selection.json"

    @property
    def directories(self) -> tuple[str, ...]:
        """All directories, parents first."""
        return (self.memories_dir, self.sessions_dir, self.raw_memories_dir, self.summaries_dir, self.skills_dir)

    @property
    def reserved(self) -> tuple[str, ...]:
        """Paths that hold what memory itself writes; no directory of any layout can lie there."""
        files = (self.summary, self.index, self.raw_memories_file, self.selection)
        return (*files, self.raw_memories_dir, self.summaries_dir)

    def rollout(self, rollout_id: str) -> str:
        """Return the path of a conversation file."""
        return f"{self.sessions_dir}/{rollout_id}.jsonl"

    def raw_memory(self, rollout_id: str) -> str:
        """Return the path of a conversation's raw memory."""
        return f"{self.raw_memories_dir}/{rollout_id}.md"

    def clashes_with(self, other: MemoryLayoutConfig) -> bool:
        """Tell whether the two differ and have a directory in common, or one lies in the other's own files.

        Source: SB-96.
        """
        own, others = (self.memories_dir, self.sessions_dir), (other.memories_dir, other.sessions_dir)
        if self == other:
            return False
        return (
            not set(own).isdisjoint(others)
            or any(is_inside(directory, other.reserved) for directory in own)
            or any(is_inside(directory, self.reserved) for directory in others)
        )


def clean_path(path: str) -> str:
    """Return a relative path without ``.`` segments and doubled or trailing ``/``.

    Raises:
        PathRefused: it is empty, absolute, only ``.``, or holds ``..``, a backslash or a control character.

    >>> clean_path("./notes//today.md")
    'notes/today.md'
    """
    problem = _problem(path)
    if problem:
        raise PathRefused(f"the path {problem}")
    return _joined(path)


def is_inside(path: str, directories: Iterable[str]) -> bool:
    """Tell whether a clean path is one of the clean directories or lies in one.

    >>> is_inside("memories/sales/MEMORY.md", ["memories/sales"]), is_inside("memories/sales2", ["memories/sales"])
    (True, False)
    """
    return any(path == directory or path.startswith(f"{directory}/") for directory in directories)


def _directory(field: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidLayout(field, "must be a text")
    problem = _problem(value)
    if problem:
        raise InvalidLayout(field, problem)
    return _joined(value)


def _problem(path: str) -> str | None:
    if not path.strip():
        return "must not be empty"
    if path.startswith("/"):
        return "must be relative to the workspace"
    if "\\" in path or any(category(sign) in _NO_PATH for sign in path):
        return "must not hold a backslash, a control character or half of a character"
    if ".." in path.split("/"):
        return "must not hold '..'"
    return None if _joined(path) else "must name more than the workspace itself"


def _joined(path: str) -> str:
    return "/".join(part for part in path.split("/") if part not in ("", "."))
