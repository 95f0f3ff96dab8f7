"""What a runtime says of an agent's memory, as the capability of the library. Source: SB-106 to SB-108."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from dreaming.sandbox.rules import SandboxRules
from graph.rules.memory_refusals import invalid
from rootward.sandbox.layout import MemoryLayoutConfig
from rootward.sandbox.memory import Memory, MemoryGenerateConfig, MemoryReadConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryOptions:
    """Options by the snake_case names of the contract.

    Attributes:
        read, generate: False or None is off, True the defaults; else members that differ from them.
        layout: members that differ from the defaults.
    """

    read: Mapping[str, bool] | bool | None = True
    generate: Mapping[str, object] | bool | None = True
    layout: Mapping[str, str] | None = None


def memory_of(options: MemoryOptions, rules: SandboxRules) -> Memory:
    """Return the capability; both off is one that does nothing.

    Raises:
        InvalidLayout: see `refusals.refusing`.
        WorkspaceRefused: ``invalid_argument`` at `read` or `generate`.
    """
    return Memory(read=_read(options.read), generate=_generate(options.generate, rules), layout=_layout(options.layout))


def _read(given: Mapping[str, bool] | bool | None) -> MemoryReadConfig | None:
    if given is None or given is False:
        return None
    try:
        return MemoryReadConfig(**({} if given is True else given))
    except (TypeError, ValueError):
        raise invalid("read", "does not fit") from None


def _generate(given: Mapping[str, object] | bool | None, rules: SandboxRules) -> MemoryGenerateConfig | None:
    if given is None or given is False:
        return None
    members: dict[str, object] = {**asdict(rules.generate), **({} if given is True else given)}
    try:
        return MemoryGenerateConfig(**members)  # type: ignore[arg-type]  # it looks at each by itself
    except (TypeError, ValueError):
        raise invalid("generate", "does not fit") from None


def _layout(given: Mapping[str, str] | None) -> MemoryLayoutConfig:
    """Return the layout in the form in which paths are stored (FM-58)."""
    return MemoryLayoutConfig(**{name: unicodedata.normalize("NFC", text) for name, text in (given or {}).items()})
