"""Sandbox sessions whose workspace and memory lie in the service. Source: SB-104 to SB-118.

These are the routes one by one; `rootward.ServiceSandboxClient` runs agents over them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rootward.service.calls import KEEP, Ask, Unset, given, nothing, present, reads
from rootward.service.operations import AsyncSurface, SyncSurface, operation
from rootward.service.pages import Page, if_match, reads_page
from rootward.service.versions import Versioned

_SESSIONS = "/api/v1/sandbox-sessions"
_SESSION = f"{_SESSIONS}/{{session_id}}"
_FILES = f"{_SESSION}/files"
_FILE = f"{_FILES}/{{path}}"


@dataclass(frozen=True, kw_only=True)
class SandboxView:
    """A sandbox session; `status` is ``open``, ``closing`` or ``closed``, `report` what closing did."""

    id: str
    status: str
    created_at: str
    closed_at: str | None = None
    report: Mapping[str, object] | None = None


@dataclass(frozen=True, kw_only=True)
class SandboxRun:
    """What a run starts with; `developer_prompt` is None where there is nothing to tell."""

    developer_prompt: str | None
    capabilities_required: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """Where a run was recorded; if it was not, because its agent generates nothing, all is None."""

    rollout_id: str | None = None
    path: str | None = None
    segment_count: int | None = None
    updated_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class SandboxFileRow(Versioned):
    """A file of a workspace without its content; `size` is in bytes."""

    path: str
    size: int


@dataclass(frozen=True, kw_only=True)
class SandboxFile(SandboxFileRow):
    """A file of a workspace."""

    content: str


@dataclass(frozen=True, kw_only=True)
class SandboxSnapshot:
    """A copy of a workspace, kept until it is deleted."""

    id: str


@operation("POST", _SESSIONS)
def create_session(*, manifest: Mapping[str, Any] | None = None, snapshot_id: str | None = None) -> Ask[SandboxView]:
    """Make a session; its workspace starts as the snapshot, then entries of the manifest where paths are free."""
    return Ask(body=present(manifest=manifest, snapshot_id=snapshot_id), read=reads(SandboxView))


@operation("GET", _SESSION)
def read_session(session_id: str) -> Ask[SandboxView]:
    """Read a session."""
    return Ask(ids=[session_id], read=reads(SandboxView))


@operation("DELETE", _SESSION)
def delete_session(session_id: str) -> Ask[None]:
    """Delete a session with its workspace and memory; snapshots stay."""
    return Ask(ids=[session_id], read=nothing)


@operation("POST", f"{_SESSION}/runs")
def begin_run(session_id: str, *, memory: Mapping[str, Any]) -> Ask[SandboxRun]:
    """Reserve the layout of an agent's memory, and learn what its run is told.

    Args:
        session_id: of an open session.
        memory: ``{read, generate, layout}`` in the names of `rootward.memory`.
    """
    return Ask(ids=[session_id], body={"memory": dict(memory)}, read=reads(SandboxRun))


@operation("POST", f"{_SESSION}/rollouts")
def record_rollout(
    session_id: str,
    *,
    segment: Mapping[str, Any],
    conversation_id: str | None = None,
    run_session_id: str | None = None,
    group_id: str | None = None,
    layout: Mapping[str, Any] | Unset = KEEP,
    generate: Mapping[str, Any] | bool | Unset = KEEP,
) -> Ask[Rollout]:
    """Append a finished run to its conversation.

    Args:
        session_id: of an open sandbox session.
        segment: ``{input, generated_items, interruptions, terminal_metadata, final_output}``.
        conversation_id: names the conversation; without it the next two do, in turn.
        run_session_id: of the message session that the run used.
        group_id: of runs that belong together.
        layout: directories; the default ones if it is left out.
        generate: False records nothing.
    """
    named = present(conversation_id=conversation_id, session_id=run_session_id, group_id=group_id)
    body = {**named, **given(layout=layout, generate=generate), "segment": dict(segment)}
    return Ask(ids=[session_id], body=body, read=reads(Rollout))


@operation("POST", f"{_SESSION}/close")
def close_session(session_id: str, *, wait: bool = True) -> Ask[Mapping[str, object] | None]:
    """Make memory of what was recorded; again, return the first report. Without `wait` read the session for it."""
    return Ask(
        ids=[session_id],
        query={"wait": None if wait else "false"},
        done=(200, 202),
        read=lambda reply: reply.json() if reply.status == 200 else None,
        repeatable=True,
    )


@operation("GET", _FILES)
def list_files(
    session_id: str, *, prefix: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Ask[Page[SandboxFileRow]]:
    """List files under a directory, by path; `prefix` ends in ``/``."""
    query = {"prefix": prefix, "limit": limit, "cursor": cursor}
    return Ask(ids=[session_id], query=query, read=reads_page(SandboxFileRow))


@operation("GET", _FILE)
def read_file(session_id: str, path: str) -> Ask[SandboxFile]:
    """Read a file."""
    return Ask(ids=[session_id, path], read=reads(SandboxFile))


@operation("PUT", _FILE)
def write_file(session_id: str, path: str, content: str, *, etag: str | None = None) -> Ask[SandboxFile]:
    """Make a file, or with the tag of its newest version replace it.

    Raises:
        InvalidRequest: without a tag: there is a file.
        PreconditionFailed: it changed since `etag`.
    """
    return Ask(ids=[session_id, path], body={"content": content}, headers=if_match(etag), read=reads(SandboxFile))


@operation("DELETE", _FILE)
def delete_file(session_id: str, path: str, *, etag: str) -> Ask[None]:
    """Delete a file."""
    return Ask(ids=[session_id, path], headers=if_match(etag), read=nothing)


@operation("POST", f"{_SESSION}/snapshots")
def take_snapshot(session_id: str) -> Ask[SandboxSnapshot]:
    """Copy a workspace as it is."""
    return Ask(ids=[session_id], read=reads(SandboxSnapshot))


@operation("DELETE", "/api/v1/snapshots/{snapshot_id}")
def delete_snapshot(snapshot_id: str) -> Ask[None]:
    """Delete a snapshot."""
    return Ask(ids=[snapshot_id], read=nothing)


class SandboxOperations:
    """What can be done with sandbox sessions, their files and snapshots."""

    create = create_session
    read = read_session
    delete = delete_session
    begin_run = begin_run
    record = record_rollout
    close = close_session
    files = list_files
    file = read_file
    write_file = write_file
    delete_file = delete_file
    snapshot = take_snapshot
    delete_snapshot = delete_snapshot


class Sandboxes(SandboxOperations, SyncSurface):
    """Sandbox sessions, waiting in the thread."""


class AsyncSandboxes(SandboxOperations, AsyncSurface):
    """Sandbox sessions, waiting in the task."""
