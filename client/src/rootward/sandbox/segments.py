"""One finished run as one line of a conversation file. Source: SB-40 to SB-48."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rootward.errors import InvalidSegment
from rootward.models import Item, message
from rootward.sandbox.items import kept_approvals, kept_items


class TerminalState(StrEnum):
    """How a run ended."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    FAILED = "failed"
    MAX_TURNS_EXCEEDED = "max_turns_exceeded"
    GUARDRAIL_TRIPPED = "guardrail_tripped"


@dataclass(frozen=True, kw_only=True)
class TerminalMetadata:
    """How a run ended, and by which exception if by one."""

    terminal_state: TerminalState
    exception_type: str | None = None
    exception_message: str | None = None
    has_final_output: bool = False

    def as_dict(self) -> dict[str, object]:
        """Return the JSON object that is recorded."""
        return {**dataclasses.asdict(self), "terminal_state": str(self.terminal_state)}


@dataclass(frozen=True, kw_only=True)
class Segment:
    """One run: what the user said, what the agent said and did, how it ended.

    Attributes:
        input: the user's input of this run alone, without earlier history.
        generated_items: what the run added, in order.
        interruptions: calls that wait for approval.
    """

    input: Sequence[Item]
    generated_items: Sequence[Item] = ()
    interruptions: Sequence[Item] = ()
    terminal_metadata: TerminalMetadata
    final_output: object = None

    @classmethod
    def from_mapping(cls, body: Mapping[str, object]) -> Segment:
        """Return the segment that another runtime describes, as in SB-108.

        Raises:
            InvalidSegment: a member is missing, unknown or of another form, or the terminal state does not exist.
        """
        unknown = set(body) - {field.name for field in dataclasses.fields(cls)}
        if unknown:
            raise InvalidSegment(f"a segment has no member {min(unknown)!r}")
        return cls(
            input=input_items(body.get("input")),
            generated_items=_items("generated_items", body.get("generated_items", [])),
            interruptions=_items("interruptions", body.get("interruptions") or []),
            terminal_metadata=_metadata(body.get("terminal_metadata")),
            final_output=body.get("final_output"),
        )


def input_items(value: object) -> list[Item]:
    """Return an input, a text or items, as items.

    >>> input_items("Hello")
    [{'role': 'user', 'content': 'Hello'}]
    """
    return [message("user", value)] if isinstance(value, str) else _items("input", value)


def encode(segment: Segment, *, rollout_id: str, updated_at: str) -> bytes:
    """Return the line, with its newline, that a conversation file gets.

    Raises:
        InvalidSegment: something in it cannot be written as JSON.
    """
    line: dict[str, object] = {
        "updated_at": updated_at,
        "rollout_id": rollout_id,
        "input": kept_items(segment.input),
        "generated_items": kept_items(segment.generated_items),
    }
    approvals = kept_approvals(segment.interruptions)
    if approvals:
        line["interruptions"] = approvals
    line["terminal_metadata"] = segment.terminal_metadata.as_dict()
    if segment.final_output is not None:
        line["final_output"] = segment.final_output
    return encode_line(line) + b"\n"


def encode_line(value: object) -> bytes:
    """Return a JSON value as one line of UTF-8, whatever splits lines escaped."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidSegment("the segment cannot be written as JSON") from error
    text = _SPLITS.sub(lambda sign: f"\\u{ord(sign[0]):04x}", text)
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which UTF-8 cannot hold
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def decode_lines(text: str) -> list[dict[str, object]]:
    """Return the segments of a conversation file, oldest first; lines that are none (cut by a crash) are left out.

    What may not be recorded is left out again, for files that others wrote. Source: SB-64.
    """
    return [_kept(value) for value in map(_loaded, text.split("\n")) if value is not None]


def updated_at_of(segment: Mapping[str, object]) -> str:
    """Return when a segment was appended, ``unknown`` if it does not say. Source: SB-74."""
    value = segment.get("updated_at")
    return value if isinstance(value, str) and _STAMP.fullmatch(value) else "unknown"


def terminal_state_of(segment: Mapping[str, object]) -> str:
    """Return how a segment ended, ``unknown`` if it does not say. Source: SB-74."""
    metadata = segment.get("terminal_metadata")
    value = metadata.get("terminal_state") if isinstance(metadata, Mapping) else None
    return value if isinstance(value, str) and value in set(TerminalState) else "unknown"


def metadata_of(segments: Sequence[Mapping[str, object]]) -> object:
    """Return how a conversation ended: of its only segment, or of all of them. Source: SB-68."""
    last = segments[-1].get("terminal_metadata")
    if len(segments) == 1:
        return last
    return {
        "segment_count": len(segments),
        "final_terminal_metadata": last,
        "terminal_states": [terminal_state_of(segment) for segment in segments],
    }


_SPLITS = re.compile("[\x85\u2028\u2029]")
_STAMP = re.compile(r"[0-9T:.Z+-]{1,40}")


def _loaded(line: str) -> dict[str, object] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _kept(segment: dict[str, object]) -> dict[str, object]:
    lists = {name: segment[name] for name in ("input", "generated_items") if isinstance(segment.get(name), list)}
    return {**segment, **{name: kept_items(_mappings(items)) for name, items in lists.items()}}


def _mappings(value: object) -> list[Item]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _items(field: str, value: object) -> list[Item]:
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise InvalidSegment(f"{field} must be a list of items")
    if not all(isinstance(item, Mapping) for item in value):
        raise InvalidSegment(f"every item of {field} must be an object")
    return list(value)


def _metadata(value: object) -> TerminalMetadata:
    if not isinstance(value, Mapping) or set(value) - {field.name for field in dataclasses.fields(TerminalMetadata)}:
        raise InvalidSegment("terminal_metadata must be an object with the members of TerminalMetadata")
    try:
        state = TerminalState(str(value.get("terminal_state")))
    except ValueError:
        raise InvalidSegment(f"terminal_state must be one of {', '.join(TerminalState)}") from None
    return TerminalMetadata(
        terminal_state=state,
        exception_type=_text_or_none("exception_type", value.get("exception_type")),
        exception_message=_text_or_none("exception_message", value.get("exception_message")),
        has_final_output=value.get("has_final_output") is True,
    )


def _text_or_none(field: str, value: object) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidSegment(f"{field} must be a text or null")
    return value


def _plain(value: object) -> object:
    """Return something JSON can hold: models by their own dump, data classes by their fields, others as text."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple | set | frozenset | Sequence) else str(value)
