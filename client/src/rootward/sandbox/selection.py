"""Which conversations phase 2 keeps, and which are forgotten. Source: SB-80 to SB-91."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import cached_property

from rootward.sandbox.identity import is_rollout_id

_VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What is known of a conversation beside its notes; a member that is not known is ``unknown``.

    Attributes:
        updated_at: when its last segment was appended.
        rollout_path: its conversation file, relative to the workspace.
        rollout_summary_file: its summary, relative to the memories directory.
    """

    rollout_id: str
    updated_at: str
    rollout_path: str
    rollout_summary_file: str
    terminal_state: str


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What phase 2 works on: selected and removed, newest first, and what was selected the last time.

    Attributes:
        fresh: ids of the conversations that were extracted in this close.
    """

    selected: Sequence[Kept]
    removed: Sequence[Kept]
    previous: Sequence[Kept]
    fresh: Collection[str] = ()

    def is_added(self, one: Kept) -> bool:
        """Tell whether a conversation is new to phase 2, or pending since one that failed.

        One that the last successful phase 2 selected is retained, also where it has grown in this session (SB-82); what
        grew before a phase 2 that failed counts as added (SB-84).
        """
        is_pending = self.grown_since(one) is not None and one.rollout_id not in self.fresh
        return one.rollout_id not in self._before or is_pending

    def grown_since(self, one: Kept) -> str | None:
        """Return when a conversation that was selected the last time was updated then, if it has grown since."""
        before = self._before.get(one.rollout_id)
        return None if before is None or before.updated_at == one.updated_at else before.updated_at

    @cached_property
    def _before(self) -> Mapping[str, Kept]:
        return {old.rollout_id: old for old in self.previous}


def choose(found: Iterable[Kept], previous: Sequence[Kept], *, most: int, fresh: Collection[str] = ()) -> Choice:
    """Return the newest conversations, at most so many, and all others that there are or were.

    Args:
        found: the conversations that have a raw memory.
        previous: what the last successful phase 2 selected.
        most: how many are kept.
        fresh: ids of those that were extracted in this close.
    """
    newest = sorted(found, key=_recency, reverse=True)
    selected, older = newest[:most], newest[most:]
    present = {one.rollout_id for one in newest}
    gone = [one for one in previous if one.rollout_id not in present]
    removed = sorted([*older, *gone], key=_recency, reverse=True)
    return Choice(selected=selected, removed=removed, previous=previous, fresh=fresh)


def write_selection(selected: Iterable[Kept], *, updated_at: str) -> bytes:
    """Return the file that remembers a selection."""
    value = {"version": _VERSION, "updated_at": updated_at, "selected": [asdict(one) for one in selected]}
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def read_selection(text: str | None) -> list[Kept]:
    """Return the selection of such a file; nothing if there is none or it cannot be read. Source: SB-85."""
    try:
        value = json.loads(text or "")
        if value["version"] != _VERSION:
            return []
        return [_kept(one) for one in value["selected"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        return []


def _kept(value: Mapping[str, object]) -> Kept:
    members = {field.name: value[field.name] for field in fields(Kept)}
    if not all(isinstance(member, str) and "\n" not in member for member in members.values()):
        raise ValueError("each member is a text of one line")
    one = Kept(**{name: str(member) for name, member in members.items()})
    if not is_rollout_id(one.rollout_id):
        raise ValueError("no id of a conversation")
    return one


def _recency(one: Kept) -> tuple[datetime, str]:
    return (_instant(one.updated_at), one.rollout_id)


def _instant(stamp: str) -> datetime:
    try:
        instant = datetime.fromisoformat(stamp)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)
