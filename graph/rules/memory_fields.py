"""What a memory's own fields may hold (FM-27, FM-28, FM-30, FM-34 to FM-36)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from graph.rules.memory_limits import MemoryLimits
from graph.rules.memory_paths import checked_path
from graph.rules.memory_refusals import invalid

MAX_NAME: Final = 200
MAX_DESCRIPTION: Final = 2_000
MAX_LABELS: Final = 32
MAX_LABEL_TEXT: Final = 128
MAX_ALWAYS_LOAD: Final = 64
MAX_LABEL_FILTERS: Final = 8


def checked_name(name: str) -> str:
    """Return a name of 1 to 200 characters that is not blank.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `name`.
    """
    if not name.strip() or len(name) > MAX_NAME or "\0" in name:
        raise invalid("name", f"has 1 to {MAX_NAME} characters and is not blank")
    return name


def checked_description(description: str | None) -> str | None:
    """Return a description of up to 2,000 characters, or None.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `description`.
    """
    if description is not None and (len(description) > MAX_DESCRIPTION or "\0" in description):
        raise invalid("description", f"has up to {MAX_DESCRIPTION} characters")
    return description


def checked_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Return labels: at most 32 entries, their keys and values of at most 128 characters.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `labels`.
    """
    texts = [*labels, *labels.values()]
    if len(labels) > MAX_LABELS or any(len(text) > MAX_LABEL_TEXT or "\0" in text for text in texts):
        raise invalid("labels", f"takes {MAX_LABELS} entries with keys and values of up to {MAX_LABEL_TEXT} characters")
    return dict(labels)


def label_filters(given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the labels that a list of memories is narrowed by, each given as ``key:value`` (FM-42).

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `label`.

    >>> label_filters(["team:red", "at:10:30"])
    (('at', '10:30'), ('team', 'red'))
    """
    if len(given) > MAX_LABEL_FILTERS:
        raise invalid("label", f"repeats up to {MAX_LABEL_FILTERS} times")
    pairs = [label.partition(":") for label in given]
    if any(not colon for _, colon, _ in pairs):
        raise invalid("label", "is key:value")
    return tuple(sorted((key, value) for key, _, value in pairs))


def checked_always_load(paths: Sequence[str], limits: MemoryLimits) -> tuple[str, ...]:
    """Return the paths to be loaded always, in their order; a file need not be there yet.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `always_load`, or at ``always_load.{index}`` for one that is no path.
    """
    if len(paths) > MAX_ALWAYS_LOAD:
        raise invalid("always_load", f"takes up to {MAX_ALWAYS_LOAD} paths")
    found = tuple(checked_path(path, limits, f"always_load.{place}") for place, path in enumerate(paths))
    if len(set(found)) < len(found):
        raise invalid("always_load", "names every path once")
    return found


def checked_guide(guide: str | None, limits: MemoryLimits) -> str | None:
    """Return a guide; None inherits, "" is none at all.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `guide`.
    """
    if guide is not None and (len(guide.encode()) > limits.guide_bytes or "\0" in guide):
        raise invalid("guide", f"has up to {limits.guide_bytes} bytes")
    return guide
