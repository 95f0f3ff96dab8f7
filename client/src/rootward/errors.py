"""What can go wrong, as one tree.

RootwardError
├── SandboxClosedError      also a RuntimeError
├── SandboxBusy             another process has this sandbox open
├── InvalidConversationId   also a ValueError
├── InvalidSegment          also a ValueError
│   └── SegmentTooLarge
├── InvalidLayout           also a ValueError
├── MemoryLayoutClash       also a ValueError
├── MissingCapability       also a ValueError
├── PathRefused             also a ValueError
├── NotThroughService       also a ValueError: a local sandbox can do it, one in a service cannot
├── ModelError
│   ├── ModelUnavailable
│   └── InvalidAnswer
├── ToolError               told to the model, which may try otherwise
│   └── NoShell             a sandbox in a service runs no commands
├── MaxTurnsExceeded
├── GuardrailTripped        raised by a model or a tool of yours to stop a run
└── ServiceError            what a service refuses: rootward.service.failures has the tree

Each has a stable `code`. Messages tell what to do and quote nothing of what was said or stored.
"""

from __future__ import annotations


class RootwardError(Exception):
    """Anything that this library raises by itself."""

    code: str = "error"


class SandboxClosedError(RootwardError, RuntimeError):
    """The sandbox session is closed; resume it, or start one from a snapshot."""

    code = "session_closed"


class SandboxBusy(RootwardError, RuntimeError):
    """The sandbox session is open elsewhere, in this process or in another."""

    code = "session_busy"


class InvalidConversationId(RootwardError, ValueError):
    """A conversation id that cannot name a file. Source: SB-59."""

    code = "invalid_conversation_id"

    def __init__(self, field: str = "conversation_id") -> None:
        """`field` is the name of the argument that is wrong."""
        super().__init__(
            f"{field} must begin with a letter or a digit and go on with at most 127 letters, digits, '.', '_' or '-'"
        )
        self.field = field


class InvalidSegment(RootwardError, ValueError):
    """A segment of a run that cannot be written."""

    code = "invalid_segment"


class SegmentTooLarge(InvalidSegment):
    """A segment longer than the limit. Source: SB-110."""

    code = "payload_too_large"

    def __init__(self, *, size: int, limit: int) -> None:
        """Both in bytes."""
        super().__init__(f"the segment has {size} bytes; the limit is {limit}")
        self.limit = limit


class InvalidLayout(RootwardError, ValueError):
    """Directories that cannot hold memory. Source: SB-23, SB-27."""

    code = "invalid_layout"

    def __init__(self, field: str, problem: str) -> None:
        """`field` is ``memories_dir`` or ``sessions_dir``."""
        super().__init__(f"{field} {problem}")
        self.field = field


class MemoryLayoutClash(RootwardError, ValueError):
    """Two layouts, or two configurations of one layout, that cannot live in one session. Source: SB-96."""

    code = "memory_layout"


class MissingCapability(RootwardError, ValueError):
    """An agent that remembers lacks what it needs for it. Source: SB-10."""

    code = "missing_capability"


class PathRefused(RootwardError, ValueError):
    """A path that leaves its directory, or names no plain file. Source: SB-25."""

    code = "path_refused"


class NotThroughService(RootwardError, ValueError):
    """Something that a sandbox on a local directory can do, and one in a service cannot. Source: SB-119."""

    code = "not_through_service"


class ModelError(RootwardError):
    """A model gave nothing that can be used."""

    code = "model_failed"


class ModelUnavailable(ModelError):
    """No model of this name, or no answer from it. Source: SB-120."""

    code = "model_unavailable"


class InvalidAnswer(ModelError):
    """An answer that is not of the form that was asked for."""

    code = "invalid_answer"


class ToolError(RootwardError):
    """A tool could not do what was asked; the message goes to the model."""

    code = "tool_failed"


class NoShell(ToolError):
    """The sandbox is in a service, where no command is run. Source: SB-119."""

    code = "no_shell"


class MaxTurnsExceeded(RootwardError):
    """The model still called tools when its turns were used up."""

    code = "max_turns_exceeded"


class GuardrailTripped(RootwardError):
    """A check of yours stopped the run; raise it in a model or a tool."""

    code = "guardrail_tripped"
