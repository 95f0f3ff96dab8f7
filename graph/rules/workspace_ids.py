"""Ids of workspace and sandbox memory as clients see them, and back (FM-18, SB-104).

>>> outside("wsm_01arz"), inside("wsm", "mem_01arz"), inside("wsm", "run_01arz")
('mem_01arz', 'wsm_01arz', None)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from graph.model.ids import NodeId, node_id, prefix_of
from graph.model.nodes.sandbox import SandboxFile, SandboxSession, SandboxSnapshot
from graph.model.nodes.workspace import (
    AgentProfile,
    MemoryFile,
    MemoryProvider,
    RunThread,
    WorkspaceMemory,
    WorkspaceRun,
)

OUTSIDE: Final[Mapping[str, str]] = {
    WorkspaceMemory.PREFIX: "mem",
    MemoryProvider.PREFIX: "memprov",
    MemoryFile.PREFIX: "mfile",
    RunThread.PREFIX: "thread",
    WorkspaceRun.PREFIX: "run",
    AgentProfile.PREFIX: "ap",
    SandboxSession.PREFIX: "sbx",
    SandboxFile.PREFIX: "sfile",
    SandboxSnapshot.PREFIX: "snap",
}
"""The prefix that the contract gives to each kind."""


def outside(node: NodeId | str) -> str:
    """Return the id that clients see; an id of another kind stays as it is."""
    prefix = prefix_of(node)
    return f"{OUTSIDE[prefix]}_{node[len(prefix) + 1 :]}" if prefix in OUTSIDE else str(node)


def inside(prefix: str, given: str) -> NodeId | None:
    """Return the internal id of a kind that a client names; None for what can be none of that kind."""
    head, _, body = given.partition("_")
    return node_id(prefix, body) if head == OUTSIDE[prefix] and body else None


def tag_of(node: NodeId, version: int) -> str:
    """Return the strong ETag of one version of a resource (FM-12).

    >>> tag_of(NodeId("wmf_01arz"), 3)
    '"mfile_01arz:3"'
    """
    return f'"{outside(node)}:{version}"'
