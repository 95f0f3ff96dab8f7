"""The settings of knowledge, with defaults and ranges, in one table. Source: KN-119."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

import regex

from graph.model.errors import BadInput
from graph.text.words import SNOWBALL

TRANSIENT_PATTERNS: tuple[str, ...] = (
    r"\b\d{1,3}\s?%\s*(?:done|complete|completed|finished)\b",
    r"\b\d+\s?(?:of|/)\s?\d+\b.{0,30}\b(?:done|complete|completed|finished|processed)\b",
    r"\b(?:done|completed|finished|processed)\s+\d+\s?(?:of|/)\s?\d+\b",
    r"\b(?:still|currently)\s+(?:running|working on|in progress|building|waiting)\b",
    r"\b(?:in progress|work in progress|half done|almost done)\b",
    r"\bTraceback \(most recent call last\)",
    r"^[^\S\n]*at [\w.$<>]+\([\w.]+:\d+\)",
    r"\b(?:exception|error)\b.{0,40}\bat line \d+",
    r"\b(?:HTTP|error|exit|status)\s*(?:code)?\s*[:#]?\s*(?:[1-9]\d{2}|E[A-Z]{3,})\b",
    r"\b(?:failed|crashed|aborted|died)\b.{0,40}\b(?:error|exit|status|code)\b\W{0,3}(?:code\W{0,3})?[a-z]{0,4}[-_]?\d",
    r"\b(?:error|code)\s*[:#]?\s*0x[0-9a-f]{4,}\b",
    r"\bERR_[A-Z_]{3,}\b",
    r"(?:进度|完成了?)\s*\d{1,3}\s*%",
    r"(?:正在|还在)(?:运行|处理|构建|等待|进行)",
)
"""Progress reports, stack traces and single error codes (DR-50)."""

CURRENT_VALUE_PATTERNS: tuple[str, ...] = (
    r"\b(?:price|stock(?: level)?|balance|quote)\b.{0,40}\b(?:is|are|at|:)\s*(?:now\s*)?[$€£¥]?\s?\d",
    r"\bcosts?\s+(?:now\s+)?(?:[$€£¥]\s?\d|\d[\d.,]*\s?(?:[$€£¥]|(?:EUR|USD|GBP|CNY|dollars?|euros?|yuan)\b))",
    r"\b\d(?:[\d.,]{0,15}\d)?+(?!\w).{0,20}\bin stock\b",
    r"(?:价格|库存|余额)(?:现在|目前)?(?:是|为|：|:)?\s*[$€£¥]?\s?\d++(?!\s?年)",
)
"""A current price, stock level or balance: allowed with a validity and the name of its authority (DR-50)."""

FIRST_PERSON: tuple[str, ...] = ("I", "me", "my", "we", "us", "our", "我", "我们", "本人")


@dataclass(frozen=True, slots=True)
class SettingSpec:
    """One setting: its default and what values it takes.

    Attributes:
        low, high: inclusive bounds of a number; None is open.
        above: if true, `low` itself is not allowed.
        choices: the allowed words; None for any.
        per_agent: true if an agent may have a value of its own.
    """

    default: Any
    type: type
    low: float | None = None
    high: float | None = None
    above: bool = False
    choices: tuple[str, ...] | None = None
    per_agent: bool = False
    nullable: bool = False
    unit: str = ""


class SettingType(StrEnum):
    """What a setting takes, for who draws a form."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    TEXTS = "texts"

    @classmethod
    def of(cls, spec: SettingSpec) -> SettingType:
        """Return the type of a setting."""
        kinds = {bool: cls.BOOLEAN, int: cls.INTEGER, float: cls.NUMBER, str: cls.TEXT, tuple: cls.TEXTS}
        return kinds[spec.type]


def _dream(
    default: Any, type_: type, low: float | None = None, high: float | None = None, unit: str = ""
) -> SettingSpec:
    return SettingSpec(default, type_, low, high, per_agent=True, unit=unit)


SPECS: Mapping[str, SettingSpec] = MappingProxyType(
    {
        "dream.enabled": _dream(True, bool),
        "dream.model_profile": _dream("light", str),
        "dream.model_timeout_seconds": _dream(300, int, 10, 1_800, "s"),
        "dream.output_retries": _dream(1, int, 0, 3),
        "dream.daily_calls": _dream(1_000, int, 0, 1_000_000, "calls of a model a day and kind of work"),
        "dream.daily_tokens": _dream(20_000_000, int, 0, 10_000_000_000, "tokens a day and kind of work"),
        "dream.max_operations": _dream(200, int, 1, 10_000, "operations"),
        "dream.transient_patterns": _dream(TRANSIENT_PATTERNS, tuple),
        "dream.first_person": _dream(FIRST_PERSON, tuple),
        "stage_a.quiet_seconds": SettingSpec(1_800, int, 60, unit="s"),
        "stage_a.batch_messages": SettingSpec(40, int, 1, unit="messages"),
        "stage_a.max_messages": SettingSpec(200, int, 1, unit="messages"),
        "stage_a.max_tokens": SettingSpec(24_000, int, 1, unit="tokens"),
        "stage_a.open_max_hours": SettingSpec(24, float, 0, unit="h"),
        "stage_b.min_items": SettingSpec(20, int, 1, unit="items"),
        "stage_b.max_wait_hours": SettingSpec(6, float, 0, unit="h"),
        "stage_b.min_interval_minutes": SettingSpec(60, float, 0, unit="min"),
        "stage_b.max_items": SettingSpec(60, int, 1, unit="items"),
        "stage_b.max_tokens": SettingSpec(48_000, int, 1, unit="tokens"),
        "survival.window_days": SettingSpec(14, float, 1, unit="days"),
        "survival.lookback_days": SettingSpec(90, float, 1, unit="days"),
        "memo.kb_token_budget": SettingSpec(200, int, 1, unit="tokens"),
        "skills.overlay_token_budget": SettingSpec(1_500, int, 1, unit="tokens"),
        "skills.min_steps": SettingSpec(3, int, 1, unit="steps"),
        "embedding.provider": SettingSpec(None, str, nullable=True),
        "embedding.model": SettingSpec(None, str, nullable=True),
        "embedding.dimensions": SettingSpec(None, int, 1, 16_384, nullable=True, unit="numbers"),
        "embedding.batch_size": SettingSpec(64, int, 1, 4_096, unit="texts"),
        "rerank.provider": SettingSpec("graph", str),
        "search.match_limit": SettingSpec(1_000, int, 1, 10_000, unit="matches"),
        "search.route_depth": SettingSpec(50, int, 1, 500, unit="hits"),
        "search.rrf_k": SettingSpec(10, int, 1),
        "search.message_vectors": SettingSpec(True, bool),
        "search.default_language": SettingSpec("en", str, choices=tuple(SNOWBALL)),
        "search.min_cosine": SettingSpec(0.25, float, -1, 1),
        "search.message_half_life_days": SettingSpec(1_825, float, 0, above=True, unit="days"),
        "search.entry_half_life_days": SettingSpec(3_650, float, 0, above=True, unit="days"),
        "search.entry_decay_floor": SettingSpec(0.7, float, 0, 1),
        "search.rerank_depth": SettingSpec(30, int, 1, unit="candidates"),
        "search.rerank_timeout_ms": SettingSpec(2_000, int, 1, unit="ms"),
        "search.route_timeout_ms": SettingSpec(2_000, int, 1, unit="ms"),
        "search.neighbours": SettingSpec(3, int, 0, 20, unit="messages"),
        "search.total_tokens": SettingSpec(4_000, int, 200, 32_000, unit="tokens"),
        "search.item_tokens": SettingSpec(1_500, int, 1, unit="tokens"),
        "search.max_items": SettingSpec(12, int, 1, unit="items"),
        "browse.page_tokens": SettingSpec(4_000, int, 1, unit="tokens"),
        "materials.max_bytes": SettingSpec(52_428_800, int, 1, unit="bytes"),
        "conversation.idle_hours": SettingSpec(24, float, 0, above=True, unit="h"),
        "jobs.stuck_minutes": SettingSpec(30, float, 0, above=True, unit="min"),
        "connector.sync_minutes": SettingSpec(15, float, 0, above=True, unit="min"),
        "lint.similarity": SettingSpec(0.85, float, 0, 1),
        "lint.long_tokens": SettingSpec(3_000, int, 1, unit="tokens"),
        "lint.long_blocks": SettingSpec(40, int, 1, unit="blocks"),
    }
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings in force for a workspace, or for one agent of it."""

    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        """Return the value of a setting that is in the table."""
        return self.values[name]


def defaults() -> Settings:
    """Return every setting at its default.

    >>> defaults()["search.rrf_k"]
    10
    """
    return Settings({name: spec.default for name, spec in SPECS.items()})


def with_values(*layers: Mapping[str, Any]) -> Settings:
    """Return the defaults overlaid by stored values, later layers last; unknown names are left out."""
    values = {name: spec.default for name, spec in SPECS.items()}
    for layer in layers:
        values |= {name: _stored(name, value) for name, value in layer.items() if name in SPECS}
    return Settings(values)


_MOST: Final = 10**10
"""No number is larger: so many days are still a time in milliseconds that every store can hold."""


def checked(name: str, value: Any) -> Any:
    """Return `value` in the form a setting keeps it.

    Raises:
        BadInput: unknown name, wrong type or out of range; says what is allowed.
    """
    spec = SPECS.get(name)
    if spec is None:
        raise BadInput("there is no setting of this name", field="name")
    if value is None and spec.nullable:
        return None
    converted = _converted(spec, value)
    if converted is None or not _in_range(spec, converted):
        raise BadInput(f"{name} takes {allowed(spec)}", field="value", setting=name)
    return converted


def allowed(spec: SettingSpec) -> str:
    """Return in words which values a setting takes.

    >>> allowed(SPECS["search.min_cosine"])
    'a number from -1 to 1'
    """
    if spec.type is bool:
        return "true or false"
    if spec.type is tuple:
        return "a list of texts (regular expressions where it holds patterns)"
    if spec.type is str:
        return f"one of {', '.join(spec.choices)}" if spec.choices else "a text"
    low = "" if spec.low is None else f" {'above' if spec.above else 'from'} {spec.low:g}"
    high = "" if spec.high is None else f" to {spec.high:g}"
    return f"{'a whole number' if spec.type is int else 'a number'}{low}{high}"


def _stored(name: str, value: Any) -> Any:
    return tuple(value) if SPECS[name].type is tuple and isinstance(value, list) else value


def _converted(spec: SettingSpec, value: Any) -> Any:
    if spec.type is tuple:
        return _texts(value)
    if isinstance(value, int | float) and not abs(value) <= _MOST:  # so written, it refuses what is not a number, too
        return None
    if spec.type is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    fits = isinstance(value, spec.type) and (spec.type is bool or not isinstance(value, bool))
    return value if fits else None


def _texts(value: Any) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple) or not all(isinstance(v, str) and 0 < len(v) <= 500 for v in value):
        return None
    try:
        for pattern in value:
            regex.compile(pattern)
    except regex.error:
        return None
    return tuple(value)


def _in_range(spec: SettingSpec, value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= 200 and (spec.choices is None or value in spec.choices)
    if isinstance(value, bool | tuple):
        return True
    above_low = spec.low is None or (value > spec.low if spec.above else value >= spec.low)
    return bool(above_low and (spec.high is None or value <= spec.high))
