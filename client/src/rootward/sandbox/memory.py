"""The capability `memory()` and its configuration. Source: SB-1 to SB-16."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TypeAlias, TypeVar

from rootward.models import ModelRef
from rootward.sandbox.layout import MemoryLayoutConfig

MAX_RAW_MEMORIES = 4096


@dataclass(frozen=True, kw_only=True)
class MemoryReadConfig:
    """How an agent reads memory.

    Attributes:
        live_update: the agent corrects the index in the run in which it finds it outdated; without, it only reads.
    """

    live_update: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.live_update, bool):
            raise ValueError("live_update must be True or False")


@dataclass(frozen=True, kw_only=True)
class MemoryGenerateConfig:
    """How memory is made when a sandbox session closes.

    Attributes:
        max_raw_memories_for_consolidation: 1 to 4096; older conversations are forgotten beyond it.
        phase_one_model: extracts each conversation; a model or the name of one.
        phase_two_model: consolidates all of a layout.
        extra_prompt: what the generator should value most.
    """

    max_raw_memories_for_consolidation: int = 256
    phase_one_model: ModelRef = "gpt-5.4-mini"
    phase_two_model: ModelRef = "gpt-5.4"
    extra_prompt: str | None = None

    def __post_init__(self) -> None:
        _check_most(self.max_raw_memories_for_consolidation)
        if self.extra_prompt is not None and not isinstance(self.extra_prompt, str):
            raise ValueError("extra_prompt must be a text or None")
        for field in ("phase_one_model", "phase_two_model"):
            _check_model(field, getattr(self, field))

    @property
    def extra(self) -> str:
        """The extra prompt, trimmed; empty without one."""
        return (self.extra_prompt or "").strip()


@dataclass(frozen=True, kw_only=True)
class MemoryLimits:
    """Bounds of reading and generating. Source: SB-121.

    Attributes:
        phase_one_token_limit: tokens of a conversation that phase 1 reads, at 4 bytes each.
        summary_token_limit: tokens of the summary that a run is given.
        phase_two_max_turns: answers of the consolidating model.
        max_segment_bytes: bytes of one recorded run.
        phase_seconds: how long one extraction, and one consolidation, may take.
    """

    phase_one_token_limit: int = 150_000
    summary_token_limit: int = 15_000
    phase_two_max_turns: int = 500
    max_segment_bytes: int = 8_388_608
    phase_seconds: float = 600

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) <= 0:
                raise ValueError(f"{field.name} must be above 0")


@dataclass(frozen=True, kw_only=True)
class Memory:
    """The capability, as `memory()` makes it: None means off."""

    read: MemoryReadConfig | None
    generate: MemoryGenerateConfig | None
    layout: MemoryLayoutConfig

    @property
    def requires(self) -> tuple[str, ...]:
        """The capabilities that the agent must have beside this one. Source: SB-7 to SB-9."""
        if self.read is None:
            return ()
        return ("filesystem", "shell") if self.read.live_update else ("shell",)


ReadOption: TypeAlias = MemoryReadConfig | Mapping[str, object] | bool | None
GenerateOption: TypeAlias = MemoryGenerateConfig | Mapping[str, object] | bool | None
LayoutOption: TypeAlias = MemoryLayoutConfig | Mapping[str, object] | None


def memory(*, read: ReadOption = True, generate: GenerateOption = True, layout: LayoutOption = None) -> Memory:
    """Return the capability to learn from earlier runs; without arguments it reads and generates.

    Args:
        read: True, False, None (off), a `MemoryReadConfig` or a mapping of its fields.
        generate: True, False, None (off), a `MemoryGenerateConfig` or a mapping of its fields.
        layout: where memory lies; None for the default directories.

    Raises:
        ValueError: both are off, or a value is out of its range.
        TypeError: an option or a field does not exist, or is of another kind.

    >>> memory(read={"live_update": False}, generate=False).requires
    ('shell',)
    """
    made = Memory(
        read=_option(MemoryReadConfig, "read", read),
        generate=_option(MemoryGenerateConfig, "generate", generate),
        layout=_option(MemoryLayoutConfig, "layout", True if layout is None else layout) or MemoryLayoutConfig(),
    )
    if made.read is None and made.generate is None:
        raise ValueError("memory() with neither read nor generate does nothing; leave it out")
    return made


_Config = TypeVar("_Config", MemoryReadConfig, MemoryGenerateConfig, MemoryLayoutConfig)


def _option(config: type[_Config], name: str, value: object) -> _Config | None:
    if value is None or value is False:
        return None
    if value is True:
        return config()
    if isinstance(value, config):
        return value
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} must be a {config.__name__}, a mapping of its fields, True, False or None")
    return _from_mapping(config, name, value)


def _from_mapping(config: type[_Config], name: str, value: Mapping[str, object]) -> _Config:
    known = [field.name for field in fields(config)]
    unknown = [key for key in value if key not in known]
    if unknown:
        raise TypeError(f"{name} has no field {unknown[0]!r}; its fields are {', '.join(known)}")
    make: Callable[..., _Config] = config
    return make(**value)


def _check_most(most: object) -> None:
    if isinstance(most, bool) or not isinstance(most, int) or not 1 <= most <= MAX_RAW_MEMORIES:
        raise ValueError(f"max_raw_memories_for_consolidation must be an integer from 1 to {MAX_RAW_MEMORIES}")


def _check_model(field: str, ref: object) -> None:
    named = isinstance(ref, str) and bool(ref.strip())
    if not named and not callable(getattr(ref, "generate", None)):
        raise ValueError(f"{field} must be the name of a model or an object with async generate(request)")
