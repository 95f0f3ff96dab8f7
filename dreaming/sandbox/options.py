"""What a runtime says of an agent's memory, as the capability of the library. Source: SB-106 to SB-108."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

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


@dataclass(frozen=True, kw_only=True, eq=False)
class AskedGenerate(MemoryGenerateConfig):
    """What a runtime asks for, completed by the settings of the moment when a layout was reserved.

    It equals another that asks for the same, whatever the settings are by then: a change of settings must not refuse
    the runs of sessions that are open (SB-96, SB-107).

    Attributes:
        given: the members that the runtime named.
    """

    given: Mapping[str, object] = field(default_factory=dict)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, AskedGenerate) and self.given == other.given:
            return True
        return isinstance(other, MemoryGenerateConfig) and _members(self) == _members(other)

    __hash__ = None  # type: ignore[assignment]  # it is compared and never looked up


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
    named: dict[str, object] = {} if given is True else dict(given)
    members = {**_members(rules.generate), **named}
    try:
        return AskedGenerate(**members, given=named)  # type: ignore[arg-type]  # it looks at each by itself
    except (TypeError, ValueError):
        raise invalid("generate", "does not fit") from None


def _members(generate: MemoryGenerateConfig) -> dict[str, object]:
    return {one.name: getattr(generate, one.name) for one in fields(MemoryGenerateConfig)}


def _layout(given: Mapping[str, str] | None) -> MemoryLayoutConfig:
    """Return the layout in the form in which paths are stored (FM-58)."""
    return MemoryLayoutConfig(**{name: unicodedata.normalize("NFC", text) for name, text in (given or {}).items()})
