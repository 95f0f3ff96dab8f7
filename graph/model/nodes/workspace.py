"""Workspace memory: file and record memories, their providers, and the threads and runs that use them.

Outside, ids have the prefixes of the contract (FM-18); `graph.rules.workspace_ids` makes one of the other.
Source: FM-1 to FM-89, RM-1 to RM-77, MT-1 to MT-66.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from graph.model.fields import Json, Node, indexed
from graph.model.ids import NodeId
from graph.model.sealed import Sealed
from graph.model.time import Millis


class MemoryKind(StrEnum):
    """Kinds of workspace memories (FM-21)."""

    FILE = "file"
    RECORD = "record"


class RevisionOp(StrEnum):
    """What a revision of a file did (FM-70)."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"
    MOVE_OUT = "move_out"
    MOVE_IN = "move_in"


class WorkspaceRunState(StrEnum):
    """Life of a run (MT-29, MT-32)."""

    ACCEPTED = "accepted"
    COMPLETED = "completed"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkspaceMemory(Node):
    """A memory of a workspace; a pool: its own id is its `pool`. Outside ``mem_…``.

    Attributes:
        type: ``postgres``, ``mem0_platform`` or ``mem0_oss``.
        guide: None inherits (FM-31); "" is no guide at all (FM-32).
        file_count, content_bytes, history_bytes: of a file memory; None for a record memory (FM-25).
        seq: number of the last revision (FM-69).
        version: of the resource itself, for its ETag (FM-12).
    """

    PREFIX: ClassVar[str] = "wsm"
    name: str
    description: str | None = None
    kind: str = indexed()
    type: str
    provider_id: NodeId | None = indexed(None)
    namespace: str | None = None
    guide: str | None = None
    always_load: tuple[str, ...] = ()
    labels: Json = None
    file_count: int | None = None
    content_bytes: int | None = None
    history_bytes: int | None = None
    seq: int = 0
    version: int = 1
    created_by: NodeId
    updated_by: NodeId
    updated_at: Millis
    access_version: int = 1
    audit_seq: int = 0
    audit_head: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryFile(Node):
    """A file of a file memory as it is now. Outside ``mfile_…``; its ETag is ``"{id}:{version}"``.

    Attributes:
        path: relative, in NFC (FM-58).
        size: UTF-8 bytes.
        version: the latest `seq` that touched it (FM-69).
    """

    PREFIX: ClassVar[str] = "wmf"
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("memory_id", "path"),)
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("memory_id", "path"),)
    memory_id: NodeId = indexed()
    path: str
    content: str
    size: int
    version: int
    description: str | None = None
    updated_by: NodeId
    updated_by_run: NodeId | None = None
    updated_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryRevision(Node):
    """One change of one path of a file memory, with what was there before and after (FM-70, FM-76).

    Attributes:
        run_id, tool_call_id: of a change by a tool of a run (FM-72).
    """

    PREFIX: ClassVar[str] = "wmr"
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("memory_id", "seq"),)
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("memory_id", "seq"), ("memory_id", "path", "seq"))
    memory_id: NodeId = indexed()
    seq: int
    path: str
    op: str
    moved_path: str | None = None
    principal_id: NodeId
    run_id: NodeId | None = indexed(None)
    tool_call_id: str | None = None
    previous_content: str | None = None
    previous_bytes: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryProvider(Node):
    """One account of a record backend. Outside ``memprov_…`` (RM-1)."""

    PREFIX: ClassVar[str] = "wmp"
    type: str
    name: str
    config: Json = None
    credential: Sealed | None = None
    credential_version: int = 0
    enabled: bool = True
    version: int = 1
    updated_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class NamespaceClaim(Node):
    """Which memory has a namespace of a provider; its id is made of the two, so that one claim wins (RM-24, RM-25).

    Attributes:
        memory_id: its owner; kept while the records of a deleted memory are purged (RM-45).
        purging: the memory is gone and its records are being deleted.
    """

    PREFIX: ClassVar[str] = "wnc"
    GUARDED: ClassVar[bool] = False
    provider_id: NodeId = indexed()
    namespace: str
    memory_id: NodeId
    purging: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentProfile(Node):
    """What the minimal run surface keeps of an agent: default mounts and toolsets (MT-19, MT-28). Outside ``ap_…``.

    Attributes:
        created_by: the principal that made it.
        memory_mounts: ``[{"name", "memory_id", "access", "recall"}]``.
        toolsets: ``{"memory": {"enabled", "disabled_tools"}}``.
    """

    PREFIX: ClassVar[str] = "wap"
    created_by: NodeId
    name: str
    memory_mounts: Json = None
    toolsets: Json = None
    version: int = 1
    updated_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class RunThread(Node):
    """A thread of runs. Outside ``thread_…``.

    Attributes:
        started: it accepted its first run, so defaults of agents no longer count (MT-21).
        parent_run_id: of the thread of an async subagent, which begins with the mounts of that run (MT-25).
        epoch: moves with each compaction: context delivered before does not count any more (MT-39).
        active_run: the unfinished run (MT-29).
    """

    PREFIX: ClassVar[str] = "wth"
    version: int = 1
    archived_at: Millis | None = None
    parent_run_id: NodeId | None = None
    started: bool = False
    epoch: int = 0
    active_run: NodeId | None = None
    updated_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadMount(Node):
    """A memory on a thread, by name (MT-1); its id is made of thread and name."""

    PREFIX: ClassVar[str] = "wmt"
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("thread_id", "name"), ("thread_id", "memory_id"))
    thread_id: NodeId = indexed()
    memory_id: NodeId = indexed()
    name: str
    access: str
    recall: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkspaceRun(Node):
    """A run of a thread with its frozen mounts (MT-27, MT-29). Outside ``run_…``.

    Attributes:
        principal_id: who accepted it; tools act with his rights (MT-55).
        mounts: ``[{"name", "memory_id", "access", "recall"}]``, by name.
        toolsets: as they were when it was accepted.
        attempts: number of the last attempt; `recalled`: its first input was recalled for (MT-58).
        delivered: what the last attempt was given: per mount name memory, seq and epoch; becomes the cursors of the
            thread with a checkpoint or completion (MT-44).
        committed: a checkpoint came: later attempts go on from it and are given no context (MT-39, MT-46).
    """

    PREFIX: ClassVar[str] = "wrn"
    thread_id: NodeId = indexed()
    agent_id: NodeId
    principal_id: NodeId
    input: str
    state: str
    mounts: Json = None
    toolsets: Json = None
    attempts: int = 0
    recalled: bool = False
    delivered: Json = None
    committed: bool = False
    ended_at: Millis | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextCursor(Node):
    """Up to which revision of a memory a thread was told, under a mount name (MT-44); its id is made of the three."""

    PREFIX: ClassVar[str] = "wcc"
    GUARDED: ClassVar[bool] = False
    thread_id: NodeId = indexed()
    memory_id: NodeId = indexed()
    name: str
    seq: int
    epoch: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RunToolCall(Node):
    """A write that a tool of a run began (MT-63, MT-64).

    Attributes:
        settled: a checkpoint or completion came after it.
    """

    PREFIX: ClassVar[str] = "wtc"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("run_id", "tool_call_id"),)
    run_id: NodeId = indexed()
    tool_call_id: str
    tool: str
    attempt: int
    settled: bool = False
