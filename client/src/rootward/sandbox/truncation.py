"""Shortening a text from its middle. Source: SB-31, SB-65, SB-66."""

from __future__ import annotations

BYTES_PER_TOKEN = 4
"""The estimate by which limits of tokens become limits of UTF-8 bytes."""


def keep_ends(text: str, limit_tokens: int) -> str:
    """Return a text of at most ``4 × limit_tokens`` UTF-8 bytes, the same from both ends, a marker between.

    A text within the limit comes back unchanged. Characters are never cut; the marker counts towards the limit and
    names how many characters it stands for.

    >>> short = keep_ends("HEAD" + "-" * 400 + "TAIL", 20)
    >>> len(short.encode()), short[:4], short[-4:]
    (80, 'HEAD', 'TAIL')
    """
    data, limit = text.encode(), limit_tokens * BYTES_PER_TOKEN
    if len(data) <= limit:
        return text
    room = max(0, limit - len(_marker(len(text))))
    head = data[: room - room // 2].decode(errors="ignore")
    tail = data[len(data) - room // 2 :].decode(errors="ignore")
    marker = _marker(len(text) - len(head) - len(tail))
    return f"{head}{marker}{tail}" if room else marker[:limit]


def _marker(characters: int) -> str:
    return f"\n[... {characters} characters left out ...]\n"
