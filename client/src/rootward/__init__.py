"""Rootward for Python: agents in a sandbox, on a local directory or in a service, that learn from run to run.

>>> from rootward import SandboxAgent, filesystem, memory, shell
>>> agent = SandboxAgent(name="reviewer", capabilities=[filesystem(), shell(), memory()])
"""

from typing import TYPE_CHECKING

from rootward.errors import (
    GuardrailTripped,
    InvalidAnswer,
    InvalidConversationId,
    InvalidLayout,
    InvalidSegment,
    MaxTurnsExceeded,
    MemoryLayoutClash,
    MissingCapability,
    ModelError,
    ModelUnavailable,
    NoShell,
    NotThroughService,
    PathRefused,
    RootwardError,
    SandboxBusy,
    SandboxClosedError,
    SegmentTooLarge,
    ToolError,
)
from rootward.models import Endpoint, Item, Model, ModelRequest, ModelResponse, Tool
from rootward.sandbox.agent import SandboxAgent
from rootward.sandbox.capabilities import filesystem, shell
from rootward.sandbox.conversation import MemorySession, Session
from rootward.sandbox.engine import Recorded
from rootward.sandbox.identity import ConversationRef
from rootward.sandbox.layout import MemoryLayoutConfig
from rootward.sandbox.local import LocalSandboxSession, Snapshot, UnixLocalSandboxClient
from rootward.sandbox.manifest import Manifest
from rootward.sandbox.memory import Memory, MemoryGenerateConfig, MemoryLimits, MemoryReadConfig, memory
from rootward.sandbox.report import MemoryReport
from rootward.sandbox.running import RunResult, RunState, run
from rootward.sandbox.segments import Segment, TerminalMetadata, TerminalState
from rootward.sandbox.session import CommandResult, SandboxSession

if TYPE_CHECKING:
    from rootward.remote import ServiceSandboxClient, ServiceSandboxSession

__all__ = [
    "CommandResult",
    "ConversationRef",
    "Endpoint",
    "GuardrailTripped",
    "InvalidAnswer",
    "InvalidConversationId",
    "InvalidLayout",
    "InvalidSegment",
    "Item",
    "LocalSandboxSession",
    "Manifest",
    "MaxTurnsExceeded",
    "Memory",
    "MemoryGenerateConfig",
    "MemoryLayoutClash",
    "MemoryLayoutConfig",
    "MemoryLimits",
    "MemoryReadConfig",
    "MemoryReport",
    "MemorySession",
    "MissingCapability",
    "Model",
    "ModelError",
    "ModelRequest",
    "ModelResponse",
    "ModelUnavailable",
    "NoShell",
    "NotThroughService",
    "PathRefused",
    "Recorded",
    "RootwardError",
    "RunResult",
    "RunState",
    "SandboxAgent",
    "SandboxBusy",
    "SandboxClosedError",
    "SandboxSession",
    "Segment",
    "SegmentTooLarge",
    "ServiceSandboxClient",
    "ServiceSandboxSession",
    "Session",
    "Snapshot",
    "TerminalMetadata",
    "TerminalState",
    "Tool",
    "ToolError",
    "UnixLocalSandboxClient",
    "filesystem",
    "memory",
    "run",
    "shell",
]


def __getattr__(name: str) -> object:
    """Return what speaks HTTP only when it is asked for: sandboxes on a local directory need no HTTP client."""
    if name not in ("ServiceSandboxClient", "ServiceSandboxSession"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rootward import remote

    return getattr(remote, name)
