"""What an agent may do in its sandbox: a shell, and the files. Source: SB-7, SB-8."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from rootward.sandbox.memory import Memory


@dataclass(frozen=True, kw_only=True)
class Shell:
    """Commands in the workspace.

    Attributes:
        timeout_s: how long one command may run.
        needs_approval: each call waits until somebody approves it.
    """

    timeout_s: float = 60
    needs_approval: bool = False


@dataclass(frozen=True, kw_only=True)
class Filesystem:
    """Listing, reading and changing files of the workspace.

    Attributes:
        needs_approval: each change waits until somebody approves it.
    """

    needs_approval: bool = False


Capability: TypeAlias = Shell | Filesystem | Memory


def shell(*, timeout_s: float = 60, needs_approval: bool = False) -> Shell:
    """Return the capability to run commands in the workspace."""
    return Shell(timeout_s=timeout_s, needs_approval=needs_approval)


def filesystem(*, needs_approval: bool = False) -> Filesystem:
    """Return the capability to list, read and change files of the workspace."""
    return Filesystem(needs_approval=needs_approval)
