"""The two files that phase 1 writes for a conversation: its raw memory and its summary. Source: SB-69 to SB-75."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from rootward.errors import InvalidAnswer
from rootward.models import ModelResponse
from rootward.sandbox.identity import is_rollout_id
from rootward.sandbox.segments import terminal_state_of, updated_at_of
from rootward.sandbox.selection import Kept

_MEMBERS = ("rollout_summary", "rollout_slug", "raw_memory")
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
_FENCE = re.compile(r"```(?:json)?\s*\n(.*)\n\s*```", re.DOTALL)
_SUMMARIES = "rollout_summaries"

ANSWER_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {member: {"type": "string"} for member in _MEMBERS},
    "required": list(_MEMBERS),
    "additionalProperties": False,
}
"""What phase 1 asks a model for."""


@dataclass(frozen=True, kw_only=True)
class Artifacts:
    """What a model found worth keeping of one conversation."""

    rollout_summary: str
    rollout_slug: str
    raw_memory: str


def read_answer(response: ModelResponse) -> Artifacts | None:
    """Return what the model answered; None if it found nothing worth keeping.

    Raises:
        InvalidAnswer: the answer is not the object that was asked for, or only some of it is blank.
    """
    value = _loaded(response.text or "")
    if not isinstance(value, dict) or set(value) != set(_MEMBERS):
        raise InvalidAnswer(f"the answer must be an object with exactly {', '.join(_MEMBERS)}")
    if not all(isinstance(member, str) for member in value.values()):
        raise InvalidAnswer("every member of the answer must be a text")
    blank = [not member.strip() for member in value.values()]
    if all(blank):
        return None
    if any(blank):
        raise InvalidAnswer("only some members of the answer are blank")
    return Artifacts(**{**value, "rollout_slug": _slug(value["rollout_slug"])})


def summary_file(rollout_id: str, slug: str) -> str:
    """Return the path of a summary, relative to the memories directory."""
    return f"{_SUMMARIES}/{rollout_id}_{slug}.md"


def write_raw_memory(kept: Kept, raw_memory: str) -> bytes:
    """Return the file of a raw memory."""
    head = [f"{name}: {getattr(kept, name)}" for name in _HEAD]
    return _file(head, raw_memory)


def write_summary(kept: Kept, rollout_summary: str, *, session_id: str) -> bytes:
    """Return the file of a summary."""
    head = [
        f"session_id: {session_id}",
        f"updated_at: {kept.updated_at}",
        f"rollout_path: {kept.rollout_path}",
        f"terminal_state: {kept.terminal_state}",
    ]
    return _file(head, rollout_summary)


def read_raw_memory(rollout_id: str, text: str) -> Kept:
    """Return what the head of a raw memory says; what it does not say, or says of another, is ``unknown``."""
    head = read_head(text)
    own = head.get("rollout_summary_file", "")
    return Kept(
        rollout_id=rollout_id,
        updated_at=updated_at_of(head),
        rollout_path=head.get("rollout_path", "unknown"),
        rollout_summary_file=own if is_summary_of(rollout_id, own) else "unknown",
        terminal_state=terminal_state_of({"terminal_metadata": head}),
    )


def read_head(text: str) -> dict[str, str]:
    """Return the ``name: value`` lines before the first empty line."""
    head = text.split("\n\n", 1)[0].split("\n")
    return {name: value.strip() for name, colon, value in (line.partition(":") for line in head) if colon}


def is_summary_of(rollout_id: str, path: str) -> bool:
    """Tell whether a path, relative to the memories directory, can be a summary of this conversation."""
    folder, _, name = path.partition("/")
    slug = name.removeprefix(f"{rollout_id}_").removesuffix(".md")
    return folder == _SUMMARIES and path == summary_file(rollout_id, slug) and _SLUG.fullmatch(slug) is not None


def rollout_id_of(raw_memory_path: str) -> str | None:
    """Return whose raw memory lies at a path; None if it is none."""
    name = raw_memory_path.rpartition("/")[2]
    stem = name.removesuffix(".md")
    return stem if name.endswith(".md") and is_rollout_id(stem) else None


_HEAD = ("rollout_id", "updated_at", "rollout_path", "rollout_summary_file", "terminal_state")


def _loaded(text: str) -> object:
    fenced = _FENCE.fullmatch(text.strip())
    try:
        return json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        raise InvalidAnswer("the answer is no JSON") from None


def _slug(text: str) -> str:
    slug = text.strip().removesuffix(".md")
    if _SLUG.fullmatch(slug) is None:
        raise InvalidAnswer("rollout_slug must be 1 to 80 characters of a-z, 0-9, '-' and '_'")
    return slug


def _file(head: list[str], body: str) -> bytes:
    return "\n".join([*head, "", body.rstrip(), ""]).encode("utf-8", "replace")
