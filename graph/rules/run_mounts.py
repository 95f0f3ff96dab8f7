"""Mounts of memories on a thread: what may stand together, and what a first run adds (MT-1 to MT-25).

>>> team = Mount(name="team", memory_id=NodeId("wsm_1"))
>>> [mount.name for mount in unused([team], [team, Mount(name="facts", memory_id=NodeId("wsm_2"))])]
['facts']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from graph.model.ids import NodeId
from graph.rules.memory_refusals import conflicting, invalid, occupied
from graph.rules.workspace_ids import outside

MAX_LISTED: Final = 32
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,62}")


class Access(StrEnum):
    """What the tools of a run may do with a mounted memory (MT-3)."""

    READ = "read"
    WRITE = "write"


@dataclass(frozen=True, kw_only=True, slots=True)
class Mount:
    """A memory by a name, as a thread or an agent has it and as a run froze it (MT-1)."""

    name: str
    memory_id: NodeId
    access: str = Access.READ
    recall: bool = True

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Mount:
        """Return a mount as it was kept."""
        return cls(
            name=given["name"], memory_id=NodeId(given["memory_id"]), access=given["access"], recall=given["recall"]
        )

    def kept(self) -> dict[str, Any]:
        """Return the mount as it is kept."""
        return {"name": self.name, "memory_id": self.memory_id, "access": str(self.access), "recall": self.recall}


def checked_mount_name(name: str, field: str = "name") -> str:
    """Return a name by which a model may refer to a memory.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `field`.
    """
    if not _NAME.fullmatch(name):
        raise invalid(field, f"matches ^{_NAME.pattern}$")
    return name


def checked_access(given: str, field: str = "access") -> str:
    """Return what tools may do.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `field`.
    """
    if given not in set(Access):
        raise invalid(field, "is read or write")
    return given


def named_mount(name: str, memory_id: NodeId, access: str, *, recall: bool, at: str = "") -> Mount:
    """Return a mount that a client asks for; `at` is put before the names of its fields.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `name` or `access`.
    """
    return Mount(
        name=checked_mount_name(name, f"{at}name"),
        memory_id=memory_id,
        access=checked_access(access, f"{at}access"),
        recall=recall,
    )


def check_listed(mounts: Sequence[object], field: str) -> None:
    """Refuse a list that is too long (MT-18).

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `field`.
    """
    if len(mounts) > MAX_LISTED:
        raise invalid(field, f"takes up to {MAX_LISTED} entries")


def check_defaults(mounts: Sequence[Mount], field: str = "memory_mounts") -> None:
    """Refuse defaults of an agent that name a memory or a name twice (MT-19).

    Raises:
        WorkspaceRefused: ``invalid_argument`` at the entry.
    """
    for place, mount in enumerate(mounts):
        before = mounts[:place]
        if any(mount.name == other.name for other in before):
            raise invalid(f"{field}.{place}.name", "is another one in every entry")
        if any(mount.memory_id == other.memory_id for other in before):
            raise invalid(f"{field}.{place}.memory_id", "is another one in every entry")


def joined(held: Sequence[Mount], added: Iterable[Mount], thread: NodeId | None, limit: int) -> list[Mount]:
    """Return the mounts of a thread with more, in the order of their names (MT-6, MT-9).

    Args:
        held: what it has.
        added: what joins, one after the other.
        thread: None for one that is being made.
        limit: how many it may have.

    Raises:
        WorkspaceRefused: ``already_exists`` of kind ``mount``; ``conflict`` with reason ``already_mounted`` or
            ``memory_mount_limit``.
    """
    found = list(held)
    shown = "" if thread is None else outside(thread)
    for mount in added:
        if any(mount.name == other.name for other in found):
            raise occupied("mount", mount.name)
        if any(mount.memory_id == other.memory_id for other in found):
            raise conflicting("memory", outside(mount.memory_id), "already_mounted")
        found.append(mount)
    if len(found) > limit and len(found) > len(held):
        raise conflicting("thread", shown, "memory_mount_limit", limit=limit)
    return by_name(found)


def unused(held: Sequence[Mount], defaults: Iterable[Mount]) -> list[Mount]:
    """Return the defaults whose name and whose memory are both unused on a thread (MT-20)."""
    names, memories = {mount.name for mount in held}, {mount.memory_id for mount in held}
    return [mount for mount in defaults if mount.name not in names and mount.memory_id not in memories]


def by_name(mounts: Iterable[Mount]) -> list[Mount]:
    """Return mounts in the order of their names, which is the order everywhere."""
    return sorted(mounts, key=lambda mount: mount.name)
