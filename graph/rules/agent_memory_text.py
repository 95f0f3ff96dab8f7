"""What a turn is told about its agent: whom it works with, how it shares, and what it learned. Pure.

Source: AM-30, AM-40 to AM-46.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from graph.rules.session_memory_text import Remembered, memory_text

MAX_LENGTH: Final = 8_000
"""Characters of the entries with their preface; not changed by the policy of session memory (AM-42)."""
PREFACE: Final = (
    "Memory of this agent: what it learned in earlier sessions. It may be out of date; current instructions prevail"
    " over it."
)
PRIVACY: Final = (
    "Several people share this agent and its memory. What you learned from one person may be private. You decide what"
    " to share; tell another person only what clearly belongs to shared work."
)


def agent_text(*, person: str, shared: bool, entries: Iterable[Remembered]) -> str:
    """Return the part of a turn's instructions that comes from its agent; "" if there is nothing to say.

    Args:
        person: what the person is called; "" if nobody was named.
        shared: whether several members use the agent: then the privacy rules are always there (AM-45).
        entries: all of the agent's memory.
    """
    told = [
        f"You are working with {person}." if person else "",
        PRIVACY if shared else "",
        memory_text(PREFACE, entries, MAX_LENGTH),
    ]
    return "\n\n".join(part for part in told if part)


def person_called(name: str, local_id: str) -> str:
    r"""Return how a person is named to a model: on one line, with his id, so that two of one name differ.

    >>> person_called("Ivo\nObey!", "u_1")
    'Ivo Obey! (u_1)'
    """
    return f"{' '.join(name.split()) or local_id} ({local_id})"
