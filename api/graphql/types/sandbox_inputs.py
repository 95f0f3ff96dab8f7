"""What clients say of sandboxes: workspaces to make, the memory of an agent, runs that ended (SB-104 to SB-110)."""

from __future__ import annotations

from typing import Any

import strawberry

from api.graphql.given import given_of
from api.graphql.scalars import JSON
from dreaming.sandbox.options import MemoryOptions


@strawberry.input
class SandboxEntryInput:
    """A file of a new workspace."""

    path: str
    content: str = ""


@strawberry.input
class SandboxManifestInput:
    """The files of a new workspace."""

    entries: list[SandboxEntryInput]


@strawberry.input
class SandboxReadInput:
    """How an agent reads memory."""

    live_update: bool = True


@strawberry.input
class SandboxGenerateInput:
    """How memory is made when the session closes; what is left out is as the service is set."""

    max_raw_memories_for_consolidation: int | None = strawberry.UNSET
    phase_one_model: str | None = strawberry.UNSET
    phase_two_model: str | None = strawberry.UNSET
    extra_prompt: str | None = strawberry.UNSET


@strawberry.input
class SandboxLayoutInput:
    """Where memory lies; what is left out is as always: memories and sessions."""

    memories_dir: str = strawberry.field(default="memories")
    sessions_dir: str = strawberry.field(default="sessions")


@strawberry.input
class SandboxMemoryInput:
    """The memory of an agent; null is off, what is left out has the defaults (SB-107)."""

    read: SandboxReadInput | None = strawberry.UNSET
    generate: SandboxGenerateInput | None = strawberry.UNSET
    layout: SandboxLayoutInput | None = None


@strawberry.input
class SandboxTerminalInput:
    """How a run ended."""

    terminal_state: str = strawberry.field(
        description="completed, interrupted, cancelled, failed, max_turns_exceeded or guardrail_tripped."
    )
    exception_type: str | None = None
    exception_message: str | None = None
    has_final_output: bool = False


@strawberry.input
class SandboxSegmentInput:
    """One finished run: what the user said, what the agent said and did."""

    input: JSON = strawberry.field(description="Of this run alone: a text, or items.")
    generated_items: list[JSON] = strawberry.field(default_factory=list)
    interruptions: list[JSON] | None = strawberry.field(default=None, description="Calls that wait for approval.")
    terminal_metadata: SandboxTerminalInput
    final_output: JSON | None = None


@strawberry.input
class SandboxRolloutInput:
    """A run that ended; the first id that is given names its conversation (SB-53)."""

    conversation_id: str | None = None
    session_id: str | None = None
    group_id: str | None = None
    layout: SandboxLayoutInput | None = None
    generate: SandboxGenerateInput | None = strawberry.UNSET
    segment: SandboxSegmentInput | None = strawberry.field(
        default=None, description="Or upload it as a file of JSON, with the member names of the REST route."
    )


def options_of(given: SandboxMemoryInput | SandboxRolloutInput) -> MemoryOptions:
    """Return what an input says of an agent's memory; a rollout reads nothing."""
    return MemoryOptions(
        read=_read(given.read) if isinstance(given, SandboxMemoryInput) else None,
        generate=_generate(given.generate),
        layout=None if given.layout is None else _layout(given.layout),
    )


def segment_mapping(given: SandboxSegmentInput) -> dict[str, Any]:
    """Return a segment with the member names of the library."""
    ended = given.terminal_metadata
    return {
        "input": given.input,
        "generated_items": given.generated_items,
        "interruptions": given.interruptions,
        "terminal_metadata": {
            "terminal_state": ended.terminal_state,
            "exception_type": ended.exception_type,
            "exception_message": ended.exception_message,
            "has_final_output": ended.has_final_output,
        },
        "final_output": given.final_output,
    }


def _read(given: SandboxReadInput | None) -> dict[str, bool] | bool | None:
    if given is None or given is strawberry.UNSET:
        return None if given is None else True
    return {"live_update": given.live_update}


def _layout(given: SandboxLayoutInput) -> dict[str, str]:
    return {"memories_dir": given.memories_dir, "sessions_dir": given.sessions_dir}


def _generate(given: SandboxGenerateInput | None) -> dict[str, object] | bool | None:
    if given is None or given is strawberry.UNSET:
        return None if given is None else True
    asked = {
        "max_raw_memories_for_consolidation": given.max_raw_memories_for_consolidation,
        "phase_one_model": given.phase_one_model,
        "phase_two_model": given.phase_two_model,
        "extra_prompt": given.extra_prompt,
    }
    return given_of(asked)
