"""The shapes of sandbox sessions, their files and snapshots, as the contract writes them (SB-104 to SB-118)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from api.rest.workspace.memory_shapes import Shape
from dreaming.sandbox.options import MemoryOptions
from graph.model.nodes.sandbox import SandboxFile, SandboxSession, SandboxSnapshot
from graph.model.time import render
from graph.rules.workspace_ids import outside

SANDBOXES: Final = "/sandbox-sessions"
SANDBOX: Final = "/sandbox-sessions/{session_id}"
RUNS: Final = "/sandbox-sessions/{session_id}/runs"
ROLLOUTS: Final = "/sandbox-sessions/{session_id}/rollouts"
CLOSE: Final = "/sandbox-sessions/{session_id}/close"
FILES: Final = "/sandbox-sessions/{session_id}/files"
FILE: Final = "/sandbox-sessions/{session_id}/files/{path:path}"
SESSION_SNAPSHOTS: Final = "/sandbox-sessions/{session_id}/snapshots"
SNAPSHOT: Final = "/snapshots/{snapshot_id}"

_Text = Annotated[str, Field(strict=True)]


class EntryBody(Shape):
    """A file of a new workspace."""

    type: Literal["file"]
    content: _Text = ""


class ManifestBody(Shape):
    """Files by path."""

    entries: dict[str, EntryBody] = Field(default_factory=dict)


class NewSandboxBody(Shape):
    """What a workspace starts with: the files of a snapshot, then those of the manifest whose paths are free."""

    manifest: ManifestBody | None = None
    snapshot_id: _Text | None = None


class ReadBody(Shape):
    """How an agent reads memory."""

    live_update: bool = True


class GenerateBody(Shape):
    """How memory is made when the session closes; what is left out is as the service is set."""

    max_raw_memories_for_consolidation: int = Field(default=256, ge=1, le=4_096)
    phase_one_model: _Text = ""
    phase_two_model: _Text = ""
    extra_prompt: _Text | None = None


class LayoutBody(Shape):
    """Where memory lies."""

    memories_dir: _Text = "memories"
    sessions_dir: _Text = "sessions"


class MemoryBody(Shape):
    """The memory of an agent; null or false is off, true or left out the defaults (SB-107)."""

    read: ReadBody | bool | None = True
    generate: GenerateBody | bool | None = True
    layout: LayoutBody | None = None


class NewRunBody(Shape):
    """A run that begins."""

    memory: MemoryBody


class TerminalBody(Shape):
    """How a run ended."""

    terminal_state: Literal[
        "completed", "interrupted", "cancelled", "failed", "max_turns_exceeded", "guardrail_tripped"
    ]
    exception_type: _Text | None = None
    exception_message: _Text | None = None
    has_final_output: bool = False


class SegmentBody(Shape):
    """One finished run: what the user said, what the agent said and did."""

    input: _Text | list[dict[str, Any]] = Field(description="of this run alone: a text, or items")
    generated_items: list[dict[str, Any]] = Field(default_factory=list)
    interruptions: list[dict[str, Any]] | None = Field(default=None, description="calls that wait for approval")
    terminal_metadata: TerminalBody
    final_output: Any = None


class RolloutBody(Shape):
    """A run that ended; the first id that is given names its conversation (SB-53)."""

    conversation_id: _Text | None = None
    session_id: _Text | None = None
    group_id: _Text | None = None
    layout: LayoutBody | None = None
    generate: GenerateBody | bool | None = True
    segment: SegmentBody


def options_of(body: MemoryBody | RolloutBody) -> MemoryOptions:
    """Return what a body says of an agent's memory; a rollout reads nothing."""
    return MemoryOptions(
        read=_given(body.read) if isinstance(body, MemoryBody) else None,
        generate=_given(body.generate),
        layout=None if body.layout is None else body.layout.model_dump(exclude_unset=True),
    )


def _given(option: Shape | bool | None) -> dict[str, Any] | bool | None:
    return option.model_dump(exclude_unset=True) if isinstance(option, Shape) else option


def sandbox_row(session: SandboxSession) -> dict[str, Any]:
    """Return a session as it is made (SB-104)."""
    return {"id": outside(session.id), "status": session.status, "created_at": render(session.created_at)}


def sandbox_json(session: SandboxSession) -> dict[str, Any]:
    """Return the view of a session (SB-105)."""
    closed_at = None if session.closed_at is None else render(session.closed_at)
    return {**sandbox_row(session), "closed_at": closed_at, "report": session.report}


def sandbox_file_row(file: SandboxFile) -> dict[str, Any]:
    """Return a file without its content, as lists show it."""
    return {
        "id": outside(file.id),
        "path": file.path,
        "size": file.size,
        "version": file.version,
        "created_at": render(file.created_at),
        "updated_at": render(file.updated_at),
    }


def sandbox_file_json(file: SandboxFile, data: bytes) -> dict[str, Any]:
    """Return the view of a file; bytes that are no UTF-8 are replaced by U+FFFD (SB-26)."""
    return {**sandbox_file_row(file), "content": data.decode(errors="replace")}


def snapshot_json(snapshot: SandboxSnapshot) -> dict[str, Any]:
    """Return the view of a snapshot (SB-118)."""
    return {
        "id": outside(snapshot.id),
        "session_id": outside(snapshot.session_id),
        "created_at": render(snapshot.created_at),
    }
