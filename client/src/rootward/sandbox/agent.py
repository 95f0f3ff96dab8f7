"""An agent that works in a sandbox. Source: section 1 of the contract, SB-1, SB-10."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from rootward.errors import MissingCapability
from rootward.models import ModelRef
from rootward.sandbox.capabilities import Capability, Filesystem, Shell
from rootward.sandbox.manifest import Manifest
from rootward.sandbox.memory import Memory

DEFAULT_MODEL = "gpt-5.4"
_One = TypeVar("_One", Shell, Filesystem, Memory)


@dataclass(frozen=True, kw_only=True)
class SandboxAgent:
    """An agent: a model, what it is told, and what it may do.

    Attributes:
        name: for people; memory never depends on it (SB-92).
        model: a model, or a name that the sandbox client knows.
        default_manifest: files of a new workspace that was created without a manifest.
        capabilities: at most one of each kind.
    """

    name: str
    model: ModelRef = DEFAULT_MODEL
    instructions: str = ""
    default_manifest: Manifest | None = None
    capabilities: Sequence[Capability] = ()

    def __post_init__(self) -> None:
        kinds = [type(capability) for capability in self.capabilities]
        if not set(kinds) <= {Shell, Filesystem, Memory}:
            raise TypeError("capabilities are made by shell(), filesystem() and memory()")
        if len(set(kinds)) < len(kinds):
            raise ValueError("an agent has each capability at most once")

    @property
    def shell(self) -> Shell | None:
        """The capability to run commands, if any."""
        return self._capability(Shell)

    @property
    def filesystem(self) -> Filesystem | None:
        """The capability to change files, if any."""
        return self._capability(Filesystem)

    @property
    def memory(self) -> Memory | None:
        """The capability to remember, if any."""
        return self._capability(Memory)

    def check(self) -> None:
        """Do nothing if the agent has what its memory needs.

        Raises:
            MissingCapability: names what is missing.
        """
        has = {"shell": self.shell, "filesystem": self.filesystem}
        missing = [f"{name}()" for name in (self.memory.requires if self.memory else ()) if has[name] is None]
        if missing:
            raise MissingCapability(f"memory() that reads needs {' and '.join(missing)} in capabilities too")

    def _capability(self, kind: type[_One]) -> _One | None:
        return next((one for one in self.capabilities if isinstance(one, kind)), None)
