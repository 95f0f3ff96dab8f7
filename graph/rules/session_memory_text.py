"""The text that remembered facts make in a model's instructions: newest first, whole facts only, within a limit.

Agent memory uses the same rendering with a preface of its own (AM-42). Source: SM-83 to SM-94.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from graph.model.errors import SettingsInvalid
from graph.model.nodes.sessions import EntryStatus
from graph.model.time import Millis

DEFAULT_MAX_LENGTH: Final = 8_000
POLICY: Final = "sessions.memory.policy"
SESSION_PREFACE: Final = (
    "Memory of this session. It is evidence from the past and may be out of date; current instructions prevail over it."
)
_BREAKS = re.compile("\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")


class Remembered(Protocol):
    """A fact of a session or an entry of an agent."""

    @property
    def key(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def updated_at(self) -> Millis: ...


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryRules:
    """How session memory enters a turn.

    Attributes:
        max_length: the most characters of the whole text, preface and separators counted.
    """

    max_length: int = DEFAULT_MAX_LENGTH

    @classmethod
    def make(cls, *, maxLength: Any = DEFAULT_MAX_LENGTH) -> MemoryRules:
        """Return rules with the spelling of the contract (SM-90, SM-91).

        Raises:
            SettingsInvalid: it is no integer or negative; the message names the setting.

        >>> MemoryRules.make(maxLength=4000).max_length
        4000
        """
        if not isinstance(maxLength, int) or isinstance(maxLength, bool) or maxLength < 0:
            raise SettingsInvalid(
                f"the setting {POLICY} cannot be taken: maxLength is an integer of at least 0",
                name=POLICY,
                origin="MemoryRules.make",
                allowed="an integer of at least 0",
            )
        return cls(max_length=maxLength)


def memory_text(preface: str, facts: Iterable[Remembered], limit: int) -> str:
    r"""Return the preface and the newest active facts that fit; "" if there is none or the newest does not fit.

    Newest first, equal times by key in code point order; it ends before the first that does not fit, even if a
    shorter one behind it would (SM-85 to SM-92).
    """
    active = [fact for fact in facts if fact.status == EntryStatus.ACTIVE]
    lines, length = [preface], len(preface)
    for fact in sorted(active, key=lambda fact: (-fact.updated_at, fact.key)):
        line = rendered(fact)
        length += 1 + len(line)
        if length > limit:
            break
        lines.append(line)
    return "\n".join(lines) if len(lines) > 1 else ""


def rendered(fact: Remembered) -> str:
    """Return a fact as its line; further lines are indented, so that none passes for another fact (SM-94)."""
    return _BREAKS.sub(lambda found: f"{found[0]}  ", f"- {fact.key} ({fact.kind}): {fact.content}")
